// Package payout is a creator's available balance on its way to their bank account.
package payout

import (
	"fmt"
	"strings"
	"time"

	"sundry/core/fault"
	"sundry/core/ledger"
	"sundry/core/locale"
	"sundry/core/money"
)

// Status is the state of a payout.
type Status string

// The statuses. A payout that was paid can still fail: the creator's bank may send the money back.
const (
	Pending Status = "pending"
	Paid    Status = "paid"
	Failed  Status = "failed"
)

// Request is an account's request for a payout.
type Request struct {
	Currency string
	// Minor is nil to pay out all that is available.
	Minor *int64
	// Key is the caller's idempotency key, "" for none: what was asked for under it within a day is not asked again.
	Key string
}

// Repeats reports whether the request asks for what a payout was made for.
func (r Request) Repeats(s State) bool {
	return strings.EqualFold(r.Currency, string(s.Amount.Currency)) && (r.Minor == nil || *r.Minor == s.Amount.Minor)
}

// Validate reports every fault of the request and returns its currency.
func (r Request) Validate(minimum int64) (money.Currency, error) {
	var f fault.Violations
	var currency money.Currency
	if f.Check(r.Currency != "", "currency", fault.DetailRequired, "Give the currency of the balance to pay out.") {
		var err error
		currency, err = money.ParseCurrency(r.Currency)
		_ = f.Nest("currency").Merge(err) // its only error is a fault of the request
	}
	if r.Minor != nil && *r.Minor < minimum {
		f.Addf("amountInCents", fault.DetailOutOfRange, "A payout is at least %d minor units.", minimum)
	}
	if r.Minor != nil {
		currency.CheckStep(&f, "amountInCents", *r.Minor)
	}
	return currency, f.Err()
}

// Payable returns the part of a balance that can be paid out.
func Payable(balance money.Amount) money.Amount {
	balance.Minor -= balance.Minor % balance.Currency.Step()
	return balance
}

// State is a payout's data, as stores and views see it.
type State struct {
	ID        string // po_…
	CreatorID string
	Amount    money.Amount
	Status    Status
	// FailureReason is the bank's word, with Failed.
	FailureReason string
	// RequestKey is the idempotency key that it was asked for under.
	RequestKey string
	// Destination is the rail's id of the account that it goes to: the one of when it was asked for. "" where the rail
	// needs none.
	Destination string
	CreatedAt   time.Time
	PaidAt      time.Time // zero unless it was paid
	FailedAt    time.Time // zero unless it failed
	Revision    int64
	// StatementURL shows the statement. It follows from the id and is not stored; "" until it was paid.
	StatementURL string
}

// PaidOut is emitted once, when the money was sent.
type PaidOut struct{ State }

// EventName implements event.Event.
func (PaidOut) EventName() string { return "payout.paid" }

// Failure is emitted once, when the bank refused the money or sent it back.
type Failure struct{ State }

// EventName implements event.Event.
func (Failure) EventName() string { return "payout.failed" }

// Payout is the aggregate. Its transitions return the posting that records them.
type Payout struct{ s State }

// Restore rebuilds a payout from its stored state.
func Restore(s State) *Payout { return &Payout{s} }

// State returns a copy of the data.
func (p *Payout) State() State { return p.s }

// Funds contain the balance that a payout draws on, and its destination.
type Funds struct {
	Available money.Amount
	Minimum   int64
	Account   AccountState
}

// Ask sets the amount asked for, of what is available, aside for a payout. The fault is STATE_CONFLICT unless the
// account can receive it, INSUFFICIENT_BALANCE when less is available, or less than the minimum.
func Ask(id, creatorID string, req Request, from Funds, now time.Time) (*Payout, ledger.Posting, error) {
	available, minimum := from.Available, from.Minimum
	amount := Payable(available)
	if req.Minor != nil {
		amount.Minor = *req.Minor
	}
	switch {
	case !from.Account.CanReceive():
		return nil, ledger.Posting{}, notReady(from.Account.Status)
	case amount.Minor > available.Minor:
		return nil, ledger.Posting{}, fault.Newf(fault.InsufficientBalance, "Only %s is available.",
			locale.Default.Money(available))
	case amount.Minor < minimum:
		return nil, ledger.Posting{}, fault.Newf(fault.InsufficientBalance, "%s is available, and a payout is at least %s.",
			locale.Default.Money(available), locale.Default.Money(money.Amount{Minor: minimum, Currency: available.Currency}))
	}
	p := &Payout{State{ID: id, CreatorID: creatorID, Amount: amount, Status: Pending, RequestKey: req.Key,
		Destination: from.Account.ID, CreatedAt: now, Revision: 1}}
	return p, ledger.NewPosting(ledger.SourcePayout, id, ledger.KindPayoutRequested,
		ledger.Debit(ledger.CreatorAvailable, amount), ledger.Credit(ledger.CreatorInTransit, amount)), nil
}

// notReady returns the STATE_CONFLICT fault of an account that cannot receive payouts.
func notReady(status AccountStatus) error {
	switch status {
	case AccountPending:
		return fault.New(fault.StateConflict, "Your payout account isn't ready yet: its details are missing or still being "+
			"checked. Your balance stays available.")
	case AccountRestricted:
		return fault.New(fault.StateConflict, "Your payout account is restricted and can't receive payouts. Your balance "+
			"stays available.")
	case AccountNone, AccountReady:
	}
	return fault.New(fault.StateConflict, "You have no payout account yet. Set one up to be paid out. Your balance "+
		"stays available.")
}

// Pay records that the money was sent. changed is false when that is known already; a payout that failed cannot be
// paid.
func (p *Payout) Pay(now time.Time) (e PaidOut, posting ledger.Posting, changed bool, err error) {
	switch p.s.Status {
	case Paid:
		return PaidOut{}, ledger.Posting{}, false, nil
	case Failed:
		return PaidOut{}, ledger.Posting{}, false, fmt.Errorf("payout %s failed and cannot be paid", p.s.ID)
	case Pending:
	}
	p.s.Status, p.s.PaidAt = Paid, now
	p.s.Revision++
	return PaidOut{p.s}, ledger.NewPosting(ledger.SourcePayout, p.s.ID, ledger.KindPayoutPaid,
		ledger.Debit(ledger.CreatorInTransit, p.s.Amount), ledger.Credit(ledger.ProcessorClearing, p.s.Amount)), true, nil
}

// Fail makes the amount available again: the bank refused it, or sent it back after it was paid. changed is false when
// that is known already.
func (p *Payout) Fail(reason string, now time.Time) (e Failure, posting ledger.Posting, changed bool) {
	source := ledger.CreatorInTransit
	switch p.s.Status {
	case Failed:
		return Failure{}, ledger.Posting{}, false
	case Paid:
		source = ledger.ProcessorClearing
	case Pending:
	}
	p.s.Status, p.s.FailureReason, p.s.FailedAt = Failed, reason, now
	p.s.Revision++
	return Failure{p.s}, ledger.NewPosting(ledger.SourcePayout, p.s.ID, ledger.KindPayoutFailed,
		ledger.Debit(source, p.s.Amount), ledger.Credit(ledger.CreatorAvailable, p.s.Amount)), true
}
