package payments

import (
	"github.com/gofiber/fiber/v2"

	"sundry/adapters/httpapi"
	"sundry/core/fault"
	"sundry/core/id"
	"sundry/core/refund"
)

func (h handlers) refundRoutes() []httpapi.Route {
	return []httpapi.Route{
		{Method: fiber.MethodGet, Path: "/v1/refunds", Auth: httpapi.SecretKey, Handle: h.listRefunds, MayBeStale: true},
		{
			Method: fiber.MethodPost, Path: "/v1/refunds", Auth: httpapi.SecretKey, Idempotency: httpapi.Leased,
			WhileSuspended: true, Handle: h.postRefund,
		},
		{Method: fiber.MethodGet, Path: "/v1/refunds/:id", Auth: httpapi.SecretKey, Handle: h.getRefund},
		{Method: fiber.MethodPatch, Path: "/v1/refunds/:id", Auth: httpapi.SecretKey, Handle: h.patchRefund},
	}
}

// refundRequest is the body of POST /v1/refunds.
type refundRequest struct {
	PaymentID     *string            `json:"paymentId"`
	CheckoutID    *string            `json:"checkoutId"`
	AmountInCents *int64             `json:"amountInCents"`
	Reason        *string            `json:"reason"`
	KeepAccess    *bool              `json:"keepAccess"`
	Subscription  *string            `json:"subscription"`
	Metadata      *map[string]string `json:"metadata"`
}

func (h handlers) postRefund(c *fiber.Ctx) error {
	body, reading := httpapi.Decode[refundRequest](c)
	request := refund.Request{
		PaymentID: httpapi.ValueOf(body.PaymentID), CheckoutID: httpapi.ValueOf(body.CheckoutID),
		Minor:  body.AmountInCents,
		Reason: httpapi.ValueOf(body.Reason), KeepAccess: httpapi.ValueOf(body.KeepAccess),
		Subscription: refund.End(httpapi.ValueOf(body.Subscription)),
		Key:          c.Get("Idempotency-Key"), Metadata: httpapi.ValueOf(body.Metadata),
	}
	if err := httpapi.MergeFieldErrors(reading, request.Validate()); err != nil {
		return err
	}
	return httpapi.RespondStatus(c, fiber.StatusCreated, refund.State.View)(
		h.Refunds.Create(c.UserContext(), httpapi.Account(c), request),
	)
}

func (h handlers) getRefund(c *fiber.Ctx) error {
	return httpapi.Respond(c, refund.State.View)(h.Refunds.Get(c.UserContext(), httpapi.Account(c), c.Params("id")))
}

func (h handlers) patchRefund(c *fiber.Ctx) error {
	change, err := httpapi.DecodeMetadata(c)
	if err != nil {
		return err
	}
	return httpapi.Respond(c, refund.State.View)(
		h.Refunds.SetMetadata(c.UserContext(), httpapi.Account(c), c.Params("id"), change),
	)
}

func (h handlers) listRefunds(c *fiber.Ctx) error {
	var f fault.Violations
	page, paymentID := httpapi.ReadPage(c, &f, id.Refund), httpapi.QueryText(c, &f, "paymentId")
	if err := f.Err(); err != nil {
		return err
	}
	return httpapi.RespondList(c, refund.State.View)(h.Refunds.List(c.UserContext(), httpapi.Account(c), paymentID, page))
}
