package booking_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"sundry/core/appointment"
	"sundry/core/fault"
	"sundry/core/listing"
)

// link is the last part of an appointment's address.
func (w *fixture) link(a appointment.State) string {
	url, _ := strings.CutPrefix(w.booking.ManageURL(a.ID), "https://pay.example.com/a/")
	return url
}

// alternatives are the times that an appointment can be moved to, of some days of June 2026.
func (w *fixture) alternatives(a appointment.State, from string, days int) string {
	w.t.Helper()
	c, err := w.booking.Alternatives(w.t.Context(), w.link(a), day(w.t, from), days)
	w.must(err)
	var all []string
	for _, s := range c.Slots {
		all = append(all, s.StartsAt().Add(2*60*60*1e9).Format("02-15"))
	}
	return strings.Join(all, " ")
}

func TestABuyersLinkOpensTheirAppointmentOnly(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		booked := w.book("cs_1", "02 10:00", "03 10:00", "04 10:00")
		seen := map[string]bool{}
		for _, a := range booked {
			m, err := w.booking.Managed(t.Context(), w.link(a))
			if err != nil || !reflect.DeepEqual(m.State, a) || !m.Changeable || m.Seller.Name != "Ada's Workshop" || !m.Now.Equal(w.Real()) ||
				seen[w.link(a)] {
				t.Errorf("%+v, %v", m, err)
			}
			seen[w.link(a)] = true
		}
		mixed := w.link(booked[0])[:26] + w.link(booked[1])[26:]
		for name, link := range map[string]string{"nothing": "", "the id": booked[0].ID, "another's proof": mixed} {
			_, err := w.booking.Managed(t.Context(), link)
			wantCode(t, name, err, fault.NotFoundCode)
			_, err = w.cancellations.CancelByBuyer(t.Context(), link, "", 0)
			wantCode(t, name+" cancels", err, fault.NotFoundCode)
			_, err = w.booking.RescheduleByBuyer(t.Context(), link, june("05 10:00"))
			wantCode(t, name+" moves", err, fault.NotFoundCode)
			_, err = w.booking.Alternatives(t.Context(), link, day(t, "2026-06-02"), 7)
			wantCode(t, name+" looks around", err, fault.NotFoundCode)
			_, err = w.booking.CalendarOf(t.Context(), link)
			wantCode(t, name+" downloads", err, fault.NotFoundCode)
		}
		if got := w.held("cs_1"); got != "confirmed 02 10:00, confirmed 03 10:00, confirmed 04 10:00" {
			t.Errorf("held: %s", got)
		}
	})
}

func TestABuyerMovesToATimeThatIsShown(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		a := w.book("cs_1", "02 10:00")[0]
		w.must(w.hold("cs_2", "03 10:00"))
		w.listing.Variants[0].DurationMinutes = 120 // what was sold stays an hour
		if got, want := w.alternatives(a, "2026-06-02", 1), "02-09 02-10 02-11 02-12 02-13 02-14 02-15 02-16"; got != want {
			t.Errorf("of its own day: %s", got)
		}
		// Tokyo's days are seven hours ahead: 3 June there ends at 17:00 in Paris.
		if got, want := w.alternatives(a, "2026-06-03", 1), "03-09 03-11 03-12 03-13 03-14 03-15 03-16"; got != want {
			t.Errorf("of another day: %s", got)
		}
		if got := w.alternatives(a, "2026-01-01", 2); !strings.HasPrefix(got, "01-") {
			t.Errorf("from today on: %s", got)
		}
		moved, err := w.booking.RescheduleByBuyer(t.Context(), w.link(a), june("03 16:00"))
		if err != nil || !moved.StartsAt.Equal(june("03 16:00")) || !moved.EndsAt.Equal(june("03 17:00")) ||
			moved.Timezone != "Asia/Tokyo" {
			t.Errorf("%+v, %v", moved, err)
		}
		_, err = w.booking.RescheduleByBuyer(t.Context(), w.link(a), june("03 10:00"))
		wantCode(t, "a time that is held", err, fault.SlotTaken)
		w.listing.Metadata = listing.Metadata{listing.DeliveryMethod: "in_person"}
		w.listing.Status = listing.Archived
		moved, err = w.booking.RescheduleByBuyer(t.Context(), w.link(a), june("04 09:00"))
		if err != nil || moved.DeliveryMode != appointment.Virtual || moved.MeetingURL != a.MeetingURL {
			t.Errorf("%+v, %v", moved, err)
		}
	})
}

