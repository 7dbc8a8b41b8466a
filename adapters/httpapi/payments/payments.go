// Package payments is the API of payment attempts, whatever they are for, and of refunds and disputes.
package payments

import (
	_ "embed"
	"slices"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/httpapi"
	"sundry/core/apiformat"
	"sundry/core/document"
	"sundry/core/fault"
	"sundry/core/id"
	"sundry/core/payment"
	"sundry/modules/payments"
	"sundry/ports"
)

// Document is the area's part of the OpenAPI document.
//
//go:embed openapi.yaml
var Document []byte

// Deps holds what the handlers depend on.
type Deps struct {
	Live     bool
	Payments *payments.Service
	Refunds  *payments.Refunds
	Disputes *payments.Disputes
	Inbox    *payments.Inbox
	// Links are the addresses of receipts.
	Links document.Links
}

type handlers struct{ Deps }

// Routes returns the area's lines of the route table.
func Routes(d Deps) []httpapi.Route {
	h := handlers{d}
	return slices.Concat(h.paymentRoutes(), h.refundRoutes(), h.disputeRoutes(), []httpapi.Route{
		{Method: fiber.MethodPost, Path: "/v1/processor-events", Auth: httpapi.Public, Handle: h.postProcessorEvent},
	})
}

func (h handlers) paymentRoutes() []httpapi.Route {
	return []httpapi.Route{
		{Method: fiber.MethodGet, Path: "/v1/payments", Auth: httpapi.SecretKey, Handle: h.listPayments, MayBeStale: true},
		{Method: fiber.MethodGet, Path: "/v1/payments/:id", Auth: httpapi.SecretKey, Handle: h.getPayment},
	}
}

// paymentView is a payment attempt. Exactly one of the three subjects is not null.
type paymentView struct {
	ID                 string                 `json:"id"`
	Status             payment.Status         `json:"status"`
	Livemode           bool                   `json:"livemode"`
	Purpose            payment.Purpose        `json:"purpose"`
	CheckoutID         *string                `json:"checkoutId"`
	SubscriptionID     *string                `json:"subscriptionId"`
	InvoiceID          *string                `json:"invoiceId"`
	CustomerID         *string                `json:"customerId"`
	ExternalCustomerID *string                `json:"externalCustomerId"`
	ReferenceID        *string                `json:"referenceId"`
	ReceiptNumber      *string                `json:"receiptNumber"`
	ReceiptURL         *string                `json:"receiptUrl"`
	AmountInCents      int64                  `json:"amountInCents"`
	RefundedInCents    int64                  `json:"refundedInCents"`
	Currency           string                 `json:"currency"`
	Card               *cardView              `json:"card"`
	LastPaymentError   *payment.DeclineReason `json:"lastPaymentError"`
	CreatedAt          *string                `json:"createdAt"`
	SettledAt          *string                `json:"settledAt"`
}

// cardView holds the members of a card that may be shown.
type cardView struct {
	Brand string `json:"brand"`
	Last4 string `json:"last4"`
}

func (h handlers) newPaymentView(p ports.ListedPayment) paymentView {
	view := paymentView{
		ID: p.ID, Status: p.Status, Livemode: h.Live, Purpose: p.Purpose, CustomerID: apiformat.Text(p.CustomerID),
		ExternalCustomerID: apiformat.Text(p.ExternalCustomerID), ReferenceID: apiformat.Text(p.ReferenceID),
		ReceiptNumber: apiformat.Text(p.Sale.ReceiptNumber), AmountInCents: p.Amount.Minor,
		RefundedInCents: p.Refunded.Minor,
		Currency:        string(p.Amount.Currency), CreatedAt: apiformat.Time(p.CreatedAt),
		SettledAt: apiformat.Time(p.SettledAt),
	}
	if p.Sale.ReceiptNumber != "" {
		view.ReceiptURL = apiformat.Text(h.Links.URL(document.Receipt, p.ID))
	}
	switch p.Purpose {
	case payment.ForCheckout:
		view.CheckoutID = apiformat.Text(p.SubjectID)
	case payment.ForSubscription:
		view.SubscriptionID = apiformat.Text(p.SubjectID)
	case payment.ForInvoice:
		view.InvoiceID = apiformat.Text(p.SubjectID)
	}
	if p.Last4 != "" {
		view.Card = &cardView{p.Brand, p.Last4}
	}
	if p.Decline.Code != "" {
		view.LastPaymentError = &p.Decline
	}
	return view
}

func (h handlers) getPayment(c *fiber.Ctx) error {
	return httpapi.Respond(c, h.newPaymentView)(h.Payments.Listed(c.UserContext(), httpapi.Account(c), c.Params("id")))
}

func (h handlers) listPayments(c *fiber.Ctx) error {
	var f fault.Violations
	p := httpapi.ReadPage(c, &f, id.Payment)
	search := ports.PaymentSearch{
		Status: httpapi.QueryOneOf(
			c, &f, "status", payment.Pending, payment.RequiresAction, payment.Processing, payment.Succeeded,
			payment.Declined, payment.Canceled,
		),
		ExternalCustomerID: httpapi.QueryText(c, &f, "externalCustomerId"),
		CustomerID:         httpapi.QueryID(c, &f, "customerId", id.Customer),
		ReferenceID:        httpapi.QueryText(c, &f, "referenceId"),
		SubscriptionID:     httpapi.QueryID(c, &f, "subscriptionId", id.Subscription), Created: httpapi.QueryCreated(c, &f),
	}
	if err := f.Err(); err != nil {
		return err
	}
	return httpapi.RespondList(c, h.newPaymentView)(h.Payments.List(c.UserContext(), httpapi.Account(c), search, p))
}
