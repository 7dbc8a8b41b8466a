// Package access decides what a customer may use. Grants say why (a purchase, a subscription, an appointment, a hand);
// Fold adds the running grants up to one snapshot; Document is the snapshot as it is stored and served: canonical
// bytes, a version that rises by one with every change, and an entity tag of the bytes.
//
// Nothing here reads a clock: a grant counts until a transition ends it, so a snapshot is a function of the grants
// alone and can be checked against them at any time.
package access

import (
	"slices"
	"time"

	"sundry/core/checkout"
	"sundry/core/fault"
	"sundry/core/period"
	"sundry/core/plan"
	"sundry/core/subscription"
)

// Source is the kind of thing that gives access.
type Source string

// The sources of the contract.
const (
	Purchase     Source = "purchase"     // a one-time payment; its id is the payment's
	Subscription Source = "subscription" // its id is the subscription's
	Appointment  Source = "appointment"  // a paid appointment; its id is the payment's
	Manual       Source = "grant"        // given by hand; its id is the grant's own
)

// PlanStatus is how a plan that gives access stands.
type PlanStatus string

// The statuses of an active plan.
const (
	Active   PlanStatus = "active"
	Trialing PlanStatus = "trialing"
	PastDue  PlanStatus = "past_due"
)

// End says why a grant no longer counts.
type End string

// The ends. A grant that counts has none.
const (
	Running   End = ""
	Revoked   End = "revoked" // taken back by hand
	Expired   End = "expired" // its ExpiresAt has come
	SourceEnd End = "ended"   // the subscription behind it is over
)

// Plan is the plan that a grant gives, as part of the snapshot's activePlans. Times that do not apply are zero.
type Plan struct {
	Key                string          `json:"key"`
	ListingKey         string          `json:"listingKey"`
	ListingID          string          `json:"listingId"`
	Interval           period.Interval `json:"interval"` // empty when nothing recurs
	Status             PlanStatus      `json:"status"`
	CurrentPeriodStart time.Time       `json:"currentPeriodStart"`
	CurrentPeriodEnd   time.Time       `json:"currentPeriodEnd"`
	TrialEndsAt        time.Time       `json:"trialEndsAt"`
	CancelAtPeriodEnd  bool            `json:"cancelAtPeriodEnd"`
	GraceEndsAt        time.Time       `json:"graceEndsAt"`
}

// Lot is a number of units to use up. 0 <= Used <= Granted.
type Lot struct {
	Key     string `json:"key"`
	Unit    string `json:"unit"`
	Granted int64  `json:"granted"`
	Used    int64  `json:"used"`
	// Renews says that the lot belongs to the plan's current period and ends with it.
	Renews bool `json:"renews"`
}

// State is a grant's data, as stores and views see it.
type State struct {
	ID                 string
	CreatorID          string
	ExternalCustomerID string
	Source             Source
	SourceID           string // unique together with CreatorID and Source: what grants once never grants twice
	CheckoutID         string // empty for a grant by hand
	Plan               *Plan  // nil for a grant of loose entitlements and credits
	Entitlements       []plan.Entitlement
	Credits            []Lot
	Note               string
	StartedAt          time.Time
	ExpiresAt          time.Time // zero for a grant that lasts until something ends it
	EndedAt            time.Time // zero while it counts
	End                End
	Revision           int64
}

// Grant is the aggregate.
type Grant struct{ s State }

// Restore rebuilds a grant from its stored state.
func Restore(s State) *Grant { return &Grant{s} }

// State is a copy of the data.
func (g *Grant) State() State {
	s := g.s
	s.Credits = slices.Clone(s.Credits)
	return s
}

// OfPurchase is the grant of a one-time purchase: it lasts.
func OfPurchase(id string, e checkout.Paid) *Grant {
	s := State{
		ID: id, CreatorID: e.CreatorID, ExternalCustomerID: e.ExternalCustomerID, CheckoutID: e.CheckoutID,
		Source: Purchase, SourceID: e.PaymentID, StartedAt: e.At, Revision: 1,
		Plan: planOf(e.Offer),
	}
	if e.Offer.ListingType == "APPOINTMENT" {
		s.Source = Appointment
	}
	if s.SourceID == "" { // nothing was due, so there was no payment
		s.SourceID = e.CheckoutID
	}
	s.take(e.Offer.Terms, false)
	return &Grant{s}
}

