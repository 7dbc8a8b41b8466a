package booking_test

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"

	"sundry/core/appointment"
	"sundry/core/event"
	"sundry/core/fault"
	"sundry/core/listing"
	"sundry/core/slot"
	"sundry/ports"
	"sundry/tests/fakes"
)

// book holds and pays a time.
func (w *fixture) book(checkoutID string, texts ...string) []appointment.State {
	w.t.Helper()
	w.must(w.hold(checkoutID, texts...))
	booked, ok := w.confirm(checkoutID)
	if !ok {
		w.t.Fatalf("%s: not booked", checkoutID)
	}
	return booked
}

func (w *fixture) move(a appointment.State, to string) (appointment.State, error) {
	p := pick(to)[0]
	p.Field = "appointmentSlot"
	return w.booking.Reschedule(context.Background(), creatorID, a.ID, p)
}

func TestAnAppointmentMovesOverItsOwnTime(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		w.listing.Metadata[listing.SlotIntervalMinutes] = int64(30)
		w.listing.Metadata[listing.DailyCap] = int64(1) // its own time does not count against it
		a := w.book("cs_1", "02 10:00")[0]
		moved, err := w.move(a, "02 10:30")
		w.must(err)
		if !moved.StartsAt.Equal(june("02 10:30")) || !moved.EndsAt.Equal(june("02 11:30")) || moved.Sequence != 1 ||
			moved.ReservationID == a.ReservationID || moved.MeetingURL != a.MeetingURL {
			t.Errorf("%+v", moved)
		}
		again, err := w.move(a, "02 10:30") // a doubled request
		if err != nil || !reflect.DeepEqual(again, moved) {
			t.Errorf("again: %+v, %v", again, err)
		}
		if got := w.held("cs_1"); got != "confirmed 02 10:30" {
			t.Errorf("held: %s", got)
		}
		if got := strings.Join(w.TakeNames(), " "); got != "appointment.booked appointment.rescheduled" {
			t.Errorf("emitted: %s", got)
		}
		if read, err := w.booking.Appointment(t.Context(), creatorID, a.ID); err != nil || !reflect.DeepEqual(read, moved) {
			t.Errorf("read %+v, %v", read, err)
		}
	})
}

func TestACreatorsMoveKeepsTheRefundThatWasPromised(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		w.paid = 10_000
		w.must(w.hold("cs_1", "05 10:00"))
		w.must(w.store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
			_, _, err := w.booking.Confirm(ctx, r, ports.Confirmation{
				CreatorID: creatorID, CheckoutID: "cs_1", RefundPolicy: appointment.PolicyOf(new(24)),
			})
			return err
		}))
		booked, err := w.booking.Booked(t.Context(), w.store.Read(t.Context()), creatorID, "cs_1")
		w.must(err)
		_, err = w.move(booked[0], "02 10:00") // in 22 hours
		w.must(err)
		canceled, err := w.cancellations.CancelByBuyer(t.Context(), w.link(booked[0]), "", w.paid)
		if err != nil || canceled.RefundDecision != appointment.RefundDue || w.refunded != w.paid {
			t.Errorf("%v, %s, refunded %d of %d", err, canceled.RefundDecision, w.refunded, w.paid)
		}
	})
}

func TestAMoveKeepsTheLengthThatWasSold(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		a := w.book("cs_1", "02 10:00")[0]
		w.listing.Variants = []listing.Variant{{ID: packID, DurationMinutes: 120, SessionCount: 3, IsDefault: true}}
		w.listing.Status = listing.Archived
		moved, err := w.move(a, "03 16:00")
		w.must(err)
		if !moved.EndsAt.Equal(june("03 17:00")) || moved.VariantID != variantID {
			t.Errorf("%+v", moved)
		}
	})
}

func TestAMoveMayChangeWhereTheyMeet(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		a := w.book("cs_1", "02 10:00")[0]
		to := pick("02 11:00")[0]
		to.DeliveryMode = ""
		moved, err := w.booking.Reschedule(t.Context(), creatorID, a.ID, to)
		if err != nil || moved.DeliveryMode != appointment.Virtual || moved.MeetingURL != a.MeetingURL {
			t.Errorf("unsaid: %+v, %v", moved, err)
		}
		to.DeliveryMode = appointment.InPerson
		moved, err = w.booking.Reschedule(t.Context(), creatorID, a.ID, to)
		if err != nil || moved.MeetingURL != "" || moved.Address != "1 Rue de Rivoli" ||
			moved.DeliveryMode != appointment.InPerson {
			t.Errorf("in person: %+v, %v", moved, err)
		}
		w.must(w.booking.SetMeetings(t.Context(), creatorID, appointment.MeetingSettings{
			InPerson: &appointment.Place{Address: "2 Rue de Rivoli"},
		}))
		to.DeliveryMode = appointment.Virtual
		_, err = w.booking.Reschedule(t.Context(), creatorID, a.ID, to)
		wantCode(t, "a mode without a place", err, fault.NotBookable)
		w.listing.Metadata[listing.DeliveryMethod] = "virtual"
		to.DeliveryMode, to.StartsAt = "", june("02 12:00")
		moved, err = w.booking.Reschedule(t.Context(), creatorID, a.ID, to)
		if err != nil || moved.Address != "1 Rue de Rivoli" {
			t.Errorf("a mode that is no longer offered: %+v, %v", moved, err)
		}
	})
}

