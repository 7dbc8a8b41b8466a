package booking

import (
	"context"
	"fmt"
	"time"

	"sundry/core/appointment"
	"sundry/core/customer"
	"sundry/core/event"
	"sundry/core/id"
	"sundry/ports"
)

// Appointments lists those of the account's appointments that a search is for, newest first.
func (s *Service) Appointments(
	ctx context.Context, creatorID string, search ports.AppointmentSearch, page ports.Page,
) (ports.List[appointment.State], error) {
	return s.deps.Store.Read(ctx).Booking.Appointments.List(ctx, creatorID, search, page)
}

// Appointment returns one of the account's appointments. NOT_FOUND.
func (s *Service) Appointment(ctx context.Context, creatorID, appointmentID string) (appointment.State, error) {
	return appointmentOf(ctx, s.deps.Store.Read(ctx), creatorID, appointmentID)
}

func appointmentOf(ctx context.Context, r ports.Repos, creatorID, appointmentID string) (appointment.State, error) {
	a, err := r.Booking.Appointments.Get(ctx, appointmentID)
	return ports.Visible(a, err, a.CreatorID == creatorID, "appointment")
}

// Reschedule moves one of the account's appointments to another open time, which is validated as at booking, except
// that its own time is not in its way. A time that it has already changes nothing. NOT_FOUND, VALIDATION_FAILED or
// INVALID_TIMEZONE, STATE_CONFLICT once canceled or begun, NOT_BOOKABLE, SLOT_IN_PAST, SLOT_TAKEN.
func (s *Service) Reschedule(
	ctx context.Context, creatorID, appointmentID string, pick appointment.SlotChoice,
) (appointment.State, error) {
	return s.rescheduleAs(ctx, creatorID, appointmentID, pick,
		func(a *appointment.Appointment, now time.Time) error {
			a.MoveByCreator(pick.StartsAt, now)
			return nil
		})
}

// rescheduleAs is Reschedule for any caller: mayMove refuses a move that would be made.
func (s *Service) rescheduleAs(
	ctx context.Context, creatorID, appointmentID string, pick appointment.SlotChoice,
	mayMove func(a *appointment.Appointment, now time.Time) error,
) (moved appointment.State, err error) {
	err = s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		// From here on nobody else decides about this creator's time, nor about any of their appointments.
		if err := r.Booking.Reservations.Lock(ctx, creatorID); err != nil {
			return err
		}
		moved, err = s.reschedule(ctx, r, creatorID, appointmentID, pick, mayMove)
		return err
	})
	return moved, err
}

func (s *Service) reschedule(
	ctx context.Context, r ports.Repos, creatorID, appointmentID string, pick appointment.SlotChoice,
	mayMove func(a *appointment.Appointment, now time.Time) error,
) (appointment.State, error) {
	state, err := appointmentOf(ctx, r, creatorID, appointmentID)
	if err != nil {
		return state, err
	}
	reservation, b, err := s.sold(ctx, r, state)
	if err != nil {
		return state, err
	}
	if pick, err = b.Reselect(state, pick); err != nil {
		return state, err
	}
	now, err := r.Clock.Now(ctx, creatorID)
	if err != nil {
		return state, err
	}
	a := appointment.Restore(state)
	if err := a.Changeable(now); err != nil || state.Unchanged(pick) {
		return state, err
	}
	if err := mayMove(a, now); err != nil {
		return state, err
	}
	next, err := s.moveReservation(ctx, r, b, reservation, pick, now)
	if err != nil {
		return state, err
	}
	if b.SharedURL, err = sharedURL(ctx, r, next); err != nil {
		return state, err
	}
	change, err := a.Reschedule(b, next, s.room(), now)
	if err != nil {
		return state, err
	}
	if a.State().MeetingURL != state.MeetingURL {
		if err := s.addMeeting(ctx, r, b, a.State()); err != nil {
			return state, err
		}
	}
	return a.State(), s.save(ctx, r, state, a, change)
}

