package checkout

import (
	"github.com/gofiber/fiber/v2"

	"sundry/adapters/httpapi"
	"sundry/core/apiformat"
	core "sundry/core/checkout"
	"sundry/core/fault"
	"sundry/core/money"
	"sundry/core/payment"
	"sundry/core/plan"
	"sundry/modules/checkout"
)

// receiptStatusView is the response to a browser with a return token.
type receiptStatusView struct {
	CheckoutID string      `json:"checkoutId"`
	Status     core.Status `json:"status"`
}

// receiptView is the whole receipt.
type receiptView struct {
	CheckoutID         string                   `json:"checkoutId"`
	Status             core.Status              `json:"status"`
	Livemode           bool                     `json:"livemode"`
	SubtotalInCents    int64                    `json:"subtotalInCents"`
	DiscountInCents    int64                    `json:"discountInCents"`
	TaxInCents         int64                    `json:"taxInCents"`
	TotalInCents       int64                    `json:"totalInCents"`
	RefundedInCents    int64                    `json:"refundedInCents"`
	Currency           string                   `json:"currency"`
	PaidAt             *string                  `json:"paidAt"`
	ReceiptNumber      *string                  `json:"receiptNumber"`
	ReceiptURL         *string                  `json:"receiptUrl"`
	PaymentID          *string                  `json:"paymentId"`
	SubscriptionID     *string                  `json:"subscriptionId"`
	CustomerID         *string                  `json:"customerId"`
	ExternalCustomerID *string                  `json:"externalCustomerId"`
	ReferenceID        *string                  `json:"referenceId"`
	Items              []receiptItemView        `json:"items"`
	Appointments       []receiptAppointmentView `json:"appointments"`
	LastPaymentError   *payment.DeclineReason   `json:"lastPaymentError"`
	AccessVersion      *int64                   `json:"accessVersion"`
	PollAfterMs        *int64                   `json:"pollAfterMs"`
}

// receiptItemView shows what was sold, as it was at the time of the sale.
type receiptItemView struct {
	ListingID    string  `json:"listingId"`
	Title        string  `json:"title"`
	PlanKey      *string `json:"planKey"`
	PlanName     *string `json:"planName"`
	VariantID    *string `json:"variantId"`
	VariantName  *string `json:"variantName"`
	Interval     *string `json:"interval"`
	Quantity     int     `json:"quantity"`
	TotalInCents int64   `json:"totalInCents"`
}

func newReceiptItemView(o plan.Offer, total money.Amount) receiptItemView {
	return receiptItemView{
		ListingID: o.ListingID, Title: o.Title, PlanKey: apiformat.Text(o.PlanKey),
		PlanName:  apiformat.Text(o.PlanName),
		VariantID: apiformat.Text(o.VariantID), VariantName: apiformat.Text(o.VariantName),
		Interval: apiformat.Text(string(o.Interval)), Quantity: o.Seats(),
		TotalInCents: total.Minor,
	}
}

func (h handlers) newReceiptView(r checkout.Receipt) receiptView {
	c := r.Session
	view := receiptView{
		CheckoutID: c.ID, Status: c.Status, Livemode: h.Live, SubtotalInCents: c.Subtotal.Minor,
		DiscountInCents: c.Discount.Minor, TaxInCents: c.Tax.Minor, TotalInCents: c.Total.Minor,
		Currency: string(c.Total.Currency),
		PaidAt:   apiformat.Time(c.PaidAt), ReceiptNumber: apiformat.Text(c.ReceiptNumber),
		ReceiptURL: apiformat.Text(r.ReceiptURL),
		PaymentID:  apiformat.Text(c.PaymentID), SubscriptionID: apiformat.Text(c.SubscriptionID),
		CustomerID:         apiformat.Text(c.CustomerID),
		ExternalCustomerID: apiformat.Text(c.ExternalCustomerID), ReferenceID: apiformat.Text(c.ReferenceID),
		RefundedInCents:  r.Refunded.Minor,
		Items:            []receiptItemView{newReceiptItemView(c.Offer, c.Total)},
		Appointments:     newReceiptAppointmentViews(r.Appointments),
		LastPaymentError: lastError(c),
	}
	if c.ExternalCustomerID != "" || c.CustomerID != "" {
		view.AccessVersion = &r.AccessVersion
	}
	if ms := r.PollAfter.Milliseconds(); ms > 0 {
		view.PollAfterMs = &ms
	}
	return view
}

// lastError returns the reason of the last decline; null when there was none, or while another card is being tried.
func lastError(c core.State) *payment.DeclineReason {
	if c.LastError.Code == "" {
		return nil
	}
	return &c.LastError
}

// getReceipt serves both callers: the browser with its return token, and the integrator with a key.
func (h handlers) getReceipt(c *fiber.Ctx) error {
	sessionID, token := c.Params("id"), c.Query("returnToken")
	if httpapi.Account(c) == "" {
		status, err := h.Checkout.ReceiptStatus(c.UserContext(), sessionID, token)
		if err != nil {
			return err
		}
		return c.JSON(receiptStatusView{CheckoutID: sessionID, Status: status})
	}
	var f fault.Violations
	headless := c.Query("headless")
	f.Check(
		headless == "" || headless == "true" || headless == "false", "headless", fault.DetailInvalid,
		"The value must be true or false.",
	)
	f.Check(
		headless == "true" || token != "", "returnToken", fault.DetailRequired,
		"Send the buyer's returnToken, or headless=true to ask without one.",
	)
	if err := f.Err(); err != nil {
		return err
	}
	return httpapi.Respond(c, h.newReceiptView)(h.Checkout.Receipt(c.UserContext(), httpapi.Account(c), sessionID, token))
}
