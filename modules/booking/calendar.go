package booking

import (
	"cmp"
	"context"
	"slices"
	"time"

	"sundry/core/appointment"
	"sundry/core/civil"
	"sundry/core/fault"
	"sundry/core/listing"
	"sundry/core/slot"
	"sundry/ports"
)

// CalendarQuery selects the days From to To, both included, whose open times Open lists.
type CalendarQuery struct {
	ListingID string
	VariantID string // "" = the default one
	Timezone  string // whose days they are, IANA; "" = the creator's
	// DurationMinutes shows sessions of another length than the variant's; 0 = the variant's. What is booked is the
	// variant's.
	DurationMinutes int
	From, To        civil.Date
	// MostDays bounds the range.
	MostDays int
	// CheckoutID is the session of a buyer to whom the times are shown: those that it keeps are not in the way. "" = none.
	CheckoutID string
}

// Calendar is the response. A listing that is not ready to be booked has no open times.
type Calendar struct {
	CalendarQuery // with everything filled in; a listing that is not for appointments has no variant
	Modes         []appointment.DeliveryMode
	// Shared reports whether several buyers share each time.
	Shared bool
	Slots  []slot.Slot
}

// Open lists the open times; no credential is needed. VALIDATION_FAILED for a duration out of range,
// INVALID_TIMEZONE, INVALID_RANGE, RANGE_TOO_LARGE, NOT_FOUND for a listing that is not ACTIVE and for an unknown
// variant.
func (s *Service) Open(ctx context.Context, query CalendarQuery) (Calendar, error) {
	if err := query.check(); err != nil {
		return Calendar{}, err
	}
	r := s.deps.Store.Read(ctx)
	b, err := s.shown(ctx, r, query)
	if err != nil {
		return Calendar{}, err
	}
	now, err := s.deps.Clock.Now(ctx, b.Listing.CreatorID)
	if err != nil {
		return Calendar{}, err
	}
	calendar, _, err := s.open(ctx, r, b, query, now)
	return calendar, err
}

// shown loads the variant of a query. NOT_FOUND for a listing that is not ACTIVE and for an unknown variant.
func (s *Service) shown(ctx context.Context, r ports.Repos, query CalendarQuery) (appointment.Bookable, error) {
	b, err := s.offered(ctx, r, query.ListingID, query.VariantID)
	return ports.Visible(b, err, b.Listing.Status == listing.Active, "listing")
}

// openAt is Open at a time of the account, and the time until which the response stays the same if nothing changes.
func (s *Service) openAt(
	ctx context.Context, r ports.Repos, query CalendarQuery, now time.Time,
) (Calendar, time.Time, error) {
	b, err := s.shown(ctx, r, query)
	if err != nil {
		return Calendar{}, time.Time{}, err
	}
	return s.open(ctx, r, b, query, now)
}

// open is openAt for a variant that is loaded.
func (s *Service) open(
	ctx context.Context, r ports.Repos, b appointment.Bookable, query CalendarQuery, now time.Time,
) (_ Calendar, until time.Time, err error) {
	if b.Setup, err = r.Booking.Scheduling.Get(ctx, b.Listing.CreatorID); err != nil {
		return Calendar{}, time.Time{}, err
	}
	query.VariantID = b.Variant.ID
	query.Timezone = cmp.Or(query.Timezone, b.Hours.Timezone)
	query.DurationMinutes = cmp.Or(query.DurationMinutes, b.Variant.DurationMinutes)
	calendar := Calendar{CalendarQuery: query, Modes: appointment.Modes(b.Listing), Shared: b.Variant.IsGroup()}
	viewer, err := civil.ParseZone(query.Timezone)
	if err != nil || b.Ready() != nil {
		return calendar, now.Add(week), err
	}
	policy := b.Policy()
	policy.Duration = query.DurationMinutes
	var own []string
	if query.CheckoutID != "" {
		held, err := s.Held(ctx, r, b.Listing.CreatorID, query.CheckoutID)
		if err != nil {
			return Calendar{}, time.Time{}, err
		}
		for _, state := range held {
			own = append(own, cmp.Or(state.GroupID, state.ID))
		}
	}
	q, err := queryAt(ctx, r, b, policy, dayRange(viewer, query), own, now)
	if err != nil {
		return Calendar{}, time.Time{}, err
	}
	calendar.Slots = slot.Open(q, query.From, query.To, viewer)
	return calendar, q.OpenUntil(calendar.Slots), nil
}

