package booking_test

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sundry/core/appointment"
	"sundry/core/fault"
	"sundry/core/listing"
	"sundry/modules/booking"
	"sundry/ports"
)

func TestATimeIsHeldForOneSession(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		w.must(w.hold("cs_1", "02 10:00"))
		if got := w.open("02"); got != "09 11 12 13 14 15 16" {
			t.Errorf("open: %s", got)
		}
		wantCode(t, "a time that is held", w.hold("cs_2", "02 10:00"), fault.SlotTaken)
		wantCode(
			t, "a pack over a time that is held", w.hold("cs_2", "02 09:00", "02 10:00", "03 10:00"), fault.SlotTaken,
		)
		if got := w.held("cs_2"); got != "" {
			t.Errorf("refused and held: %s", got)
		}
		w.must(w.release("cs_1"))
		w.must(w.release("cs_1"))
		w.must(w.hold("cs_2", "02 10:00"))
		if one, other := w.held("cs_1"), w.held("cs_2"); one != "" || other != "held 02 10:00" {
			t.Errorf("%q, %q", one, other)
		}
	})
}

func TestEveryRefusalOfAHoldChangesNothing(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		w.must(w.hold("cs_1", "02 10:00"))
		hold := func(change func(h *ports.Hold)) error {
			h := ports.Hold{CreatorID: creatorID, CheckoutID: "cs_1", ListingID: listingID, Picks: pick("02 11:00")}
			change(&h)
			return w.store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
				_, err := w.booking.Hold(ctx, r, h)
				return err
			})
		}
		for name, c := range map[string]struct {
			change func(h *ports.Hold)
			want   fault.Code
		}{
			"another creator's listing": {func(h *ports.Hold) { h.CreatorID = "crt_other" }, fault.NotFoundCode},
			"an unknown listing":        {func(h *ports.Hold) { h.ListingID = "lst_x" }, fault.NotFoundCode},
			"an unknown variant":        {func(h *ports.Hold) { h.VariantID = "var_x" }, fault.NotFoundCode},
			"no time":                   {func(h *ports.Hold) { h.Picks = nil }, fault.SlotCountMismatch},
			"too few of a pack":         {func(h *ports.Hold) { h.VariantID = packID }, fault.SlotCountMismatch},
			"overlapping times": {
				func(h *ports.Hold) { h.VariantID, h.Picks = packID, pick("02 11:00", "02 11:30", "03 11:00") },
				fault.SlotsOverlap,
			},
			"yesterday":   {func(h *ports.Hold) { h.Picks = pick("01 09:00") }, fault.SlotInPast},
			"after hours": {func(h *ports.Hold) { h.Picks = pick("02 17:00") }, fault.SlotNotOffered},
			"no mode":     {func(h *ports.Hold) { h.Picks[0].DeliveryMode = "" }, fault.ValidationFailed},
			"no zone":     {func(h *ports.Hold) { h.Picks[0].Timezone = "Local" }, fault.InvalidTimezone},
		} {
			wantCode(t, name, hold(c.change), c.want)
		}
		w.listing.Status = listing.Archived
		wantCode(t, "an archived listing", hold(func(*ports.Hold) {}), fault.NotBookable)
		w.listing.Status = listing.Active
		if got := w.held("cs_1"); got != "held 02 10:00" {
			t.Errorf("held: %s", got)
		}
	})
}

// TestOpenSessionsTakeTheTimesThatTheyShow has the creator change the length of an option while a buyer chooses: the
// session goes on selling an hour, at the times that its calendar shows.
func TestOpenSessionsTakeTheTimesThatTheyShow(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		for _, minutes := range []int{30, 90} {
			w.listing.Variants[0].DurationMinutes = minutes
			calendar, err := w.booking.Open(t.Context(), booking.CalendarQuery{
				ListingID: listingID, DurationMinutes: 60, From: day(t, "2026-06-02"), To: day(t, "2026-06-02"),
				MostDays: 1,
			})
			w.must(err)
			for _, shown := range calendar.Slots {
				err := w.store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
					_, err := w.booking.Hold(ctx, r, ports.Hold{
						CreatorID: creatorID, CheckoutID: "cs_1", ListingID: listingID, DurationMinutes: 60,
						Picks: []appointment.SlotChoice{{
							StartsAt: shown.StartsAt(), Timezone: "UTC", DeliveryMode: appointment.Virtual,
							Field: "appointmentSlot",
						}},
					})
					return err
				})
				if err != nil {
					t.Errorf("sold every %d minutes, %s is shown: %v", minutes, shown, err)
				}
			}
		}
	})
}

