// Package access decides what a customer may use. Grants record why (a purchase, a subscription, an appointment, or a
// manual grant); Fold adds the running grants up to one snapshot; Document is the snapshot as it is stored and served:
// canonical bytes, a version that rises by one with every change, and an entity tag of the bytes.
//
// Nothing here reads a clock: a grant counts until a transition ends it, so a snapshot is a function of the grants
// alone and can be checked against them at any time.
package access

import (
	"slices"
	"time"

	"sundry/core/checkout"
	"sundry/core/customer"
	"sundry/core/fault"
	"sundry/core/period"
	"sundry/core/plan"
	"sundry/core/subscription"
)

// Source is the kind of thing that gives access.
type Source string

// The sources of grants.
const (
	Purchase     Source = "purchase"     // a one-time payment; its id is the payment's
	Subscription Source = "subscription" // its id is the subscription's
	Appointment  Source = "appointment"  // a paid appointment; its id is the payment's
	Manual       Source = "grant"        // granted manually; its id is the grant's own
)

// PlanStatus is the state of a plan that gives access.
type PlanStatus string

// The statuses of an active plan.
const (
	Active   PlanStatus = "active"
	Trialing PlanStatus = "trialing"
	PastDue  PlanStatus = "past_due"
)

// EndReason names the reason a grant no longer counts.
type EndReason string

// The ends. A grant that counts has none.
const (
	NotEnded    EndReason = ""
	Revoked     EndReason = "revoked" // revoked by the integrator
	Expired     EndReason = "expired" // its ExpiresAt has come
	SourceEnded EndReason = "ended"   // the subscription behind it is over
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
	// Quantity is zero where one was bought.
	Quantity int `json:"quantity,omitempty"`
}

// State is a grant's data, as stores and views see it.
type State struct {
	ID                 string
	CreatorID          string
	ExternalCustomerID string
	Source             Source
	SourceID           string // unique together with CreatorID and Source: what grants once never grants twice
	CheckoutID         string // empty for a manual grant
	Plan               *Plan  // nil for a grant of loose entitlements and credits
	Entitlements       []plan.Entitlement
	Credits            []CreditBlock
	Note               string
	StartedAt          time.Time
	ExpiresAt          time.Time // zero for a grant that lasts until something ends it
	EndedAt            time.Time // zero while it counts
	EndReason          EndReason
	Revision           int64
}

// Grant is the aggregate.
type Grant struct{ s State }

// Restore rebuilds a grant from its stored state.
func Restore(s State) *Grant { return &Grant{s} }

// State returns a copy of the data.
func (g *Grant) State() State {
	s := g.s
	s.Credits = slices.Clone(s.Credits)
	return s
}

// NewForPurchase returns the grant of a one-time purchase: it lasts.
func NewForPurchase(id string, e checkout.Paid) *Grant {
	s := State{
		ID: id, CreatorID: e.CreatorID, ExternalCustomerID: customer.AccessKey(e.ExternalCustomerID, e.CustomerID),
		CheckoutID: e.CheckoutID,
		Source:     Purchase, SourceID: e.PaymentID, StartedAt: e.At, Revision: 1,
		Plan: planOf(e.Offer),
	}
	if e.Offer.ListingType.Bookable() {
		s.Source = Appointment
	}
	if s.SourceID == "" { // nothing was due, so there was no payment
		s.SourceID = e.CheckoutID
	}
	s.take(e.Offer.Terms)
	return &Grant{s}
}

// NewForSubscription returns the grant of a subscription that has begun. It follows the subscription from then on.
func NewForSubscription(id string, sub subscription.State, now time.Time) *Grant {
	g := &Grant{State{
		ID: id, CreatorID: sub.CreatorID, CheckoutID: sub.CheckoutID, Source: Subscription, SourceID: sub.ID,
		StartedAt: sub.StartedAt, Credits: renewedCredits(nil, sub), Revision: 1,
	}}
	g.follow(sub, now)
	return g
}

// Follow brings the grant in line with its subscription: plan, period, credits, and whether it counts. What was used of
// a credit stays used. It counts while the subscription gives access and the money of its period neither went back nor
// is in dispute; one that was revoked stays so.
func (g *Grant) Follow(sub subscription.State, now time.Time) {
	g.s.Credits = changedCredits(g.s.Credits, *g.s.Plan, sub, now)
	g.follow(sub, now)
	g.s.Revision++
}

// Renew is Follow for a subscription that was renewed: credits that renew are full again.
func (g *Grant) Renew(sub subscription.State, now time.Time) {
	g.s.Credits = renewedCredits(g.s.Credits, sub)
	g.follow(sub, now)
	g.s.Revision++
}

func (g *Grant) follow(sub subscription.State, now time.Time) {
	p := planOf(sub.Offer)
	p.Interval, p.CancelAtPeriodEnd, p.GraceEndsAt = sub.Offer.Interval, sub.CancelAtPeriodEnd, sub.Dunning.GraceEndsAt
	p.CurrentPeriodStart, p.CurrentPeriodEnd, p.TrialEndsAt = sub.CurrentPeriodStart, sub.CurrentPeriodEnd, sub.TrialEndsAt
	switch sub.Status {
	case subscription.StatusTrialing:
		p.Status = Trialing
	case subscription.StatusPastDue:
		p.Status = PastDue
	case subscription.StatusActive, subscription.StatusIncomplete, subscription.StatusPaused, subscription.StatusCanceled,
		subscription.StatusExpired:
	}
	g.s.Plan, g.s.ExpiresAt = p, sub.Dunning.GraceEndsAt
	if len(sub.Disputes) > 0 && g.s.ExpiresAt.IsZero() {
		g.s.ExpiresAt = sub.CurrentPeriodEnd // it is not renewed meanwhile
	}
	g.s.ExternalCustomerID = customer.AccessKey(sub.ExternalCustomerID, sub.CustomerID)
	g.s.Entitlements = sub.Offer.Terms.Granted(sub.Offer.Seats())
	g.count(sub, now)
}

