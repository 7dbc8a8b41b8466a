package booking

import (
	"context"
	"time"

	"sundry/core/appointment"
	"sundry/core/id"
	"sundry/core/slot"
	"sundry/ports"
)

// takeSeat puts a new reservation below that of its group, which it makes for the first one: seats is the number of
// buyers who can share the time. ok is false when none is left, or the creator has something else at the time; nothing
// has changed then. The caller has the lock of the creator's time.
func (s *Service) takeSeat(
	ctx context.Context, r ports.Repos, seat appointment.ReservationState, seats int,
) (_ appointment.ReservationState, ok bool, err error) {
	live, err := r.Booking.Reservations.ListLive(ctx, seat.CreatorID, slot.Interval{
		From: seat.StartsAt, Until: seat.StartsAt.Add(time.Millisecond),
	})
	if err != nil {
		return seat, false, err
	}
	groupID := ""
	for _, c := range live {
		if c.Seats > 0 && c.ListingID == seat.ListingID && c.VariantID == seat.VariantID &&
			c.StartsAt.Equal(seat.StartsAt) && c.EndsAt.Equal(seat.EndsAt) {
			if c.Taken >= seats {
				return seat, false, nil
			}
			groupID = c.ID
		}
	}
	if groupID == "" {
		groupID = s.deps.IDs.New(id.Reservation)
		made, err := r.Booking.Reservations.Insert(ctx, []appointment.ReservationState{seat.Group(groupID, seats)})
		if err != nil || !made {
			return seat, false, err
		}
		seat = seat.SeatIn(groupID, nil)
		return seat, true, r.Booking.Reservations.InsertSeat(ctx, seat)
	}
	if err := s.widen(ctx, r, seat.CreatorID, groupID, seats); err != nil {
		return seat, false, err
	}
	others, err := r.Booking.Reservations.ListSeats(ctx, seat.CreatorID, groupID)
	if err != nil {
		return seat, false, err
	}
	seat = seat.SeatIn(groupID, others)
	return seat, true, r.Booking.Reservations.InsertSeat(ctx, seat)
}

// widen gives a group more seats where its variant has more by now.
func (s *Service) widen(ctx context.Context, r ports.Repos, creatorID, groupID string, seats int) error {
	group, err := r.Booking.Reservations.GetGroup(ctx, creatorID, groupID)
	if err != nil || group.Seats >= seats {
		return err
	}
	group.Seats = seats
	group.Revision++
	return r.Booking.Reservations.Update(ctx, group)
}

// leaveGroup gives the creator's time back when a group has no seat left that is live. The caller has the lock of the
// creator's time.
func (s *Service) leaveGroup(ctx context.Context, r ports.Repos, seat appointment.ReservationState) error {
	if !seat.IsSeat() {
		return nil
	}
	others, err := r.Booking.Reservations.ListSeats(ctx, seat.CreatorID, seat.GroupID)
	if err != nil || len(others) > 0 {
		return err
	}
	group, err := r.Booking.Reservations.GetGroup(ctx, seat.CreatorID, seat.GroupID)
	if err != nil {
		return err
	}
	empty := appointment.RestoreReservation(group)
	if changed, err := empty.Release(); err != nil || !changed {
		return err
	}
	return r.Booking.Reservations.Update(ctx, empty.State())
}

// retake reserves a time again that was released, in a group with the others who have it by now.
func (s *Service) retake(
	ctx context.Context, r ports.Repos, released appointment.ReservationState, now time.Time,
) (*appointment.Reservation, bool, error) {
	before, err := r.Booking.Reservations.GetGroup(ctx, released.CreatorID, released.GroupID)
	if err != nil {
		return nil, false, err
	}
	next := appointment.RestoreReservation(released).NewHold(s.deps.IDs.New(id.Reservation), now).State()
	next, ok, err := s.takeSeat(ctx, r, next, before.Seats)
	return appointment.RestoreReservation(next), ok, err
}

// sharedURL is the link of those who meet virtually at the time of a group; "" for the first one, and for a time that
// is a single buyer's.
func sharedURL(ctx context.Context, r ports.Repos, c appointment.ReservationState) (string, error) {
	if !c.IsSeat() {
		return "", nil
	}
	group, err := r.Booking.Appointments.ListByGroup(ctx, c.CreatorID, c.GroupID)
	for _, a := range group {
		if a.Status == appointment.StatusConfirmed && a.MeetingURL != "" {
			return a.MeetingURL, err
		}
	}
	return "", err
}

// joinMeeting is sharedURL for a reservation that is about to be confirmed: of two that come at once, the later one
// joins the meeting of the other.
func (s *Service) joinMeeting(ctx context.Context, r ports.Repos, c appointment.ReservationState) (string, error) {
	if !c.IsSeat() {
		return "", nil
	}
	if err := r.Booking.Reservations.Lock(ctx, c.CreatorID); err != nil {
		return "", err
	}
	return sharedURL(ctx, r, c)
}

// Group lists the appointments that share the time of one of the account's, itself and canceled ones included; it alone
// where the buyer has the time alone.
func (s *Service) Group(ctx context.Context, a appointment.State) ([]appointment.State, error) {
	if a.GroupID == "" {
		return []appointment.State{a}, nil
	}
	return s.deps.Store.Read(ctx).Booking.Appointments.ListByGroup(ctx, a.CreatorID, a.GroupID)
}
