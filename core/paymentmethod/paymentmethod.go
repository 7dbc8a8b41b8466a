// Package paymentmethod is a card that a customer has saved: the processor's token, what may be shown of it, and the
// mandate under which it is charged when the customer is away.
package paymentmethod

import (
	"time"

	"sundry/core/fault"
	"sundry/core/locale"
)

// Card is a saved card as the processor reports it.
type Card struct {
	// Provider names the payment provider that knows the card.
	Provider string
	// Token is the processor's reusable name of the card.
	Token    string
	Brand    string
	Last4    string
	ExpMonth int // 1 to 12; 0 when unknown
	ExpYear  int
	// Country is the country of the card's issuer (ISO 3166-1 alpha-2); "" when the provider doesn't report it.
	Country string
}

// Mandate is the text that the customer agreed to when the card was saved.
type Mandate struct {
	Text string `json:"text"`
	// AcceptedAt is account time. Source is where it was accepted: the id of a checkout session or of a card setup, or of
	// the card itself where it was carried over.
	AcceptedAt time.Time `json:"acceptedAt"`
	Source     string    `json:"source"`
}

// ImportedMandate is the text of a card that was saved with another service, whose own text is not known here.
const ImportedMandate = "The customer agreed to charges of this card when they saved it, before it was carried over."

// State is a saved card's data, as stores and views see it.
type State struct {
	ID         string // pm_…
	CreatorID  string
	CustomerID string
	Card
	Mandate   Mandate
	CreatedAt time.Time
	// ChosenAt is the last time that the customer chose this card among theirs; zero for never.
	ChosenAt time.Time
	// RemovedAt is zero while the card may be charged.
	RemovedAt time.Time
	Revision  int64
}

// Method is the aggregate.
type Method struct{ s State }

// New saves a card for a customer.
func New(id, creatorID, customerID string, card Card, mandate Mandate, now time.Time) *Method {
	return &Method{State{
		ID: id, CreatorID: creatorID, CustomerID: customerID, Card: card, Mandate: mandate, CreatedAt: now, Revision: 1,
	}}
}

// Restore rebuilds a saved card from its stored state.
func Restore(s State) *Method { return &Method{s} }

// State returns a copy of the data.
func (m *Method) State() State { return m.s }

// Usable reports whether the card may be charged.
func (s State) Usable() bool { return s.RemovedAt.IsZero() }

// Remove takes the card out of use. NOT_FOUND when it was removed before: nobody sees it any more.
func (m *Method) Remove(now time.Time) error {
	if !m.s.Usable() {
		return fault.NotFound("payment method")
	}
	m.s.RemovedAt = now
	m.s.Revision++
	return nil
}

// Choose makes the card the one that pays from now on, until the customer saves or chooses another. NOT_FOUND when it
// was removed.
func (m *Method) Choose(now time.Time) error {
	if !m.s.Usable() {
		return fault.NotFound("payment method")
	}
	m.s.ChosenAt = now
	m.s.Revision++
	return nil
}

// MandateText returns the text beside the button that saves a card, in the customer's language. It names the seller of
// record, who charges the card, and the creator whose shop it is for. It is stored with its acceptance.
func MandateText(reader locale.Locale, merchant, shop string) string {
	return reader.Text("mandate", merchant, shop)
}

// Saved is emitted when a customer has saved a card for later charges.
type Saved struct{ State }

// EventName implements event.Event.
func (Saved) EventName() string { return "payment_method.saved" }

// Chosen is emitted when a customer makes one of their saved cards the one that pays.
type Chosen struct {
	State
	At time.Time
}

// EventName implements event.Event.
func (Chosen) EventName() string { return "payment_method.chosen" }

// Removed is emitted when a saved card is taken out of use.
type Removed struct {
	State
	// Next is the customer's latest other card; empty when there is none.
	Next string
}

// EventName implements event.Event.
func (Removed) EventName() string { return "payment_method.removed" }