func TestABuyerCancelsOnceAndSeesIt(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		a := w.book("cs_1", "02 10:00")[0]
		raw, err := w.booking.CalendarOf(t.Context(), w.link(a))
		if err != nil || !strings.Contains(string(raw), "UID:"+a.ID+"@") ||
			!strings.Contains(string(raw), "STATUS:CONFIRMED\r\n") {
			t.Errorf("%s, %v", raw, err)
		}
		if _, err := w.cancellations.CancelByBuyer(t.Context(), w.link(a), "ill", 0); err != nil {
			t.Fatal(err)
		}
		m, err := w.booking.Managed(t.Context(), w.link(a))
		if err != nil || m.Changeable || m.Status != appointment.StatusCanceled || m.CancelReason != "ill" ||
			w.held("cs_1") != "" {
			t.Errorf("%+v, %v", m, err)
		}
		_, err = w.cancellations.CancelByBuyer(t.Context(), w.link(a), "", 0)
		wantCode(t, "again", err, fault.StateConflict)
		_, err = w.booking.Alternatives(t.Context(), w.link(a), day(t, "2026-06-02"), 7)
		wantCode(t, "looking for another time", err, fault.StateConflict)
		raw, err = w.booking.CalendarOf(t.Context(), w.link(a))
		if err != nil || !strings.Contains(string(raw), "STATUS:CANCELLED\r\n") ||
			!strings.Contains(string(raw), "SEQUENCE:1\r\n") {
			t.Errorf("%s, %v", raw, err)
		}
	})
}

func TestABuyerMovesAnAppointmentTenTimes(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		a := w.book("cs_1", "02 09:00")[0]
		link := w.link(a)
		for n := range appointment.MaxBuyerMoves {
			to := june(fmt.Sprintf("%02d %02d:00", 2+n%2, 10+n/2))
			moved, err := w.booking.RescheduleByBuyer(t.Context(), link, to)
			if err != nil || !moved.StartsAt.Equal(to) {
				t.Fatalf("move %d: %+v, %v", n+1, moved, err)
			}
			// where it is already: no move
			if _, err := w.booking.RescheduleByBuyer(t.Context(), link, to); err != nil {
				t.Fatal(err)
			}
		}
		before, err := w.booking.Appointment(t.Context(), creatorID, a.ID)
		w.must(err)
		_, err = w.booking.RescheduleByBuyer(t.Context(), link, june("04 09:00"))
		wantCode(t, "the eleventh move", err, fault.LimitReached)
		if after, err := w.booking.Appointment(t.Context(), creatorID, a.ID); err != nil || !reflect.DeepEqual(after, before) {
			t.Errorf("after the refusal: %+v, %v; before %+v", after, err, before)
		}
		if _, err := w.move(a, "04 09:00"); err != nil {
			t.Errorf("the creator: %v", err)
		}
		if _, err := w.cancellations.CancelByBuyer(t.Context(), link, "", 0); err != nil {
			t.Errorf("canceling after that: %v", err)
		}
	})
}

func TestTheLastCancellationOfASessionIsReported(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		pack := w.book("cs_1", "02 09:00", "03 09:00", "04 09:00")
		for n, a := range pack {
			w.Take()
			_, err := w.cancellations.Cancel(t.Context(), creatorID, a.ID, "", true)
			w.must(err)
			if got, want := slices.Contains(w.TakeNames(), "appointment.all_canceled"), n == len(pack)-1; got != want {
				t.Errorf("after %d of %d: reported %v", n+1, len(pack), got)
			}
		}
	})
}
