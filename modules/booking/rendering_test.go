package booking_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"sundry/adapters/memlock"
	"sundry/adapters/system"
	"sundry/core/appointment"
	"sundry/core/fault"
	"sundry/core/listing"
	"sundry/core/secret"
	"sundry/modules/booking"
	"sundry/ports"
	"sundry/tests/fakes"
)

// inText renders a calendar as text and counts how often it does.
func inText(rendered *int) booking.Renderer {
	return booking.Renderer{Name: "text", Render: func(c booking.Calendar) (booking.Rendering, error) {
		*rendered++
		text := fmt.Sprint(c)
		return booking.Rendering{Body: []byte(text), ETag: text}, nil
	}}
}

// insertListing writes the row of the fixture's listing, which calendars take the version of.
func (w *fixture) insertListing() {
	w.t.Helper()
	w.listing.Revision, w.listing.Slug, w.listing.CreatedAt, w.listing.UpdatedAt = 1, "coaching", w.Real(), w.Real()
	w.must(w.store.Atomically(w.t.Context(), func(ctx context.Context, r ports.Repos) error {
		return r.Catalog.Listings.Insert(ctx, w.listing)
	}))
}

// changeListing changes the listing and its row.
func (w *fixture) changeListing(change func(l *listing.State)) {
	w.t.Helper()
	change(&w.listing)
	w.listing.Revision++
	w.must(w.store.Atomically(w.t.Context(), func(ctx context.Context, r ports.Repos) error {
		return r.Catalog.Listings.Update(ctx, w.listing)
	}))
}

// anotherProcess is the module with nothing kept, over the fixture's database.
func (w *fixture) anotherProcess() *booking.Service {
	return booking.New(booking.Config{LinkKeys: secret.Fixed(make([]byte, 32)), LastingKey: make([]byte, 32)}, booking.Deps{
		Store: w.store, Clock: w, Sleeper: system.Clock{}, IDs: system.NewIDs(), Bus: w, Listings: w,
		Accounts: fakes.Account{}, Locks: memlock.New(time.Now),
	})
}

// weekOf is the calendar of a week of June.
func weekOf(t testing.TB, first string) booking.CalendarQuery {
	t.Helper()
	from := day(t, first)
	return booking.CalendarQuery{ListingID: listingID, From: from, To: from + 6, MostDays: 31}
}

func TestRenderingsAreMadeOnce(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		w.insertListing()
		reader, made := w.anotherProcess(), 0
		read := func() string {
			t.Helper()
			shown, err := reader.Rendered(t.Context(), weekOf(t, "2026-06-02"), inText(&made))
			w.must(err)
			return shown.ETag
		}
		wantMade := func(want int, what string) {
			t.Helper()
			if made != want {
				t.Errorf("%s: rendered %d times, want %d", what, made, want)
			}
		}
		before := read()
		read()
		w.Advance(time.Hour)
		read()
		wantMade(1, "nothing happened")
		w.must(w.hold("cs_1", "03 10:00"))
		if held := read(); held == before {
			t.Error("a held time is shown")
		}
		wantMade(2, "held")
		w.confirm("cs_1")
		read()
		wantMade(2, "confirmed, which frees and takes nothing")
		w.must(w.hold("cs_2", "04 10:00"))
		w.must(w.release("cs_2"))
		read()
		wantMade(3, "held and released")
		w.Set(june("02 09:01"))
		if read(); made != 4 {
			t.Errorf("a time that has passed: rendered %d times, want 4", made)
		}
		_, err := reader.Rendered(t.Context(), booking.CalendarQuery{ListingID: "lst_x", MostDays: 1}, inText(&made))
		wantCode(t, "an unknown listing", err, fault.NotFoundCode)
		w.changeListing(func(l *listing.State) { l.Status = listing.Archived })
		_, err = reader.Rendered(t.Context(), weekOf(t, "2026-06-02"), inText(&made))
		wantCode(t, "an archived listing", err, fault.NotFoundCode)
	})
}

// TestARefusedHoldChangesNoRendering holds what is taken, in a transaction that rolls back.
func TestARefusedHoldChangesNoRendering(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		w.insertListing()
		made := 0
		w.must(w.hold("cs_1", "03 10:00"))
		first, err := w.booking.Rendered(t.Context(), weekOf(t, "2026-06-02"), inText(&made))
		w.must(err)
		wantCode(t, "a taken time", w.hold("cs_2", "03 10:00"), fault.SlotTaken)
		again, err := w.booking.Rendered(t.Context(), weekOf(t, "2026-06-02"), inText(&made))
		w.must(err)
		if made != 1 || again.ETag != first.ETag {
			t.Errorf("rendered %d times, want 1", made)
		}
	})
}

