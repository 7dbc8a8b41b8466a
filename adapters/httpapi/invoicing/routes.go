// Package invoicing is the API of invoices.
package invoicing

import (
	_ "embed"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/httpapi"
	"sundry/core/fault"
	"sundry/core/id"
	"sundry/core/invoice"
	"sundry/modules/invoicing"
	"sundry/ports"
)

// Document is the area's part of the OpenAPI document.
//
//go:embed openapi.yaml
var Document []byte

// Deps holds what the handlers depend on.
type Deps struct {
	Live      bool
	Invoicing *invoicing.Service
}

type handlers struct{ Deps }

// Routes returns the area's lines of the route table. The key of a pushed invoice never expires.
func Routes(d Deps) []httpapi.Route {
	h := handlers{d}
	const invoices, one = "/v1/invoices", "/v1/invoices/:id"
	return []httpapi.Route{
		{
			Method: fiber.MethodPost, Path: invoices, Auth: httpapi.SecretKey, Idempotency: httpapi.Permanent,
			Handle: h.push,
		},
		{Method: fiber.MethodGet, Path: invoices, Auth: httpapi.SecretKey, Handle: h.list, MayBeStale: true},
		{Method: fiber.MethodGet, Path: one, Auth: httpapi.SecretKey, Handle: h.get},
		{Method: fiber.MethodPatch, Path: one, Auth: httpapi.SecretKey, Handle: h.patch},
		{Method: fiber.MethodGet, Path: one + "/explain", Auth: httpapi.SecretKey, Handle: h.explain},
		{
			Method: fiber.MethodPost, Path: one + "/pay", Auth: httpapi.SecretKey, Idempotency: httpapi.Leased,
			Handle: httpapi.WithoutBody(h.pay),
		},
	}
}

func (h handlers) newView(s invoice.State) invoice.View { return invoice.NewView(s, h.Live) }

// refusalView is a refusal that comes with an invoice: its members at the top level, and under invoice.
type refusalView struct {
	Code      fault.Code `json:"code"`
	Message   string     `json:"message"`
	RequestID string     `json:"requestId"`
	invoice.View
	Invoice invoice.View `json:"invoice"`
}

// respond renders an invoice, or the refusal that it comes with.
func (h handlers) respond(c *fiber.Ctx, status int) func(invoice.State, error) error {
	return func(state invoice.State, err error) error {
		switch code := fault.CodeOf(err); {
		case err == nil:
			return c.Status(status).JSON(h.newView(state))
		case state.ID == "" || state.Number == "":
			return err
		case code == fault.CardDeclined, code == fault.AuthenticationRequired, code == fault.IdempotencyKeyReused,
			code == fault.IdempotencyKeyMismatch:
			view := h.newView(state)
			return c.Status(httpapi.StatusOf(err)).JSON(refusalView{
				code, httpapi.MessageOf(err), httpapi.RequestID(c), view, view,
			})
		}
		return err
	}
}

func (h handlers) push(c *fiber.Ctx) error {
	in, reading := httpapi.Decode[invoice.Draft](c)
	if err := httpapi.TakeKey(c, &in.IdempotencyKey); err != nil {
		return err
	}
	_, invalid := in.Parse()
	if err := httpapi.MergeFieldErrors(reading, invalid); err != nil {
		return err
	}
	return h.respond(c, fiber.StatusCreated)(h.Invoicing.Push(c.UserContext(), httpapi.Account(c), in))
}

func (h handlers) list(c *fiber.Ctx) error {
	var f fault.Violations
	page := httpapi.ReadPage(c, &f, id.Invoice)
	search := ports.InvoiceSearch{
		CustomerID: httpapi.QueryText(c, &f, "customerId"), SubscriptionID: httpapi.QueryText(c, &f, "subscriptionId"),
		Status: httpapi.QueryOneOf(c, &f, "status", invoice.Open, invoice.Failed, invoice.Paid),
	}
	if err := f.Err(); err != nil {
		return err
	}
	return httpapi.RespondList(c, h.newView)(h.Invoicing.Invoices(c.UserContext(), httpapi.Account(c), search, page))
}

func (h handlers) get(c *fiber.Ctx) error {
	return httpapi.Respond(c, h.newView)(h.Invoicing.Invoice(c.UserContext(), httpapi.Account(c), c.Params("id")))
}

func (h handlers) patch(c *fiber.Ctx) error {
	change, err := httpapi.DecodeMetadata(c)
	if err != nil {
		return err
	}
	return httpapi.Respond(c, h.newView)(
		h.Invoicing.SetMetadata(c.UserContext(), httpapi.Account(c), c.Params("id"), change),
	)
}

func (h handlers) explain(c *fiber.Ctx) error {
	return httpapi.Respond(c, invoice.Explain)(h.Invoicing.Invoice(c.UserContext(), httpapi.Account(c), c.Params("id")))
}

func (h handlers) pay(c *fiber.Ctx) error {
	return h.respond(c, fiber.StatusOK)(h.Invoicing.Pay(c.UserContext(), httpapi.Account(c), c.Params("id")))
}
