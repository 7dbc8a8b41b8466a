package booking_test

import (
	"testing"

	"sundry/core/listing"
	"sundry/core/slot"
	"sundry/modules/booking"
)

func TestTheWindowSaysWhereACalendarEnds(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		w.listing.Metadata = listing.Metadata{
			listing.DeliveryMethod: "hybrid", listing.HorizonDays: int64(30), listing.BufferBefore: int64(10),
			listing.BufferAfter: int64(5),
		}
		got, ok, err := w.booking.Window(t.Context(), listingID, packID)
		w.must(err)
		want := booking.Window{
			Timezone: "Europe/Paris", From: day(t, "2026-06-01"), Until: day(t, "2026-07-01"), Gap: 15,
		}
		if !ok || got != want {
			t.Fatalf("%+v, %v; want %+v", got, ok, want)
		}
		// The last day has open times, the one after it has none.
		c, err := w.booking.Open(t.Context(), booking.CalendarQuery{
			ListingID: listingID, From: got.Until, To: got.Until, MostDays: 1,
		})
		w.must(err)
		after, err := w.booking.Open(t.Context(), booking.CalendarQuery{
			ListingID: listingID, From: got.Until + 1, To: got.Until + 1, MostDays: 1,
		})
		w.must(err)
		if len(c.Slots) == 0 || len(after.Slots) != 0 {
			t.Errorf("%d times on the last day, %d on the next", len(c.Slots), len(after.Slots))
		}
	})
}

func TestWhatCannotBeBookedHasNoWindow(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		none := func(what, variant string) {
			t.Helper()
			if got, ok, err := w.booking.Window(t.Context(), listingID, variant); err != nil || ok {
				t.Errorf("%s: %+v, %v, %v", what, got, ok, err)
			}
		}
		none("a variant that was removed", "var_x")
		w.listing.Status = listing.Archived
		none("an archived listing", "")
		w.listing.Status = listing.Active
		if _, ok, err := w.booking.Window(t.Context(), listingID, ""); err != nil || !ok {
			t.Fatalf("an active listing: %v, %v", ok, err)
		}
		w.must(w.booking.SetHours(t.Context(), creatorID, slot.Settings{Timezone: "Europe/Paris"}.Clean()))
		none("a creator without hours", "")
	})
}
