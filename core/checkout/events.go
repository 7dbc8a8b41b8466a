package checkout

import (
	"time"

	"sundry/core/customer"
	"sundry/core/discount"
	"sundry/core/money"
	"sundry/core/paymentmethod"
	"sundry/core/plan"
	"sundry/core/tax"
)

// Paid is emitted once, by the transition of a session to paid.
type Paid struct {
	CheckoutID         string
	PaymentID          string
	CreatorID          string
	CustomerID         string
	ExternalCustomerID string // empty when the integrator named none: no access is granted then
	// Email and BuyerName are those that the buyer or the integrator gave; either may be empty.
	Email     string
	BuyerName string
	// Buyer contains the details that the buyer entered.
	Buyer customer.Details
	// SubscriptionID is the id that the subscription is to have; empty when the offer is one-time.
	SubscriptionID string
	// PaymentMethodID is the id that the saved card is to have, and Card what it is; empty when none was needed.
	PaymentMethodID string
	Card            paymentmethod.Card
	// TrialCard recognizes the card that a trial begins with; "" for none.
	TrialCard     string
	Offer         plan.Offer
	ReceiptNumber string
	Subtotal      money.Amount
	Discount      money.Amount
	// DiscountTerms are the terms of the buyer's discount code, also for the renewals of a subscription; nil without one.
	DiscountTerms *discount.Terms
	Tax           money.Amount
	// TaxAdded is the part of Total that is tax on top of the price, and TaxDetails explain why the tax is what it is.
	TaxAdded   money.Amount
	TaxDetails tax.Details
	Total      money.Amount
	// Brand and Last4 name the card that paid; empty when none was needed.
	Brand, Last4 string
	// Consent records the terms that the buyer accepted with the payment button; nil for a payment that was not made on a
	// page.
	Consent     *Consent
	ReferenceID string
	UTM         map[string]string
	Metadata    map[string]string
	At          time.Time // account time
}

// EventName implements event.Event.
func (Paid) EventName() string { return "checkout.paid" }

// Opened is emitted once, when a session is made.
type Opened struct{ CheckoutID, CreatorID string }

// EventName implements event.Event.
func (Opened) EventName() string { return "checkout.opened" }

// Expired is emitted once, when an unpaid session ends, at its time or before.
type Expired struct{ CheckoutID, CreatorID string }

// EventName implements event.Event.
func (Expired) EventName() string { return "checkout.session_expired" }
