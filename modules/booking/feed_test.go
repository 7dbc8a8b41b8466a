package booking_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	ics "github.com/arran4/golang-ical"

	"sundry/core/fault"
)

// fed are the entries of a creator's calendar: status, start and sequence.
func (w *fixture) fed(url string) string {
	w.t.Helper()
	link, _ := strings.CutPrefix(strings.TrimSuffix(url, ".ics"), "https://pay.example.com/calendar/")
	raw, err := w.booking.Feed(w.t.Context(), link)
	w.must(err)
	calendar, err := ics.ParseCalendar(bytes.NewReader(raw))
	w.must(err)
	var all []string
	for _, e := range calendar.Events() {
		starts, err := e.GetStartAt()
		w.must(err)
		all = append(
			all,
			e.GetProperty(ics.ComponentPropertyStatus).Value+" "+starts.UTC().Format("02 15:04")+" "+e.GetProperty(ics.ComponentPropertySequence).Value,
		)
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

func TestACreatorsCalendarFollowsTheirAppointments(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		url, err := w.booking.FeedURL(t.Context(), creatorID)
		w.must(err)
		if got := w.fed(url); got != "" {
			t.Errorf("before: %s", got)
		}
		pack := w.book("cs_1", "02 10:00", "03 10:00", "04 10:00")
		w.must(w.hold("cs_2", "05 10:00")) // not paid
		_, err = w.move(pack[1], "03 11:00")
		w.must(err)
		_, err = w.cancellations.Cancel(t.Context(), creatorID, pack[2].ID, "", true)
		w.must(err)
		if got, want := w.fed(url), "CANCELLED 04 08:00 1, CONFIRMED 02 08:00 0, CONFIRMED 03 09:00 1"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
		if other, err := w.booking.FeedURL(t.Context(), "crt_01h00000000000000000000001"); err != nil || w.fed(other) != "" ||
			other == url {
			t.Errorf("another creator: %s, %v", other, err)
		}
		w.Set(w.Real().AddDate(0, 0, 32)) // 3 July: 30 days back is 3 June
		if got, want := w.fed(url), "CANCELLED 04 08:00 1"; got != want {
			t.Errorf("a month later: %s, want %s", got, want)
		}
	})
}

func TestAReplacedAddressOpensNothing(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		first, err := w.booking.FeedURL(t.Context(), creatorID)
		w.must(err)
		seen := map[string]bool{first: true}
		for range 3 {
			next, err := w.booking.RotateFeed(t.Context(), creatorID)
			w.must(err)
			if again, err := w.booking.FeedURL(t.Context(), creatorID); err != nil || again != next || seen[next] {
				t.Errorf("%s, then %s, %v", next, again, err)
			}
			w.fed(next)
			for old := range seen {
				link, _ := strings.CutPrefix(strings.TrimSuffix(old, ".ics"), "https://pay.example.com/calendar/")
				_, err := w.booking.Feed(t.Context(), link)
				wantCode(t, "an address before", err, fault.NotFoundCode)
			}
			seen[next] = true
		}
		for _, link := range []string{"", "x", creatorID, strings.Repeat("0", 52), strings.Repeat("💩", 13)} {
			_, err := w.booking.Feed(t.Context(), link)
			wantCode(t, link, err, fault.NotFoundCode)
		}
	})
}
