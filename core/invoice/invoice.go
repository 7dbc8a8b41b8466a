// Package invoice is a request for money that a customer's saved card is charged for: pushed by the integrator with
// amounts of their own, or made at the end of a period from metered use.
package invoice

import (
	"slices"
	"time"

	"sundry/core/fault"
	"sundry/core/metadata"
	"sundry/core/money"
	"sundry/core/payment"
	"sundry/core/tax"
	"sundry/core/usage"
)

// Status is the state of an invoice.
type Status string

// The statuses of an invoice. Open: finalized, and no charge has failed yet.
const (
	Open   Status = "open"
	Failed Status = "failed" // the last charge failed; see NextAttemptAt
	Paid   Status = "paid"
)

// LineKind specifies where a line comes from.
type LineKind string

// The kinds of lines.
const (
	Pushed    LineKind = "pushed"     // the integrator's own amount
	Usage     LineKind = "usage"      // the use of the invoice's period
	LateUsage LineKind = "late_usage" // use of an earlier period that arrived after its invoice
	Included  LineKind = "included"   // the part of the use before it that the plan includes
	Minimum   LineKind = "minimum"    // what the use before it lacks to the minimum of its price
	Prepaid   LineKind = "prepaid"    // what a usage credit takes off: less than 0
)

// Line is one item of an invoice. The members about usage are zero in a pushed one.
type Line struct {
	ID          string   `json:"id"`
	Kind        LineKind `json:"kind"`
	Description string   `json:"description"`
	AmountMinor int64    `json:"amountMinor"`
	// Rated explains the amount of a usage line.
	Rated *usage.Rated `json:"rated,omitempty"`
}

// State is an invoice's data, as stores and views see it.
type State struct {
	ID                 string
	CreatorID          string
	CustomerID         string
	ExternalCustomerID string
	// Number is <PREFIX>-I-000001, without gaps per account.
	Number   string
	Status   Status
	Currency money.Currency
	Lines    []Line
	// Subtotal is the sum of the lines; Tax is contained in it, or added, as TaxDetails specify; Total is what is charged.
	Subtotal, Tax, Total money.Amount
	// TaxDetails explain why the tax is what it is, frozen with the invoice.
	TaxDetails tax.Details
	// PeriodStart and PeriodEnd are the integrator's own words for a pushed invoice, instants for one of usage.
	PeriodStart, PeriodEnd string
	// SubscriptionID and BillingPlanID are empty for a pushed invoice.
	SubscriptionID, BillingPlanID string
	// Key is the integrator's idempotency key, and Fingerprint shows whether it came with the same body. Empty for usage.
	Key         string
	Fingerprint []byte
	// Metadata is the integrator's own.
	Metadata metadata.Pairs

	AttemptCount  int
	FirstFailedAt time.Time           // zero until a charge failed
	NextAttemptAt time.Time           // zero when none is planned
	DeclineCode   payment.DeclineCode // of the last charge that failed
	PaymentID     string              // of the charge that paid
	CreatedAt     time.Time
	FinalizedAt   time.Time
	PaidAt        time.Time // zero until paid
	Revision      int64
	// Links are the customer's pages of the invoice. They follow from its id and are not stored.
	Links Links
}

// retryAfter are the times of the further charges, counted from the first that failed.
var retryAfter = []time.Duration{1 * day, 3 * day, 5 * day, 7 * day}

const day = 24 * time.Hour

// Invoice is the aggregate.
type Invoice struct{ s State }

// Subtotal returns the sum of lines.
func Subtotal(currency money.Currency, lines []Line) (money.Amount, error) {
	sum := money.Amount{Currency: currency}
	for _, line := range lines {
		var err error
		if sum, err = sum.Add(line.Amount(currency)); err != nil {
			return money.Amount{}, err
		}
	}
	return sum, nil
}

// TaxAdded returns the part of the total that is tax on top of the lines: none where they contain it.
func (s State) TaxAdded() money.Amount {
	if s.TaxDetails.Behavior == tax.Exclusive {
		return s.Tax
	}
	return money.Amount{Currency: s.Currency}
}