func TestCancelingGivesTheTimeBack(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		a := w.book("cs_1", "02 10:00", "03 10:00", "04 10:00")[1]
		canceled, err := w.cancellations.Cancel(t.Context(), creatorID, a.ID, "ill", true)
		if err != nil || canceled.Status != appointment.StatusCanceled || canceled.CancelReason != "ill" ||
			!canceled.CanceledAt.Equal(w.Real()) {
			t.Errorf("%+v, %v", canceled, err)
		}
		if got := w.held("cs_1"); got != "confirmed 02 10:00, confirmed 04 10:00" {
			t.Errorf("held: %s", got)
		}
		w.must(w.hold("cs_2", "03 10:00"))
		_, err = w.cancellations.Cancel(t.Context(), creatorID, a.ID, "", true)
		wantCode(t, "again", err, fault.StateConflict)
		_, err = w.move(a, "05 10:00")
		wantCode(t, "moving what is canceled", err, fault.StateConflict)
	})
}

func TestEveryRefusalOfAChangeChangesNothing(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		a := w.book("cs_1", "02 10:00")[0]
		w.must(w.hold("cs_2", "02 12:00"))
		w.Take()
		reschedule := func(creator, id string, change func(p *appointment.SlotChoice)) error {
			p := pick("02 11:00")[0]
			change(&p)
			_, err := w.booking.Reschedule(t.Context(), creator, id, p)
			return err
		}
		for name, c := range map[string]struct {
			change func(p *appointment.SlotChoice)
			want   fault.Code
		}{
			"a time that is held": {
				func(p *appointment.SlotChoice) { p.StartsAt = june("02 12:00") }, fault.SlotTaken,
			},
			"after hours": {
				func(p *appointment.SlotChoice) { p.StartsAt = june("02 17:00") }, fault.SlotNotOffered,
			},
			"off the grid": {
				func(p *appointment.SlotChoice) { p.StartsAt = june("02 11:20") }, fault.SlotNotOffered,
			},
			"yesterday": {
				func(p *appointment.SlotChoice) { p.StartsAt = june("01 09:00") }, fault.SlotInPast,
			},
			"no time": {
				func(p *appointment.SlotChoice) { *p = appointment.SlotChoice{Timezone: "UTC"} },
				fault.ValidationFailed,
			},
			"no zone": {func(p *appointment.SlotChoice) { p.Timezone = "+02:00" }, fault.InvalidTimezone},
			"an unknown mode": {
				func(p *appointment.SlotChoice) { p.DeliveryMode = "by_mail" }, fault.ValidationFailed,
			},
			"too far in the future": {
				func(p *appointment.SlotChoice) { p.StartsAt = june("01 09:00").AddDate(1, 0, 0) },
				fault.SlotNotOffered,
			},
		} {
			wantCode(t, name, reschedule(creatorID, a.ID, c.change), c.want)
		}
		nothing := func(*appointment.SlotChoice) {}
		wantCode(t, "another account", reschedule("crt_other", a.ID, nothing), fault.NotFoundCode)
		wantCode(t, "an unknown one", reschedule(creatorID, "apt_x", nothing), fault.NotFoundCode)
		_, err := w.cancellations.Cancel(t.Context(), "crt_other", a.ID, "", true)
		wantCode(t, "another account cancels", err, fault.NotFoundCode)
		_, err = w.cancellations.Cancel(t.Context(), creatorID, a.ID, strings.Repeat("x", 501), true)
		wantCode(t, "a long reason", err, fault.ValidationFailed)
		_, err = w.cancellations.Cancel(t.Context(), creatorID, a.ID, "a\x00b", true)
		wantCode(t, "a reason with NUL", err, fault.ValidationFailed)
		_, err = w.booking.Appointment(t.Context(), "crt_other", a.ID)
		wantCode(t, "another account reads", err, fault.NotFoundCode)
		w.Set(june("02 10:00"))
		wantCode(t, "once it has begun", reschedule(creatorID, a.ID, nothing), fault.StateConflict)
		_, err = w.cancellations.Cancel(t.Context(), creatorID, a.ID, "", true)
		wantCode(t, "canceling once it has begun", err, fault.StateConflict)
		if read, err := w.booking.Appointment(t.Context(), creatorID, a.ID); err != nil || !reflect.DeepEqual(read, a) ||
			w.held("cs_1") != "confirmed 02 10:00" || len(fakes.Published[event.Event](&w.Bus)) > 0 {
			t.Errorf("%+v, %v, %s, %v", read, err, w.held("cs_1"), w.TakeNames())
		}
	})
}

