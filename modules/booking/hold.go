package booking

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"sundry/core/appointment"
	"sundry/core/event"
	"sundry/core/id"
	"sundry/core/slot"
	"sundry/ports"
)

var _ ports.Bookings = (*Service)(nil)

// Ready implements ports.Bookings.
func (s *Service) Ready(ctx context.Context, r ports.Repos, creatorID, listingID, variantID string) error {
	_, err := s.ready(ctx, r, creatorID, listingID, variantID)
	return err
}

// ready returns the bookable listing. NOT_FOUND if it is not the account's, and the refusals of Bookable.Ready.
func (s *Service) ready(
	ctx context.Context, r ports.Repos, creatorID, listingID, variantID string,
) (appointment.Bookable, error) {
	b, err := s.ownBookable(ctx, r, creatorID, listingID, variantID)
	if err != nil {
		return b, err
	}
	return b, b.Ready()
}

// Hold implements ports.Bookings.
func (s *Service) Hold(ctx context.Context, r ports.Repos, h ports.Hold) ([]appointment.ReservationState, error) {
	b, err := s.ownBookable(ctx, r, h.CreatorID, h.ListingID, h.VariantID)
	if err != nil {
		return nil, err
	}
	b.Listing = b.Listing.WithDeliveryModes(h.DeliveryModes)
	if err := b.Ready(); err != nil {
		return nil, err
	}
	b.Step = b.Policy().Step // a session of another length takes the starts that its calendar shows
	b.Variant.DurationMinutes = cmp.Or(h.DurationMinutes, b.Variant.DurationMinutes)
	b.Variant.SessionCount = cmp.Or(h.SessionCount, b.Variant.SessionCount)
	now, err := r.Clock.Now(ctx, h.CreatorID)
	if err != nil {
		return nil, err
	}
	picks, err := b.Select(h.Picks, now)
	if err != nil {
		return nil, err
	}
	// From here on nobody else decides about this creator's time, so that caps hold too, which no constraint knows.
	if err := r.Booking.Reservations.Lock(ctx, h.CreatorID); err != nil {
		return nil, err
	}
	if err := s.Release(ctx, r, h.CreatorID, h.CheckoutID); err != nil {
		return nil, err
	}
	q, err := s.query(ctx, r, b, span(picks), nil)
	if err != nil {
		return nil, err
	}
	if err := b.Available(q, picks); err != nil {
		return nil, err
	}
	reservations := b.Hold(picks, h.CheckoutID, func() string { return s.deps.IDs.New(id.Reservation) }, now)
	return s.take(ctx, r, b, reservations, picks)
}

// take writes the new reservations on the picks, all or none: of a variant that several buyers share, a seat.
// SLOT_TAKEN.
func (s *Service) take(
	ctx context.Context, r ports.Repos, b appointment.Bookable, reservations []appointment.ReservationState,
	picks []appointment.SlotChoice,
) (_ []appointment.ReservationState, err error) {
	var taken bool
	if b.Variant.IsGroup() && len(reservations) == 1 {
		reservations[0], taken, err = s.takeSeat(ctx, r, reservations[0], b.Variant.Seats)
	} else {
		taken, err = r.Booking.Reservations.Insert(ctx, reservations)
	}
	if err == nil && !taken {
		err = appointment.Taken(picks...)
	}
	if err != nil {
		return nil, fmt.Errorf("take times of %s: %w", reservations[0].ListingID, err)
	}
	return reservations, nil
}

// span is the time in which the picks begin.
func span(picks []appointment.SlotChoice) slot.Interval {
	all := slot.Interval{From: picks[0].StartsAt, Until: picks[0].StartsAt}
	for _, p := range picks {
		if p.StartsAt.Before(all.From) {
			all.From = p.StartsAt
		}
		if p.StartsAt.After(all.Until) {
			all.Until = p.StartsAt
		}
	}
	all.Until = all.Until.Add(1)
	return all
}

// Release implements ports.Bookings.
func (s *Service) Release(ctx context.Context, r ports.Repos, creatorID, checkoutID string) error {
	held, err := s.Held(ctx, r, creatorID, checkoutID)
	if err != nil {
		return err
	}
	for _, state := range held {
		if err := s.release(ctx, r, state); err != nil {
			return err
		}
	}
	return nil
}

// release frees a time that is held, or a seat of it.
func (s *Service) release(ctx context.Context, r ports.Repos, state appointment.ReservationState) error {
	if state.IsSeat() {
		// nobody else joins or leaves the group meanwhile
		if err := r.Booking.Reservations.Lock(ctx, state.CreatorID); err != nil {
			return err
		}
	}
	reservation := appointment.RestoreReservation(state)
	if _, err := reservation.Release(); err != nil {
		return err
	}
	if err := r.Booking.Reservations.Update(ctx, reservation.State()); err != nil {
		return err
	}
	return s.leaveGroup(ctx, r, state)
}