// sold returns an appointment's reservation and its listing as it was sold.
func (s *Service) sold(
	ctx context.Context, r ports.Repos, a appointment.State,
) (*appointment.Reservation, appointment.Bookable, error) {
	reservations, err := r.Booking.Reservations.ListByCheckout(ctx, a.CreatorID, a.CheckoutID)
	if err != nil {
		return nil, appointment.Bookable{}, err
	}
	for _, state := range reservations {
		if state.ID == a.ReservationID {
			reservation := appointment.RestoreReservation(state)
			b, err := s.booked(ctx, r, reservation)
			return reservation, b.AsSold(state), err
		}
	}
	return nil, appointment.Bookable{}, fmt.Errorf("appointment %s has lost its reservation %s", a.ID, a.ReservationID)
}

// moveReservation puts a reservation on the pick in the place of another. The old one goes first: moving by half an
// hour would overlap it. A refusal undoes that with the transaction.
func (s *Service) moveReservation(
	ctx context.Context, r ports.Repos, b appointment.Bookable, old *appointment.Reservation,
	pick appointment.SlotChoice, now time.Time,
) (appointment.ReservationState, error) {
	next, err := b.Move(old, pick, s.deps.IDs.New(id.Reservation), now)
	if err != nil {
		return appointment.ReservationState{}, err
	}
	if err := r.Booking.Reservations.Update(ctx, old.State()); err != nil {
		return appointment.ReservationState{}, err
	}
	if err := s.leaveGroup(ctx, r, old.State()); err != nil {
		return appointment.ReservationState{}, err
	}
	picks := []appointment.SlotChoice{pick}
	q, err := s.query(ctx, r, b, span(picks), nil)
	if err != nil {
		return appointment.ReservationState{}, err
	}
	if err := b.Available(q, picks); err != nil {
		return appointment.ReservationState{}, err
	}
	taken, err := s.take(ctx, r, b, []appointment.ReservationState{next.State()}, picks)
	if err != nil {
		return appointment.ReservationState{}, err
	}
	return taken[0], nil
}

// save writes an appointment that was before, has its reminders and its meeting follow, and publishes the change.
func (s *Service) save(
	ctx context.Context, r ports.Repos, before appointment.State, a *appointment.Appointment, change event.Event,
) error {
	if err := r.Booking.Appointments.Update(ctx, a.State()); err != nil {
		return err
	}
	if err := s.scheduleReminders(ctx, r, a.State()); err != nil {
		return err
	}
	if err := s.scheduleMeetings(ctx, r, before, a.State()); err != nil {
		return err
	}
	return s.deps.Bus.Publish(ctx, r, change)
}

// RecordOutcome records how one of the account's appointments went; "" takes it back, and what is recorded already
// changes nothing. NOT_FOUND, VALIDATION_FAILED, STATE_CONFLICT before it begins and once it is canceled.
func (s *Service) RecordOutcome(
	ctx context.Context, creatorID, appointmentID string, outcome appointment.Outcome,
) (state appointment.State, err error) {
	if err := appointment.CheckOutcome(outcome); err != nil {
		return state, err
	}
	err = s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		if state, err = appointmentOf(ctx, r, creatorID, appointmentID); err != nil {
			return err
		}
		now, err := r.Clock.Now(ctx, creatorID)
		if err != nil {
			return err
		}
		a := appointment.Restore(state)
		recorded, changed, err := a.RecordOutcome(outcome, now)
		if err != nil || !changed {
			return err
		}
		state = a.State()
		if err := r.Booking.Appointments.Update(ctx, state); err != nil {
			return err
		}
		return s.deps.Bus.Publish(ctx, r, recorded)
	})
	return state, err
}

// OnCustomerRenamed stores the integrator's own identifier.
func (s *Service) OnCustomerRenamed(ctx context.Context, r ports.Repos, e customer.Renamed) error {
	return r.Booking.Appointments.Rename(ctx, e.CreatorID, e.ID, e.ExternalCustomerID)
}

// room names a meeting at a provider that gives each its own. It has the shape of the secrets in other addresses, so
// that it names the cell too.
func (s *Service) room() string {
	return id.Body(s.deps.IDs.New(id.Meeting)) + id.Body(s.deps.IDs.New(id.Meeting))
}
