package booking_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sundry/core/appointment"
	"sundry/core/civil"
	"sundry/core/fault"
	"sundry/core/listing"
	"sundry/modules/booking"
	"sundry/ports"
)

// classID is a variant whose times three buyers share.
const classID = "var_01h00000000000000000000002"

func (w *fixture) sellClasses(seats int) {
	w.listing.Variants = slices.DeleteFunc(w.listing.Variants, func(v listing.Variant) bool { return v.ID == classID })
	w.listing.Variants = append(w.listing.Variants, listing.Variant{
		ID: classID, DurationMinutes: 60, SessionCount: 1, Seats: seats,
	})
}

// join holds a seat for a session.
func (w *fixture) join(checkoutID, text string) error {
	return w.store.Atomically(context.Background(), func(ctx context.Context, r ports.Repos) error {
		_, err := w.booking.Hold(ctx, r, ports.Hold{
			CreatorID: creatorID, CheckoutID: checkoutID, ListingID: listingID, VariantID: classID, Picks: pick(text),
		})
		return err
	})
}

// classes are the open times of a day with the seats that are left, "10:3 11:2".
func (w *fixture) classes(day string) string {
	w.t.Helper()
	date, _ := civil.ParseDate("2026-06-" + day)
	calendar, err := w.booking.Open(context.Background(), booking.CalendarQuery{
		ListingID: listingID, VariantID: classID, From: date, To: date, MostDays: 1,
	})
	w.must(err)
	var all []string
	for _, s := range calendar.Slots {
		all = append(all, fmt.Sprintf("%s:%d", s.StartsAt().In(time.FixedZone("", 7200)).Format("15"), s.Seats()))
	}
	return strings.Join(all, " ")
}

func TestSeatsAreNeverOversold(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		w.sellClasses(3)
		var all sync.WaitGroup
		refusals := make([]error, 12) // nothing but the store lets them take turns
		for i := range refusals {
			all.Go(func() { refusals[i] = w.join(fmt.Sprint("cs_", i), "02 10:00") })
		}
		all.Wait()
		won := 0
		for _, err := range refusals {
			if err == nil {
				won++
				continue
			}
			wantCode(t, "a seat too many", err, fault.SlotTaken)
		}
		if got := w.classes("02"); won != 3 || strings.Contains(got, "10:") {
			t.Errorf("%d won; open are %s", won, got)
		}
		wantCode(t, "another variant at the time", w.hold("cs_other", "02 10:00"), fault.SlotTaken)
		w.sellClasses(4) // the creator adds one, of times that there are, too
		if got := w.classes("02"); !strings.Contains(got, "10:1") {
			t.Errorf("with another seat open are %s", got)
		}
		w.must(w.join("cs_late", "02 10:00"))
		w.sellClasses(2) // and takes some away: nobody loses theirs
		wantCode(t, "a seat that is gone", w.join("cs_later", "02 10:00"), fault.SlotTaken)
	})
}

func TestATimeIsSharedAndLeft(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		w.sellClasses(3)
		w.listing.Metadata[listing.DailyCap] = int64(1)
		w.must(w.join("cs_1", "02 10:00"))
		w.must(w.join("cs_2", "02 10:00"))
		if got := w.classes("02"); got != "10:1" { // a time counts once against the cap
			t.Errorf("open are %s", got)
		}
		if single := w.open("02"); single != "" {
			t.Errorf("of the single session %s is open", single)
		}
		delete(w.listing.Metadata, listing.DailyCap)
		w.must(w.release("cs_2"))
		if got := w.classes("02"); !strings.Contains(got, "10:2") || !strings.Contains(got, "09:3") {
			t.Errorf("left by one, open are %s", got)
		}
		w.must(w.release("cs_1"))
		if got := w.open("02"); !strings.HasPrefix(got, "09 10 ") {
			t.Errorf("left by all, open are %s", got)
		}
		first, ok := w.confirm("cs_1") // late money
		second, ok2 := w.confirm("cs_2")
		if !ok || !ok2 || first[0].GroupID == "" || first[0].GroupID != second[0].GroupID ||
			first[0].MeetingURL != second[0].MeetingURL || first[0].ReservationID == second[0].ReservationID {
			t.Fatalf("%t, %t: %+v, %+v", ok, ok2, first, second)
		}
		w.must(w.join("cs_3", "02 10:00"))
		w.must(w.release("cs_3"))
		for i := range 2 {
			w.must(w.join(fmt.Sprint("cs_4", i), "03 10:00"))
		}
		w.must(w.release("cs_40"))
		w.must(w.join("cs_50", "03 10:00"))
		w.must(w.join("cs_51", "03 10:00"))
		if _, ok := w.confirm("cs_40"); ok {
			t.Error("late money bought a seat that is sold")
		}
		moved, err := w.booking.Reschedule(t.Context(), creatorID, second[0].ID, pick("04 09:00")[0])
		if err != nil || moved.GroupID == "" || moved.GroupID == first[0].GroupID || moved.MeetingURL == first[0].MeetingURL {
			t.Fatalf("moved: %v, %+v", err, moved)
		}
		if got := w.classes("02"); !strings.Contains(got, "10:2") {
			t.Errorf("after one was moved, open are %s", got)
		}
		moved, err = w.booking.Reschedule(t.Context(), creatorID, second[0].ID, pick("02 10:00")[0])
		if err != nil || moved.GroupID != first[0].GroupID || moved.MeetingURL != first[0].MeetingURL {
			t.Errorf("moved back: %v, %+v", err, moved)
		}
		if _, err := w.cancellations.Cancel(t.Context(), creatorID, first[0].ID, "", true); err != nil {
			t.Error(err)
		}
		if got := w.classes("02"); !strings.Contains(got, "10:2") {
			t.Errorf("after one was canceled, open are %s", got)
		}
		if feed := w.feed(); !strings.Contains(feed, "SUMMARY:Coaching (1)") {
			t.Errorf("the feed is %s", feed)
		}
	})
}

