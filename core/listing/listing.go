// Package listing has the rules of listings, which creators offer for sale: their states, their stable names, their
// price, the metadata of their type and, for appointments, their variants.
package listing

import (
	"fmt"
	"reflect"
	"regexp"
	"time"

	"sundry/core/fault"
	"sundry/core/listingtype"
	"sundry/core/money"
	"sundry/core/plan"
	"sundry/core/tax"
	"sundry/core/text"
)

// Type specifies what kind of thing is sold.
type Type = listingtype.Type

// The types that rules and tests name; core/listingtype describes all of them.
const (
	Digital      = listingtype.Digital
	Service      = listingtype.Service
	Subscription = listingtype.Subscription
	Appointment  = listingtype.Appointment
)

// Status is the state of a listing: DRAFT → ACTIVE → ARCHIVED, and DRAFT → ARCHIVED.
type Status string

// The statuses of a listing.
const (
	Draft    Status = "DRAFT"
	Active   Status = "ACTIVE"
	Archived Status = "ARCHIVED"
)

const (
	maxTitle       = 200
	maxDescription = 10_000
	// reservedSlug is a path of its own: /v1/listings/mine.
	reservedSlug = "mine"
)

var slugShape = regexp.MustCompile(`^[a-z0-9-]{3,100}$`)

// State is a listing's data, as stores and views see it.
type State struct {
	ID          string // lst_…
	CreatorID   string
	Type        Type
	Title       string
	Description string
	// Slug is unique across the platform.
	Slug string
	// CatalogKey is the integrators' name for the listing: unique for the creator, and it stays when the slug changes.
	CatalogKey string
	Price      money.Amount
	// TaxBehavior specifies whether the prices, those of plans and variants included, contain their tax.
	TaxBehavior tax.Behavior
	// PriceID names the price of the implied plan; it changes with whatever that price asks for.
	PriceID string
	Status  Status
	// TrialOncePerCustomer and OneSubscriptionPerCustomer limit what one customer may have of recurring plans.
	TrialOncePerCustomer, OneSubscriptionPerCustomer bool
	Metadata                                         Metadata
	Variants                                         []Variant
	// HasFiles reports whether there are files for its buyers.
	HasFiles bool
	// Images are shown in this order; their bytes are kept beside the listing.
	Images    []Image
	CreatedAt time.Time
	UpdatedAt time.Time
	Revision  int64
}

// Listing is the aggregate.
type Listing struct {
	s       State
	changed bool
}

// Restore rebuilds a listing from its stored state.
func Restore(s State) *Listing { return &Listing{s: s} }

// State returns a copy of the data.
func (l *Listing) State() State { return l.s }

// Changed reports whether a transition since Restore has changed the data, so that it must be saved.
func (l *Listing) Changed() bool { return l.changed }

// Edit holds the members of a listing that a request sets; nil leaves a member as it is.
type Edit struct {
	Title       *string
	Description *string
	Slug        *string
	// CatalogKey "" means the slug.
	CatalogKey   *string
	PriceInCents *int64
	Currency     *string
	TaxBehavior  *string
	// TrialOncePerCustomer and OneSubscriptionPerCustomer are true for a new listing that does not set them.
	TrialOncePerCustomer, OneSubscriptionPerCustomer *bool
	// Metadata is laid over the present members, null takes one away; ClearMetadata takes all of them first.
	Metadata      map[string]any
	ClearMetadata bool
}

// Proposal is a new listing as a request writes it.
type Proposal struct {
	Type string
	// DurationMinutes is the length of an appointment; nil for an hour.
	DurationMinutes *int
	Edit
}

// Origin contains the members that the service adds to a proposal. VariantID names the first variant of an appointment
// listing.
type Origin struct{ ID, CreatorID, PriceID, VariantID string }

// Check lists everything that is wrong with the proposal, as one VALIDATION_FAILED error.
func (p Proposal) Check() error {
	_, err := p.parse()
	return err
}

