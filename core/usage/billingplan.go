package usage

import (
	"iter"
	"slices"
	"time"

	"sundry/core/fault"
	"sundry/core/period"
)

// PlanStatus is the state of a billing plan.
type PlanStatus string

// The statuses. An ended plan has had its last invoice.
const (
	PlanActive PlanStatus = "active"
	PlanEnded  PlanStatus = "ended"
)

// PlanState is a billing plan's data, as stores and views see it.
type PlanState struct {
	ID                 string
	CreatorID          string
	CustomerID         string
	ExternalCustomerID string
	SubscriptionID     string
	MeterID            string
	// PriceID is the price of the current period and NextPriceID that of the periods after it, "" while it stays.
	PriceID     string
	NextPriceID string
	// EarlierPrices lists the prices of earlier periods, the oldest first.
	EarlierPrices []EarlierPrice
	Schedule      Schedule
	// FreeUntil is the end of the subscription's trial: what was used in a period until then is not charged.
	FreeUntil time.Time
	Current   Period
	Status    PlanStatus
	CreatedAt time.Time
	Revision  int64
}

// EarlierPrice is the price of the periods that ended by a time, and not by that of the one before it.
type EarlierPrice struct {
	PriceID string    `json:"priceId"`
	Until   time.Time `json:"until"`
}

// PriceOf returns the id of the price of a period.
func (s PlanState) PriceOf(p Period) string {
	for _, earlier := range s.EarlierPrices {
		if !p.End.After(earlier.Until) {
			return earlier.PriceID
		}
	}
	return s.PriceID
}

// NextInvoiceAt returns the time at which the invoice of the current period is made; zero for an ended plan.
func (s PlanState) NextInvoiceAt() time.Time {
	if s.Status == PlanEnded {
		return time.Time{}
	}
	return s.Current.End.Add(Grace)
}

// Free reports whether a period's use is not charged.
func (s PlanState) Free(p Period) bool { return !p.End.After(s.FreeUntil) }

// BillingPlan bills a subscription's use of one meter. It is the aggregate.
type BillingPlan struct{ s PlanState }

// PlanDraft is a billing plan as a request writes it.
type PlanDraft struct {
	SubscriptionID  string `json:"subscriptionId"`
	MeterID         string `json:"meterId"`
	PriceID         string `json:"priceId"`
	BillingInterval string `json:"billingInterval"`
}

// Parse checks the draft and lists every fault. Whether what it names exists is for the caller to see.
func (d PlanDraft) Parse() (period.Interval, error) {
	var f fault.Violations
	f.Check(d.SubscriptionID != "", "subscriptionId", fault.DetailRequired, "Expected the id of a subscription.")
	f.Check(d.MeterID != "", "meterId", fault.DetailRequired, "Expected the id of a meter.")
	f.Check(d.PriceID != "", "priceId", fault.DetailRequired, "Expected the id of a usage price.")
	interval := parseInterval(&f, "billingInterval", d.BillingInterval)
	return interval, f.Err()
}

// PriceChange is a change of a plan's price as a request writes it.
type PriceChange struct {
	PriceID string `json:"priceId"`
}

// Check lists every fault. Whether the price exists is for the caller to see.
func (d PriceChange) Check() error {
	var f fault.Violations
	f.Check(d.PriceID != "", "priceId", fault.DetailRequired, "Expected the id of a usage price.")
	return f.Err()
}

// NewBillingPlan starts a plan in the period that now lies in. s brings what the plan is made from.
func NewBillingPlan(s PlanState, now time.Time) *BillingPlan {
	s.Current, s.Status, s.CreatedAt, s.Revision = s.Schedule.At(now), PlanActive, now, 1
	return &BillingPlan{s}
}

// RestoreBillingPlan rebuilds a plan from its stored state.
func RestoreBillingPlan(s PlanState) *BillingPlan { return &BillingPlan{s} }

// State returns a copy of the data.
func (p *BillingPlan) State() PlanState { return p.s }

