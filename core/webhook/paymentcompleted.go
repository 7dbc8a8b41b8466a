package webhook

import (
	"sundry/core/apiformat"
	"sundry/core/checkout"
	"sundry/core/subscription"
)

// PaymentCompleted is the data of payment.completed.
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

func newPaidCheckout(e checkout.Paid) PaymentCompleted {
	return PaymentCompleted{
		PaymentID: e.PaymentID, CheckoutID: &e.CheckoutID, ReceiptNumber: e.ReceiptNumber, CustomerID: e.CustomerID,
		ExternalCustomerID: apiformat.Text(e.ExternalCustomerID), ListingID: e.Offer.ListingID, Plan: e.Offer.PlanKey,
		Interval: apiformat.Text(string(e.Offer.Interval)), SubscriptionID: apiformat.Text(e.SubscriptionID),
		SubtotalInCents: e.Subtotal.Minor, DiscountInCents: e.Discount.Minor, TaxInCents: e.Tax.Minor,
		TotalInCents: e.Total.Minor, Currency: string(e.Total.Currency), PaidAt: apiformat.Time(e.At),
		ReferenceID: apiformat.Text(e.ReferenceID), UTM: orEmpty(e.UTM), Metadata: orEmpty(e.Metadata),
	}
}

// newPaidSubscription shows the payment of a renewal or of a change of plan. The customer's credit counts as a discount
// there, so that the figures add up.
func newPaidSubscription(e subscription.ChargePaid) PaymentCompleted {
	sub, paid := e.Subscription, e.Payment
	return PaymentCompleted{
		PaymentID: paid.ID, ReceiptNumber: paid.Sale.ReceiptNumber, CustomerID: sub.CustomerID,
		ExternalCustomerID: apiformat.Text(sub.ExternalCustomerID), ListingID: sub.Offer.ListingID, Plan: sub.Offer.PlanKey,
		Interval: apiformat.Text(string(sub.Offer.Interval)), SubscriptionID: &sub.ID,
		SubtotalInCents: paid.Sale.Subtotal.Minor, DiscountInCents: paid.Sale.Discount.Minor + paid.Sale.Credit.Minor,
		TaxInCents: paid.Sale.Tax.Minor, TotalInCents: paid.Amount.Minor, Currency: string(paid.Amount.Currency),
		PaidAt: apiformat.Time(paid.SettledAt), UTM: map[string]string{}, Metadata: map[string]string{},
	}
}

func orEmpty(m map[string]string) map[string]string {
	if m == nil {
		return map[string]string{}
	}
	return m
}
