package mail_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"sundry/core/appointment"
	"sundry/ports"
)

// booking returns an appointment that starts after the given time, of a buyer with an address.
func (w *fixture) booking(in time.Duration) *appointment.Appointment {
	w.buyer = "grace@example.com"
	starts := w.Real().Add(in)
	a := appointment.Restore(appointment.State{
		ID: "apt_1", CreatorID: creatorID, CheckoutID: "cs_1", ReservationID: "clm_1", Title: "Coaching",
		Status:   appointment.StatusConfirmed,
		StartsAt: starts, EndsAt: starts.Add(time.Hour), Timezone: "Asia/Tokyo", DeliveryMode: appointment.InPerson,
		Address: "1 Rue de Rivoli", Revision: 1,
	})
	w.atomically(func(ctx context.Context, r ports.Repos) error {
		return w.mail.OnAppointmentBooked(ctx, r, appointment.Booked{State: a.State()})
	})
	return a
}

func (w *fixture) reschedule(a *appointment.Appointment, by time.Duration) {
	w.t.Helper()
	s := a.State()
	e, err := a.Reschedule(appointment.Bookable{}, appointment.ReservationState{
		ID: "clm_2", StartsAt: s.StartsAt.Add(by), EndsAt: s.EndsAt.Add(by), Timezone: s.Timezone,
		DeliveryMode: s.DeliveryMode,
	}, "", w.Real())
	if err != nil {
		w.t.Fatal(err)
	}
	w.atomically(func(ctx context.Context, r ports.Repos) error { return w.mail.OnAppointmentRescheduled(ctx, r, e) })
}

func (w *fixture) remind(a *appointment.Appointment, before string) {
	w.t.Helper()
	w.atomically(func(ctx context.Context, r ports.Repos) error {
		return w.mail.OnAppointmentReminderDue(ctx, r, appointment.ReminderDue{State: a.State(), Before: before})
	})
}

func (w *fixture) cancel(a *appointment.Appointment) {
	w.t.Helper()
	e, err := a.Cancel(appointment.Cancellation{By: appointment.ByCreator, Reason: "ill"}, w.Real())
	if err != nil {
		w.t.Fatal(err)
	}
	w.atomically(func(ctx context.Context, r ports.Repos) error { return w.mail.OnAppointmentCanceled(ctx, r, e) })
}

// posted lists the mails sent since its last call: the recipient, the first word of the subject, and the method and
// sequence of the file.
func (w *fixture) posted() string {
	w.t.Helper()
	w.work()
	var all []string
	for _, m := range w.mailed() {
		to, _, _ := strings.Cut(m.To, "@")
		subject, _, _ := strings.Cut(strings.TrimPrefix(m.Subject, "[Test] "), ":")
		words := to + " " + subject
		for _, file := range m.Attachments {
			_, sequence, _ := strings.Cut(string(file.Content), "SEQUENCE:")
			words += fmt.Sprintf(" %s %s", file.Method, sequence[:1])
			for _, part := range []string{"METHOD:" + file.Method, "UID:apt_1@pay.example.com",
				"mailto:no-reply@pay.example.com", "mailto:grace@example.com"} {
				if !strings.Contains(strings.ReplaceAll(string(file.Content), "\r\n ", ""), part) ||
					file.ContentType != "text/calendar" {
					w.t.Errorf("the file lacks %s: %s", part, file.Content)
				}
			}
		}
		all = append(all, words)
	}
	return strings.Join(all, ", ")
}

// sorted by recipient, since the tasks of one moment run in any order.
func sameMails(got string, want ...string) bool {
	for _, one := range want {
		if strings.Count(got, one) != 1 {
			return false
		}
	}
	return len(strings.Join(want, ", ")) == len(got)
}

func TestPeopleAreNotifiedOfEachChange(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		a := w.booking(48 * time.Hour)
		if got := w.posted(); !sameMails(got, "grace Confirmed REQUEST 0", "ada New booking") {
			t.Errorf("booked: %s", got)
		}
		w.reschedule(a, 24*time.Hour) // in 72 hours
		if got := w.posted(); !sameMails(got, "grace New time REQUEST 1", "ada Moved") {
			t.Errorf("moved: %s", got)
		}
		w.cancel(a)
		if got := w.posted(); !sameMails(got, "grace Canceled CANCEL 2", "ada Canceled") {
			t.Errorf("canceled: %s", got)
		}
	})
}

func TestABuyerIsRemindedOncePerReminderAndTime(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		a := w.booking(48 * time.Hour)
		w.posted()
		for _, step := range []struct{ before, want string }{{"24h", "grace Reminder"}, {"24h", ""},
			{"1h", "grace Reminder"}} {
			w.remind(a, step.before)
			if got := w.posted(); got != step.want {
				t.Errorf("%s before: %q, want %q", step.before, got, step.want)
			}
		}
		w.reschedule(a, 24*time.Hour)
		w.posted()
		w.remind(a, "24h")
		if got := w.posted(); got != "grace Reminder" {
			t.Errorf("after it was moved: %q", got)
		}
	})
}

func TestWithoutABuyersAddressOnlyTheCreatorIsMailed(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		undo := errors.New("rolled back")
		err := w.store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
			e := appointment.Booked{
				State: appointment.State{
					ID: "apt_0", CreatorID: creatorID, StartsAt: w.Real().Add(48 * time.Hour), Timezone: "UTC",
				},
			}
			return errors.Join(w.mail.OnAppointmentBooked(ctx, r, e), undo)
		})
		if !errors.Is(err, undo) || w.posted() != "" {
			t.Errorf("a booking that was undone: %v", err)
		}
		a := w.booking(48 * time.Hour)
		w.posted()
		w.buyer = ""
		w.reschedule(a, time.Hour)
		if got := w.posted(); got != "ada Moved" {
			t.Errorf("%s", got)
		}
		w.remind(a, "24h")
		if got := w.posted(); got != "" {
			t.Errorf("reminded nobody: %s", got)
		}
	})
}

func TestAPackIsOneMailWithAllItsEvents(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		w.buyer = "grace@example.com"
		starts := w.Real().Add(48 * time.Hour)
		for i, id := range []string{"apt_1", "apt_2", "apt_3"} {
			w.pack = append(w.pack, appointment.State{
				ID: id, CreatorID: creatorID, CheckoutID: "cs_1", Position: i, Title: "Coaching",
				Status:   appointment.StatusConfirmed,
				StartsAt: starts.AddDate(0, 0, i), EndsAt: starts.AddDate(0, 0, i).Add(time.Hour), Timezone: "UTC",
				Revision: 1,
			})
		}
		for _, a := range w.pack {
			w.atomically(func(ctx context.Context, r ports.Repos) error {
				return w.mail.OnAppointmentBooked(ctx, r, appointment.Booked{State: a})
			})
		}
		w.work()
		mails := w.mailed()
		if len(mails) != 2 {
			t.Fatalf("%d mails for a pack, want one to the buyer and one to the creator", len(mails))
		}
		for _, m := range mails {
			switch m.To {
			case w.buyer:
				if n := strings.Count(string(m.Attachments[0].Content), "BEGIN:VEVENT"); n != 3 || m.ReplyTo == "" ||
					!strings.Contains(m.Text, "Your appointments with Ada's Workshop are confirmed.") {
					t.Errorf("%d events, replies to %q", n, m.ReplyTo)
				}
			default:
				if len(m.Attachments) != 0 || m.ReplyTo != "" {
					t.Errorf("the creator's mail: %+v", m)
				}
			}
		}
	})
}