// Rename stores another identifier of the integrator's own for the customer. changed is false when it is the same.
func (p *BillingPlan) Rename(externalCustomerID string) (changed bool) {
	if p.s.ExternalCustomerID == externalCustomerID {
		return false
	}
	p.s.ExternalCustomerID = externalCustomerID
	p.s.Revision++
	return true
}

// ChangePrice bills the periods after the current one by another price. STATE_CONFLICT for a plan that ends with it.
func (p *BillingPlan) ChangePrice(priceID string) error {
	if !p.s.Schedule.EndsAt.IsZero() {
		return fault.New(fault.StateConflict, "The billing plan has ended, or ends with its period.")
	}
	p.s.NextPriceID = priceID
	if priceID == p.s.PriceID {
		p.s.NextPriceID = ""
	}
	p.s.Revision++
	return nil
}

// EndWithPeriod makes the period that now lies in the last. STATE_CONFLICT for a plan whose end is known.
func (p *BillingPlan) EndWithPeriod(now time.Time) error {
	if !p.End(p.s.Schedule.At(now).End) {
		return fault.New(fault.StateConflict, "The billing plan has ended, or ends with its period.")
	}
	return nil
}

// End stops the billing at a time, but not before the current period, which it may cut. changed is false when an end
// by then is known already.
func (p *BillingPlan) End(at time.Time) (changed bool) {
	at = later(at, p.s.Current.Start)
	if ends := p.s.Schedule.EndsAt; !ends.IsZero() && !at.Before(ends) || p.s.Status == PlanEnded {
		return false
	}
	p.s.Schedule.EndsAt = at
	if at.Before(p.s.Current.End) {
		p.s.Current.End = at
	}
	p.s.Revision++
	return true
}

// EndTrial ends what is free at a time before its end was due. It is the subscription's anchor from then on, and so the
// plan's: the period that runs ends with the trial. changed is false for a plan of which nothing later is free.
func (p *BillingPlan) EndTrial(at time.Time) (changed bool) {
	if !at.Before(p.s.FreeUntil) || p.s.Status == PlanEnded {
		return false
	}
	p.s.FreeUntil = at
	p.s.Schedule.Anchor, p.s.Schedule.StartsAt = at, p.s.Current.Start // periods before keep their bounds
	p.s.Current = p.s.Schedule.At(p.s.Current.Start)
	p.s.Revision++
	return true
}

// Closed yields the periods since Schedule.StartsAt that have had their invoice, in their order.
func (s PlanState) Closed() iter.Seq[Period] {
	return func(yield func(Period) bool) {
		for p := s.Schedule.At(s.Schedule.StartsAt); p.Start.Before(s.Current.Start); p = s.Schedule.Next(p) {
			if !yield(p) {
				return
			}
		}
		if s.Status == PlanEnded {
			yield(s.Current)
		}
	}
}

// Close ends the current period, whose invoice is made now, and begins the next, unless it was the last.
func (p *BillingPlan) Close(now time.Time) (closed Period, err error) {
	switch {
	case p.s.Status == PlanEnded:
		return Period{}, fault.New(fault.StateConflict, "The billing plan has had its last invoice.")
	case now.Before(p.s.NextInvoiceAt()):
		return Period{}, fault.New(fault.StateConflict, "The billing period is not over yet.")
	}
	closed = p.s.Current
	if ends := p.s.Schedule.EndsAt; !ends.IsZero() && !closed.End.Before(ends) {
		p.s.Status = PlanEnded
	} else {
		p.s.Current = p.s.Schedule.Next(closed)
		p.usePrice(closed.End)
		if !ends.IsZero() && ends.Before(p.s.Current.End) {
			p.s.Current.End = ends
		}
	}
	p.s.Revision++
	return closed, nil
}

// usePrice begins to bill by the next price, if there is one.
func (p *BillingPlan) usePrice(since time.Time) {
	if p.s.NextPriceID == "" {
		return
	}
	p.s.EarlierPrices = append(slices.Clone(p.s.EarlierPrices), EarlierPrice{p.s.PriceID, since})
	p.s.PriceID, p.s.NextPriceID = p.s.NextPriceID, ""
}
