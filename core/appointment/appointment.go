// Package appointment is time that was sold: the reservation that keeps it for a buyer, the pack of times a buyer
// chooses, and the appointment that payment makes of each.
package appointment

import (
	"time"

	"sundry/core/fault"
	"sundry/core/intake"
)

// Status is the state of an appointment: confirmed → canceled.
type Status string

// The statuses of an appointment.
const (
	StatusConfirmed Status = "confirmed"
	StatusCanceled  Status = "canceled"
)

// State is an appointment's data, as stores and views see it.
type State struct {
	ID         string // apt_…
	CreatorID  string
	ListingID  string
	VariantID  string
	CheckoutID string
	// Position is the place in the pack, from 0.
	Position int
	// ReservationID is the reservation that keeps the time, another one after each reschedule.
	ReservationID string
	// GroupID is the reservation of the group that shares the time; "" where the buyer has it alone.
	GroupID            string
	ExternalCustomerID string // "" when the integrator named none
	CustomerID         string
	// Title is the listing's, as it was sold.
	Title string
	// Intake holds the buyer's answers, notes and guests.
	Intake       intake.Response
	Status       Status
	StartsAt     time.Time
	EndsAt       time.Time
	Timezone     string // the buyer's, IANA
	DeliveryMode DeliveryMode
	// MeetingURL or Address is where, as the settings were when it was sold.
	MeetingURL string
	Address    string
	// BuyerMoves counts how often the buyer has moved it.
	BuyerMoves int
	// Sequence rises with each change, for the calendars that were notified.
	Sequence int
	// RefundPolicy is the policy that the buyer was promised. Once it was too late, a move by them keeps its last
	// moment; before, a move by the creator takes no refund away.
	RefundPolicy RefundPolicy
	CancelReason string
	CanceledAt   time.Time // zero while confirmed
	CanceledBy   Canceler
	// RefundDecision is the cancellation's decision about the money, "" while confirmed. RefundID names the refund that it
	// made.
	RefundDecision RefundDecision
	RefundID       string
	// Outcome is the outcome that the creator recorded at OutcomeAt.
	Outcome   Outcome
	OutcomeAt time.Time
	CreatedAt time.Time
	Revision  int64
}

// Appointment is the aggregate.
type Appointment struct{ s State }

// Restore rebuilds an appointment from its stored state.
func Restore(s State) *Appointment { return &Appointment{s} }

// State returns a copy of the data.
func (a *Appointment) State() State { return a.s }

// Buyer identifies the customer of an appointment, with what they said when they booked.
type Buyer struct {
	CustomerID, ExternalCustomerID string
	Intake                         intake.Response
}

// Book makes the appointment of a confirmed reservation. room names the meeting at a provider that gives each its own.
func (b Bookable) Book(id string, c ReservationState, buyer Buyer, room string, now time.Time) (*Appointment, Booked) {
	s := State{
		ID: id, CreatorID: c.CreatorID, ListingID: c.ListingID, VariantID: c.VariantID, CheckoutID: c.CheckoutID,
		Position:      c.Position,
		ReservationID: c.ID, GroupID: c.GroupID, ExternalCustomerID: buyer.ExternalCustomerID, CustomerID: buyer.CustomerID,
		Title: b.Listing.Title, Intake: buyer.Intake,
		Status: StatusConfirmed, StartsAt: c.StartsAt, EndsAt: c.EndsAt, Timezone: c.Timezone, DeliveryMode: c.DeliveryMode,
		RefundPolicy: b.RefundPolicy, CreatedAt: now, Revision: 1,
	}
	s.MeetingURL, s.Address = b.location(c.DeliveryMode, room)
	return &Appointment{s}, Booked{s}
}

// location is the link or the address of a mode, as the settings are now.
func (b Bookable) location(mode DeliveryMode, room string) (meetingURL, address string) {
	if mode == InPerson {
		return "", b.Meetings.address(b.Listing)
	}
	if b.SharedURL != "" {
		return b.SharedURL, ""
	}
	return b.Meetings.link(b.Rooms, room), ""
}

// Changeable refuses, with STATE_CONFLICT, what can only be done to an appointment that is still to come.
func (a *Appointment) Changeable(now time.Time) error {
	switch {
	case a.s.Status == StatusCanceled:
		return fault.New(fault.StateConflict, "The appointment is canceled.")
	case !now.Before(a.s.StartsAt):
		return fault.New(fault.StateConflict, "The appointment has already begun.")
	}
	return nil
}

// MaxBuyerMoves bounds how often a buyer may move an appointment.
const MaxBuyerMoves = 10

// MoveByBuyer counts a move by the buyer to another start, before it is made. It restores no refund that they were too
// late for. LIMIT_REACHED.
func (a *Appointment) MoveByBuyer(to, now time.Time) error {
	if a.s.BuyerMoves >= MaxBuyerMoves {
		return fault.Newf(fault.LimitReached, "An appointment can be moved %d times here. Ask the seller to move it again.",
			MaxBuyerMoves)
	}
	a.s.BuyerMoves++
	if now.After(a.s.RefundPolicy.Until(a.s.StartsAt)) {
		a.s.RefundPolicy = a.s.RefundPolicy.moved(a.s.StartsAt, to)
	}
	return nil
}

// MoveByCreator notes a move by the creator to another start, before it is made. A full refund that the buyer could
// still have lasts until the start where that is sooner than the policy asks for.
func (a *Appointment) MoveByCreator(to, now time.Time) {
	p := &a.s.RefundPolicy
	if !now.After(p.Until(a.s.StartsAt)) && now.After(p.Until(to)) {
		p.FullHours = 0
	}
}

// Reschedule moves the appointment to the time of another confirmed reservation. STATE_CONFLICT once canceled or begun.
// The place stays, so that those who have the link or the address need no other, unless the reservation is of another
// mode or of a group is left or joined: then it is b's, room naming the meeting at a provider that gives each its own.
func (a *Appointment) Reschedule(b Bookable, c ReservationState, room string, now time.Time) (Rescheduled, error) {
	if err := a.Changeable(now); err != nil {
		return Rescheduled{}, err
	}
	previous, shares := a.s.StartsAt, a.s.GroupID != "" || c.GroupID != ""
	a.s.GroupID = c.GroupID
	a.s.ReservationID, a.s.StartsAt, a.s.EndsAt, a.s.Timezone = c.ID, c.StartsAt, c.EndsAt, c.Timezone
	if c.DeliveryMode != a.s.DeliveryMode || shares {
		a.s.DeliveryMode = c.DeliveryMode
		a.s.MeetingURL, a.s.Address = b.location(c.DeliveryMode, room)
	}
	a.touch()
	return Rescheduled{State: a.s, PreviousStartsAt: previous}, nil
}

// Cancel ends the appointment before it begins. STATE_CONFLICT once canceled or begun.
func (a *Appointment) Cancel(c Cancellation, now time.Time) (Canceled, error) {
	if err := a.Changeable(now); err != nil {
		return Canceled{}, err
	}
	a.s.Status, a.s.CancelReason, a.s.CanceledAt, a.s.CanceledBy = StatusCanceled, c.Reason, now, c.By
	a.s.RefundDecision, a.s.RefundID = c.Refund.Decision, c.Refund.RefundID
	a.touch()
	return Canceled{State: a.s, Refunded: c.Refund.Amount}, nil
}

func (a *Appointment) touch() {
	a.s.Sequence++
	a.s.Revision++
}
