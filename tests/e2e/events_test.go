package e2e_test

import (
	"net/url"
	"testing"

	"sundry/tests/harness"
)

func TestAPollerReadsEventsOnFromItsLastCursor(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		type page struct {
			Data []struct {
				ID string
			}
			HasMore    bool
			NextCursor *string
		}
		var seen []string
		cursor := ""
		poll := func() (read int) {
			for {
				var p page
				path := "/v1/events?order=asc&limit=2"
				if cursor != "" {
					path += "&cursor=" + url.QueryEscape(cursor)
				}
				w.AsBackend(t, get, path, nil).Want(t, 200).Into(t, &p)
				if p.NextCursor == nil {
					t.Fatalf("nextCursor is null behind %d events", len(seen))
				}
				cursor = *p.NextCursor
				for _, e := range p.Data {
					seen = append(seen, e.ID)
				}
				read += len(p.Data)
				if !p.HasMore {
					return read
				}
			}
		}
		poll()
		for range 2 {
			w.booked(t)
			if poll() < 2 { // the payment's and the appointment's at least
				t.Error("a booking was paid, but its events were not read on from the last cursor")
			}
			if again := poll(); again > 1 { // access may be announced meanwhile
				t.Errorf("reading on gave %d events again", again)
			}
		}
		var newest page
		w.AsBackend(t, get, "/v1/events?limit=100", nil).Want(t, 200).Into(t, &newest)
		known := map[string]bool{}
		for _, id := range seen {
			if known[id] {
				t.Errorf("event %s was read twice", id)
			}
			known[id] = true
		}
		for _, e := range newest.Data[len(newest.Data)-len(seen):] {
			if !known[e.ID] {
				t.Errorf("event %s was missed", e.ID)
			}
		}
		w.AsBackend(t, get, "/v1/events?order=newest", nil).Want(t, 400)
	})
}
