package subscription

import (
	"time"

	"sundry/core/fault"
	"sundry/core/locale"
	"sundry/core/money"
	"sundry/core/payment"
	"sundry/core/period"
	"sundry/core/plan"
)

// ProrationMode selects the time at which a change of plan takes effect.
type ProrationMode string

// The modes: at once, charging or crediting the difference by days; or with the next period, at its price.
const (
	ChargeNow  ProrationMode = "charge_now"
	NextPeriod ProrationMode = "next_period"
)

// ParseProrationMode accepts the two modes. Its error is a VALIDATION_FAILED fault without a field, made for
// Violations.Merge.
func ParseProrationMode(s string) (ProrationMode, error) {
	if m := ProrationMode(s); m == ChargeNow || m == NextPeriod {
		return m, nil
	}
	return "", fault.Invalid(fault.Detail{Code: fault.DetailNotAllowed, Message: fault.ExpectedOneOf(s, string(ChargeNow),
		string(NextPeriod))})
}

// ChangeBill returns the bill of a change of plan now. During a trial nothing is due for another plan with a trial,
// because nothing is paid for yet; a plan without one ends the trial and is charged. Nothing is due with NextPeriod,
// nor for the present plan in its quantity.
// The rest of the current period is worth its share by days, the day that has begun included. A bill with something
// due is refused while a payment is in dispute.
func (sub *Subscription) ChangeBill(to plan.Offer, mode ProrationMode, now time.Time) (Bill, error) {
	b, err := sub.changeBill(to, mode, now)
	if err == nil && b.Due().Minor > 0 && len(sub.s.Disputes) > 0 {
		return Bill{}, sub.refuse(contested)
	}
	return b, err
}

// changeBill is ChangeBill whatever is in dispute.
func (sub *Subscription) changeBill(to plan.Offer, mode ProrationMode, now time.Time) (Bill, error) {
	if err := sub.changeable(to); err != nil {
		return Bill{}, err
	}
	s := sub.s
	trial := to.TrialDays > 0 || to.PriceID == s.Offer.PriceID // the same plan goes on with its trial
	to.TrialDays = 0                                           // there is one trial, at the beginning
	none := money.Amount{Currency: to.Price.Currency}
	b := Bill{
		Kind: PlanChange, Offer: to, Anchor: s.Anchor, PeriodStart: s.CurrentPeriodStart, PeriodEnd: s.CurrentPeriodEnd,
		Subtotal: none, Discount: none, CreditUsed: none, CreditAfter: s.Credit, PeriodValue: s.PeriodValue,
		Replaced: s.PeriodValue,
	}
	switch {
	case mode == NextPeriod, s.Status == StatusTrialing && trial, to.SameAs(s.Offer): // which takes a planned one back
		return b, nil
	case s.Status == StatusTrialing:
		b.Kind, b.Anchor, b.PeriodStart = Conversion, now, now
		b.PeriodEnd = period.Nth(now, to.Interval, to.IntervalCount, 1)
		return s.priced(b)
	}
	return s.prorated(b, now)
}

// changeable refuses with the reason why the plan cannot be changed.
func (sub *Subscription) changeable(to plan.Offer) error {
	switch s := sub.s; {
	case s.Status != StatusActive && s.Status != StatusTrialing:
		return sub.refuse("Only an active or trialing subscription can change its plan.")
	case s.CancelAtPeriodEnd:
		return sub.refuse("The subscription is to be canceled. Resume it first.")
	case s.Charge != nil:
		return sub.refuse(underWay)
	case to.ListingID != s.Offer.ListingID || to.Price.Currency != s.Offer.Price.Currency || !to.Recurring():
		return sub.refuse("A subscription changes between the recurring plans of its listing, in its currency.")
	case to.SameAs(s.Offer) && s.Planned == nil:
		return sub.refuse("The subscription is on this plan in this quantity already.")
	}
	return nil
}

// prorated credits what is left of the current period and charges what the new plan costs: the same days when the
// interval stays, else a whole period that begins now.
func (s State) prorated(b Bill, now time.Time) (Bill, error) {
	left, total := DaysLeft(s.CurrentPeriodStart, s.CurrentPeriodEnd, now)
	unused, err := s.PeriodValue.RatioPayable(left, total)
	if err != nil {
		return Bill{}, err
	}
	start, old := s.CurrentPeriodStart, payment.PlanShare{Plan: s.Offer.Name(), Unused: true, Left: left, Days: total}
	next := payment.PlanShare{Plan: b.Offer.Name()}
	if !sameInterval(s.Offer, b.Offer) {
		b.Anchor, b.PeriodStart, b.PeriodEnd = now, now, period.Nth(now, b.Offer.Interval, b.Offer.IntervalCount, 1)
		start, left, total = now, 1, 1
	} else {
		next.Left, next.Days = left, total
		if s.Discount != nil && s.Discount.Once {
			s.Discount = nil // it is left for the next period
		}
	}
	if b.PeriodValue, err = s.net(b.Offer, start); err != nil {
		return Bill{}, err
	}
	fresh, err := b.PeriodValue.RatioPayable(left, total)
	if err != nil {
		return Bill{}, err
	}
	unused.Minor = -unused.Minor
	b.Lines = []payment.Line{
		{Description: old.Text(locale.Default), Amount: unused, Share: old},
		{Description: next.Text(locale.Default), Amount: fresh, Share: next},
	}
	return s.settled(b, fresh.Minor+unused.Minor)
}

// settled charges a difference, or carries it as credit when it is in the customer's favor.
func (s State) settled(b Bill, difference int64) (Bill, error) {
	b.Subtotal.Minor = max(difference, 0)
	b = s.credited(b)
	var err error
	b.CreditAfter, err = b.CreditAfter.Add(money.Amount{Minor: max(-difference, 0), Currency: b.Subtotal.Currency})
	return b, err
}

// DaysLeft counts a period's days of 24 hours, and those of them that are not over at an instant within it.
func DaysLeft(start, end, now time.Time) (left, total int64) {
	total = int64(end.Sub(start) / day) // a period is whole days of UTC
	gone := int64(now.Sub(start) / day)
	return min(max(total-gone, 0), total), total
}

// NextOffer returns the planned offer of the next period; nil where it stays the same, or none follows.
func (s State) NextOffer() *plan.Offer {
	if s.CancelAtPeriodEnd {
		return nil
	}
	return s.Planned
}

// PlanFor makes the next period be sold as another plan, or as before when that is the plan of the current one.
func (sub *Subscription) PlanFor(to plan.Offer) (Updated, error) {
	if err := sub.changeable(to); err != nil {
		return Updated{}, err
	}
	before := sub.s
	sub.s.Planned = &to
	if to.SameAs(sub.s.Offer) {
		sub.s.Planned = nil
	}
	return sub.updated(before), nil
}
