package payments

import (
	"github.com/gofiber/fiber/v2"

	"sundry/adapters/httpapi"
	"sundry/core/dispute"
	"sundry/core/fault"
	"sundry/core/id"
	"sundry/core/refund"
)

// returnRoutes returns the routes of refunds, disputes, and the events of the card processor.
func (h handlers) returnRoutes() []httpapi.Route {
	return []httpapi.Route{
		{Method: fiber.MethodGet, Path: "/v1/refunds", Auth: httpapi.SecretKey, Handle: h.listRefunds, MayBeStale: true},
		{
			Method: fiber.MethodPost, Path: "/v1/refunds", Auth: httpapi.SecretKey, Idempotency: httpapi.Leased,
			WhileSuspended: true, Handle: h.postRefund,
		},
		{Method: fiber.MethodGet, Path: "/v1/refunds/:id", Auth: httpapi.SecretKey, Handle: h.getRefund},
		{Method: fiber.MethodPatch, Path: "/v1/refunds/:id", Auth: httpapi.SecretKey, Handle: h.patchRefund},
		{Method: fiber.MethodGet, Path: "/v1/disputes", Auth: httpapi.SecretKey, Handle: h.listDisputes, MayBeStale: true},
		{Method: fiber.MethodGet, Path: "/v1/disputes/:id", Auth: httpapi.SecretKey, Handle: h.getDispute},
		{
			Method: fiber.MethodPost, Path: "/v1/disputes/:id/evidence", Auth: httpapi.SecretKey,
			Idempotency:    httpapi.Leased,
			WhileSuspended: true, Handle: h.postEvidence,
		},
		{Method: fiber.MethodGet, Path: "/v1/disputes/:id/evidence", Auth: httpapi.SecretKey, Handle: h.getEvidence},
		{
			Method: fiber.MethodPost, Path: "/v1/disputes/:id/files", Auth: httpapi.SecretKey, Idempotency: httpapi.Leased,
			WhileSuspended: true, Handle: h.postDisputeFile,
		},
		{
			Method: fiber.MethodDelete, Path: "/v1/disputes/:id/files/:fileId", Auth: httpapi.SecretKey,
			WhileSuspended: true, Handle: h.deleteDisputeFile,
		},
		{
			Method: fiber.MethodPost, Path: "/v1/disputes/:id/accept", Auth: httpapi.SecretKey,
			Idempotency:    httpapi.Leased,
			WhileSuspended: true, Handle: httpapi.WithoutBody(h.postAcceptance),
		},
		{Method: fiber.MethodPost, Path: "/v1/processor-events", Auth: httpapi.Public, Handle: h.postProcessorEvent},
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

func (h handlers) listDisputes(c *fiber.Ctx) error {
	var f fault.Violations
	page, paymentID := httpapi.ReadPage(c, &f, id.Dispute), httpapi.QueryText(c, &f, "paymentId")
	if err := f.Err(); err != nil {
		return err
	}
	return httpapi.RespondList(c, dispute.State.View)(
		h.Disputes.List(c.UserContext(), httpapi.Account(c), paymentID, page),
	)
}

func (h handlers) getDispute(c *fiber.Ctx) error {
	return httpapi.Respond(c, dispute.State.View)(h.Disputes.Get(c.UserContext(), httpapi.Account(c), c.Params("id")))
}

// evidenceRequest is the body of POST /v1/disputes/{id}/evidence.
type evidenceRequest struct {
	Text     *string  `json:"text"`
	FileURLs []string `json:"fileUrls"`
	FileIDs  []string `json:"fileIds"`
}

func (h handlers) postEvidence(c *fiber.Ctx) error {
	body, reading := httpapi.Decode[evidenceRequest](c)
	evidence := dispute.Evidence{Text: httpapi.ValueOf(body.Text), FileURLs: body.FileURLs, FileIDs: body.FileIDs}
	if err := httpapi.MergeFieldErrors(reading, evidence.Validate()); err != nil {
		return err
	}
	return httpapi.Respond(c, dispute.State.View)(
		h.Disputes.SubmitEvidence(c.UserContext(), httpapi.Account(c), c.Params("id"), evidence),
	)
}

// getEvidence responds with what the program has collected: as JSON, as text or as PDF.
func (h handlers) getEvidence(c *fiber.Ctx) error {
	var f fault.Violations
	format := httpapi.QueryOneOf(c, &f, "format", "json", "text", "pdf")
	if err := f.Err(); err != nil {
		return err
	}
	d, collected, err := h.Disputes.Evidence(c.UserContext(), httpapi.Account(c), c.Params("id"))
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderCacheControl, "no-store")
	switch format {
	case "text":
		c.Set(fiber.HeaderContentType, fiber.MIMETextPlainCharsetUTF8)
		return c.SendString(collected.Text())
	case "pdf":
		content, err := h.Disputes.EvidencePDF(d, collected)
		if err != nil {
			return err
		}
		c.Set(fiber.HeaderContentType, "application/pdf")
		c.Set(fiber.HeaderContentDisposition, `attachment; filename="evidence-`+d.ID+`.pdf"`)
		return c.Send(content)
	}
	return c.JSON(collected)
}

// postDisputeFile takes the bytes of a file as they are.
func (h handlers) postDisputeFile(c *fiber.Ctx) error {
	return httpapi.RespondStatus(c, fiber.StatusCreated, dispute.File.View)(h.Disputes.UploadFile(
		c.UserContext(), httpapi.Account(c), c.Params("id"), c.Query("name"), httpapi.Body(c),
	))
}

func (h handlers) deleteDisputeFile(c *fiber.Ctx) error {
	return httpapi.Respond(c, dispute.State.View)(
		h.Disputes.DeleteFile(c.UserContext(), httpapi.Account(c), c.Params("id"), c.Params("fileId")),
	)
}

func (h handlers) postAcceptance(c *fiber.Ctx) error {
	return httpapi.Respond(c, dispute.State.View)(h.Disputes.Accept(c.UserContext(), httpapi.Account(c), c.Params("id")))
}

// receivedView is the response to the processor.
type receivedView struct {
	Received bool `json:"received"`
}

// postProcessorEvent receives what the card processor reports. What the signature covers is the body as it was sent.
func (h handlers) postProcessorEvent(c *fiber.Ctx) error {
	if err := h.Inbox.Receive(c.UserContext(), c.BodyRaw(), func(name string) string { return c.Get(name) }); err != nil {
		return err
	}
	return c.JSON(receivedView{Received: true})
}
