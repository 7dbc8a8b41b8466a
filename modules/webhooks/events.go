package webhooks

import (
	"context"

	"sundry/core/apiformat"
	"sundry/core/checkout"
	"sundry/core/event"
	"sundry/ports"
)

// PaymentCompleted is the data of payment.completed (contract §12).
type PaymentCompleted struct {
	PaymentID          string            `json:"paymentId"`
	CheckoutID         *string           `json:"checkoutId"` // null for a renewal
	ReceiptNumber      string            `json:"receiptNumber"`
	CustomerID         string            `json:"customerId"`
	ExternalCustomerID *string           `json:"externalCustomerId"`
	ListingID          string            `json:"listingId"`
	Plan               string            `json:"plan"`
	Interval           *string           `json:"interval"`
	SubscriptionID     *string           `json:"subscriptionId"`
	SubtotalInCents    int64             `json:"subtotalInCents"`
	DiscountInCents    int64             `json:"discountInCents"`
	TaxInCents         int64             `json:"taxInCents"`
	TotalInCents       int64             `json:"totalInCents"`
	Currency           string            `json:"currency"`
	PaidAt             *string           `json:"paidAt"`
	ReferenceID        *string           `json:"referenceId"`
	UTM                map[string]string `json:"utm"`
	Metadata           map[string]string `json:"metadata"`
}

// OnCheckoutPaid publishes payment.completed.
func (s *Service) OnCheckoutPaid(ctx context.Context, r ports.Repos, e checkout.Paid) error {
	return s.publish(ctx, r, e.CreatorID, event.PaymentCompleted, PaymentCompleted{
		PaymentID: e.PaymentID, CheckoutID: &e.CheckoutID, ReceiptNumber: e.ReceiptNumber, CustomerID: e.CustomerID,
		ExternalCustomerID: apiformat.Text(e.ExternalCustomerID), ListingID: e.Offer.ListingID, Plan: e.Offer.PlanKey,
		Interval: apiformat.Text(string(e.Offer.Interval)), SubscriptionID: apiformat.Text(e.SubscriptionID), SubtotalInCents: e.Subtotal.Minor,
		DiscountInCents: e.Discount.Minor, TaxInCents: e.Tax.Minor, TotalInCents: e.Total.Minor, Currency: string(e.Total.Currency),
		PaidAt: apiformat.Time(e.At), ReferenceID: apiformat.Text(e.ReferenceID), UTM: orEmpty(e.UTM), Metadata: orEmpty(e.Metadata),
	})
}

// BeforeCheckoutPaid reads ahead what OnCheckoutPaid and the change of access that follows it need.
func (s *Service) BeforeCheckoutPaid(ctx context.Context, r ports.Repos, e checkout.Paid) {
	_, _ = r.Webhooks.Endpoints.ListAll(ctx, e.CreatorID)
	_, _ = r.Webhooks.Announcements.Get(ctx, e.CreatorID, e.ExternalCustomerID)
}

func orEmpty(m map[string]string) map[string]string {
	if m == nil {
		return map[string]string{}
	}
	return m
}