// TestOpenSessionsTakeThePlacesThatTheyShow has the creator change where they meet buyers while one chooses a time.
func TestOpenSessionsTakeThePlacesThatTheyShow(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		for _, c := range []struct {
			now, want string
			sold      []string
			pick      appointment.DeliveryMode
		}{
			{"hybrid", "virtual", []string{"virtual"}, ""},
			{"in_person", "virtual", []string{"virtual"}, ""},
			{"virtual", "in_person", []string{"virtual", "in_person"}, appointment.InPerson},
		} {
			w.listing.Metadata[listing.DeliveryMethod] = c.now
			h := ports.Hold{
				CreatorID: creatorID, CheckoutID: "cs_1", ListingID: listingID, DeliveryModes: c.sold, Picks: pick("02 11:00"),
			}
			h.Picks[0].DeliveryMode = c.pick
			err := w.store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
				held, err := w.booking.Hold(ctx, r, h)
				if err == nil && string(held[0].DeliveryMode) != c.want {
					t.Errorf("sold %v, now %s: held %s, want %s", c.sold, c.now, held[0].DeliveryMode, c.want)
				}
				return err
			})
			if err != nil {
				t.Errorf("sold %v, now %s: %v", c.sold, c.now, err)
			}
		}
	})
}

func TestChoosingAgainGivesTheFirstChoiceBack(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		w.must(w.hold("cs_1", "02 10:00", "03 10:00", "04 10:00"))
		w.must(w.hold("cs_1", "02 10:00", "03 11:00", "05 10:00")) // its own reservations are not in its way
		if got := w.held("cs_1"); got != "held 02 10:00, held 03 11:00, held 05 10:00" {
			t.Errorf("held: %s", got)
		}
		w.must(w.hold("cs_2", "04 10:00"))
		booked, ok := w.confirm("cs_1")
		if !ok || len(booked) != 3 || !booked[1].StartsAt.Equal(june("03 11:00")) {
			t.Errorf("booked %+v, %v", booked, ok)
		}
		wantCode(t, "choosing after paying", w.hold("cs_1", "08 10:00", "09 10:00", "10 10:00"), fault.StateConflict)
		wantCode(t, "releasing after paying", w.release("cs_1"), fault.StateConflict)
		if got := w.held("cs_1"); got != "confirmed 02 10:00, confirmed 03 11:00, confirmed 05 10:00" {
			t.Errorf("held: %s", got)
		}
	})
}

func TestCapsHoldOverEverySession(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		w.listing.Metadata[listing.DailyCap], w.listing.Metadata[listing.WeeklyCap] = int64(2), int64(3)
		w.must(w.hold("cs_1", "08 09:00"))
		w.must(w.hold("cs_2", "08 16:00"))
		if got := w.open("08"); got != "" {
			t.Errorf("open on a full day: %s", got)
		}
		wantCode(t, "a third of a day", w.hold("cs_3", "08 12:00"), fault.SlotTaken)
		wantCode(t, "a pack over a week's cap", w.hold("cs_3", "09 12:00", "10 12:00", "15 12:00"), fault.SlotTaken)
		w.must(w.hold("cs_3", "09 12:00", "15 12:00", "16 12:00"))
		if got := w.open("12"); got != "" {
			t.Errorf("open in a full week: %s", got)
		}
		w.must(w.release("cs_1"))
		if got := w.open("12"); got == "" {
			t.Error("released time does not count any more")
		}
	})
}

func TestBuyerSeesThePlacesTheirOwnHoldFills(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		freed := func(checkoutID string) (all []string) {
			calendar, err := w.booking.OpenToHolder(t.Context(), booking.CalendarQuery{
				ListingID: listingID, From: day(t, "2026-06-08"), To: day(t, "2026-06-10"), MostDays: 3, CheckoutID: checkoutID,
			})
			w.must(err)
			for _, s := range calendar.Slots {
				all = append(all, s.StartsAt().In(time.FixedZone("", 7200)).Format("02 15"))
			}
			return all
		}
		w.must(w.hold("cs_1", "08 09:00"))
		w.must(w.hold("cs_2", "08 16:00"))
		if got := freed("cs_1"); !slices.Equal(got, []string{"08 09"}) {
			t.Errorf("without caps, freed by a hold: %v", got)
		}
		w.listing.Metadata[listing.DailyCap] = int64(2)
		want := []string{"08 09", "08 10", "08 11", "08 12", "08 13", "08 14", "08 15"}
		if got := freed("cs_1"); !slices.Equal(got, want) {
			t.Errorf("freed on a day that is full: %v, want %v", got, want)
		}
		if got := freed("cs_3"); len(got) > 0 {
			t.Errorf("freed by no hold: %v", got)
		}
		w.must(w.hold("cs_1", "08 12:00"))
		w.listing.Metadata[listing.DailyCap], w.listing.Metadata[listing.WeeklyCap] = int64(0), int64(2)
		if got := freed("cs_1"); len(got) != 23 {
			t.Errorf("freed in a week that is full: %v, want the three days but for 08 16", got)
		}
	})
}

