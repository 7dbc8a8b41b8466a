package checkout

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"sundry/core/appointment"
	"sundry/core/checkout"
	"sundry/core/fault"
	"sundry/ports"
)

// ChooseOnPage takes the times that the buyer chose on the hosted page, in the place of those chosen before (Flow B).
// Faults: NOT_FOUND, those of ports.Bookings.Hold, SESSION_ALREADY_PAID, SESSION_EXPIRED, STATE_CONFLICT, RATE_LIMITED.
func (s *Service) ChooseOnPage(
	ctx context.Context, secret string, picks []appointment.SlotChoice,
) (checkout.State, error) {
	session, err := s.bySecret(ctx, secret)
	if err != nil {
		return checkout.State{}, err
	}
	return s.choose(ctx, session, picks)
}

// choose claims the times and remembers them, in one transaction.
func (s *Service) choose(
	ctx context.Context, opened checkout.State, picks []appointment.SlotChoice,
) (session checkout.State, err error) {
	leave := s.deps.Queue.LockSlots(ctx, holdOf(opened, picks))
	defer leave()
	err = s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		aggregate, now, err := s.loadForUpdate(ctx, r, opened.ID)
		if err != nil {
			return err
		}
		if err := aggregate.CanSelectSlots(now); err != nil {
			return err
		}
		slots, err := s.hold(ctx, r, aggregate.State(), picks)
		if fault.Is(err, fault.NotFoundCode) {
			return notOffered()
		}
		if err != nil {
			return err
		}
		// after Hold, whose lock makes the count exact
		if err := s.checkHoldLimit(ctx, r, aggregate.State(), 0); err != nil {
			return err
		}
		if err := aggregate.SelectSlots(slots, now); err != nil {
			return err
		}
		session = aggregate.State()
		return r.Checkout.Sessions.Update(ctx, session)
	})
	return session, err
}

// notOffered refuses times of a variant that was removed after the session was opened: the session itself is there.
func notOffered() error {
	refused := fault.New(fault.NotBookable, "What this checkout session sells is not offered any more.")
	refused.Details = []fault.Detail{
		{Field: "variant", Code: fault.DetailRequired, Message: "The variant was removed from the listing."},
	}
	return refused
}

// firstSlots claims the times that a new session comes with. One that comes without, for the buyer to choose on the
// page, must be bookable at least.
func (s *Service) firstSlots(
	ctx context.Context, r ports.Repos, session checkout.State, picks []appointment.SlotChoice,
) ([]checkout.AppointmentSlot, error) {
	switch {
	case session.Offer.ForAppointments() && picks == nil:
		return nil, s.deps.Bookings.Ready(ctx, r, session.CreatorID, session.Offer.ListingID, session.Offer.VariantID)
	case session.Offer.ForAppointments():
		return s.hold(ctx, r, session, picks)
	case picks != nil:
		field := "appointmentSlots"
		if len(picks) > 0 {
			field, _, _ = strings.Cut(picks[0].Field, "[")
		}
		return nil, fault.Invalid(fault.Detail{
			Field: field, Code: fault.DetailNotAllowed, Message: "Only appointment listings take times.",
		})
	}
	return nil, nil
}

// LockSlots waits until nobody else is deciding about the times of a new session, so that a burst of requests for one
// slot waits outside the database. It is called before the request's transaction; leave ends the turn.
func (s *Service) LockSlots(ctx context.Context, creatorID string, n NewSession) (leave func()) {
	return s.deps.Queue.LockSlots(ctx, ports.Hold{
		CreatorID: creatorID, ListingID: n.ListingID, VariantID: n.VariantID, Picks: n.Slots,
	})
}

func holdOf(session checkout.State, picks []appointment.SlotChoice) ports.Hold {
	offer := session.Offer
	return ports.Hold{
		CreatorID: session.CreatorID, CheckoutID: session.ID, ListingID: offer.ListingID, VariantID: offer.VariantID,
		DurationMinutes: offer.DurationMinutes, SessionCount: offer.SessionCount, DeliveryModes: offer.DeliveryModes,
		Picks: picks,
	}
}

// hold claims times for the session.
func (s *Service) hold(
	ctx context.Context, r ports.Repos, session checkout.State, picks []appointment.SlotChoice,
) ([]checkout.AppointmentSlot, error) {
	claims, err := s.deps.Bookings.Hold(ctx, r, holdOf(session, picks))
	if err != nil {
		return nil, err
	}
	slots := make([]checkout.AppointmentSlot, len(claims))
	for i, c := range claims {
		slots[i] = checkout.AppointmentSlot{
			StartsAt: c.StartsAt, EndsAt: c.EndsAt, Timezone: c.Timezone, DeliveryMode: string(c.DeliveryMode),
		}
	}
	return slots, nil
}

// held returns the reservations that are still kept for the session's buyer, of times that are still to come.
func (s *Service) held(
	ctx context.Context, r ports.Repos, session checkout.State, now time.Time,
) ([]appointment.ReservationState, error) {
	if len(session.Slots) == 0 {
		return nil, nil
	}
	claims, err := s.deps.Bookings.Held(ctx, r, session.CreatorID, session.ID)
	return slices.DeleteFunc(claims, func(claim appointment.ReservationState) bool {
		return !claim.StartsAt.After(now)
	}), err
}

// stillHeld refuses with SLOT_UNAVAILABLE, the times and the ways on, when a time is not kept for the buyer any more.
func (s *Service) stillHeld(ctx context.Context, r ports.Repos, session checkout.State, now time.Time) error {
	held, err := s.held(ctx, r, session, now)
	if err != nil || len(held) == len(session.Slots) {
		return err
	}
	gone := fault.New(
		fault.SlotUnavailable, "A time that was chosen is not available any more. Nothing was charged; choose again.",
	)
	gone.Details = lostTimes(session.Slots, held, now)
	gone.ListingURL, gone.CancelURL = s.AgainURL(session.ID), session.CancelRedirect()
	return gone
}

// lostTimes names the times that have no reservation among those that are held.
func lostTimes(
	chosen []checkout.AppointmentSlot, held []appointment.ReservationState, now time.Time,
) (lost []fault.Detail) {
	for i, slot := range chosen {
		if slices.ContainsFunc(held, func(claim appointment.ReservationState) bool {
			return claim.StartsAt.Equal(slot.StartsAt)
		}) {
			continue
		}
		detail := fault.Detail{
			Field: fmt.Sprintf("appointmentSlots[%d].startsAt", i), Code: fault.DetailTaken,
			Message: "The time is no longer reserved. Choose another one.",
		}
		if !slot.StartsAt.After(now) {
			detail.Code, detail.Message = fault.DetailPast, "The time is in the past. Choose a time in the future."
		}
		lost = append(lost, detail)
	}
	return lost
}
