package checkout

import (
	"time"

	"sundry/core/money"
	"sundry/core/plan"
)

// Paid is uttered once, by the transition of a session to paid.
type Paid struct {
	CheckoutID         string
	PaymentID          string
	CreatorID          string
	CustomerID         string
	ExternalCustomerID string // empty when the integrator named none: no access is granted then
	// Email and BuyerName are what the buyer or the integrator gave; either may be empty.
	Email     string
	BuyerName string
	// SubscriptionID is the id that the subscription is to have; empty when the offer is one-time.
	SubscriptionID string
	// PaymentMethod is the processor's token of the card that was saved for renewals; empty when none was needed.
	PaymentMethod string
	Offer         plan.Offer
	ReceiptNumber string
	Subtotal      money.Amount
	Discount      money.Amount
	Tax           money.Amount
	Total         money.Amount
	ReferenceID   string
	UTM           map[string]string
	Metadata      map[string]string
	At            time.Time // account time
}

// EventName implements event.Event.
func (Paid) EventName() string { return "checkout.paid" }
