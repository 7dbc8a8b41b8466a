// Package payment is one attempt to take a buyer's money. A session has at most one that is not settled.
package payment

import (
	"fmt"
	"time"

	"sundry/core/money"
)

// Status is the state of an attempt.
type Status string

// The statuses. Pending means that we asked and do not know the outcome: it is never taken for a failure.
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

// NextAction leads the buyer's browser to their bank. It opens one payment and is for its buyer only: never log or
// store it.
type NextAction struct {
	// ClientSecret lets the processor's script go on with the payment; empty where a page of ours plays the bank.
	ClientSecret string
	// RedirectURL is the bank's page; empty when the processor's script knows.
	RedirectURL string
}

// Outcome is the state of an attempt as the processor reports it now.
type Outcome struct {
	Status  Status
	Decline DeclineReason // with Declined
	// Method is the reusable token of the card, when it was saved.
	Method string
	Brand  string
	Last4  string
	// ExpMonth and ExpYear are the card's; 0 when unknown.
	ExpMonth int
	ExpYear  int
	// ProcessorID is the processor's own id of the attempt; "" when it has none.
	ProcessorID string
	// Action is the next step of the buyer's browser, with RequiresAction. It is never stored.
	Action NextAction
	// CardCountry is the country of the card's issuer (ISO 3166-1 alpha-2); "" when the processor doesn't report it.
	CardCountry string
	// CardFingerprint is the same for the same card number; "" when the processor doesn't report it. It is never stored.
	CardFingerprint string
	// Fee is the processor's fee for a charge that succeeds; without currency when it doesn't report it.
	Fee money.Amount
}

// State is an attempt's data, as stores and views see it.
type State struct {
	ID        string
	CreatorID string
	// Subject names the object being paid for, and Sale breaks down the amount.
	Subject
	Sale    Sale
	Amount  money.Amount
	Status  Status
	Decline DeclineReason
	// Provider names the payment provider that takes the money. It refunds it, too, even after another takes new payments.
	Provider string
	// ProcessorID is the processor's own id of the attempt; empty until it has responded.
	ProcessorID string
	// Method is the processor's token of the card; empty for a payment of zero.
	Method   string
	Brand    string
	Last4    string
	SaveCard bool
	// Mandate is the text the customer agreed to where SaveCard keeps their card, as the page showed it; empty where the
	// subject knows it.
	Mandate string
	// OffSession is true when no buyer is present to authenticate.
	OffSession bool
	CreatedAt  time.Time
	SettledAt  time.Time // zero until final
	// Refunded is the part of the amount that went back.
	Refunded money.Amount
	// ProcessorFee is the processor's fee; zero until the payment succeeded.
	ProcessorFee money.Amount
	Revision     int64
}

// Payment is the aggregate.
type Payment struct{ s State }

// Intent describes an attempt before the processor is asked for it.
type Intent struct {
	ID        string
	CreatorID string
	Subject
	Sale       Sale
	Amount     money.Amount
	Provider   string // that takes the money; "" for the first of the program
	Method     string // the processor's token of the card
	Brand      string
	Last4      string
	SaveCard   bool
	Mandate    string // with SaveCard
	OffSession bool
}

// NewPending records that money is about to be asked for, before the processor receives it.
func NewPending(i Intent, now time.Time) *Payment {
	return &Payment{State{
		ID: i.ID, CreatorID: i.CreatorID, Subject: i.Subject, Sale: i.Sale, Amount: i.Amount, Provider: i.Provider,
		Method: i.Method, Brand: i.Brand, Last4: i.Last4, SaveCard: i.SaveCard, Mandate: i.Mandate, OffSession: i.OffSession,
		Status: Pending, Refunded: money.Amount{Currency: i.Amount.Currency},
		ProcessorFee: money.Amount{Currency: i.Amount.Currency}, CreatedAt: now, Revision: 1,
	}}
}

// Restore rebuilds an attempt from its stored state.
func Restore(s State) *Payment { return &Payment{s} }

// State returns a copy of the data.
func (p *Payment) State() State { return p.s }

// transitions lists what may follow what. A status that is not its own successor is final. Canceled to Succeeded is
// late money: the processor took it although it had reported that it would not.
var transitions = map[Status][]Status{
	Pending:        {RequiresAction, Processing, Succeeded, Declined, Canceled},
	RequiresAction: {Processing, Succeeded, Declined, Canceled},
	Processing:     {RequiresAction, Succeeded, Declined, Canceled},
	Canceled:       {Succeeded},
	Declined:       {},
	Succeeded:      {},
}

// Apply applies the processor's report. changed is false for a report without news, so doubled and late messages are
// harmless. An impossible report is an error and changes nothing.
func (p *Payment) Apply(o Outcome, now time.Time) (changed bool, err error) {
	if o.Status == p.s.Status || o.Status == Pending {
		return false, nil
	}
	for _, next := range transitions[p.s.Status] {
		if next != o.Status {
			continue
		}
		p.s.Status, p.s.Decline = o.Status, o.Decline
		if o.Method != "" {
			p.s.Method = o.Method
		}
		if o.ProcessorID != "" {
			p.s.ProcessorID = o.ProcessorID
		}
		if o.Last4 != "" {
			p.s.Brand, p.s.Last4 = o.Brand, o.Last4
		}
		if o.Status.Final() {
			p.s.SettledAt = now
		}
		if o.Status == Succeeded && o.Fee.Currency == p.s.Amount.Currency {
			p.s.ProcessorFee = o.Fee
		}
		p.s.Revision++
		return true, nil
	}
	return false, fmt.Errorf("payment %s is %s and cannot become %s", p.s.ID, p.s.Status, o.Status)
}

// Document names the customer of a payment that has just succeeded, and its receipt ("" for an invoice, which has a
// number already). It belongs to the change that made the payment succeed, so the revision stays. An error for any
// other payment, and for one that is documented already.
func (p *Payment) Document(customerID, receiptNumber string) error {
	if p.s.Status != Succeeded || p.s.Sale.ReceiptNumber != "" {
		return fmt.Errorf("payment %s is %s with receipt %q: it takes no receipt", p.s.ID, p.s.Status, p.s.Sale.ReceiptNumber)
	}
	p.s.CustomerID, p.s.Sale.ReceiptNumber = customerID, receiptNumber
	return nil
}

// Refund records that a part of the payment went back to the buyer. An error for more than was paid.
func (p *Payment) Refund(amount money.Amount) error {
	refunded, err := p.s.Refunded.Add(amount)
	if err != nil {
		return fmt.Errorf("refund of payment %s: %w", p.s.ID, err)
	}
	if p.s.Status != Succeeded || amount.Minor <= 0 || refunded.Minor > p.s.Amount.Minor {
		return fmt.Errorf("payment %s is %s with %d of %d refunded: %d can't go back", p.s.ID, p.s.Status, p.s.Refunded.Minor,
			p.s.Amount.Minor, amount.Minor)
	}
	p.s.Refunded = refunded
	p.s.Revision++
	return nil
}

// ReverseRefund records that a refund came back from the buyer's bank. An error for more than was refunded.
func (p *Payment) ReverseRefund(amount money.Amount) error {
	refunded, err := p.s.Refunded.Sub(amount)
	if err != nil {
		return fmt.Errorf("reversed refund of payment %s: %w", p.s.ID, err)
	}
	if amount.Minor <= 0 || refunded.Minor < 0 {
		return fmt.Errorf("payment %s has %d refunded: %d can't come back", p.s.ID, p.s.Refunded.Minor, amount.Minor)
	}
	p.s.Refunded = refunded
	p.s.Revision++
	return nil
}
