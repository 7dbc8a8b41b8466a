package booking

import (
	"context"
	"strconv"

	"sundry/core/appointment"
	"sundry/core/fault"
	"sundry/core/id"
	"sundry/core/secret"
	"sundry/ports"
)

// purposeFeed derives the secret of a creator's calendar address.
const purposeFeed = "feed"

const (
	// feedDays is the number of past days in a feed.
	feedDays = 30
	// mostFed bounds a feed: calendars read it every few minutes.
	mostFed = 5000
)

// FeedURL returns the secret address of a creator's calendar.
func (s *Service) FeedURL(ctx context.Context, creatorID string) (string, error) {
	version, err := s.deps.Store.Read(ctx).Booking.Scheduling.GetFeedVersion(ctx, creatorID)
	return s.feedURL(creatorID, version), err
}

// RotateFeed replaces the address: the one before opens nothing any more.
func (s *Service) RotateFeed(ctx context.Context, creatorID string) (url string, err error) {
	err = s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		version, err := r.Booking.Scheduling.IncrementFeedVersion(ctx, creatorID)
		url = s.feedURL(creatorID, version)
		return err
	})
	return url, err
}

func (s *Service) feedURL(creatorID string, version int64) string {
	return s.cfg.BaseURL + "/calendar/" + secret.Derive(s.cfg.LinkKeys, purposeFeed, creatorID,
		strconv.FormatInt(version, 10)) + ".ics"
}

// Feed returns the calendar behind such an address: appointments of the last 30 days and all to come, canceled ones
// too. NOT_FOUND.
func (s *Service) Feed(ctx context.Context, link string) ([]byte, error) {
	creatorID, ok := secret.UnverifiedID(id.Creator, link)
	if !ok {
		return nil, fault.NotFound("calendar")
	}
	r := s.deps.Store.Read(ctx)
	version, err := r.Booking.Scheduling.GetFeedVersion(ctx, creatorID)
	if err != nil {
		return nil, err
	}
	if _, ok := secret.Verify(s.cfg.LinkKeys, purposeFeed, id.Creator, link, strconv.FormatInt(version, 10)); !ok {
		return nil, fault.NotFound("calendar")
	}
	name, err := s.deps.Accounts.SellerName(ctx, r, creatorID)
	if err != nil {
		return nil, err
	}
	all, err := s.fed(ctx, r, creatorID)
	if err != nil {
		return nil, err
	}
	file := ports.CalendarFile{
		Method: ports.CalendarPublish, Name: name, Entries: s.entries(all),
	}
	return s.deps.Calendars.Write(file), nil
}

// entries are the events of a creator's calendar: one for all appointments that share a time, with their number.
func (s *Service) entries(all []appointment.State) []ports.CalendarEntry {
	entries := make([]ports.CalendarEntry, 0, len(all))
	groups := map[string]int{} // the place of each in entries
	buyers := map[string]int{}
	for _, a := range all {
		entry := s.CalendarEntry(a)
		if a.GroupID == "" {
			entries = append(entries, entry)
			continue
		}
		if !entry.Canceled {
			buyers[a.GroupID]++
		}
		at, known := groups[a.GroupID]
		if !known {
			at = len(entries)
			groups[a.GroupID] = at
			entry.UID = a.GroupID + "@" + s.host()
			entry.Sequence = 0 // a sum would fall when a buyer moves to another time; the stamp orders versions
			entries = append(entries, entry)
			continue
		}
		group := &entries[at]
		group.Canceled = group.Canceled && entry.Canceled
		if group.URL == "" && entry.URL != "" {
			group.URL, group.Location = entry.URL, entry.Location
		}
	}
	for groupID, at := range groups {
		entries[at].Summary += " (" + strconv.Itoa(buyers[groupID]) + ")"
		entries[at].Description = entries[at].URL // what each buyer said is on the pages of their appointments
	}
	return entries
}

// fed are the appointments of a feed.
func (s *Service) fed(ctx context.Context, r ports.Repos, creatorID string) ([]appointment.State, error) {
	now, err := r.Clock.Now(ctx, creatorID)
	if err != nil {
		return nil, err
	}
	return r.Booking.Appointments.ListFrom(ctx, creatorID, now.AddDate(0, 0, -feedDays), mostFed)
}
