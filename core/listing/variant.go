package listing

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"sundry/core/fault"
	"sundry/core/money"
	"sundry/core/plan"
	"sundry/core/text"
)

// Variant is one way to book an appointment listing: how long, how many times, at what price.
type Variant struct {
	ID string `json:"id"` // var_…
	// Key is the integrators' name for the variant: unique in its listing, the same in sandbox and live, and it never
	// changes.
	Key  string `json:"key"`
	Name string `json:"name"`
	// DurationMinutes is of each session.
	DurationMinutes int `json:"durationMinutes"`
	// SessionCount above 1 makes a pack: the buyer picks exactly so many times.
	SessionCount int `json:"sessionCount"`
	// Seats is the number of buyers who can share a time; 0 is one. Only a single session has more than one.
	Seats int `json:"seats,omitempty"`
	// PriceInCents, in the listing's currency, is for all sessions together; nil = the listing's own price.
	PriceInCents *int64 `json:"priceInCents,omitempty"`
	IsDefault    bool   `json:"isDefault"`
}

// IsGroup reports whether several buyers share a time.
func (v Variant) IsGroup() bool { return v.Seats > 1 }

// price returns the variant's own price, or else the listing's.
func (v Variant) price(listings money.Amount) money.Amount {
	if v.PriceInCents != nil {
		listings.Minor = *v.PriceInCents
	}
	return listings
}

const (
	maxVariants     = 50
	maxSessionCount = 100
	maxSeats        = 500
	defaultDuration = 60
	minDuration     = 5
	maxDuration     = 1440
	// maxDefaultKey leaves space for a number after it.
	maxDefaultKey = 90
)

// VariantEdit holds the members of a variant that a request sets. A nil pointer leaves a member as it is, or as its
// default when the variant is new.
type VariantEdit struct {
	// Key is for new variants only; without one the name makes it.
	Key             *string
	Name            *string
	DurationMinutes *int
	SessionCount    *int
	Seats           *int
	// Price is set with PriceGiven; nil then means the listing's own price.
	Price      *int64
	PriceGiven bool
	IsDefault  *bool
}

// Check lists everything that is wrong with the edit itself. isNew also asks for what a new variant needs.
func (e VariantEdit) Check(isNew bool) error {
	var f fault.Violations
	switch {
	case e.Key != nil && !isNew:
		f.Add("key", fault.DetailNotAllowed, "A key is given when the variant is created, and never changes.")
	case e.Key != nil:
		CheckSlug(&f, "key", *e.Key)
	}
	if e.Name != nil {
		text.CheckName(&f, "name", *e.Name, maxTitle)
	}
	if e.DurationMinutes != nil || isNew {
		checkBetween(&f, "durationMinutes", e.DurationMinutes, minDuration, maxDuration)
	}
	if e.SessionCount != nil {
		checkBetween(&f, "sessionCount", e.SessionCount, 1, maxSessionCount)
	}
	if e.Seats != nil {
		checkBetween(&f, "seats", e.Seats, 1, maxSeats)
	}
	if e.Seats != nil && e.SessionCount != nil {
		checkGroup(&f, *e.Seats, *e.SessionCount)
	}
	if e.Price != nil {
		plan.CheckAmount(&f, "priceInCents", e.Price)
	}
	return f.Err()
}

// checkGroup refuses a pack whose times several buyers share: a buyer would have to find seats at all of them.
func checkGroup(f *fault.Violations, seats, sessions int) {
	f.Check(seats <= 1 || sessions <= 1, "seats", fault.DetailNotAllowed,
		"Only a variant with one session has more than one seat: several buyers cannot share the times of a pack.")
}

// check refuses a variant whose members, each right by itself, don't go together or with the listing's currency.
func (v Variant) check(currency money.Currency) error {
	var f fault.Violations
	checkGroup(&f, v.Seats, v.SessionCount)
	if v.PriceInCents != nil {
		currency.CheckStep(&f, "priceInCents", *v.PriceInCents)
	}
	return f.Err()
}

func checkBetween(f *fault.Violations, field string, value *int, least, most int) {
	switch {
	case value == nil:
		f.Addf(field, fault.DetailRequired, "Expected an integer from %d to %d.", least, most)
	case *value < least || *value > most:
		f.Addf(field, fault.DetailOutOfRange, "Expected %d to %d.", least, most)
	}
}