func TestASearchFindsItsAppointmentsInPages(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		pack := w.book("cs_1", "02 10:00", "03 10:00", "04 10:00")
		single := w.book("cs_2", "05 10:00")[0]
		_, err := w.cancellations.Cancel(t.Context(), creatorID, pack[1].ID, "", true)
		w.must(err)
		for name, c := range map[string]struct {
			search ports.AppointmentSearch
			want   []appointment.State
		}{
			"everything": {ports.AppointmentSearch{}, []appointment.State{single, pack[2], pack[1], pack[0]}},
			"a status":   {ports.AppointmentSearch{Status: appointment.StatusCanceled}, pack[1:2]},
			"a customer": {
				ports.AppointmentSearch{ExternalCustomerID: "user-1", From: june("05 10:00")},
				[]appointment.State{single},
			},
			"another customer": {ports.AppointmentSearch{ExternalCustomerID: "user-2"}, nil},
			"another listing":  {ports.AppointmentSearch{ListingID: "lst_x"}, nil},
			"a range":          {ports.AppointmentSearch{From: june("02 10:00"), To: june("03 10:00")}, pack[:1]},
		} {
			var got []string
			for page := (ports.Page{Limit: 2}); ; {
				found, err := w.booking.Appointments(t.Context(), creatorID, c.search, page)
				w.must(err)
				for _, a := range found.Items {
					got = append(got, a.ID)
				}
				if page.After = found.Next; page.After.ID == "" {
					break
				}
			}
			var want []string
			for _, a := range c.want {
				want = append(want, a.ID)
			}
			if strings.Join(got, " ") != strings.Join(want, " ") {
				t.Errorf("%s: %v, want %v", name, got, want)
			}
		}
		if found, err := w.booking.Appointments(t.Context(), "crt_other", ports.AppointmentSearch{},
			ports.Page{Limit: 10}); err != nil || len(found.Items) > 0 {
			t.Errorf("another account finds %v, %v", found, err)
		}
	})
}

// TestMovesRaceBookings moves appointments onto a time that others book at the same moment, many times: it is sold
// once, the loser keeps what they had.
func TestMovesRaceBookings(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		w.listing.Metadata[listing.SlotIntervalMinutes] = int64(30)
		all := hours()
		for i := range all.Weekly {
			all.Weekly[i].Hours = slot.Hours{Start: "00:00", End: "24:00"}
		}
		w.must(w.booking.SetHours(t.Context(), creatorID, all))
		for round := range 25 {
			day := fmt.Sprintf("%02d", 2+round%3)
			hour := 2 + round/3*2
			one := w.book(fmt.Sprintf("cs_%d_a", round), fmt.Sprintf("%s %02d:00", day, hour))[0]
			two := w.book(fmt.Sprintf("cs_%d_b", round), fmt.Sprintf("%02d %02d:00", 8+round%3, hour))[0]
			target, beside := fmt.Sprintf("%02d %02d:00", 15+round%3, hour), fmt.Sprintf(
				"%02d %02d:30", 15+round%3, hour,
			)
			var errs [4]error
			var race sync.WaitGroup
			race.Go(func() { _, errs[0] = w.move(one, target) })
			race.Go(func() { _, errs[1] = w.move(one, target) }) // doubled
			race.Go(func() { _, errs[2] = w.move(two, beside) })
			race.Go(func() { errs[3] = w.hold(fmt.Sprintf("cs_%d_c", round), target) })
			race.Wait()
			winners := 0
			for i, err := range errs {
				if err != nil {
					wantCode(t, fmt.Sprintf("round %d, %d", round, i), err, fault.SlotTaken)
				} else if i != 1 {
					winners++
				}
			}
			if winners != 1 || (errs[0] == nil) != (errs[1] == nil) {
				t.Fatalf("round %d: %v", round, errs)
			}
			for i, id := range []string{"a", "b"} {
				if got := w.held(fmt.Sprintf("cs_%d_%s", round, id)); !strings.HasPrefix(got, "confirmed ") ||
					strings.Contains(got, ",") {
					t.Fatalf("round %d, %d: %s", round, i, got)
				}
			}
		}
	})
}

// TestAMoveRacesACancel ends in one of the two orders: moved and then canceled, or canceled and never moved.
func TestAMoveRacesACancel(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		for round := range 20 {
			id := fmt.Sprintf("cs_%d", round)
			a := w.book(id, "02 10:00")[0]
			var moving, canceling error
			var race sync.WaitGroup
			race.Go(func() { _, moving = w.move(a, "02 11:00") })
			race.Go(func() { _, canceling = w.cancellations.Cancel(context.Background(), creatorID, a.ID, "", true) })
			race.Wait()
			if moving != nil {
				wantCode(t, "the move", moving, fault.StateConflict)
			}
			w.must(canceling)
			if got := w.held(id); got != "" {
				t.Fatalf("held: %s", got)
			}
		}
	})
}