// New makes and finalizes an invoice of the given lines, whose sum must not be negative. An invoice of zero is paid at
// once, without a charge. The events are in the order in which they are to be published. s contains its tax and
// everything but the other amounts, the status and the times.
func New(s State, now time.Time) (*Invoice, []Event, error) {
	subtotal, err := Subtotal(s.Currency, s.Lines)
	if err != nil {
		return nil, nil, err
	}
	s.Subtotal = subtotal
	if s.Tax.Currency == "" {
		s.Tax = money.Amount{Currency: s.Currency}
	}
	if s.Total, err = subtotal.Add(s.TaxAdded()); err != nil {
		return nil, nil, err
	}
	if subtotal.Minor < 0 || subtotal.Minor > usage.MaxAmount {
		return nil, nil, fault.New(fault.LimitReached, "The lines of an invoice come to 0 to 99999999999 minor units.")
	}
	s.Status, s.CreatedAt, s.FinalizedAt, s.Revision = Open, now, now, 1
	inv := &Invoice{s}
	events := []Event{Created{inv.State()}, Finalized{inv.State()}}
	if s.Total.Minor == 0 {
		inv.s.Status, inv.s.PaidAt = Paid, now
		events = append(events, PaidEvent{inv.State()})
	}
	return inv, events, nil
}

// Restore rebuilds an invoice from its stored state.
func Restore(s State) *Invoice { return &Invoice{s} }

// State returns a copy of the data.
func (inv *Invoice) State() State {
	s := inv.s
	s.Lines = slices.Clone(s.Lines)
	return s
}

// SetMetadata changes the integrator's own pairs, which no document shows. changed is false when they stay as they are.
// VALIDATION_FAILED.
func (inv *Invoice) SetMetadata(c metadata.Change) (changed bool, err error) {
	after, err := c.Apply(inv.s.Metadata)
	if err != nil || after == inv.s.Metadata {
		return false, err
	}
	inv.s.Metadata = after
	inv.s.Revision++
	return true, nil
}

// Chargeable refuses with STATE_CONFLICT an invoice that is paid.
func (inv *Invoice) Chargeable() error {
	if inv.s.Status == Paid {
		return fault.New(fault.StateConflict, "The invoice is paid.")
	}
	return nil
}

// Charged records that a charge took the money. changed is false when it was recorded before. Money that arrives for an
// invoice that another charge has paid is an error: it has to go back.
func (inv *Invoice) Charged(paymentID string, now time.Time) (e PaidEvent, changed bool, err error) {
	if inv.s.Status == Paid {
		if inv.s.PaymentID == paymentID {
			return PaidEvent{}, false, nil
		}
		return PaidEvent{}, false, ErrPaidTwice
	}
	inv.s.Status, inv.s.PaymentID, inv.s.PaidAt = Paid, paymentID, now
	inv.s.AttemptCount++
	inv.s.NextAttemptAt, inv.s.DeclineCode = time.Time{}, ""
	inv.s.Revision++
	return PaidEvent{inv.State()}, true, nil
}

// EndRetries cancels the planned charge. changed is false without one.
func (inv *Invoice) EndRetries() (changed bool) {
	if inv.s.NextAttemptAt.IsZero() {
		return false
	}
	inv.s.NextAttemptAt = time.Time{}
	inv.s.Revision++
	return true
}

// Refused records that a charge that began at a time failed and plans the next: 1, 3, 5 and 7 days after the first
// failure. A manual charge moves none, nor does it take the place of one that fell due meanwhile. STATE_CONFLICT when
// the invoice is paid.
func (inv *Invoice) Refused(declineCode payment.DeclineCode, begun, now time.Time) (PaymentFailed, error) {
	if err := inv.Chargeable(); err != nil {
		return PaymentFailed{}, err
	}
	planned := inv.s.NextAttemptAt
	if inv.s.FirstFailedAt.IsZero() {
		inv.s.FirstFailedAt = now
	}
	inv.s.Status, inv.s.DeclineCode, inv.s.NextAttemptAt = Failed, declineCode, time.Time{}
	inv.s.AttemptCount++
	for _, after := range retryAfter {
		if at := inv.s.FirstFailedAt.Add(after); at.After(now) && declineCode != payment.AmountTooSmall {
			inv.s.NextAttemptAt = at
			break
		}
	}
	if planned.After(begun) {
		inv.s.NextAttemptAt = planned
	}
	inv.s.Revision++
	return PaymentFailed{inv.State()}, nil
}
