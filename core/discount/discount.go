// Package discount is a code that takes something off a price: who may use it, for what and how often, and what it
// takes off.
package discount

import (
	"slices"
	"strings"
	"time"

	"sundry/core/fault"
	"sundry/core/money"
)

// Limits of what a creator may set.
const (
	maxCode           = 50
	maxAmount         = 100_000_000
	maxMonths         = 120
	maxRedemptions    = 1_000_000_000
	maxListings       = 100
	wholePriceOff     = 100
	errCodeCharacters = "A code has 1 to 50 letters, digits, hyphens and underscores."
)

// Draft is a creator's request for a discount.
type Draft struct {
	Code             string
	PercentOff       *int
	AmountOffInCents *int64
	Currency         string
	// Duration is Once when it is empty.
	Duration         string
	DurationInMonths *int
	// MaxRedemptions is nil for a code without a limit.
	MaxRedemptions *int
	// ExpiresAt is zero for a code that does not expire.
	ExpiresAt time.Time
	// ListingIDs restrict the code to listings; empty = everything that the creator sells.
	ListingIDs []string
}

// State is a discount's data, as stores and views see it.
type State struct {
	ID        string // dsc_…
	CreatorID string
	// Code is the code as the creator wrote it. Key is its normal form, by which codes are compared.
	Code             string
	Key              string
	PercentOff       int          // 0 with AmountOff
	AmountOff        money.Amount // zero with PercentOff
	Duration         Duration
	DurationInMonths int // 0 unless Repeating
	// MaxRedemptions is 0 for no limit.
	MaxRedemptions int
	// Redeemed counts the sessions that have used the code, payments under way included.
	Redeemed   int
	ExpiresAt  time.Time // zero = never
	ListingIDs []string
	CreatedAt  time.Time
	// DeletedAt is zero while the code can be used.
	DeletedAt time.Time
	Revision  int64
}

// Terms returns the discount's terms, to be frozen with a sale.
func (s State) Terms() Terms {
	return Terms{
		DiscountID: s.ID, Code: s.Code, PercentOff: s.PercentOff, AmountOff: s.AmountOff,
		Duration: s.Duration, DurationInMonths: s.DurationInMonths,
	}
}

// Key normalizes a code for comparison: case and surrounding blanks do not count.
func Key(code string) string { return strings.ToUpper(strings.TrimSpace(code)) }

// Discount is the aggregate.
type Discount struct{ s State }

// Restore rebuilds a discount from its stored state.
func Restore(s State) *Discount { return &Discount{s} }

// State returns a copy of the data.
func (d *Discount) State() State { return d.s }

// New makes a discount of a draft. VALIDATION_FAILED with every fault. Whether the listings are the creator's is the
// caller's to ask.
func New(id, creatorID string, draft Draft, now time.Time) (*Discount, error) {
	if err := draft.Check(now); err != nil {
		return nil, err
	}
	s := State{
		ID: id, CreatorID: creatorID, Code: draft.Code, Key: Key(draft.Code), Duration: Once, ExpiresAt: draft.ExpiresAt,
		ListingIDs: draft.ListingIDs, CreatedAt: now, Revision: 1,
	}
	if draft.Duration != "" {
		s.Duration = Duration(draft.Duration)
	}
	if draft.PercentOff != nil {
		s.PercentOff = *draft.PercentOff
	} else {
		currency, _ := money.ParseCurrency(draft.Currency) // Check has tried it
		s.AmountOff = money.Amount{Minor: *draft.AmountOffInCents, Currency: currency}
	}
	if draft.DurationInMonths != nil {
		s.DurationInMonths = *draft.DurationInMonths
	}
	if draft.MaxRedemptions != nil {
		s.MaxRedemptions = *draft.MaxRedemptions
	}
	return &Discount{s}, nil
}

// Check lists everything that is wrong with a draft, as one VALIDATION_FAILED error.
func (d Draft) Check(now time.Time) error {
	var f fault.Violations
	f.Check(ValidCode(d.Code), "code", fault.DetailInvalid, errCodeCharacters)
	d.checkValue(&f)
	d.checkDuration(&f)
	f.Check(d.MaxRedemptions == nil || *d.MaxRedemptions >= 1 && *d.MaxRedemptions <= maxRedemptions, "maxRedemptions",
		fault.DetailOutOfRange, "The maximum is at least 1; leave it out for no maximum.")
	f.Check(d.ExpiresAt.IsZero() || d.ExpiresAt.After(now), "expiresAt", fault.DetailOutOfRange,
		"The code must expire in the future.")
	f.Check(len(d.ListingIDs) <= maxListings, "listingIds", fault.DetailTooLong, "At most 100 listings are allowed.")
	seen := map[string]bool{}
	for i, listingID := range d.ListingIDs {
		f.Item("listingIds", i).Check(!seen[listingID], "", fault.DetailDuplicate, "This listing is named twice.")
		seen[listingID] = true
	}
	return f.Err()
}