func (p Proposal) parse() (State, error) {
	var f fault.Violations
	s := State{
		Type: Type(p.Type), Status: Draft, TaxBehavior: tax.Inclusive,
		TrialOncePerCustomer: true, OneSubscriptionPerCustomer: true,
	}
	f.Check(p.Type != "", "type", fault.DetailRequired, "Expected DIGITAL, SERVICE, SUBSCRIPTION or APPOINTMENT.")
	if p.Type != "" {
		f.OneOf("type", p.Type, listingtype.Names()...)
	}
	f.Check(p.Title != nil, "title", fault.DetailRequired, "Expected a title.")
	f.Check(p.Slug != nil, "slug", fault.DetailRequired, "Expected a slug.")
	f.Check(p.Currency != nil, "currency", fault.DetailRequired, "Expected an ISO 4217 currency code in lower case, "+
		"such as eur or usd.")
	if p.PriceInCents == nil {
		plan.CheckAmount(&f, "priceInCents", nil)
	}
	if p.DurationMinutes != nil {
		checkBetween(&f, "durationMinutes", p.DurationMinutes, minDuration, maxDuration)
	}
	s = p.apply(&f, s)
	if s.CatalogKey == "" {
		s.CatalogKey = s.Slug
	}
	return s, f.Err()
}

// Create makes a draft. Its error lists every fault of the proposal.
func Create(p Proposal, o Origin, now time.Time) (*Listing, error) {
	s, err := p.parse()
	if err != nil {
		return nil, err
	}
	s.ID, s.CreatorID, s.PriceID = o.ID, o.CreatorID, o.PriceID
	s.CreatedAt, s.UpdatedAt, s.Revision = now, now, 1
	if s.Type.Bookable() {
		s.Variants = []Variant{standardVariant(o.VariantID, p.DurationMinutes)}
	}
	return &Listing{s: s}, nil
}

// Check lists what is wrong with the edit itself; what depends on the listing (its metadata) is for Listing.Edit.
func (e Edit) Check() error {
	var f fault.Violations
	e.apply(&f, State{})
	return f.Err()
}

// apply lays the edit over s, recording every fault.
func (e Edit) apply(f *fault.Violations, s State) State {
	if e.Title != nil {
		text.CheckName(f, "title", *e.Title, maxTitle)
		s.Title = *e.Title
	}
	if e.Description != nil {
		text.CheckLines(f, "description", *e.Description, maxDescription)
		s.Description = *e.Description
	}
	if e.Slug != nil {
		CheckSlug(f, "slug", *e.Slug)
		f.Check(*e.Slug != reservedSlug, "slug", fault.DetailNotAllowed, "This slug is reserved.")
		s.Slug = *e.Slug
	}
	if e.CatalogKey != nil {
		if s.CatalogKey = *e.CatalogKey; s.CatalogKey == "" {
			s.CatalogKey = s.Slug
		} else {
			CheckSlug(f, "catalogKey", s.CatalogKey)
		}
	}
	if e.PriceInCents != nil {
		plan.CheckAmount(f, "priceInCents", e.PriceInCents)
		s.Price.Minor = *e.PriceInCents
	}
	if e.Currency != nil {
		currency, err := money.ParseCurrency(*e.Currency)
		_ = f.Nest("currency").Merge(err) // its only error is a fault of the request
		s.Price.Currency = currency
	}
	if e.PriceInCents != nil || e.Currency != nil {
		s.Price.Currency.CheckStep(f, "priceInCents", s.Price.Minor)
	}
	if e.Currency != nil {
		for i, v := range s.Variants {
			_ = f.Nest(fmt.Sprintf("variants[%d]", i)).Merge(v.check(s.Price.Currency)) // all its errors are faults
		}
	}
	if e.TaxBehavior != nil {
		f.OneOf("taxBehavior", *e.TaxBehavior, string(tax.Inclusive), string(tax.Exclusive))
		s.TaxBehavior = tax.Behavior(*e.TaxBehavior)
	}
	set(&s.TrialOncePerCustomer, e.TrialOncePerCustomer)
	set(&s.OneSubscriptionPerCustomer, e.OneSubscriptionPerCustomer)
	if e.ClearMetadata {
		s.Metadata = Metadata{}
	}
	if len(e.Metadata) > 0 || s.Metadata == nil {
		s.Metadata = parseMetadata(f, s.Type, s.Metadata.merge(e.Metadata))
	}
	return s
}

