package booking

import (
	"cmp"
	"context"
	"encoding/hex"
	"strings"
	"time"

	"sundry/core/appointment"
	"sundry/core/civil"
	"sundry/core/fault"
	"sundry/core/id"
	"sundry/core/identity"
	"sundry/core/secret"
	"sundry/core/slot"
	"sundry/ports"
)

// purposeManage derives the secret of a buyer's link.
const purposeManage = "manage"

// ManageURL returns the page on which a buyer sees, moves and cancels an appointment. Anyone who has it can do the
// same.
func (s *Service) ManageURL(appointmentID string) string {
	return s.cfg.BaseURL + "/a/" + secret.Derive(s.cfg.LinkKeys, purposeManage, appointmentID)
}

// Managed is an appointment as its buyer sees it.
type Managed struct {
	appointment.State
	// Seller is the seller, as buyers see them.
	Seller identity.Storefront
	// Now is the account's time; Changeable is false once the appointment is canceled or has begun.
	Now        time.Time
	Changeable bool
}

// Managed returns the appointment behind a buyer's link. NOT_FOUND.
func (s *Service) Managed(ctx context.Context, link string) (m Managed, err error) {
	r := s.deps.Store.Read(ctx)
	if m.State, err = s.linked(ctx, r, link); err != nil {
		return m, err
	}
	if m.Seller, err = s.deps.Accounts.Storefront(ctx, r, m.CreatorID); err != nil {
		return m, err
	}
	m.Now, err = s.deps.Clock.Now(ctx, m.CreatorID)
	m.Changeable = appointment.Restore(m.State).Changeable(m.Now) == nil
	return m, err
}

func (s *Service) linked(ctx context.Context, r ports.Repos, link string) (appointment.State, error) {
	appointmentID, ok := secret.Verify(s.cfg.LinkKeys, purposeManage, id.Appointment, link)
	if !ok {
		return appointment.State{}, fault.NotFound("appointment")
	}
	a, err := r.Booking.Appointments.Get(ctx, appointmentID)
	return a, ports.Missing(err, "appointment")
}

// furthest is more days than any listing can be booked ahead.
const furthest = 1000

// Alternatives returns the open times that an appointment can be moved to, on the buyer's days from one on. NOT_FOUND,
// STATE_CONFLICT.
func (s *Service) Alternatives(ctx context.Context, link string, from civil.Date, days int) (Calendar, error) {
	r := s.deps.Store.Read(ctx)
	a, err := s.linked(ctx, r, link)
	if err != nil {
		return Calendar{}, err
	}
	return s.alternatives(ctx, r, a, a.Timezone, from, days)
}

// AlternativesIn is Alternatives to one of the account's appointments, on the days of a zone.
func (s *Service) AlternativesIn(
	ctx context.Context, creatorID, appointmentID, timezone string, from civil.Date, days int,
) (Calendar, error) {
	r := s.deps.Store.Read(ctx)
	a, err := appointmentOf(ctx, r, creatorID, appointmentID)
	if err != nil {
		return Calendar{}, err
	}
	return s.alternatives(ctx, r, a, timezone, from, days)
}

func (s *Service) alternatives(
	ctx context.Context, r ports.Repos, a appointment.State, timezone string, from civil.Date, days int,
) (Calendar, error) {
	now, err := s.deps.Clock.Now(ctx, a.CreatorID)
	if err != nil {
		return Calendar{}, err
	}
	if err := appointment.Restore(a).Changeable(now); err != nil {
		return Calendar{}, err
	}
	_, b, err := s.sold(ctx, r, a)
	if err != nil {
		return Calendar{}, err
	}
	viewer, err := civil.ParseZone(timezone)
	if err != nil {
		return Calendar{}, err
	}
	today := civil.DateIn(viewer, now)
	c := Calendar{CalendarQuery: CalendarQuery{
		ListingID: a.ListingID, VariantID: a.VariantID, Timezone: timezone,
		DurationMinutes: b.Variant.DurationMinutes,
		From:            min(max(from, today), today+furthest), MostDays: days,
	}, Modes: []appointment.DeliveryMode{a.DeliveryMode}}
	c.To = c.From + civil.Date(days) - 1 //nolint:gosec // a few weeks
	own := []string{cmp.Or(a.GroupID, a.ReservationID)}
	q, err := s.query(ctx, r, b, dayRange(viewer, c.CalendarQuery), own)
	if err != nil {
		return Calendar{}, err
	}
	c.Slots = slot.Open(q, c.From, c.To, viewer)
	return c, nil
}

// RescheduleByBuyer is Reschedule by a caller who has the link; the zone and the place stay. LIMIT_REACHED after
// appointment.MaxBuyerMoves.
func (s *Service) RescheduleByBuyer(ctx context.Context, link string, startsAt time.Time) (appointment.State, error) {
	a, err := s.linked(ctx, s.deps.Store.Read(ctx), link)
	if err != nil {
		return a, err
	}
	pick := appointment.SlotChoice{StartsAt: startsAt, Timezone: a.Timezone, Field: "appointmentSlot"}
	return s.rescheduleAs(ctx, a.CreatorID, a.ID, pick, func(a *appointment.Appointment, now time.Time) error {
		return a.MoveByBuyer(startsAt, now)
	})
}

// CalendarOf returns the appointment behind a buyer's link as a calendar file. NOT_FOUND.
func (s *Service) CalendarOf(ctx context.Context, link string) ([]byte, error) {
	a, err := s.linked(ctx, s.deps.Store.Read(ctx), link)
	if err != nil {
		return nil, err
	}
	return s.deps.Calendars.Write(ports.CalendarFile{Method: ports.CalendarPublish,
		Entries: []ports.CalendarEntry{s.CalendarEntry(a)}}), nil
}

// CalendarEntry implements ports.AppointmentReader.
func (s *Service) CalendarEntry(a appointment.State) ports.CalendarEntry {
	e := ports.CalendarEntry{
		UID: a.ID + "@" + s.host(), Sequence: a.Sequence, Canceled: a.Status == appointment.StatusCanceled,
		StartsAt: a.StartsAt, EndsAt: a.EndsAt, StampedAt: s.deps.Clock.Real(), Summary: a.Title, Location: a.Address,
	}
	if a.MeetingURL != "" {
		e.Location, e.URL, e.Description = a.MeetingURL, a.MeetingURL, a.MeetingURL
	}
	if said := a.Intake.Lines(); said != "" {
		e.Description = strings.TrimPrefix(e.Description+"\n\n"+said, "\n\n")
	}
	return e
}

// host makes the UIDs of calendars unique to this deployment, whatever its address becomes.
func (s *Service) host() string {
	proof := secret.MAC(s.cfg.LastingKey, "calendar-uid")
	return hex.EncodeToString(proof[:6]) + ".sundry"
}

var _ ports.AppointmentReader = (*Service)(nil)

// CreatorZone implements ports.AppointmentReader.
func (s *Service) CreatorZone(ctx context.Context, r ports.Repos, creatorID string) (string, error) {
	setup, err := r.Booking.Scheduling.Get(ctx, creatorID)
	return setup.Hours.Timezone, err
}