// TestRenderingsStayBounded asks for more calendars than are kept.
func TestRenderingsStayBounded(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		w.insertListing()
		made := 0
		large := booking.Renderer{Name: "large", Render: func(booking.Calendar) (booking.Rendering, error) {
			made++
			return booking.Rendering{Body: make([]byte, 1<<20), ETag: "large"}, nil
		}}
		read := func(minutes int) {
			t.Helper()
			query := weekOf(t, "2026-06-02")
			query.DurationMinutes = minutes
			_, err := w.booking.Rendered(t.Context(), query, large)
			w.must(err)
		}
		for minutes := 10; minutes < 20; minutes++ {
			read(minutes)
			read(10) // used again and again, so it stays
		}
		if made != 10 {
			t.Errorf("rendered %d times, want 10", made)
		}
		if read(11); made != 11 {
			t.Errorf("the one that was used longest ago: rendered %d times, want 11", made)
		}
	})
}

// bookings takes random steps that change which times are open, or do not.
type bookings struct {
	*fixture
	*rand.Rand
	sessions []string
	booked   []appointment.State
}

func (b *bookings) pickTime() string {
	return fmt.Sprintf("%02d %02d:00", 1+b.IntN(14), 8+b.IntN(10))
}

func (b *bookings) step() (did string) {
	refusable := func(what string, err error) string {
		b.t.Helper()
		if err != nil && fault.CodeOf(err) == "" {
			b.t.Fatalf("%s: %v", what, err)
		}
		return what
	}
	session := ""
	if len(b.sessions) > 0 {
		session = b.sessions[b.IntN(len(b.sessions))]
	}
	switch b.IntN(11) {
	case 0, 1, 2:
		session = fmt.Sprintf("cs_%d", len(b.sessions))
		at := b.pickTime()
		err := b.hold(session, at)
		if err == nil {
			b.sessions = append(b.sessions, session)
		}
		return refusable("hold "+at, err)
	case 3:
		return refusable("release "+session, b.release(session))
	case 4:
		if session != "" {
			booked, _ := b.confirm(session)
			b.booked = append(b.booked, booked...)
		}
		return "confirm " + session
	case 5, 6:
		if len(b.booked) == 0 {
			return "nothing"
		}
		a := b.booked[b.IntN(len(b.booked))]
		if b.IntN(2) == 0 {
			_, err := b.cancellations.Cancel(b.t.Context(), creatorID, a.ID, "", false)
			return refusable("cancel "+a.ID, err)
		}
		_, err := b.booking.Reschedule(b.t.Context(), creatorID, a.ID, pick(b.pickTime())[0])
		return refusable("reschedule "+a.ID, err)
	case 7:
		changed, calendars := hours(), []string{work}
		changed.Timezone = []string{"Europe/Paris", "America/New_York"}[b.IntN(2)]
		changed.Weekly = changed.Weekly[b.IntN(3):]
		b.must(b.booking.SetHours(b.t.Context(), creatorID, changed, calendars[b.IntN(2):]...))
		return "set hours"
	case 8:
		b.respond(work, calendarText(fmt.Sprintf("DTSTART:202606%02dT%02d0000Z\r\nDURATION:PT3H", 2+b.IntN(8), 8+b.IntN(8))))
		b.must(b.booking.SetHours(b.t.Context(), creatorID, hours(), work))
		b.work()
		return "read a calendar"
	case 9:
		b.changeListing(func(l *listing.State) {
			l.Metadata = listing.Metadata{
				listing.DeliveryMethod: "hybrid", listing.BufferAfter: int64(10 * b.IntN(3)),
				listing.MinimumNotice: int64(30 * b.IntN(3)), listing.DailyCap: int64(1 + b.IntN(3)), listing.HorizonDays: int64(3 + b.IntN(9)),
			}
		})
		return "change the listing"
	default:
		b.Advance(time.Duration(1+b.IntN(400)) * time.Minute)
		return "wait"
	}
}

// TestRenderingsEqualWhatIsComputed takes random steps in one process while another shows its kept calendars, each of
// which has to be what is computed without the cache.
func TestRenderingsEqualWhatIsComputed(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			forEachEngine(t, func(t *testing.T, w *fixture) {
				w.insertListing()
				reader, steps := w.anotherProcess(), &bookings{fixture: w, Rand: rand.New(rand.NewPCG(seed, 1))} //nolint:gosec // a test
				queries := []booking.CalendarQuery{weekOf(t, "2026-06-01"), weekOf(t, "2026-06-05"), weekOf(t, "2026-06-10")}
				queries[1].Timezone, queries[2].VariantID, queries[2].DurationMinutes = "Pacific/Auckland", packID, 90
				made, computed := 0, 0
				var history []string
				for range 60 {
					history = append(history, steps.step())
					for _, query := range queries {
						shown, err := reader.Rendered(t.Context(), query, inText(&made))
						w.must(err)
						calendar, err := w.booking.Open(t.Context(), query)
						w.must(err)
						want, err := inText(&computed).Render(calendar)
						w.must(err)
						if shown.ETag != want.ETag {
							t.Fatalf("after %s:\n got %s\nwant %s", strings.Join(history, ", "), shown.ETag, want.ETag)
						}
					}
				}
				if made >= computed {
					t.Errorf("of %d calendars none was kept", computed)
				}
			})
		})
	}
}
