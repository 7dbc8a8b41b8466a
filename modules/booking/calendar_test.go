package booking_test

import (
	"context"
	"slices"
	"testing"

	"sundry/core/appointment"
	"sundry/core/civil"
	"sundry/core/fault"
	"sundry/core/listing"
	"sundry/core/slot"
	"sundry/modules/booking"
	"sundry/ports"
)

func day(t testing.TB, text string) civil.Date {
	t.Helper()
	d, ok := civil.ParseDate(text)
	if !ok {
		t.Fatal(text)
	}
	return d
}

func TestTheCalendarFillsInWhatIsNotAsked(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		query := booking.CalendarQuery{
			ListingID: listingID, From: day(t, "2026-06-05"), To: day(t, "2026-06-09"), MostDays: 31,
		}
		c, err := w.booking.Open(t.Context(), query)
		w.must(err)
		if c.VariantID != variantID || c.Timezone != "Europe/Paris" || c.DurationMinutes != 60 || len(c.Slots) != 24 ||
			!slices.Equal(c.Modes, []appointment.DeliveryMode{appointment.Virtual, appointment.InPerson}) {
			t.Errorf("%+v", c)
		}
		query.VariantID, query.Timezone, query.DurationMinutes = packID, "Pacific/Auckland", 480
		c, err = w.booking.Open(t.Context(), query)
		w.must(err)
		if c.VariantID != packID || c.Timezone != "Pacific/Auckland" || len(c.Slots) != 3 ||
			c.Slots[0].EndsAt().Sub(c.Slots[0].StartsAt()).Hours() != 8 {
			t.Errorf("%+v", c)
		}
	})
}

func TestTheCalendarRefuses(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		for name, c := range map[string]struct {
			change func(a *booking.CalendarQuery)
			want   fault.Code
		}{
			"a range that ends before it begins": {
				func(a *booking.CalendarQuery) { a.To = a.From - 1 }, fault.InvalidRange,
			},
			"a day too many":          {func(a *booking.CalendarQuery) { a.To = a.From + 31 }, fault.RangeTooLarge},
			"as many days as allowed": {func(a *booking.CalendarQuery) { a.To = a.From + 30 }, ""},
			"four minutes": {
				func(a *booking.CalendarQuery) { a.DurationMinutes = 4 }, fault.ValidationFailed,
			},
			"more than a day":    {func(a *booking.CalendarQuery) { a.DurationMinutes = 1441 }, fault.ValidationFailed},
			"an offset":          {func(a *booking.CalendarQuery) { a.Timezone = "+02:00" }, fault.InvalidTimezone},
			"an unknown listing": {func(a *booking.CalendarQuery) { a.ListingID = "lst_x" }, fault.NotFoundCode},
			"an unknown variant": {func(a *booking.CalendarQuery) { a.VariantID = "var_x" }, fault.NotFoundCode},
		} {
			query := booking.CalendarQuery{
				ListingID: listingID, From: day(t, "2026-06-05"), To: day(t, "2026-06-05"), MostDays: 31,
			}
			c.change(&query)
			_, err := w.booking.Open(t.Context(), query)
			wantCode(t, name, err, c.want)
		}
		for _, status := range []listing.Status{listing.Draft, listing.Archived} {
			w.listing.Status = status
			_, err := w.booking.Open(t.Context(), booking.CalendarQuery{ListingID: listingID, MostDays: 1})
			wantCode(t, string(status), err, fault.NotFoundCode)
		}
	})
}

func TestAListingThatIsNotReadyHasEmptyDays(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		missing := func() (fields []string) {
			details, err := w.booking.Readiness(t.Context(), creatorID, listingID, "")
			w.must(err)
			for _, d := range details {
				fields = append(fields, d.Field)
			}
			return fields
		}
		if got := missing(); len(got) > 0 || w.open("02") == "" {
			t.Fatalf("missing %v", got)
		}
		w.must(w.booking.SetHours(t.Context(), creatorID, slot.NoSettings()))
		w.must(w.booking.SetMeetings(t.Context(), creatorID, appointment.MeetingSettings{}))
		if got, want := missing(), []string{"availability.weekly", "meetingSettings.virtual",
			"meetingSettings.inPerson.address"}; !slices.Equal(got, want) {
			t.Errorf("missing %v", got)
		}
		if got := w.open("02"); got != "" {
			t.Errorf("open: %s", got)
		}
		_, err := w.booking.Readiness(t.Context(), "crt_other", listingID, "")
		wantCode(t, "another creator's readiness", err, fault.NotFoundCode)

		w.must(w.booking.SetHours(t.Context(), creatorID, hours()))
		w.listing.Type, w.listing.Variants, w.listing.Metadata = listing.Digital, nil, nil
		c, err := w.booking.Open(t.Context(), booking.CalendarQuery{
			ListingID: listingID, From: 20605, To: 20605, MostDays: 1,
		})
		if err != nil || c.VariantID != "" || c.DurationMinutes != 0 || len(c.Slots) != 0 || c.Modes == nil ||
			len(c.Modes) != 0 {
			t.Errorf("a book: %+v, %v", c, err)
		}
	})
}

func TestRefusedSettingsChangeNothing(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		bad := hours()
		bad.Timezone = "Local"
		wantCode(t, "hours", w.booking.SetHours(t.Context(), creatorID, bad), fault.InvalidTimezone)
		wantCode(
			t, "meetings",
			w.booking.SetMeetings(t.Context(), creatorID, appointment.MeetingSettings{InPerson: &appointment.Place{}}),
			fault.ValidationFailed,
		)
		setup, err := w.booking.Setup(t.Context(), creatorID)
		if err != nil || setup.Hours.Timezone != "Europe/Paris" || len(setup.Hours.Weekly) != 5 ||
			setup.Meetings.InPerson.Address != "1 Rue de Rivoli" {
			t.Errorf("%+v, %v", setup, err)
		}
	})
}

// TestWhatTheCalendarShowsCanBeHeld books a whole day time by time, each as it is shown, buffers and the creator's
// other listings included.
func TestWhatTheCalendarShowsCanBeHeld(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		w.listing.Metadata = listing.Metadata{
			listing.BufferBefore: int64(10), listing.BufferAfter: int64(20), listing.SlotIntervalMinutes: int64(30),
		}
		query := booking.CalendarQuery{
			ListingID: listingID, From: day(t, "2026-06-03"), To: day(t, "2026-06-03"), MostDays: 1,
		}
		held := 0
		for {
			c, err := w.booking.Open(t.Context(), query)
			w.must(err)
			if len(c.Slots) == 0 {
				break
			}
			shown := c.Slots[len(c.Slots)/2]
			w.must(w.store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
				_, err := w.booking.Hold(ctx, r, ports.Hold{
					CreatorID: creatorID, CheckoutID: shown.String(), ListingID: listingID,
					Picks: []appointment.SlotChoice{{StartsAt: shown.StartsAt(), Timezone: "UTC"}},
				})
				return err
			}))
			held++
		}
		if held < 3 || held > 5 {
			t.Errorf("held %d times of a day", held)
		}
	})
}
