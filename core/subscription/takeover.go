package subscription

import (
	"time"

	"sundry/core/fault"
	"sundry/core/money"
	"sundry/core/period"
	"sundry/core/plan"
)

// TakeOver describes how far another service has billed a subscription. Times that do not apply are zero.
type TakeOver struct {
	// StartedAt is the start of the subscription at the other service; zero is now.
	StartedAt time.Time
	// PaidUntil is the end of the period that the customer has paid there, and TrialEndsAt that of a trial that runs: one
	// of both is set. The first charge falls due then.
	PaidUntil, TrialEndsAt time.Time
	// Anchor is the instant from which its periods are counted; zero is the end of the current one.
	Anchor time.Time
	// CreditInMinor is the customer's credit, which the next charges use up.
	CreditInMinor     int64
	CancelAtPeriodEnd bool
}

// TakeOver begins a subscription where another service leaves off: it charges nothing before the time that was paid
// there is over. VALIDATION_FAILED with every fault.
func (sub *Subscription) TakeOver(t TakeOver, now time.Time) (Created, error) {
	if sub.s.Status != StatusIncomplete {
		return Created{}, sub.refuse("The subscription has begun already.")
	}
	s := sub.s
	if s.StartedAt = t.StartedAt; s.StartedAt.IsZero() {
		s.StartedAt = now
	}
	if err := t.check(s.Offer, s.StartedAt, now); err != nil {
		return Created{}, err
	}
	s.CancelAtPeriodEnd = t.CancelAtPeriodEnd
	if s.CancelAtPeriodEnd {
		s.CanceledAt, s.CancelReason = now, CancelRequested
	}
	value := money.Amount{Currency: s.Offer.Price.Currency}
	if !t.TrialEndsAt.IsZero() {
		s.Status, s.TrialEndsAt, s.Anchor = StatusTrialing, t.TrialEndsAt, t.TrialEndsAt
		s.CurrentPeriodStart, s.CurrentPeriodEnd = s.StartedAt, t.TrialEndsAt
	} else {
		s.Status, s.Anchor = StatusActive, t.anchor()
		s.CurrentPeriodStart, s.CurrentPeriodEnd = t.paidPeriod(s.Offer)
		value = s.Offer.Price
		if s.Discount != nil && !s.Discount.Once { // one that applies once is left for the next period
			var err error
			if value, err = s.net(s.Offer, s.CurrentPeriodStart); err != nil {
				return Created{}, err
			}
		}
	}
	s.fund([]Fund{{Value: value.Minor, Credit: t.CreditInMinor}})
	sub.s = s
	return Created{sub.changed()}, nil
}

func (t TakeOver) anchor() time.Time {
	if t.Anchor.IsZero() {
		return t.PaidUntil
	}
	return t.Anchor
}

// paidPeriod returns the period of the anchor in which the last instant is that was paid for.
func (t TakeOver) paidPeriod(o plan.Offer) (start, end time.Time) {
	_, start, end = period.Containing(t.anchor(), o.Interval, o.IntervalCount, t.PaidUntil.Add(-time.Millisecond))
	return start, end
}

func (t TakeOver) check(o plan.Offer, startedAt, now time.Time) error {
	var f fault.Violations
	f.Check(o.Recurring(), "catalog", fault.DetailNotAllowed, "Expected a plan that renews.")
	f.Check(!startedAt.After(now), "startedAt", fault.DetailOutOfRange, "Expected a time that is over.")
	f.Check(t.CreditInMinor >= 0 && t.CreditInMinor <= plan.MaxAmount, "creditInCents", fault.DetailOutOfRange,
		"Expected 0 to 99999999999 minor units.")
	o.Price.Currency.CheckStep(&f, "creditInCents", t.CreditInMinor)
	switch {
	case t.PaidUntil.IsZero() == t.TrialEndsAt.IsZero():
		f.Add("paidUntil", fault.DetailRequired, "Expected either paidUntil or trialEndsAt: a subscription that is paid for "+
			"now begins with a checkout session.")
	case !t.TrialEndsAt.IsZero():
		f.Check(t.TrialEndsAt.After(now) && !t.TrialEndsAt.After(now.AddDate(0, 0, plan.MaxTrialDays)), "trialEndsAt",
			fault.DetailOutOfRange, "Expected a time in the next 730 days.")
		f.Check(t.Anchor.IsZero() || t.Anchor.Equal(t.TrialEndsAt), "anchor", fault.DetailNotAllowed,
			"The periods after a trial are counted from its end.")
	case o.Recurring():
		t.checkPeriod(&f, o, now)
	}
	return f.Err()
}

// checkPeriod wants the paid period to be one that runs now, and one of the anchor's.
func (t TakeOver) checkPeriod(f *fault.Violations, o plan.Offer, now time.Time) {
	start, end := t.paidPeriod(o)
	f.Check(t.PaidUntil.After(now), "paidUntil", fault.DetailOutOfRange, "Expected a time in the future.")
	f.Check(!start.After(now), "paidUntil", fault.DetailOutOfRange, "Expected the end of the period that runs now.")
	f.Check(end.Equal(t.PaidUntil), "anchor", fault.DetailInvalid,
		"Expected an instant of which a period of the plan's interval ends at paidUntil.")
}
