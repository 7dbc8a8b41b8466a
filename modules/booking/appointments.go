package booking

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"sundry/core/appointment"
	"sundry/core/fault"
	"sundry/core/id"
	"sundry/ports"
)

// Appointments lists those of the account's appointments that a search is for, newest first.
func (s *Service) Appointments(ctx context.Context, creatorID string, search ports.AppointmentSearch, page ports.Page) (ports.List[appointment.State], error) {
	return s.store.Read(ctx).Appointments.List(ctx, creatorID, search, page)
}

// Appointment is one of the account's appointments. NOT_FOUND.
func (s *Service) Appointment(ctx context.Context, creatorID, appointmentID string) (appointment.State, error) {
	return appointmentOf(ctx, s.store.Read(ctx), creatorID, appointmentID)
}

func appointmentOf(ctx context.Context, r ports.Repos, creatorID, appointmentID string) (appointment.State, error) {
	a, err := r.Appointments.Get(ctx, appointmentID)
	if errors.Is(err, ports.ErrNotFound) || err == nil && a.CreatorID != creatorID {
		return appointment.State{}, fault.NotFound("appointment")
	}
	return a, err
}

// Reschedule moves one of the account's appointments to another open time, which is judged as at booking, except that
// its own time is not in its way. A time that it has already changes nothing. NOT_FOUND, VALIDATION_FAILED or
// INVALID_TIMEZONE, STATE_CONFLICT once canceled or begun, NOT_BOOKABLE, SLOT_IN_PAST, SLOT_TAKEN.
func (s *Service) Reschedule(ctx context.Context, creatorID, appointmentID string, pick appointment.Pick) (moved appointment.State, err error) {
	err = s.store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		// From here on nobody else decides about this creator's time, nor about any of their appointments.
		if err := r.Claims.Lock(ctx, creatorID); err != nil {
			return err
		}
		moved, err = s.reschedule(ctx, r, creatorID, appointmentID, pick)
		return err
	})
	return moved, err
}

func (s *Service) reschedule(ctx context.Context, r ports.Repos, creatorID, appointmentID string, pick appointment.Pick) (appointment.State, error) {
	state, err := appointmentOf(ctx, r, creatorID, appointmentID)
	if err != nil {
		return state, err
	}
	claim, b, err := s.sold(ctx, r, state)
	if err != nil {
		return state, err
	}
	if pick, err = b.ChooseAgain(state, pick); err != nil {
		return state, err
	}
	now, err := s.clock.Now(ctx, creatorID)
	if err != nil {
		return state, err
	}
	a := appointment.Restore(state)
	if err := a.Changeable(now); err != nil || state.Stays(pick) {
		return state, err
	}
	next, err := s.moveClaim(ctx, r, b, claim, pick, now)
	if err != nil {
		return state, err
	}
	event, err := a.Reschedule(b, next, s.room(), now)
	if err != nil {
		return state, err
	}
	if err := r.Appointments.Save(ctx, a.State()); err != nil {
		return state, err
	}
	return a.State(), s.bus.Publish(ctx, r, event)
}

// sold is an appointment's claim and what it was made on.
func (s *Service) sold(ctx context.Context, r ports.Repos, a appointment.State) (*appointment.Claim, appointment.Bookable, error) {
	claims, err := r.Claims.OfCheckout(ctx, a.CreatorID, a.CheckoutID)
	if err != nil {
		return nil, appointment.Bookable{}, err
	}
	for _, state := range claims {
		if state.ID == a.ClaimID {
			claim := appointment.RestoreClaim(state)
			b, err := s.booked(ctx, r, claim)
			return claim, b.Kept(state), err
		}
	}
	return nil, appointment.Bookable{}, fmt.Errorf("appointment %s has lost its claim %s", a.ID, a.ClaimID)
}

// moveClaim puts a claim on the pick in the place of another. The old one goes first: moving by half an hour would
// overlap it. A refusal undoes that with the transaction.
func (s *Service) moveClaim(
	ctx context.Context, r ports.Repos, b appointment.Bookable, old *appointment.Claim, pick appointment.Pick, now time.Time,
) (appointment.ClaimState, error) {
	next, err := b.Move(old, pick, s.ids.New(id.Claim), now)
	if err != nil {
		return appointment.ClaimState{}, err
	}
	if err := r.Claims.Save(ctx, old.State()); err != nil {
		return appointment.ClaimState{}, err
	}
	picks := []appointment.Pick{pick}
	q, err := s.query(ctx, r, b, b.Policy(), span(picks), "")
	if err != nil {
		return appointment.ClaimState{}, err
	}
	if err := b.Available(q, picks); err != nil {
		return appointment.ClaimState{}, err
	}
	return next.State(), s.take(ctx, r, []appointment.ClaimState{next.State()})
}

// Cancel calls one of the account's appointments off and gives its time back; the reason may be "". No money goes back:
// that is a refund's to do. NOT_FOUND, VALIDATION_FAILED, STATE_CONFLICT once canceled or begun.
func (s *Service) Cancel(ctx context.Context, creatorID, appointmentID, reason string) (canceled appointment.State, err error) {
	if err := appointment.CheckReason(reason); err != nil {
		return appointment.State{}, err
	}
	err = s.store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		if err := r.Claims.Lock(ctx, creatorID); err != nil {
			return err
		}
		canceled, err = s.cancel(ctx, r, creatorID, appointmentID, reason)
		return err
	})
	return canceled, err
}

func (s *Service) cancel(ctx context.Context, r ports.Repos, creatorID, appointmentID, reason string) (appointment.State, error) {
	state, err := appointmentOf(ctx, r, creatorID, appointmentID)
	if err != nil {
		return state, err
	}
	now, err := s.clock.Now(ctx, creatorID)
	if err != nil {
		return state, err
	}
	a := appointment.Restore(state)
	event, err := a.Cancel(reason, now)
	if err != nil {
		return state, err
	}
	claim, _, err := s.sold(ctx, r, state)
	if err != nil {
		return state, err
	}
	if err := claim.Cancel(); err != nil {
		return state, err
	}
	if err := r.Claims.Save(ctx, claim.State()); err != nil {
		return state, err
	}
	if err := r.Appointments.Save(ctx, a.State()); err != nil {
		return state, err
	}
	return a.State(), s.bus.Publish(ctx, r, event)
}

// room names a meeting at a provider that gives each its own.
func (s *Service) room() string { return "sundry-" + hex.EncodeToString(s.ids.Random(16)) }
