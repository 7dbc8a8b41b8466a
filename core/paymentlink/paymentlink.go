// Package paymentlink is a link that a creator shares: opening it starts a checkout of one offer, again and again.
package paymentlink

import (
	"time"

	"sundry/core/checkout"
	"sundry/core/fault"
	"sundry/core/money"
	"sundry/core/period"
	"sundry/core/plan"
)

// State is a payment link's data, as stores and views see it.
type State struct {
	ID        string // plink_…
	CreatorID string
	// Code is the part of its address that opens it.
	Code      string
	ListingID string
	VariantID string // "" = the default variant
	PlanKey   string // "" = the default plan
	// Every is empty when the plan is to choose.
	Every period.Cadence
	// Currency selects the price; "" = the currency of the visitor's country, or else the listing's.
	Currency money.Currency
	// BuyerMayChange names the parts of the offer that buyers may change.
	BuyerMayChange plan.Changes
	// SuccessURL is the page that buyers are sent to after paying; "" = they stay on the page that confirms it.
	SuccessURL string
	Active     bool
	CreatedAt  time.Time
	UpdatedAt  time.Time
	Revision   int64
}

// Link is the aggregate.
type Link struct{ s State }

// Restore rebuilds a link from its stored state.
func Restore(s State) *Link { return &Link{s} }

// State returns a copy of the data.
func (l *Link) State() State { return l.s }

// Edit holds the members of a link that a request sets; nil leaves a member as it is, "" clears one that a
// link can do without.
type Edit struct {
	ListingID      *string
	VariantID      *string
	PlanKey        *string
	Every          *string // a period.Cadence
	Currency       *string
	BuyerMayChange *[]string
	SuccessURL     *string
	Active         *bool
}

// Origin contains the members that the service adds to a new link.
type Origin struct{ ID, CreatorID, Code string }

// Check lists everything that is wrong with the edit itself, as one VALIDATION_FAILED error. sandbox allows plain http
// to localhost.
func (e Edit) Check(sandbox bool) error {
	var f fault.Violations
	if e.Every != nil && *e.Every != "" {
		_, err := period.ParseCadence(*e.Every)
		_ = f.Nest("interval").Merge(err) // its only error is a fault of the request
	}
	if e.Currency != nil && *e.Currency != "" {
		_, err := money.ParseCurrency(*e.Currency)
		_ = f.Nest("currency").Merge(err) // its only error is a fault of the request
	}
	if e.BuyerMayChange != nil {
		plan.ParseChanges(&f, "buyerMayChange", *e.BuyerMayChange)
	}
	if e.SuccessURL != nil && *e.SuccessURL != "" {
		checkout.ValidateRedirectURL("successUrl", *e.SuccessURL, sandbox, &f)
	}
	return f.Err()
}

// CheckNew is Check for a link that does not exist yet.
func (e Edit) CheckNew(sandbox bool) error {
	var f fault.Violations
	f.Check(e.ListingID != nil && *e.ListingID != "", "listingId", fault.DetailRequired, "Expected the id of one of "+
		"your listings.")
	_ = f.Merge(e.Check(sandbox)) // its only errors are faults of the request
	return f.Err()
}

// Create makes a link, active unless the edit specifies otherwise. Whether the offer exists is the caller's to ask.
func Create(e Edit, o Origin, sandbox bool, now time.Time) (*Link, error) {
	if err := e.CheckNew(sandbox); err != nil {
		return nil, err
	}
	l := &Link{State{ID: o.ID, CreatorID: o.CreatorID, Code: o.Code, Active: true, CreatedAt: now}}
	l.apply(e, now) // it names a listing, so this makes revision 1
	return l, nil
}

// Edit changes the members given. An edit that changes nothing leaves the revision alone.
func (l *Link) Edit(e Edit, sandbox bool, now time.Time) error {
	if err := e.Check(sandbox); err != nil {
		return err
	}
	l.apply(e, now)
	return nil
}

func (l *Link) apply(e Edit, now time.Time) {
	next := l.s
	set(&next.ListingID, e.ListingID)
	set(&next.VariantID, e.VariantID)
	set(&next.PlanKey, e.PlanKey)
	set(&next.SuccessURL, e.SuccessURL)
	set(&next.Active, e.Active)
	if e.Every != nil {
		next.Every = period.Cadence(*e.Every)
	}
	if e.Currency != nil {
		next.Currency = money.Currency(*e.Currency)
	}
	if e.BuyerMayChange != nil {
		next.BuyerMayChange = plan.ParseChanges(&fault.Violations{}, "", *e.BuyerMayChange) // checked before
	}
	if next != l.s {
		next.UpdatedAt = now
		next.Revision++
		l.s = next
	}
}

func set[T any](target, value *T) {
	if value != nil {
		*target = *value
	}
}
