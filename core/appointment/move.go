package appointment

import (
	"time"
	"unicode/utf8"

	"sundry/core/civil"
	"sundry/core/fault"
	"sundry/core/listing"
)

// Kept is what a claim was sold as: one session of the claim's own length, whatever became of the variant since.
func (b Bookable) Kept(c ClaimState) Bookable {
	b.Variant = listing.Variant{ID: c.VariantID, DurationMinutes: int(c.EndsAt.Sub(c.StartsAt) / time.Minute), SessionCount: 1}
	return b
}

// ChooseAgain judges the time that an appointment shall move to, as far as that needs no look at what others booked,
// and fills in its mode: the appointment's own where the buyer names none. VALIDATION_FAILED or INVALID_TIMEZONE with
// every fault, NOT_BOOKABLE when nobody has said where meetings of another mode take place.
func (b Bookable) ChooseAgain(a State, p Pick) (Pick, error) {
	var f fault.Faults
	at := f.Nest(p.Field)
	p.Check(at)
	if p.DeliveryMode == "" {
		p.DeliveryMode = a.DeliveryMode
	}
	if err := civil.Refusal(f.Err()); err != nil {
		return p, err
	}
	if p.DeliveryMode != a.DeliveryMode && !offers(b.Listing, p.DeliveryMode) {
		at.Addf("deliveryMode", fault.DetailNotAllowed, "This listing is offered as %s.", b.Listing.Text(listing.DeliveryMethod))
		return p, f.Err()
	}
	if url, address := b.where(p.DeliveryMode, "room"); p.DeliveryMode != a.DeliveryMode && url+address == "" {
		return p, fault.New(fault.NotBookable, "The creator has not said where meetings of this delivery mode take place.")
	}
	return p, nil
}

// Stays reports whether a pick is what the appointment is already.
func (a State) Stays(p Pick) bool {
	return a.StartsAt.Equal(p.StartsAt) && a.Timezone == p.Timezone && a.DeliveryMode == p.DeliveryMode
}

// Move gives the time of a confirmed claim back and makes the claim that takes its place, on the time of a pick. It is
// paid for, so it is confirmed from the start. STATE_CONFLICT for a claim that is not confirmed.
func (b Bookable) Move(from *Claim, p Pick, id string, now time.Time) (*Claim, error) {
	if err := from.Cancel(); err != nil {
		return nil, err
	}
	next := b.Hold([]Pick{p}, from.s.CheckoutID, func() string { return id }, now)[0]
	next.Position, next.Status = from.s.Position, Confirmed
	return RestoreClaim(next), nil
}

const maxReason = 500

// CheckReason refuses, with VALIDATION_FAILED, a reason of canceling that is too long or not plain text.
func CheckReason(reason string) error {
	var f fault.Faults
	f.Check(utf8.RuneCountInString(reason) <= maxReason, "reason", fault.DetailTooLong, "Expected at most 500 characters.")
	f.Check(plain(reason), "reason", fault.DetailInvalid, "Expected text without control characters.")
	return f.Err()
}