func (e VariantEdit) apply(v *Variant) {
	made := defaultName(v.DurationMinutes, v.SessionCount)
	set(&v.Name, e.Name)
	set(&v.DurationMinutes, e.DurationMinutes)
	set(&v.SessionCount, e.SessionCount)
	set(&v.Seats, e.Seats)
	if v.Seats == 1 {
		v.Seats = 0 // stored as those from before there were any
	}
	set(&v.IsDefault, e.IsDefault)
	if e.PriceGiven {
		v.PriceInCents = e.Price
	}
	if v.Name == "" || v.Name == made {
		v.Name = defaultName(v.DurationMinutes, v.SessionCount)
	}
}

// defaultKey makes a key of a variant's name that no other variant has.
func defaultKey(name string, others []Variant) string {
	var b strings.Builder
	for _, r := range strings.ToLower(name) {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	key := b.String()
	key = strings.TrimRight(key[:min(len(key), maxDefaultKey)], "-")
	if !slugShape.MatchString(key) {
		key = strings.TrimRight("variant-"+key, "-")
	}
	for n, base := 2, key; slices.ContainsFunc(others, func(v Variant) bool { return v.Key == key }); n++ {
		key = fmt.Sprintf("%s-%d", base, n)
	}
	return key
}

func set[T any](target, value *T) {
	if value != nil {
		*target = *value
	}
}

func defaultName(duration, sessions int) string {
	if sessions > 1 {
		return fmt.Sprintf("%d × %d minutes", sessions, duration)
	}
	return fmt.Sprintf("%d minutes", duration)
}

// standardVariant is the first variant of a listing: an hour, unless another length is wanted.
func standardVariant(variantID string, wanted *int) Variant {
	duration := defaultDuration
	set(&duration, wanted)
	name := defaultName(duration, 1)
	return Variant{ID: variantID, Key: defaultKey(name, nil), Name: name, DurationMinutes: duration,
		SessionCount: 1, IsDefault: true}
}

// AddVariant gives the listing another variant. newPriceID names the listing's price when it is not the same any more.
// STATE_CONFLICT unless it is an appointment listing that may change.
func (l *Listing) AddVariant(
	variantID string, e VariantEdit, newPriceID func() string, now time.Time,
) (Variant, error) {
	if err := l.requireVariants(); err != nil {
		return Variant{}, err
	}
	if err := e.Check(true); err != nil {
		return Variant{}, err
	}
	if len(l.s.Variants) >= maxVariants {
		return Variant{}, fault.Newf(fault.StateConflict, "A listing may have at most %d variants.", maxVariants)
	}
	v := Variant{ID: variantID, SessionCount: 1}
	e.apply(&v)
	if e.Key == nil {
		v.Key = defaultKey(v.Name, l.s.Variants)
	} else if v.Key = *e.Key; l.s.variantIndexByKey(v.Key) >= 0 {
		return Variant{}, fault.Invalid(fault.Detail{Field: "key", Code: fault.DetailDuplicate, Message: "Another variant " +
			"of this listing has this key."})
	}
	if err := v.check(l.s.Price.Currency); err != nil {
		return Variant{}, err
	}
	next := l.s
	next.Variants = append(slices.Clone(l.s.Variants), v)
	settleDefaultVariant(next.Variants, variantID)
	l.reprice(next, newPriceID, now)
	return v, nil
}

// EditVariant changes the members given. newPriceID names the listing's price when it is not the same any more.
// NOT_FOUND for an unknown variant; the default one stays the default until another is made so.
func (l *Listing) EditVariant(
	variantID string, e VariantEdit, newPriceID func() string, now time.Time,
) (Variant, error) {
	if err := l.requireVariants(); err != nil {
		return Variant{}, err
	}
	i := l.s.variantIndex(variantID)
	if i < 0 {
		return Variant{}, fault.NotFound("variant")
	}
	if err := e.Check(false); err != nil {
		return Variant{}, err
	}
	if e.IsDefault != nil && !*e.IsDefault && l.s.Variants[i].IsDefault {
		return Variant{}, fault.Invalid(fault.Detail{Field: "isDefault", Code: fault.DetailNotAllowed,
			Message: "One variant is always the default: make another one the default instead."})
	}
	next := l.s
	next.Variants = slices.Clone(l.s.Variants)
	e.apply(&next.Variants[i])
	if err := next.Variants[i].check(l.s.Price.Currency); err != nil {
		return Variant{}, err
	}
	settleDefaultVariant(next.Variants, variantID)
	l.reprice(next, newPriceID, now)
	return l.s.Variants[i], nil
}

// RemoveVariant takes a variant away. NOT_FOUND for an unknown one, STATE_CONFLICT for the default one.
func (l *Listing) RemoveVariant(variantID string, now time.Time) (Variant, error) {
	if err := l.requireVariants(); err != nil {
		return Variant{}, err
	}
	i := l.s.variantIndex(variantID)
	if i < 0 {
		return Variant{}, fault.NotFound("variant")
	}
	removed := l.s.Variants[i]
	if removed.IsDefault {
		return Variant{}, fault.New(fault.StateConflict, "The default variant cannot be removed: make another one the "+
			"default first.")
	}
	next := l.s
	next.Variants = slices.Delete(slices.Clone(l.s.Variants), i, i+1)
	l.replace(next, now)
	return removed, nil
}

// requireVariants reports why the listing's variants may not change, nil when they may.
func (l *Listing) requireVariants() error {
	if !l.s.Type.Bookable() {
		return fault.New(fault.StateConflict, "Only listings of type APPOINTMENT have variants.")
	}
	return l.requireEditable()
}

// settleDefaultVariant leaves one default: the variant just written when it is to be, else the present one.
func settleDefaultVariant(variants []Variant, written string) {
	chosen := 0
	for i, v := range variants {
		if v.IsDefault && (v.ID == written || !variants[chosen].IsDefault) {
			chosen = i
		}
	}
	for i := range variants {
		variants[i].IsDefault = i == chosen
	}
}

func (s State) variantIndex(variantID string) int {
	return slices.IndexFunc(s.Variants, func(v Variant) bool { return v.ID == variantID })
}

func (s State) variantIndexByKey(key string) int {
	return slices.IndexFunc(s.Variants, func(v Variant) bool { return v.Key == key })
}

// VariantByKey finds a variant by its key. NOT_FOUND.
func (s State) VariantByKey(key string) (Variant, error) {
	if i := s.variantIndexByKey(key); i >= 0 {
		return s.Variants[i], nil
	}
	keys := make([]string, len(s.Variants))
	for i, v := range s.Variants {
		keys[i] = v.Key
	}
	if len(keys) == 0 {
		return Variant{}, fault.NotFound("variant in this listing")
	}
	return Variant{}, fault.Newf(fault.NotFoundCode, "No such variant in this listing. Its variants: %s.%s",
		strings.Join(keys, ", "), fault.DidYouMean(key, keys...))
}

// Variant finds a variant, the default one for "". NOT_FOUND when there is none, as in every listing that is not for
// appointments.
func (s State) Variant(variantID string) (Variant, error) {
	for _, v := range s.Variants {
		if v.ID == variantID || variantID == "" && v.IsDefault {
			return v, nil
		}
	}
	return Variant{}, fault.NotFound("variant")
}

// hybrid is the delivery method that leaves the mode to the buyer.
const hybrid = "hybrid"

// DeliveryModes returns the modes in which sessions of an appointment listing may take place, virtual and in_person
// when it is hybrid; none for any other listing.
func (s State) DeliveryModes() []string {
	switch method := s.Text(DeliveryMethod); {
	case !s.Type.Bookable():
		return nil
	case method != hybrid:
		return []string{method}
	}
	return []string{"virtual", "in_person"}
}

// WithDeliveryModes returns the listing with these modes in the place of its own; none leave it as it is.
func (s State) WithDeliveryModes(modes []string) State {
	switch len(modes) {
	case 0:
	case 1:
		s.Metadata = s.Metadata.merge(map[string]any{DeliveryMethod: modes[0]})
	default:
		s.Metadata = s.Metadata.merge(map[string]any{DeliveryMethod: hybrid})
	}
	return s
}
