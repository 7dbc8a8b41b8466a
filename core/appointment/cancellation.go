package appointment

import (
	"time"

	"sundry/core/money"
)

// Canceler is who canceled an appointment; "" while it is confirmed.
type Canceler string

// The cancelers of the contract.
const (
	ByBuyer   Canceler = "buyer"
	ByCreator Canceler = "creator"
	BySystem  Canceler = "system"
)

// RefundPolicy is what a buyer gets back who cancels, as it was when the time was booked. The zero value promises nothing.
type RefundPolicy struct {
	Promised bool
	// FullHours is how long before the start a buyer must cancel for a full refund.
	FullHours int
}

// PolicyOf is the policy of an offer that promises a full refund until so many hours before the start; nil promises
// nothing.
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

// Until is the last moment of a full refund.
func (p RefundPolicy) Until(startsAt time.Time) time.Time {
	return startsAt.Add(-time.Duration(p.FullHours) * time.Hour)
}

// RefundDecision is what canceling does to the money that was paid.
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

// DecideRefund is whether canceling entitles to a refund, as far as the appointment itself determines it: a buyer has
// what the policy promised, a creator decides freely.
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

// ShareOf is what one of several appointments is worth of what was paid for all of them. The shares of any of them do not
// depend on the order in which they are asked for, and sum to exactly what was paid.
func ShareOf(paid money.Amount, position, count int) (money.Amount, error) {
	before, err := paid.RatioHalfUp(int64(position), int64(count))
	if err != nil {
		return money.Amount{}, err
	}
	after, err := paid.RatioHalfUp(int64(position)+1, int64(count))
	if err != nil {
		return money.Amount{}, err
	}
	return money.Amount{Minor: after.Minor - before.Minor, Currency: paid.Currency}, nil
}

// Cancellation is who cancels, why, and what happens to the money.
type Cancellation struct {
	By     Canceler
	Reason string // may be ""
	Refund Refund
}

// Refund is what canceling did to the money. RefundID and Amount are of the refund, with RefundDue.
type Refund struct {
	Decision RefundDecision
	RefundID string
	Amount   money.Amount
}