// count makes the grant count, or not, as its subscription gives access.
func (g *Grant) count(sub subscription.State, now time.Time) {
	why := NotEnded
	switch {
	case sub.Withdrawn:
		why = Refunded
	case sub.Suspended():
		why = Disputed
	case !sub.GivesAccess(now):
		why = SourceEnded
	}
	switch {
	case why == g.s.EndReason, g.s.EndReason == Revoked:
	case why == NotEnded:
		g.s.EndedAt, g.s.EndReason = time.Time{}, NotEnded
	case g.s.EndReason == NotEnded:
		g.s.EndedAt, g.s.EndReason = sub.EndedAt, why
		if sub.EndedAt.IsZero() {
			g.s.EndedAt = now
		}
	case why != SourceEnded: // it had ended for a reason that says less
		g.s.EndReason = why
	}
}

// Rename moves the grant to another name of the same customer.
func (g *Grant) Rename(externalCustomerID string) {
	g.s.ExternalCustomerID = externalCustomerID
	g.s.Revision++
}

// ManualGrant describes access that a creator grants by hand.
type ManualGrant struct {
	Offer     *plan.Offer // the plan whose terms are given; nil when Terms are given alone
	Terms     plan.Terms
	ExpiresAt time.Time // zero = it lasts
	Note      string
}

// NewManual returns a grant that the integrator decides on. It is not billed, so it has no interval and nothing renews.
func NewManual(id, creatorID, externalCustomerID string, m ManualGrant, now time.Time) *Grant {
	s := State{
		ID: id, CreatorID: creatorID, ExternalCustomerID: externalCustomerID, Source: Manual, SourceID: id, StartedAt: now,
		ExpiresAt: m.ExpiresAt, Note: m.Note, Revision: 1,
	}
	terms := m.Terms
	if m.Offer != nil {
		s.Plan, terms = planOf(*m.Offer), m.Offer.Terms
	}
	s.take(terms)
	return &Grant{s}
}

func planOf(o plan.Offer) *Plan {
	return &Plan{Key: o.PlanKey, ListingKey: o.ListingKey, ListingID: o.ListingID, Status: Active, Quantity: o.Quantity}
}

// take copies what the terms give. Without periods nothing renews: every credit is granted once.
func (s *State) take(t plan.Terms) {
	s.Entitlements = t.Granted(1)
	for _, c := range t.Credits {
		s.Credits = append(s.Credits, CreditBlock{Key: c.Key, Unit: c.Unit, Granted: c.Amount})
	}
}

// Active reports whether the grant counts.
func (g *Grant) Active() bool { return g.s.EndReason == NotEnded }

// DueToEnd reports whether the grant counts although its time is over.
func (g *Grant) DueToEnd(now time.Time) bool {
	return g.Active() && !g.s.ExpiresAt.IsZero() && !now.Before(g.s.ExpiresAt)
}

// Expire ends a grant whose time is over. STATE_CONFLICT before that.
func (g *Grant) Expire(now time.Time) error {
	if !g.DueToEnd(now) {
		return fault.New(fault.StateConflict, "The grant is not due to expire.")
	}
	// The time it was given until, and not the moment of the query.
	return g.end(g.s.ExpiresAt, Expired)
}

// Revoke takes back a grant that was granted manually. STATE_CONFLICT for one from another source and for one that has
// expired; changed is false when it was revoked before.
func (g *Grant) Revoke(now time.Time) (changed bool, err error) {
	if g.s.Source != Manual {
		return false, fault.Newf(fault.StateConflict,
			"Only a grant created manually can be revoked; this one comes from %s %s.", g.s.Source, g.s.SourceID)
	}
	if g.s.EndReason == Revoked {
		return false, nil
	}
	err = g.end(now, Revoked)
	return err == nil, err
}

// EndErased ends any grant of a customer who is erased. changed is false when it has ended.
func (g *Grant) EndErased(now time.Time) (changed bool) { return g.endFinally(now, Revoked) == nil }

// EndWithAppointments ends the grant of a session whose appointments are all canceled.
func (g *Grant) EndWithAppointments(at time.Time) error { return g.endFinally(at, SourceEnded) }

// endFinally is end, also of a grant that is suspended: it never counts again.
func (g *Grant) endFinally(at time.Time, why EndReason) error {
	if g.Suspended() {
		g.s.EndReason = why
		g.s.Revision++
		return nil
	}
	return g.end(at, why)
}

func (g *Grant) end(at time.Time, why EndReason) error {
	if !g.Active() {
		return fault.New(fault.StateConflict, "The grant has already ended.")
	}
	g.s.EndedAt, g.s.EndReason = at, why
	g.s.Revision++
	return nil
}

// expiry returns the time the grant stops counting as things are; zero when nothing sets it.
func (g *Grant) expiry() time.Time {
	if g.s.ExpiresAt.IsZero() && g.s.Plan != nil && g.s.Plan.CancelAtPeriodEnd {
		return g.s.Plan.CurrentPeriodEnd
	}
	return g.s.ExpiresAt
}

// CreditExpiry returns the time at which the rest of a block is lost; zero when nothing sets it. A period that is not
// renewed leaves its credits until the access ends.
func (g *Grant) CreditExpiry(l CreditBlock) time.Time {
	if l.Renews && g.s.Plan != nil && g.s.ExpiresAt.IsZero() {
		return g.s.Plan.CurrentPeriodEnd
	}
	return g.expiry()
}
