package booking_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"sundry/core/appointment"
	"sundry/modules/booking"
	"sundry/ports"
)

// remind runs the reminders that are due and returns the names of those that were published.
func (w *fixture) remind() []string {
	w.t.Helper()
	w.Take()
	tasks, err := w.store.Claim(w.t.Context(), ports.DefaultTasks, w.Real(), time.Second, 10)
	w.must(err)
	for _, task := range tasks {
		if task.Kind != booking.TaskRemind {
			w.t.Errorf("due is %+v, want reminders only", task)
		}
		w.must(w.booking.Remind(w.t.Context(), task))
	}
	var reminders []string
	for _, e := range w.Take() {
		if due, ok := e.(appointment.ReminderDue); ok {
			reminders = append(reminders, due.Before)
		}
	}
	return reminders
}

func TestABuyerIsRemindedTwiceAndOfTheNewTimeAfterAMove(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		a := w.book("cs_1", "03 12:00")[0] // in 48 hours
		_, err := w.move(a, "04 12:00")
		w.must(err)
		for _, step := range []struct {
			wait time.Duration
			want int
		}{{0, 0}, {47 * time.Hour, 0}, {time.Hour, 1}, {22 * time.Hour, 0}, {time.Hour, 1}, {30 * time.Hour, 0}} {
			w.Advance(step.wait)
			if got := w.remind(); len(got) != step.want {
				t.Errorf("%v later: %v, want %d", step.wait, got, step.want)
			}
		}
	})
}

// After an outage only the reminder that fell due last is sent.
func TestOfTwoOverdueRemindersTheLaterIsSent(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		w.book("cs_1", "03 12:00") // in 48 hours
		w.Advance(47*time.Hour + 30*time.Minute)
		if got := w.remind(); len(got) != 1 || got[0] != "1h" {
			t.Errorf("half an hour before: %v, want 1h alone", got)
		}
	})
}

func TestNobodyIsRemindedOfACanceledAppointment(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		a := w.book("cs_1", "03 12:00")[0]
		_, err := w.cancellations.Cancel(t.Context(), creatorID, a.ID, "ill", true)
		w.must(err)
		w.Advance(72 * time.Hour)
		if got := w.remind(); len(got) > 0 {
			t.Errorf("reminded of a canceled appointment: %v", got)
		}
	})
}

func TestAReminderWhoseTimeHasPassedIsNotScheduled(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		a := w.book("cs_1", "01 15:00")[0] // in three hours
		w.Advance(2 * time.Hour)
		if got := w.remind(); len(got) != 1 {
			t.Errorf("an hour before: %v, want one", got)
		}
		w.Advance(-2 * time.Hour)
		b := w.book("cs_2", "02 12:00")[0] // in a day
		_, err := w.move(b, "01 13:00")
		w.must(err)
		w.Advance(2 * time.Hour)
		if got := w.remind(); len(got) > 0 {
			t.Errorf("too late: %v (%s was moved to an hour from then)", got, a.ID)
		}
	})
}

func TestABookingThatIsUndoneRemindsNobody(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		w.must(w.hold("cs_1", "03 12:00"))
		undo := errors.New("rolled back")
		err := w.store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
			_, _, err := w.booking.Confirm(ctx, r, ports.Confirmation{CreatorID: creatorID, CheckoutID: "cs_1"})
			return errors.Join(err, undo)
		})
		if !errors.Is(err, undo) {
			t.Fatal(err)
		}
		w.Advance(72 * time.Hour)
		if got := w.remind(); len(got) > 0 {
			t.Errorf("reminded: %v", got)
		}
	})
}
