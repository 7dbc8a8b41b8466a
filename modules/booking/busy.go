package booking

import (
	"context"
	"slices"
	"strings"
	"time"

	"sundry/core/civil"
	"sundry/core/fault"
	"sundry/core/slot"
	"sundry/core/webhook"
	"sundry/ports"
)

// TaskReadCalendar reads one busy calendar; its subject is the creator and the address.
const TaskReadCalendar = "calendar.read"

const (
	// readEvery is the interval between two reads of a busy calendar.
	readEvery = 15 * time.Minute
	// readDays bounds how far ahead it is read: the longest horizon of any listing.
	readDays         = 735
	maxBusyCalendars = 5
)

// CheckBusyCalendars checks the addresses of a creator's other calendars. VALIDATION_FAILED with every fault.
func (s *Service) CheckBusyCalendars(urls []string) error {
	var f fault.Violations
	f.Check(len(urls) <= maxBusyCalendars, "busyCalendarUrls", fault.DetailTooLong, "Expected at most 5 calendars.")
	for i, address := range urls[:min(len(urls), maxBusyCalendars)] {
		at := f.Item("busyCalendarUrls", i)
		webhook.CheckURL("", address, s.cfg.Fetching, at)
		at.Check(!slices.Contains(urls[:i], address), "", fault.DetailDuplicate, "This calendar is listed twice.")
	}
	return f.Err()
}

// BusyCalendars returns a creator's other calendars, each with the result of the last reading.
func (s *Service) BusyCalendars(ctx context.Context, creatorID string) ([]ports.BusyCalendar, error) {
	return s.deps.Store.Read(ctx).Booking.BusyCalendars.List(ctx, creatorID)
}

// setBusyCalendars replaces the list and has every calendar read at once. The tasks are the platform's: calendars
// elsewhere follow no account's clock.
func (s *Service) setBusyCalendars(ctx context.Context, r ports.Repos, creatorID string, urls []string) error {
	before, err := r.Booking.BusyCalendars.List(ctx, creatorID)
	if err != nil {
		return err
	}
	if err := r.Booking.BusyCalendars.Update(ctx, creatorID, urls); err != nil {
		return err
	}
	for _, calendar := range before {
		if !slices.Contains(urls, calendar.URL) {
			if err := r.Tasks.Cancel(ctx, TaskReadCalendar, creatorID+" "+calendar.URL); err != nil {
				return err
			}
		}
	}
	for _, address := range urls {
		if err := r.Tasks.Schedule(ctx, TaskReadCalendar, creatorID+" "+address, "", s.deps.Clock.Real()); err != nil {
			return err
		}
	}
	return nil
}

// ReadCalendar reads a busy calendar and replaces the times that are known of it. One that cannot be read keeps them
// and records why. Claims are never touched. Task TaskReadCalendar.
func (s *Service) ReadCalendar(ctx context.Context, t ports.Task) error {
	creatorID, address, _ := strings.Cut(t.Subject, " ")
	r := s.deps.Store.Read(ctx)
	calendars, err := r.Booking.BusyCalendars.List(ctx, creatorID)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(calendars, func(c ports.BusyCalendar) bool { return c.URL == address }) {
		return ports.EndTask(ctx, s.deps.Store, t)
	}
	setup, err := r.Booking.Scheduling.Get(ctx, creatorID)
	if err != nil {
		return err
	}
	zone, err := civil.ParseZone(setup.Hours.Timezone)
	if err != nil {
		return err
	}
	now, err := s.deps.Clock.Now(ctx, creatorID)
	if err != nil {
		return err
	}
	times, failure := s.readBusy(ctx, address, zone, slot.Interval{
		From: now.AddDate(0, 0, -1), Until: now.AddDate(0, 0, readDays),
	})
	return s.deps.Store.Atomically(context.WithoutCancel(ctx), func(ctx context.Context, r ports.Repos) error {
		at := s.deps.Clock.Real()
		if err := r.Tasks.Postpone(ctx, t, at.Add(readEvery)); err != nil {
			return err
		}
		if failure != nil {
			return r.Booking.BusyCalendars.UpdateFailure(ctx, creatorID, address, failure.Error(), at)
		}
		return r.Booking.BusyCalendars.UpdateTimes(ctx, creatorID, address, times, at)
	})
}

func (s *Service) readBusy(
	ctx context.Context, address string, zone *time.Location, during slot.Interval,
) ([]slot.Interval, error) {
	raw, err := s.deps.Fetcher.Fetch(ctx, address)
	if err != nil {
		return nil, err
	}
	return s.deps.Reader.Busy(raw, zone, during, s.host())
}
