package appointment

import (
	"time"

	"sundry/core/money"
)

// Canceler names the party that canceled an appointment; "" while it is confirmed.
type Canceler string

// The people who can cancel an appointment.
const (
	ByBuyer   Canceler = "buyer"
	ByCreator Canceler = "creator"
	BySystem  Canceler = "system"
)

// RefundPolicy determines the refund of a buyer who cancels, as it was when the time was booked. The zero value
// promises nothing.
type RefundPolicy struct {
	Promised bool
	// FullHours is the notice, in hours before the start, that earns a full refund.
	FullHours int
}

// PolicyOf returns the policy of an offer that promises a full refund until so many hours before the start; nil
// promises nothing.
func PolicyOf(fullRefundHours *int) RefundPolicy {
	if fullRefundHours == nil {
		return RefundPolicy{}
	}
	return RefundPolicy{Promised: true, FullHours: *fullRefundHours}
}

// Hours is FullHours, nil where nothing is promised.
func (p RefundPolicy) Hours() *int {
	if !p.Promised {
		return nil
	}
	return &p.FullHours
}

// Until returns the last moment of a full refund.
func (p RefundPolicy) Until(startsAt time.Time) time.Time {
	return startsAt.Add(-time.Duration(p.FullHours) * time.Hour)
}

// moved is the policy with the last moment that it had before the start was moved, rounded down to hours before the new
// start.
func (p RefundPolicy) moved(from, to time.Time) RefundPolicy {
	p.FullHours = int((to.Sub(p.Until(from)) + time.Hour - 1) / time.Hour)
	return p
}

// RefundDecision is the effect of a cancellation on the money that was paid.
type RefundDecision string

// The decisions. RefundDue is the only one that moves money.
const (
	RefundDue       RefundDecision = "refunded"
	NothingPaid     RefundDecision = "not_paid"
	NoRefundPolicy  RefundDecision = "no_policy"
	TooLateToRefund RefundDecision = "too_late"
	RefundDeclined  RefundDecision = "declined" // by the creator
	PaymentDisputed RefundDecision = "disputed"
	NothingLeft     RefundDecision = "already_refunded"
)

// DecideRefund reports whether canceling entitles to a refund, as far as the appointment itself determines it: a buyer
// has what the policy promised, a creator decides freely.
func (a State) DecideRefund(by Canceler, wanted bool, now time.Time) RefundDecision {
	switch {
	case by != ByBuyer && wanted:
		return RefundDue
	case by != ByBuyer:
		return RefundDeclined
	case !a.RefundPolicy.Promised:
		return NoRefundPolicy
	case now.After(a.RefundPolicy.Until(a.StartsAt)):
		return TooLateToRefund
	}
	return RefundDue
}

// ShareOf returns the part of a payment for several appointments that one of them is worth. The shares do not depend on
// the order in which they are computed, and sum to exactly the payment.
func ShareOf(paid money.Amount, position, count int) (money.Amount, error) {
	before, err := paid.RatioPayable(int64(position), int64(count))
	if err != nil {
		return money.Amount{}, err
	}
	after, err := paid.RatioPayable(int64(position)+1, int64(count))
	if err != nil {
		return money.Amount{}, err
	}
	return money.Amount{Minor: after.Minor - before.Minor, Currency: paid.Currency}, nil
}

// Cancellation describes a cancellation: its author, its reason, and its effect on the money.
type Cancellation struct {
	By     Canceler
	Reason string // may be ""
	Refund Refund
}

// Refund is the effect of a cancellation on the money. RefundID and Amount are set with RefundDue.
type Refund struct {
	Decision RefundDecision
	RefundID string
	Amount   money.Amount
}
