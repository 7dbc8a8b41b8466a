package catalog

import (
	"github.com/gofiber/fiber/v2"

	"sundry/adapters/httpapi"
	"sundry/adapters/httpapi/strictjson"
	"sundry/core/apiformat"
	"sundry/core/fault"
	"sundry/core/id"
	"sundry/core/paymentlink"
)

func (h handlers) paymentLinkRoutes() []httpapi.Route {
	return []httpapi.Route{
		{Method: fiber.MethodPost, Path: "/v1/payment-links", Auth: httpapi.AccessToken, Handle: h.createPaymentLink},
		{Method: fiber.MethodGet, Path: "/v1/payment-links", Auth: httpapi.AccessToken, Handle: h.listPaymentLinks},
		{Method: fiber.MethodGet, Path: "/v1/payment-links/:id", Auth: httpapi.AccessToken, Handle: h.getPaymentLink},
		{
			Method: fiber.MethodPatch, Path: "/v1/payment-links/:id", Auth: httpapi.AccessToken,
			Handle: h.updatePaymentLink,
		},
		{
			Method: fiber.MethodDelete, Path: "/v1/payment-links/:id", Auth: httpapi.AccessToken,
			Handle: h.deactivatePaymentLink,
		},
	}
}

// paymentLinkView is a link to share. Null members leave the choice to the listing or the plan.
type paymentLinkView struct {
	ID             string   `json:"id"`
	URL            string   `json:"url"`
	Code           string   `json:"code"`
	ListingID      string   `json:"listingId"`
	VariantID      *string  `json:"variantId"`
	Plan           *string  `json:"plan"`
	Interval       *string  `json:"interval"`
	IntervalCount  *int     `json:"intervalCount"`
	Currency       *string  `json:"currency"`
	BuyerMayChange []string `json:"buyerMayChange"`
	SuccessURL     *string  `json:"successUrl"`
	Active         bool     `json:"active"`
	Livemode       bool     `json:"livemode"`
	CreatedAt      *string  `json:"createdAt"`
}

func (h handlers) newPaymentLinkView(l paymentlink.State) paymentLinkView {
	interval, count := l.Every.Parts()
	return paymentLinkView{
		ID: l.ID, URL: h.BaseURL + "/l/" + l.Code, Code: l.Code, ListingID: l.ListingID,
		VariantID: apiformat.Text(l.VariantID),
		Plan:      apiformat.Text(l.PlanKey), Interval: apiformat.Text(string(interval)),
		IntervalCount: apiformat.Count(count),
		Currency:      apiformat.Text(string(l.Currency)), BuyerMayChange: l.BuyerMayChange.Names(),
		SuccessURL: apiformat.Text(l.SuccessURL), Active: l.Active,
		Livemode: h.Live, CreatedAt: apiformat.Time(l.CreatedAt),
	}
}

type paymentLinkRequest struct {
	ListingID      strictjson.Optional[string]   `json:"listingId"`
	VariantID      strictjson.Optional[string]   `json:"variantId"`
	Plan           strictjson.Optional[string]   `json:"plan"`
	Interval       strictjson.Optional[string]   `json:"interval"`
	IntervalCount  strictjson.Optional[int]      `json:"intervalCount"`
	Currency       strictjson.Optional[string]   `json:"currency"`
	BuyerMayChange strictjson.Optional[[]string] `json:"buyerMayChange"`
	SuccessURL     strictjson.Optional[string]   `json:"successUrl"`
	Active         strictjson.Optional[bool]     `json:"active"`
}

func (in paymentLinkRequest) edit(f *fault.Violations) paymentlink.Edit {
	return paymentlink.Edit{
		ListingID:      httpapi.PatchValue(f, "listingId", in.ListingID),
		VariantID:      httpapi.PatchNullable(f, "variantId", in.VariantID),
		PlanKey:        httpapi.PatchNullable(f, "plan", in.Plan),
		Every:          in.every(f),
		Currency:       httpapi.PatchNullable(f, "currency", in.Currency),
		BuyerMayChange: httpapi.PatchValue(f, "buyerMayChange", in.BuyerMayChange),
		SuccessURL:     httpapi.PatchNullable(f, "successUrl", in.SuccessURL),
		Active:         httpapi.PatchValue(f, "active", in.Active),
	}
}

// every joins interval and intervalCount. A change of the interval alone is to every one of it.
func (in paymentLinkRequest) every(f *fault.Violations) *string {
	interval := httpapi.PatchNullable(f, "interval", in.Interval)
	if interval == nil {
		f.Check(!in.IntervalCount.Set || in.IntervalCount.Null, "intervalCount", fault.DetailNotAllowed,
			"Name the interval that is counted.")
		return nil
	}
	if in.IntervalCount.Null || !in.IntervalCount.Set {
		return interval
	}
	return new(string(httpapi.ReadCadence(f, interval, &in.IntervalCount.Value)))
}

func (h handlers) createPaymentLink(c *fiber.Ctx) error {
	in, reading := httpapi.Decode[paymentLinkRequest](c)
	var f fault.Violations
	e := in.edit(&f)
	if err := httpapi.MergeFieldErrors(reading, f.Err(), e.CheckNew(!h.Live)); err != nil {
		return err
	}
	return httpapi.RespondStatus(c, fiber.StatusCreated, h.newPaymentLinkView)(
		h.Catalog.CreateLink(c.UserContext(), httpapi.Account(c), e),
	)
}

func (h handlers) listPaymentLinks(c *fiber.Ctx) error {
	p, err := httpapi.QueryPage(c, id.PaymentLink)
	if err != nil {
		return err
	}
	return httpapi.RespondList(c, h.newPaymentLinkView)(h.Catalog.Links(c.UserContext(), httpapi.Account(c), p))
}

func (h handlers) getPaymentLink(c *fiber.Ctx) error {
	return httpapi.Respond(c, h.newPaymentLinkView)(h.Catalog.Link(c.UserContext(), httpapi.Account(c), c.Params("id")))
}

func (h handlers) updatePaymentLink(c *fiber.Ctx) error {
	in, reading := httpapi.Decode[paymentLinkRequest](c)
	var f fault.Violations
	e := in.edit(&f)
	if err := httpapi.MergeFieldErrors(reading, f.Err(), e.Check(!h.Live)); err != nil {
		return err
	}
	return httpapi.Respond(c, h.newPaymentLinkView)(
		h.Catalog.EditLink(c.UserContext(), httpapi.Account(c), c.Params("id"), e),
	)
}

func (h handlers) deactivatePaymentLink(c *fiber.Ctx) error {
	return httpapi.Respond(c, h.newPaymentLinkView)(
		h.Catalog.DeactivateLink(c.UserContext(), httpapi.Account(c), c.Params("id")),
	)
}