func TestPaymentMakesAppointmentsOnce(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		w.must(w.hold("cs_1", "04 10:00", "02 10:00", "03 10:00"))
		booked, ok := w.confirm("cs_1")
		again, okAgain := w.confirm("cs_1")
		if !ok || !okAgain || len(booked) != 3 || len(again) != 3 || !reflect.DeepEqual(again[0], booked[0]) {
			t.Fatalf("%v %v\n%v %v", booked, ok, again, okAgain)
		}
		rooms := map[string]bool{}
		for i, a := range booked {
			rooms[a.MeetingURL] = true
			if a.Position != i || a.Status != appointment.StatusConfirmed || a.Title != "Coaching" || a.CustomerID != "cus_1" ||
				a.ExternalCustomerID != "user-1" ||
				!strings.HasPrefix(a.MeetingURL, "https://meet.jit.si/sundry-") || a.Timezone != "Asia/Tokyo" {
				t.Errorf("%+v", a)
			}
		}
		if len(rooms) != 3 || !booked[0].StartsAt.Equal(june("04 10:00")) {
			t.Errorf("%+v", booked)
		}
		if got := strings.Join(w.TakeNames(), " "); got != "appointment.booked appointment.booked appointment.booked" {
			t.Errorf("emitted: %s", got)
		}
	})
}

func TestMoneyAfterReleaseTakesAllTimesBackOrNone(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		for _, id := range []string{"cs_1", "cs_2"} {
			day := map[string]string{"cs_1": "02", "cs_2": "03"}[id]
			w.must(w.hold(id, day+" 09:00", day+" 10:00", day+" 11:00"))
			w.must(w.release(id))
		}
		w.must(w.hold("cs_3", "03 10:00"))
		w.Set(june("02 09:30")) // the first time is over: it was paid for, so it is kept
		w.listing.Status = listing.Archived
		if booked, ok := w.confirm("cs_1"); !ok || len(booked) != 3 {
			t.Errorf("free times: %v %v", booked, ok)
		}
		if booked, ok := w.confirm("cs_2"); ok || len(booked) != 0 {
			t.Errorf("times of which one is gone: %v %v", booked, ok)
		}
		if booked, ok := w.confirm("cs_none"); ok || len(booked) != 0 {
			t.Errorf("no times at all: %v %v", booked, ok)
		}
		if one, two, three := w.held("cs_1"), w.held("cs_2"), w.held("cs_3"); two != "" || three != "held 03 10:00" ||
			one != "confirmed 02 09:00, confirmed 02 10:00, confirmed 02 11:00" {
			t.Errorf("%q %q %q", one, two, three)
		}
	})
}

// TestManySessionsWantOverlappingTimes has many buyers race for one time: one wins, the others are told that the time
// is taken, no request waits for long and nothing breaks.
func TestManySessionsWantOverlappingTimes(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		w.listing.Metadata[listing.SlotIntervalMinutes] = int64(15)
		for name, choose := range map[string]func(i int) []string{
			"single sessions": func(i int) []string { return []string{fmt.Sprintf("02 10:%02d", i%4*15)} },
			"packs in opposite order": func(i int) []string {
				times := []string{"03 10:00", "04 10:00", "05 10:00"}
				if i%2 == 0 {
					times[0], times[2] = times[2], times[0]
				}
				return times
			},
		} {
			responses := make([]error, 64)
			var all sync.WaitGroup
			for i := range responses {
				all.Go(func() { responses[i] = w.hold(fmt.Sprintf("%s %d", name, i), choose(i)...) })
			}
			all.Wait()
			won := 0
			for _, err := range responses {
				if err == nil {
					won++
				} else {
					wantCode(t, name, err, fault.SlotTaken)
				}
			}
			if won != 1 {
				t.Errorf("%s: %d won", name, won)
			}
		}
	})
}

// TestPayingRacesExpiry confirms and releases the same session at once: it is booked or free, never both.
func TestPayingRacesExpiry(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		for i := range 20 {
			id := fmt.Sprintf("cs_%d", i)
			var times []string
			for day := 2 + i/8*7; len(times) < 3; day++ { // eight rounds a week
				times = append(times, fmt.Sprintf("%02d %02d:00", day, 9+i%8))
			}
			w.must(w.hold(id, times...))
			var booked []appointment.State
			var released error
			var both sync.WaitGroup
			both.Go(func() { released = w.release(id) })
			both.Go(func() { booked, _ = w.confirm(id) })
			both.Wait()
			if len(booked) != 3 || released != nil && !fault.Is(released, fault.StateConflict) {
				t.Fatalf("booked %v, released %v", booked, released)
			}
			if got, want := w.held(id), "confirmed "+strings.Join(times, ", confirmed "); got != want {
				t.Fatalf("held %s, want %s", got, want)
			}
		}
	})
}
