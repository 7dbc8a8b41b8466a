// Package payment is one attempt to take a buyer's money. A session has at most one that is not settled.
package payment

import (
	"fmt"
	"time"

	"sundry/core/money"
)

// Status is where an attempt stands.
type Status string

// The statuses. Pending means that we asked and do not know the answer: it is never taken for a failure.
const (
	Pending        Status = "pending"
	RequiresAction Status = "requires_action"
	Processing     Status = "processing"
	Succeeded      Status = "succeeded"
	Declined       Status = "declined"
	Canceled       Status = "canceled"
)

// Final reports whether nothing can happen to the attempt any more.
func (s Status) Final() bool { return s == Succeeded || s == Declined || s == Canceled }

// Refusal is why a card was not charged.
type Refusal struct {
	// Code is the processor's decline code, such as insufficient_funds.
	Code string `json:"code"`
	// Message is fit for the buyer.
	Message string `json:"message"`
}

// Outcome is what the processor says of an attempt now.
type Outcome struct {
	Status  Status
	Refusal Refusal // with Declined
	// Method is the reusable token of the card, when it was saved.
	Method string
	Brand  string
	Last4  string
}

// State is an attempt's data, as stores and views see it.
type State struct {
	ID         string
	CreatorID  string
	CheckoutID string
	Amount     money.Amount
	Status     Status
	Refusal    Refusal
	// Method is the processor's token of the card; empty for a payment of nothing.
	Method    string
	Brand     string
	Last4     string
	SaveCard  bool
	CreatedAt time.Time
	SettledAt time.Time // zero until final
	// Refunded is how much of the amount went back.
	Refunded money.Amount
	Revision int64
}

// Payment is the aggregate.
type Payment struct{ s State }

// Intend records that money is about to be asked for, before the processor hears of it.
func Intend(id, creatorID, checkoutID string, amount money.Amount, method string, saveCard bool, now time.Time) *Payment {
	return &Payment{State{
		ID: id, CreatorID: creatorID, CheckoutID: checkoutID, Amount: amount, Method: method, SaveCard: saveCard,
		Status: Pending, Refunded: money.Amount{Currency: amount.Currency}, CreatedAt: now, Revision: 1,
	}}
}

// Restore rebuilds an attempt from its stored state.
func Restore(s State) *Payment { return &Payment{s} }

// State is a copy of the data.
func (p *Payment) State() State { return p.s }

// reachable lists what may follow what. A status that is not its own successor is final. Canceled to Succeeded is
// late money: the processor took it although it had said that it would not.
var reachable = map[Status][]Status{
	Pending:        {RequiresAction, Processing, Succeeded, Declined, Canceled},
	RequiresAction: {Processing, Succeeded, Declined, Canceled},
	Processing:     {RequiresAction, Succeeded, Declined, Canceled},
	Canceled:       {Succeeded},
	Declined:       {},
	Succeeded:      {},
}

// Apply takes in what the processor says. changed is false when it says nothing new, so doubled and late messages are
// harmless. An impossible message is an error and changes nothing.
func (p *Payment) Apply(o Outcome, now time.Time) (changed bool, err error) {
	if o.Status == p.s.Status || o.Status == Pending {
		return false, nil
	}
	for _, next := range reachable[p.s.Status] {
		if next != o.Status {
			continue
		}
		p.s.Status, p.s.Refusal = o.Status, o.Refusal
		if o.Method != "" {
			p.s.Method = o.Method
		}
		if o.Last4 != "" {
			p.s.Brand, p.s.Last4 = o.Brand, o.Last4
		}
		if o.Status.Final() {
			p.s.SettledAt = now
		}
		p.s.Revision++
		return true, nil
	}
	return false, fmt.Errorf("payment %s is %s and cannot become %s", p.s.ID, p.s.Status, o.Status)
}

// GiveBack records that all of a payment went back to the buyer. changed is false when it had already. An error for a
// payment that was never made.
func (p *Payment) GiveBack() (changed bool, err error) {
	switch {
	case p.s.Status != Succeeded:
		return false, fmt.Errorf("payment %s is %s: nothing can go back", p.s.ID, p.s.Status)
	case p.s.Refunded == p.s.Amount:
		return false, nil
	}
	p.s.Refunded = p.s.Amount
	p.s.Revision++
	return true, nil
}
