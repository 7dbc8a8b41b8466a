package appointment

import (
	"slices"
	"time"

	"sundry/core/fault"
	"sundry/core/slot"
)

// ReservationStatus is the state of a reservation: held → confirmed → canceled, or held → released.
type ReservationStatus string

// The statuses of a reservation. Held and confirmed reservations keep the creator's time, the others have released it.
const (
	Held                ReservationStatus = "held"
	Confirmed           ReservationStatus = "confirmed"
	Released            ReservationStatus = "released"
	ReservationCanceled ReservationStatus = "canceled"
)

// Live reports whether the reservation keeps the creator's time.
func (s ReservationStatus) Live() bool { return s == Held || s == Confirmed }

// ReservationState is a reservation's data, as stores see it.
type ReservationState struct {
	ID        string // clm_…
	CreatorID string
	ListingID string
	VariantID string
	// CheckoutID is the session that holds the time.
	CheckoutID string
	// Position is the place in the pack, from 0, as the buyer chose.
	Position int
	Status   ReservationStatus
	StartsAt time.Time
	EndsAt   time.Time
	// Blocked is the session with its buffers: no two live reservations of a creator share a moment of it.
	Blocked      slot.Interval
	Timezone     string // the buyer's, IANA
	DeliveryMode DeliveryMode
	// Seats is the number of buyers who can share the time, of the reservation of a group: it has no checkout, and is held
	// as long as somebody has a seat. 0 for the reservation of one buyer.
	Seats int
	// GroupID names the reservation of a group, of which this one is a seat; "" for a reservation that is its own. A seat
	// keeps no time of the creator's, and Number tells it from the other live ones, from 0.
	GroupID   string
	Number    int
	CreatedAt time.Time
	Revision  int64
}

// Reservation is the aggregate: some of a creator's time that a buyer has, or had.
type Reservation struct{ s ReservationState }

// RestoreReservation rebuilds a reservation from its stored state.
func RestoreReservation(s ReservationState) *Reservation { return &Reservation{s} }

// State returns a copy of the data.
func (c *Reservation) State() ReservationState { return c.s }

// Confirm keeps the time permanently because it is paid for. STATE_CONFLICT once the time was released.
func (c *Reservation) Confirm() (changed bool, err error) {
	return c.transition(Held, Confirmed, "confirmed")
}

// Release frees time that was held. STATE_CONFLICT once confirmed.
func (c *Reservation) Release() (changed bool, err error) {
	return c.transition(Held, Released, "released")
}

// Cancel frees time that was confirmed. STATE_CONFLICT for a reservation that never was.
func (c *Reservation) Cancel() (changed bool, err error) {
	return c.transition(Confirmed, ReservationCanceled, "canceled")
}

// transition moves a reservation from one status to another; changed is false when it is there already.
func (c *Reservation) transition(from, to ReservationStatus, done string) (changed bool, err error) {
	switch c.s.Status {
	case to:
		return false, nil
	case from:
		c.s.Status = to
		c.s.Revision++
		return true, nil
	default:
		return false, fault.Newf(fault.StateConflict, "The reservation of this time is %s and cannot be %s.", c.s.Status,
			done)
	}
}

// IsSeat reports whether the buyer shares the time with others.
func (c ReservationState) IsSeat() bool { return c.GroupID != "" }

// Group returns the reservation of a group for the time of its first seat.
func (c ReservationState) Group(id string, seats int) ReservationState {
	c.ID, c.CheckoutID, c.Position, c.Status, c.Seats, c.GroupID, c.Revision = id, "", 0, Held, seats, "", 1
	return c
}

// SeatIn returns the reservation as a seat of a group: the first that none of the others has.
func (c ReservationState) SeatIn(groupID string, others []ReservationState) ReservationState {
	c.GroupID, c.Number = groupID, 0
	for slices.ContainsFunc(others, func(o ReservationState) bool { return o.Number == c.Number }) {
		c.Number++
	}
	return c
}

// NewHold returns a new reservation on the same time.
func (c *Reservation) NewHold(id string, now time.Time) *Reservation {
	next := c.s
	next.ID, next.Status, next.CreatedAt, next.Revision = id, Held, now, 1
	return &Reservation{next}
}
