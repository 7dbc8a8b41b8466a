package payments

import (
	"github.com/gofiber/fiber/v2"

	"sundry/adapters/httpapi"
	"sundry/core/dispute"
	"sundry/core/fault"
	"sundry/core/id"
)

func (h handlers) disputeRoutes() []httpapi.Route {
	return []httpapi.Route{
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
	}
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
