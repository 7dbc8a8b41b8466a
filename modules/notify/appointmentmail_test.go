package notify_test

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

// booking is an appointment so long from now, with somebody whom mail reaches.
func (w *world) booking(in time.Duration) *appointment.Appointment {
	w.buyer, w.appointments = "grace@example.com", map[string]appointment.State{}
	starts := w.Real().Add(in)
	a := appointment.Restore(appointment.State{
		ID: "apt_1", CreatorID: creatorID, CheckoutID: "cs_1", ClaimID: "clm_1", Title: "Coaching", Status: appointment.StatusConfirmed,
		StartsAt: starts, EndsAt: starts.Add(time.Hour), Timezone: "Asia/Tokyo", DeliveryMode: appointment.InPerson, Address: "1 Rue de Rivoli", Revision: 1,
	})
	w.atomically(func(ctx context.Context, r ports.Repos) error {
		return w.notify.OnAppointmentBooked(ctx, r, appointment.Booked{State: a.State()})
	})
	w.appointments[a.State().ID] = a.State()
	return a
}

func (w *world) reschedule(a *appointment.Appointment, by time.Duration) {
	w.t.Helper()
	s := a.State()
	e, err := a.Reschedule(appointment.Bookable{}, appointment.ClaimState{
		ID: "clm_2", StartsAt: s.StartsAt.Add(by), EndsAt: s.EndsAt.Add(by), Timezone: s.Timezone, DeliveryMode: s.DeliveryMode,
	}, "", w.Real())
	if err != nil {
		w.t.Fatal(err)
	}
	w.atomically(func(ctx context.Context, r ports.Repos) error { return w.notify.OnAppointmentRescheduled(ctx, r, e) })
	w.appointments[s.ID] = a.State()
}

func (w *world) cancel(a *appointment.Appointment) {
	w.t.Helper()
	e, err := a.Cancel("ill", w.Real())
	if err != nil {
		w.t.Fatal(err)
	}
	w.atomically(func(ctx context.Context, r ports.Repos) error { return w.notify.OnAppointmentCanceled(ctx, r, e) })
	w.appointments[a.State().ID] = a.State()
}

// posted are the mails since the last time: to whom, the first word of the subject, and the method and sequence of the file.
func (w *world) posted() string {
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
			for _, part := range []string{"METHOD:" + file.Method, "UID:apt_1@pay.example.com", "mailto:no-reply@pay.example.com", "mailto:grace@example.com"} {
				if !strings.Contains(strings.ReplaceAll(string(file.Content), "\r\n ", ""), part) || file.ContentType != "text/calendar" {
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

func TestPeopleAreToldOfEachChangeAndRemindedTwice(t *testing.T) {
	t.Parallel()
	onEveryEngine(t, func(t *testing.T, w *world) {
		a := w.booking(48 * time.Hour)
		if got := w.posted(); !sameMails(got, "grace Confirmed REQUEST 0", "ada Booked") {
			t.Errorf("booked: %s", got)
		}
		w.reschedule(a, 24*time.Hour) // in 72 hours
		if got := w.posted(); !sameMails(got, "grace New time REQUEST 1", "ada Moved") {
			t.Errorf("moved: %s", got)
		}
		for _, step := range []struct {
			wait time.Duration
			want string
		}{
			{47 * time.Hour, ""}, {time.Hour, "grace Reminder"}, {22 * time.Hour, ""}, {time.Hour, "grace Reminder"}, {30 * time.Hour, ""},
		} {
			w.advance(step.wait)
			if got := w.posted(); got != step.want {
				t.Errorf("%v later: %q, want %q", step.wait, got, step.want)
			}
		}
	})
}

func TestACanceledAppointmentIsNotRemindedOf(t *testing.T) {
	t.Parallel()
	onEveryEngine(t, func(t *testing.T, w *world) {
		a := w.booking(48 * time.Hour)
		w.posted()
		w.cancel(a)
		if got := w.posted(); !sameMails(got, "grace Canceled CANCEL 1", "ada Canceled") {
			t.Errorf("canceled: %s", got)
		}
		w.advance(72 * time.Hour)
		if got := w.posted(); got != "" {
			t.Errorf("reminded of what is canceled: %s", got)
		}
	})
}

func TestAReminderWhoseTimeHasPassedIsNotSent(t *testing.T) {
	t.Parallel()
	onEveryEngine(t, func(t *testing.T, w *world) {
		a := w.booking(3 * time.Hour)
		w.posted()
		w.reschedule(a, -150*time.Minute) // in half an hour
		w.posted()
		w.advance(2 * time.Hour)
		if got := w.posted(); got != "" {
			t.Errorf("too late: %s", got)
		}
		w.booking(3 * time.Hour)
		w.posted()
		w.advance(2 * time.Hour)
		if got := w.posted(); got != "grace Reminder" {
			t.Errorf("an hour before: %s", got)
		}
	})
}

func TestABuyerWithoutAnAddressIsNotMailedButTheCreatorIs(t *testing.T) {
	t.Parallel()
	onEveryEngine(t, func(t *testing.T, w *world) {
		undo := errors.New("rolled back")
		err := w.store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
			e := appointment.Booked{State: appointment.State{ID: "apt_0", CreatorID: creatorID, StartsAt: w.Real().Add(48 * time.Hour), Timezone: "UTC"}}
			return errors.Join(w.notify.OnAppointmentBooked(ctx, r, e), undo)
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
		w.advance(72 * time.Hour)
		if got := w.posted(); got != "" {
			t.Errorf("reminded nobody: %s", got)
		}
	})
}