// OpenToHolder lists the times that are open to the buyer of the query's session alone: for others, what the session
// keeps is in the way, or counts against a cap.
func (s *Service) OpenToHolder(ctx context.Context, query CalendarQuery) (Calendar, error) {
	own, err := s.Open(ctx, query)
	if err != nil {
		return own, err
	}
	query.CheckoutID = ""
	public, err := s.Open(ctx, query)
	open := make(map[time.Time]bool, len(public.Slots))
	for _, s := range public.Slots {
		open[s.StartsAt()] = true
	}
	own.Slots = slices.DeleteFunc(own.Slots, func(s slot.Slot) bool { return open[s.StartsAt()] })
	return own, err
}

// dayRange returns the instants that bound the queried days in the viewer's zone.
func dayRange(viewer *time.Location, query CalendarQuery) slot.Interval {
	_, from, until := civil.ZoneForDays(viewer, query.From, query.To)
	return slot.Interval{From: time.UnixMilli(from), Until: time.UnixMilli(until)}
}

// ValidDuration reports whether a calendar can show sessions of that many minutes.
func ValidDuration(minutes int) bool { return minutes >= 5 && minutes <= 1440 }

func (q CalendarQuery) check() error {
	if q.DurationMinutes != 0 && !ValidDuration(q.DurationMinutes) {
		return fault.Invalid(fault.Detail{
			Field: "durationMinutes", Code: fault.DetailOutOfRange, Message: "Expected 5 to 1440.",
		})
	}
	if q.Timezone != "" {
		if _, err := civil.ParseZone(q.Timezone); err != nil {
			return err
		}
	}
	switch days := int64(q.To) - int64(q.From) + 1; {
	case days < 1:
		return fault.New(fault.InvalidRange, "The range ends before it begins: to must not be before from.")
	case days > int64(q.MostDays):
		return fault.Newf(fault.RangeTooLarge, "The range has %d days. Ask for at most %d at once.", days, q.MostDays)
	}
	return nil
}

// week is the distance from a range within which reservations can count against its weekly caps, plus a day for time
// zones.
const week = 8 * 24 * time.Hour

// query gathers what decides about the times that begin in an interval. The reservations except are not in the way,
// unless others share them.
func (s *Service) query(
	ctx context.Context, r ports.Repos, b appointment.Bookable, during slot.Interval, except []string,
) (slot.Query, error) {
	now, err := s.deps.Clock.Now(ctx, b.Listing.CreatorID)
	if err != nil {
		return slot.Query{}, err
	}
	return queryAt(ctx, r, b, b.Policy(), during, except, now)
}

// queryAt is query at an instant, under a policy.
func queryAt(
	ctx context.Context, r ports.Repos, b appointment.Bookable, policy slot.Policy, during slot.Interval, except []string,
	now time.Time,
) (q slot.Query, err error) {
	q = slot.Query{Policy: policy, Now: now, Seats: b.Variant.Seats}
	if q.Availability, err = b.Hours.Availability(); err != nil {
		return slot.Query{}, err
	}
	live, busy, err := taken(ctx, r, b.Listing.CreatorID, policy, during, now)
	if err != nil {
		return slot.Query{}, err
	}
	q.Busy = busy
	for _, c := range live {
		if c.Taken <= 1 && slices.Contains(except, c.ID) {
			continue
		}
		q.Busy = append(q.Busy, c.Blocked)
		if c.ListingID == b.Listing.ID {
			q.Booked = append(q.Booked, c.StartsAt)
		}
		if c.Seats > 0 && c.VariantID == b.Variant.ID &&
			c.EndsAt.Sub(c.StartsAt) == time.Duration(policy.Duration)*time.Minute {
			q.Shared = append(q.Shared, slot.Shared{StartsAt: c.StartsAt, Left: b.Variant.Seats - c.Taken})
		}
	}
	return q, nil
}

// taken reads what a creator has reserved and is busy with, as far as it decides about the times that begin in an
// interval.
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