func (w *fixture) feed() string {
	w.t.Helper()
	address, err := w.booking.FeedURL(context.Background(), creatorID)
	w.must(err)
	raw, err := w.booking.Feed(context.Background(), strings.TrimSuffix(address[strings.LastIndex(address, "/")+1:], ".ics"))
	w.must(err)
	return string(raw)
}

func TestAWholeTimeIsCanceled(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		w.sellClasses(4)
		w.paid = 1000
		var booked []appointment.State
		for i := range 3 {
			w.must(w.join(fmt.Sprint("cs_", i), "02 10:00"))
			all, ok := w.confirm(fmt.Sprint("cs_", i))
			if !ok {
				t.Fatal("not confirmed")
			}
			booked = append(booked, all...)
		}
		w.must(w.join("cs_open", "02 10:00"))
		if feed := w.feed(); strings.Count(feed, "BEGIN:VEVENT") != 1 || !strings.Contains(feed, "SUMMARY:Coaching (3)") {
			t.Errorf("the feed is %s", feed)
		}
		if shared, err := w.booking.Group(t.Context(), booked[0]); err != nil || len(shared) != 3 {
			t.Errorf("%v: %d share the time", err, len(shared))
		}
		canceled, err := w.cancellations.CancelTime(t.Context(), creatorID, booked[1].ID, "ill", true)
		if err != nil || canceled.ID != booked[1].ID || w.refunded != 3000 {
			t.Fatalf("%v, %+v, refunded %d", err, canceled, w.refunded)
		}
		shared, err := w.booking.Group(t.Context(), booked[0])
		for _, a := range shared {
			if a.Status != appointment.StatusCanceled || a.RefundDecision != appointment.RefundDue || a.CancelReason != "ill" {
				t.Errorf("%v: %+v", err, a)
			}
		}
		if got := w.held("cs_open"); got != "" || w.open("02") != "09 10 11 12 13 14 15 16" {
			t.Errorf("held: %s; open: %s", got, w.open("02"))
		}
		if feed := w.feed(); strings.Count(feed, "BEGIN:VEVENT") != 1 || !strings.Contains(feed, "STATUS:CANCELLED") {
			t.Errorf("the feed is %s", feed)
		}
		alone, _ := func() ([]appointment.State, bool) {
			w.must(w.hold("cs_alone", "03 10:00"))
			return w.confirm("cs_alone")
		}()
		if one, err := w.cancellations.CancelTime(t.Context(), creatorID, alone[0].ID, "", false); err != nil ||
			one.Status != appointment.StatusCanceled {
			t.Errorf("%v, %+v", err, one)
		}
		_, err = w.cancellations.CancelTime(t.Context(), creatorID, booked[1].ID, "", true)
		wantCode(t, "a time that is canceled", err, fault.StateConflict)
	})
}

// TestFeed_SequenceOfAGroup lets a buyer move a shared time twice and then leave it: calendars ignore a version of an
// event whose SEQUENCE is lower than that of the one they have.
func TestFeed_SequenceOfAGroup(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		w.sellClasses(3)
		var booked []appointment.State
		for i := range 3 {
			w.must(w.join(fmt.Sprint("cs_", i), "02 10:00"))
			all, _ := w.confirm(fmt.Sprint("cs_", i))
			booked = append(booked, all...)
		}
		address, err := w.booking.FeedURL(t.Context(), creatorID)
		w.must(err)
		before := w.fed(address)
		for _, a := range booked[:2] {
			_, err := w.move(a, "03 10:00")
			w.must(err)
		}
		if got, want := w.fed(address), before+", CONFIRMED 03 08:00 0"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
}