// checkValue wants a percentage or an amount with its currency.
func (d Draft) checkValue(f *fault.Violations) {
	switch {
	case d.PercentOff == nil && d.AmountOffInCents == nil:
		f.Add("percentOff", fault.DetailRequired, "Specify what is taken off: either percentOff or amountOffInCents with "+
			"currency.")
	case d.PercentOff != nil && d.AmountOffInCents != nil:
		f.Add("amountOffInCents", fault.DetailNotAllowed, "Send either percentOff or amountOffInCents, not both.")
	case d.PercentOff != nil:
		f.Check(*d.PercentOff >= 1 && *d.PercentOff <= wholePriceOff, "percentOff", fault.DetailOutOfRange,
			"The percentage is a whole number from 1 to 100.")
		f.Check(d.Currency == "", "currency", fault.DetailNotAllowed, "A currency goes with amountOffInCents.")
	default:
		f.Check(*d.AmountOffInCents >= 1 && *d.AmountOffInCents <= maxAmount, "amountOffInCents", fault.DetailOutOfRange,
			"The amount is at least 1 and at most 100,000,000 minor units.")
		currency, err := money.ParseCurrency(d.Currency)
		f.Check(err == nil, "currency", fault.DetailInvalid, "Expected an ISO 4217 code such as eur.")
		currency.CheckStep(f, "amountOffInCents", *d.AmountOffInCents)
	}
}

func (d Draft) checkDuration(f *fault.Violations) {
	switch Duration(d.Duration) {
	case "", Once, Forever:
		f.Check(d.DurationInMonths == nil, "durationInMonths", fault.DetailNotAllowed,
			"Months go with the duration repeating.")
	case Repeating:
		if f.Check(d.DurationInMonths != nil, "durationInMonths", fault.DetailRequired, "Specify for how many months the "+
			"discount repeats.") {
			f.Check(*d.DurationInMonths >= 1 && *d.DurationInMonths <= maxMonths, "durationInMonths", fault.DetailOutOfRange,
				"The discount repeats for 1 to 120 months.")
		}
	default:
		f.OneOf("duration", d.Duration, string(Once), string(Repeating), string(Forever))
	}
}

// ValidCode reports whether a code is written as codes are.
func ValidCode(code string) bool {
	return code != "" && len(code) <= maxCode && !strings.ContainsFunc(code, func(r rune) bool {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		return !letter && (r < '0' || r > '9') && r != '-' && r != '_'
	})
}

// Sale describes the sale that a code is to be used for.
type Sale struct {
	ListingID string
	// Subtotal is the price before the discount, in the currency of the sale.
	Subtotal money.Amount
}

// CanRedeem refuses with the reason why the code cannot be used for a sale, as a VALIDATION_FAILED fault without a
// field.
func (d *Discount) CanRedeem(sale Sale, now time.Time) error {
	switch {
	case !d.s.DeletedAt.IsZero():
		return ErrUnknownCode()
	case !d.s.ExpiresAt.IsZero() && !now.Before(d.s.ExpiresAt):
		return refusal("This discount code has expired.")
	case !d.coversListing(sale.ListingID):
		return refusal("This discount code is not for what is sold here.")
	case d.s.PercentOff == 0 && d.s.AmountOff.Currency != sale.Subtotal.Currency:
		return refusal("This discount code is for another currency.")
	case d.exhausted():
		return refusal("This discount code has been used as often as it may be.")
	}
	return nil
}

func refusal(message string) error {
	return fault.Invalid(fault.Detail{Code: fault.DetailInvalid, Message: message})
}

// ErrUnknownCode is CanRedeem's refusal of a code that nobody made.
func ErrUnknownCode() error { return refusal("There is no such discount code.") }

func (d *Discount) coversListing(listingID string) bool {
	return len(d.s.ListingIDs) == 0 || slices.Contains(d.s.ListingIDs, listingID)
}

func (d *Discount) exhausted() bool {
	return d.s.MaxRedemptions > 0 && d.s.Redeemed >= d.s.MaxRedemptions
}

// Redeem counts one use, for a session whose totals the discount has reduced already: what the code was good for then
// holds, except that it is never used more often than it may be. LIMIT_REACHED.
func (d *Discount) Redeem() error {
	if d.exhausted() {
		return fault.New(fault.LimitReached, "This discount code has been used as often as it may be. Remove it to pay "+
			"without it.")
	}
	d.s.Redeemed++
	d.s.Revision++
	return nil
}

// Release takes back a use whose payment did not succeed.
func (d *Discount) Release() {
	d.s.Redeemed = max(d.s.Redeemed-1, 0)
	d.s.Revision++
}

// Delete ends the use of the code. What was sold with it keeps its terms. changed is false when it was deleted before.
func (d *Discount) Delete(now time.Time) (changed bool) {
	if !d.s.DeletedAt.IsZero() {
		return false
	}
	d.s.DeletedAt = now
	d.s.Revision++
	return true
}
