// Package subscription is a recurring purchase: its periods, its states and the transitions between them.
package subscription

import (
	"time"

	"sundry/core/fault"
	"sundry/core/period"
	"sundry/core/plan"
)

// Status is where a subscription stands (contract §9).
type Status string

// The statuses that a subscription passes through before renewals exist.
const (
	Trialing Status = "trialing"
	Active   Status = "active"
	Expired  Status = "expired"
)

// State is a subscription's data, as stores and views see it.
type State struct {
	ID                 string
	CreatorID          string
	CustomerID         string
	ExternalCustomerID string
	CheckoutID         string
	Offer              plan.Offer
	Status             Status
	// PaymentMethod is the processor's token of the saved card.
	PaymentMethod      string
	Anchor             time.Time // period n begins at Anchor + n intervals
	CurrentPeriodStart time.Time
	CurrentPeriodEnd   time.Time
	TrialEndsAt        time.Time // zero without a trial
	StartedAt          time.Time
	EndedAt            time.Time // zero while it runs
	Revision           int64
}

// Subscription is the aggregate.
type Subscription struct{ s State }

// Origin is what a subscription is made from.
type Origin struct {
	ID, CreatorID, CustomerID, ExternalCustomerID, CheckoutID, PaymentMethod string
	Offer                                                                    plan.Offer
}

// Start begins a subscription with its first payment, or with its trial when the offer has one. A trial's end is the
// anchor of the paid periods.
func Start(o Origin, now time.Time) (*Subscription, Started) {
	s := State{
		ID: o.ID, CreatorID: o.CreatorID, CustomerID: o.CustomerID, ExternalCustomerID: o.ExternalCustomerID,
		CheckoutID: o.CheckoutID, Offer: o.Offer, PaymentMethod: o.PaymentMethod,
		Status: Active, Anchor: now, CurrentPeriodStart: now, StartedAt: now, Revision: 1,
	}
	if o.Offer.TrialDays > 0 {
		s.Status = Trialing
		s.TrialEndsAt = now.AddDate(0, 0, o.Offer.TrialDays)
		s.Anchor = s.TrialEndsAt
		s.CurrentPeriodEnd = s.TrialEndsAt
	} else {
		s.CurrentPeriodEnd = period.Nth(now, o.Offer.Interval, o.Offer.IntervalCount, 1)
	}
	return &Subscription{s}, Started{s}
}

// Restore rebuilds a subscription from its stored state.
func Restore(s State) *Subscription { return &Subscription{s} }

// State is a copy of the data.
func (sub *Subscription) State() State { return sub.s }

// Expire ends a subscription whose paid period is over and was not renewed.
func (sub *Subscription) Expire(now time.Time) (Ended, error) {
	if sub.s.Status == Expired {
		return Ended{}, fault.New(fault.StateConflict, "The subscription has already ended.")
	}
	if now.Before(sub.s.CurrentPeriodEnd) {
		return Ended{}, fault.New(fault.StateConflict, "The current period of the subscription is not over yet.")
	}
	sub.s.Status, sub.s.EndedAt = Expired, now
	sub.s.Revision++
	return Ended{sub.s}, nil
}