// Held implements ports.Bookings.
func (s *Service) Held(
	ctx context.Context, r ports.Repos, creatorID, checkoutID string,
) (all []appointment.ReservationState, err error) {
	all, err = r.Booking.Reservations.ListByCheckout(ctx, creatorID, checkoutID)
	return slices.DeleteFunc(all, func(c appointment.ReservationState) bool { return !c.Status.Live() }), err
}

// Booked implements ports.Bookings.
func (s *Service) Booked(
	ctx context.Context, r ports.Repos, creatorID, checkoutID string,
) ([]appointment.State, error) {
	return r.Booking.Appointments.ListByCheckout(ctx, creatorID, checkoutID)
}

// Confirm implements ports.Bookings.
func (s *Service) Confirm(
	ctx context.Context, r ports.Repos, c ports.Confirmation,
) (booked []event.Event, ok bool, err error) {
	before, err := r.Booking.Appointments.ListByCheckout(ctx, c.CreatorID, c.CheckoutID)
	if err != nil || len(before) > 0 {
		return nil, len(before) > 0, err
	}
	reservations, ok, err := s.reserveAgain(ctx, r, c)
	if err != nil || !ok {
		return nil, false, err
	}
	b, err := s.booked(ctx, r, reservations[0])
	if err != nil {
		return nil, false, err
	}
	if b.SharedURL, err = s.joinMeeting(ctx, r, reservations[0].State()); err != nil {
		return nil, false, err
	}
	b.RefundPolicy = c.RefundPolicy
	now, err := r.Clock.Now(ctx, c.CreatorID)
	if err != nil {
		return nil, false, err
	}
	for _, reservation := range reservations {
		if _, err := reservation.Confirm(); err != nil {
			return nil, false, err
		}
		if err := r.Booking.Reservations.Update(ctx, reservation.State()); err != nil {
			return nil, false, err
		}
		a, emitted := b.Book(s.deps.IDs.New(id.Appointment), reservation.State(), c.Buyer, s.room(), now)
		if err := r.Booking.Appointments.Insert(ctx, a.State()); err != nil {
			return nil, false, err
		}
		if err := s.scheduleReminders(ctx, r, a.State()); err != nil {
			return nil, false, err
		}
		if err := s.addMeeting(ctx, r, b, a.State()); err != nil {
			return nil, false, err
		}
		if err := s.scheduleMeetings(ctx, r, appointment.State{}, a.State()); err != nil {
			return nil, false, err
		}
		booked = append(booked, emitted)
	}
	return booked, true, nil
}

// reserveAgain is the session's reservations, one per time, all held: those that were released are taken again, all of
// them or none. ok is false when one of the times is no longer free, and when there never were any.
func (s *Service) reserveAgain(
	ctx context.Context, r ports.Repos, c ports.Confirmation,
) (reservations []*appointment.Reservation, ok bool, err error) {
	states, err := r.Booking.Reservations.ListByCheckout(ctx, c.CreatorID, c.CheckoutID)
	if err != nil {
		return nil, false, err
	}
	now, err := r.Clock.Now(ctx, c.CreatorID)
	if err != nil {
		return nil, false, err
	}
	var again []appointment.ReservationState
	for _, state := range latest(states) {
		reservation := appointment.RestoreReservation(state)
		if state.Status == appointment.Released && state.IsSeat() { // the only one: packs have none
			if err := r.Booking.Reservations.Lock(ctx, c.CreatorID); err != nil {
				return nil, false, err
			}
			seat, ok, err := s.retake(ctx, r, state, now)
			return []*appointment.Reservation{seat}, ok, err
		}
		if state.Status == appointment.Released {
			reservation = reservation.NewHold(s.deps.IDs.New(id.Reservation), now)
			again = append(again, reservation.State())
		}
		reservations = append(reservations, reservation)
	}
	if len(again) == 0 {
		return reservations, len(reservations) > 0, nil
	}
	if err := r.Booking.Reservations.Lock(ctx, c.CreatorID); err != nil {
		return nil, false, err
	}
	taken, err := r.Booking.Reservations.Insert(ctx, again)
	return reservations, taken, err
}

// latest is the reservation of each position that counts: the live one, else the last. The others are of times that the
// buyer gave up for another.
func latest(states []appointment.ReservationState) []appointment.ReservationState {
	var all []appointment.ReservationState
	for _, state := range states {
		last := len(all) - 1
		switch {
		case last < 0 || all[last].Position != state.Position:
			all = append(all, state)
		case !all[last].Status.Live():
			all[last] = state
		}
	}
	return all
}

// booked loads the listing of a reservation and its creator's setup as they are now. An archived listing is returned
// too.
func (s *Service) booked(
	ctx context.Context, r ports.Repos, reservation *appointment.Reservation,
) (b appointment.Bookable, err error) {
	b.Rooms = s.rooms()
	if b.Listing, err = s.deps.Listings.Listing(ctx, r, reservation.State().ListingID); err != nil {
		return b, err
	}
	b.Setup, err = r.Booking.Scheduling.Get(ctx, reservation.State().CreatorID)
	return b, err
}