// CheckSlug records what is wrong with a slug or a catalog key, whose rule is the same.
func CheckSlug(f *fault.Violations, field, slug string) {
	switch {
	case slugShape.MatchString(slug):
	case len(slug) < 3:
		f.Add(field, fault.DetailTooShort, "Expected 3 to 100 characters.")
	case len(slug) > 100:
		f.Add(field, fault.DetailTooLong, "Expected 3 to 100 characters.")
	default:
		f.Add(field, fault.DetailInvalid, "Expected lower-case letters a to z, digits and hyphens only.")
	}
}

// ValidSlug reports whether s can be a slug or a catalog key at all.
func ValidSlug(s string) bool { return slugShape.MatchString(s) }

// Edit changes the members given. newPriceID names the price when it is not the same any more. STATE_CONFLICT once
// archived; otherwise its error lists every fault. An edit that changes nothing leaves the revision alone.
func (l *Listing) Edit(e Edit, newPriceID func() string, now time.Time) error {
	if err := l.requireEditable(); err != nil {
		return err
	}
	var f fault.Violations
	next := e.apply(&f, l.s)
	if err := f.Err(); err != nil {
		return err
	}
	l.reprice(next, newPriceID, now)
	return nil
}

// Publish makes a draft purchasable and public. STATE_CONFLICT for anything but a draft.
func (l *Listing) Publish(now time.Time) error {
	if l.s.Status != Draft {
		return fault.Newf(fault.StateConflict, "Only a DRAFT can be published; this listing is %s.", l.s.Status)
	}
	next := l.s
	next.Status = Active
	l.replace(next, now)
	return nil
}

// Archive takes the listing permanently out of sale; earlier buyers keep their purchases. Doing it again changes
// nothing.
func (l *Listing) Archive(now time.Time) {
	next := l.s
	next.Status = Archived
	l.replace(next, now)
}

// PlansChanged notes that the listing's plans, which are part of its recipe, are no longer the same. STATE_CONFLICT
// once archived.
func (l *Listing) PlansChanged(now time.Time) error {
	if err := l.requireEditable(); err != nil {
		return err
	}
	l.s.UpdatedAt, l.changed = now, true
	l.s.Revision++
	return nil
}

// NoteFiles notes whether there are files for the listing's buyers. An archived listing takes no new ones.
func (l *Listing) NoteFiles(has bool, now time.Time) error {
	if has && !l.s.HasFiles {
		if err := l.requireEditable(); err != nil {
			return err
		}
	}
	l.s.HasFiles = has
	l.s.UpdatedAt, l.changed = now, true
	l.s.Revision++
	return nil
}

// Purchasable refuses with LISTING_NOT_PURCHASABLE unless the listing is ACTIVE.
func (s State) Purchasable() error {
	if s.Status == Active {
		return nil
	}
	return fault.Newf(fault.ListingNotPurchasable, "The listing cannot be bought: it is %s.", s.Status)
}

func (l *Listing) requireEditable() error {
	if l.s.Status == Archived {
		return fault.New(fault.StateConflict, "An archived listing can no longer be changed.")
	}
	return nil
}

// reprice takes over new data if it differs, and gives the price another id when it asks for something else: what a
// price says never changes.
func (l *Listing) reprice(next State, newPriceID func() string, now time.Time) {
	if next.impliedPrice() != l.s.impliedPrice() {
		next.PriceID = newPriceID()
	}
	l.replace(next, now)
}

// replace takes over new data if it differs.
func (l *Listing) replace(next State, now time.Time) {
	if reflect.DeepEqual(l.s, next) {
		return
	}
	next.UpdatedAt = now
	next.Revision = l.s.Revision + 1
	l.s, l.changed = next, true
}
