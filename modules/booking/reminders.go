package booking

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"sundry/core/appointment"
	"sundry/ports"
)

// TaskRemind reminds the buyer of one appointment; its subject is the appointment and how long before.
const TaskRemind = "appointment.remind"

// scheduleReminders schedules the reminders of an appointment. One whose time has passed is not sent: the buyer of an
// appointment tonight has just booked it. Moving the appointment moves its reminders, since a task is known by its
// subject.
func (s *Service) scheduleReminders(ctx context.Context, r ports.Repos, a appointment.State) error {
	now, err := r.Clock.Now(ctx, a.CreatorID)
	if err != nil {
		return err
	}
	for name, before := range appointment.Reminders {
		subject, due := a.ID+"/"+name, a.StartsAt.Add(-before)
		if a.Status != appointment.StatusConfirmed || !due.After(now) {
			err = r.Tasks.Cancel(ctx, TaskRemind, subject)
		} else {
			err = r.Tasks.Schedule(ctx, TaskRemind, subject, a.CreatorID, due)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Remind publishes that an appointment which is still to come is near, unless its next reminder is due, too. Task
// TaskRemind.
func (s *Service) Remind(ctx context.Context, t ports.Task) error {
	appointmentID, name, ok := strings.Cut(t.Subject, "/")
	if _, known := appointment.Reminders[name]; !ok || !known {
		return fmt.Errorf("remind: %q names no reminder", t.Subject)
	}
	return s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		if err := r.Tasks.Done(ctx, t); err != nil {
			return err
		}
		a, err := r.Booking.Appointments.Get(ctx, appointmentID)
		if errors.Is(err, ports.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		now, err := r.Clock.Now(ctx, a.CreatorID)
		if err != nil || appointment.Restore(a).Changeable(now) != nil || isLaterReminderDue(a, name, now) {
			return err
		}
		return s.deps.Bus.Publish(ctx, r, appointment.ReminderDue{State: a, Before: name})
	})
}

// isLaterReminderDue reports whether a reminder that falls due after the named one is due as well, as after an outage:
// then that one alone is sent.
func isLaterReminderDue(a appointment.State, name string, now time.Time) bool {
	for _, before := range appointment.Reminders {
		if before < appointment.Reminders[name] && !now.Before(a.StartsAt.Add(-before)) {
			return true
		}
	}
	return false
}
