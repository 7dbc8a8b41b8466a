package appointment

import (
	"time"

	"sundry/core/civil"
	"sundry/core/fault"
	"sundry/core/listing"
	"sundry/core/text"
)

// AsSold returns b with the variant as the reservation was sold: one session of the reservation's own length, even if
// the variant has changed since.
func (b Bookable) AsSold(c ReservationState) Bookable {
	now, _ := b.Listing.Variant(c.VariantID) // one that is gone is booked alone
	b.Variant = listing.Variant{ID: c.VariantID, DurationMinutes: int(c.EndsAt.Sub(c.StartsAt) / time.Minute),
		SessionCount: 1, Seats: now.Seats}
	return b
}

// Reselect validates the time that an appointment shall move to, as far as that needs no query of what others booked,
// and fills in its mode: the appointment's own where the buyer names none. VALIDATION_FAILED or INVALID_TIMEZONE with
// every fault, NOT_BOOKABLE when nobody has set where meetings of another mode take place.
func (b Bookable) Reselect(a State, p SlotChoice) (SlotChoice, error) {
	var f fault.Violations
	at := f.Nest(p.Field)
	p.Check(at)
	if p.DeliveryMode == "" {
		p.DeliveryMode = a.DeliveryMode
	}
	if err := civil.AsInvalidTimezone(f.Err()); err != nil {
		return p, err
	}
	if p.DeliveryMode != a.DeliveryMode && !offers(b.Listing, p.DeliveryMode) {
		at.Addf("deliveryMode", fault.DetailNotAllowed, "This listing is offered as %s.",
			b.Listing.Text(listing.DeliveryMethod))
		return p, f.Err()
	}
	if url, address := b.location(p.DeliveryMode, "room"); p.DeliveryMode != a.DeliveryMode && url+address == "" {
		return p, fault.New(fault.NotBookable, "The creator has not set where meetings of this delivery mode take place.")
	}
	return p, nil
}

// Unchanged reports whether a pick is what the appointment is already.
func (a State) Unchanged(p SlotChoice) bool {
	return a.StartsAt.Equal(p.StartsAt) && a.Timezone == p.Timezone && a.DeliveryMode == p.DeliveryMode
}

// Move gives the time of a confirmed reservation back and makes the reservation that takes its place, on the time of a
// pick. It is paid for, so it is confirmed from the start. STATE_CONFLICT for a reservation that is not confirmed.
func (b Bookable) Move(from *Reservation, p SlotChoice, id string, now time.Time) (*Reservation, error) {
	if _, err := from.Cancel(); err != nil {
		return nil, err
	}
	next := b.Hold([]SlotChoice{p}, from.s.CheckoutID, func() string { return id }, now)[0]
	next.Position, next.Status = from.s.Position, Confirmed
	return RestoreReservation(next), nil
}

const maxReason = 500

// CheckReason refuses, with VALIDATION_FAILED, a reason of canceling that is too long or not plain text.
func CheckReason(reason string) error {
	var f fault.Violations
	text.CheckLines(&f, "reason", reason, maxReason)
	return f.Err()
}
