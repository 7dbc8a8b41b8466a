package booking

import (
	"cmp"
	"context"
	"time"

	"sundry/core/appointment"
	"sundry/core/civil"
	"sundry/core/fault"
	"sundry/core/listing"
	"sundry/core/slot"
	"sundry/ports"
)

// Ask is a question to the calendar: which times are open on the days From to To, both included.
type Ask struct {
	ListingID string
	VariantID string // "" = the default one
	Timezone  string // whose days they are, IANA; "" = the creator's
	// DurationMinutes shows sessions of another length than the variant's; 0 = the variant's. What is booked is the
	// variant's.
	DurationMinutes int
	From, To        civil.Date
	// MostDays bounds the range.
	MostDays int
}

// Calendar is the response. A listing that is not ready to be booked has no open times.
type Calendar struct {
	Ask   // with everything filled in; a listing that is not for appointments has no variant
	Modes []appointment.DeliveryMode
	Slots []slot.Slot
}

// Open lists the open times for anybody. VALIDATION_FAILED for a duration out of range, INVALID_TIMEZONE, INVALID_RANGE,
// RANGE_TOO_LARGE, NOT_FOUND for a listing that is not ACTIVE and for an unknown variant.
func (s *Service) Open(ctx context.Context, ask Ask) (Calendar, error) {
	if err := ask.check(); err != nil {
		return Calendar{}, err
	}
	var calendar Calendar
	err := s.store.ReadTogether(ctx, func(ctx context.Context, r ports.Repos) error {
		var err error
		calendar, err = s.open(ctx, r, ask)
		return err
	})
	return calendar, err
}

// open is Open once the question itself is right. Where the zone is known, all that the listing decides about is read with
// its creator's hours.
func (s *Service) open(ctx context.Context, r ports.Repos, ask Ask) (Calendar, error) {
	b, err := s.offered(ctx, r, ask.ListingID, ask.VariantID)
	if err == nil && b.Listing.Status != listing.Active {
		err = fault.NotFound("listing")
	}
	if err != nil {
		return Calendar{}, err
	}
	now, err := s.clock.Now(ctx, b.Listing.CreatorID)
	if err != nil {
		return Calendar{}, err
	}
	if viewer, err := civil.ParseZone(ask.Timezone); err == nil && ask.Timezone != "" {
		policy := b.Policy()
		policy.Duration = cmp.Or(ask.DurationMinutes, b.Variant.DurationMinutes)
		s.store.ReadAhead(ctx, func() {
			_, _ = r.Booking.Scheduling.Get(ctx, b.Listing.CreatorID)
			_, _, _ = taken(ctx, r, b.Listing.CreatorID, policy, days(viewer, ask), now)
		})
	}
	if b.Setup, err = r.Booking.Scheduling.Get(ctx, b.Listing.CreatorID); err != nil {
		return Calendar{}, err
	}
	ask.VariantID = b.Variant.ID
	ask.Timezone = cmp.Or(ask.Timezone, b.Hours.Timezone)
	ask.DurationMinutes = cmp.Or(ask.DurationMinutes, b.Variant.DurationMinutes)
	calendar := Calendar{Ask: ask, Modes: appointment.Modes(b.Listing)}
	viewer, err := civil.ParseZone(ask.Timezone)
	if err != nil || b.Ready() != nil {
		return calendar, err
	}
	policy := b.Policy()
	policy.Duration = ask.DurationMinutes
	q, err := queryAt(ctx, r, b, policy, days(viewer, ask), "", now)
	if err != nil {
		return Calendar{}, err
	}
	calendar.Slots = slot.Open(q, ask.From, ask.To, viewer)
	return calendar, nil
}

// days is from when until when the days of a question last.
func days(viewer *time.Location, ask Ask) slot.Interval {
	_, from, until := civil.ZoneForDays(viewer, ask.From, ask.To)
	return slot.Interval{From: time.UnixMilli(from), Until: time.UnixMilli(until)}
}

// ValidDuration reports whether sessions of that many minutes can be asked for.
func ValidDuration(minutes int) bool { return minutes >= 5 && minutes <= 1440 }

func (a Ask) check() error {
	if a.DurationMinutes != 0 && !ValidDuration(a.DurationMinutes) {
		return fault.Invalid(fault.Detail{Field: "durationMinutes", Code: fault.DetailOutOfRange, Message: "Expected 5 to 1440."})
	}
	if a.Timezone != "" {
		if _, err := civil.ParseZone(a.Timezone); err != nil {
			return err
		}
	}
	switch days := int64(a.To) - int64(a.From) + 1; {
	case days < 1:
		return fault.New(fault.InvalidRange, "The range ends before it begins: to must not be before from.")
	case days > int64(a.MostDays):
		return fault.Newf(fault.RangeTooLarge, "The range has %d days. Ask for at most %d at once.", days, a.MostDays)
	}
	return nil
}

// week is how far from a range the reservations may lie that count against its weeks' caps, and a day more for zones.
const week = 8 * 24 * time.Hour

// query gathers what decides about the times that begin in an interval. The reservation except ("" = none) is not in
// the way.
func (s *Service) query(
	ctx context.Context, r ports.Repos, b appointment.Bookable, policy slot.Policy, during slot.Interval, except string,
) (slot.Query, error) {
	now, err := s.clock.Now(ctx, b.Listing.CreatorID)
	if err != nil {
		return slot.Query{}, err
	}
	return queryAt(ctx, r, b, policy, during, except, now)
}

// queryAt is query at an instant.
func queryAt(
	ctx context.Context, r ports.Repos, b appointment.Bookable, policy slot.Policy, during slot.Interval, except string, now time.Time,
) (q slot.Query, err error) {
	q = slot.Query{Policy: policy, Now: now}
	if q.Availability, err = b.Hours.Availability(); err != nil {
		return slot.Query{}, err
	}
	live, busy, err := taken(ctx, r, b.Listing.CreatorID, policy, during, now)
	if err != nil {
		return slot.Query{}, err
	}
	q.Busy = busy
	for _, c := range live {
		if c.ID == except {
			continue
		}
		q.Busy = append(q.Busy, c.Blocked)
		if c.ListingID == b.Listing.ID {
			q.Booked = append(q.Booked, c.StartsAt)
		}
	}
	return q, nil
}

// taken reads what a creator has reserved and is busy with, as far as it decides about the times that begin in an interval.
func taken(
	ctx context.Context, r ports.Repos, creatorID string, policy slot.Policy, during slot.Interval, now time.Time,
) (live []ports.LiveReservation, busy []slot.Interval, err error) {
	if during.From.Before(now) {
		during.From = now
	}
	if last := now.AddDate(0, 0, policy.HorizonDays+2); last.Before(during.Until) {
		during.Until = last
	}
	if !during.From.Before(during.Until) {
		return nil, nil, nil // nothing is open there, whatever is booked
	}
	during.From = during.From.Add(-time.Duration(policy.BufferBefore) * time.Minute)
	during.Until = during.Until.Add(time.Duration(policy.Duration+policy.BufferAfter) * time.Minute)
	if policy.DailyCap > 0 || policy.WeeklyCap > 0 {
		during.From, during.Until = during.From.Add(-week), during.Until.Add(week)
	}
	if live, err = r.Booking.Reservations.ListLive(ctx, creatorID, during); err != nil {
		return nil, nil, err
	}
	busy, err = r.Booking.BusyCalendars.ListTimes(ctx, creatorID, during)
	return live, busy, err
}