// OfSubscription is the grant of a subscription that has begun. It lasts as long as the subscription does.
func OfSubscription(id string, sub subscription.State) *Grant {
	p := planOf(sub.Offer)
	p.Interval = sub.Offer.Interval
	p.CurrentPeriodStart, p.CurrentPeriodEnd, p.TrialEndsAt = sub.CurrentPeriodStart, sub.CurrentPeriodEnd, sub.TrialEndsAt
	if sub.Status == subscription.Trialing {
		p.Status = Trialing
	}
	s := State{
		ID: id, CreatorID: sub.CreatorID, ExternalCustomerID: sub.ExternalCustomerID, CheckoutID: sub.CheckoutID,
		Source: Subscription, SourceID: sub.ID, StartedAt: sub.StartedAt, Revision: 1, Plan: p,
	}
	s.take(sub.Offer.Terms, true)
	return &Grant{s}
}

// Gift is what is given by hand.
type Gift struct {
	Offer     *plan.Offer // the plan whose terms are given; nil when Terms are given alone
	Terms     plan.Terms
	ExpiresAt time.Time // zero = it lasts
	Note      string
}

// ByHand is a grant that the integrator decides on. It is not billed, so it has no interval and nothing renews.
func ByHand(id, creatorID, externalCustomerID string, gift Gift, now time.Time) *Grant {
	s := State{
		ID: id, CreatorID: creatorID, ExternalCustomerID: externalCustomerID, Source: Manual, SourceID: id, StartedAt: now,
		ExpiresAt: gift.ExpiresAt, Note: gift.Note, Revision: 1,
	}
	terms := gift.Terms
	if gift.Offer != nil {
		s.Plan, terms = planOf(*gift.Offer), gift.Offer.Terms
	}
	s.take(terms, false)
	return &Grant{s}
}

func planOf(o plan.Offer) *Plan {
	return &Plan{Key: o.PlanKey, ListingKey: o.ListingKey, ListingID: o.ListingID, Status: Active}
}

// take copies what the terms give. Without periods nothing renews: every credit is granted once.
func (s *State) take(t plan.Terms, renewing bool) {
	s.Entitlements = slices.Clone(t.Entitlements)
	for _, c := range t.Credits {
		s.Credits = append(s.Credits, Lot{Key: c.Key, Unit: c.Unit, Granted: c.Amount, Renews: c.Renews && renewing})
	}
}

// Running reports whether the grant counts.
func (g *Grant) Running() bool { return g.s.End == Running }

// DueToEnd reports whether the grant counts although its time is over.
func (g *Grant) DueToEnd(now time.Time) bool {
	return g.Running() && !g.s.ExpiresAt.IsZero() && !now.Before(g.s.ExpiresAt)
}

// Expire ends a grant whose time is over. STATE_CONFLICT before that.
func (g *Grant) Expire(now time.Time) error {
	if !g.DueToEnd(now) {
		return fault.New(fault.StateConflict, "The grant is not due to expire.")
	}
	// The time it was given until, and not the moment somebody looked.
	return g.end(g.s.ExpiresAt, Expired)
}

// Revoke takes back a grant that was given by hand. STATE_CONFLICT for one from another source and for one that has
// expired; revoking twice changes nothing.
func (g *Grant) Revoke(now time.Time) error {
	if g.s.Source != Manual {
		return fault.Newf(fault.StateConflict,
			"Only a grant given by hand can be revoked; this one comes from %s %s.", g.s.Source, g.s.SourceID)
	}
	if g.s.End == Revoked {
		return nil
	}
	return g.end(now, Revoked)
}

// EndWithSource ends the grant of a subscription that is over.
func (g *Grant) EndWithSource(at time.Time) error { return g.end(at, SourceEnd) }

func (g *Grant) end(at time.Time, why End) error {
	if !g.Running() {
		return fault.New(fault.StateConflict, "The grant has already ended.")
	}
	g.s.EndedAt, g.s.End = at, why
	g.s.Revision++
	return nil
}

// expiry is when the grant stops counting as things stand; zero when nothing says so.
func (g *Grant) expiry() time.Time {
	if g.s.ExpiresAt.IsZero() && g.s.Plan != nil && g.s.Plan.CancelAtPeriodEnd {
		return g.s.Plan.CurrentPeriodEnd
	}
	return g.s.ExpiresAt
}

// LotExpiry is when what is left of a lot is lost; zero when nothing says so.
func (g *Grant) LotExpiry(l Lot) time.Time {
	if l.Renews && g.s.Plan != nil {
		return g.s.Plan.CurrentPeriodEnd
	}
	return g.expiry()
}
