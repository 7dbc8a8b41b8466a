package appointment

import "time"

// Reminders maps the name of each reminder to its lead before the appointment.
var Reminders = map[string]time.Duration{"24h": 24 * time.Hour, "1h": time.Hour}

// ReminderDue reports that a confirmed appointment is near.
type ReminderDue struct {
	State
	Before string // a name of Reminders
}

// EventName implements event.Event.
func (ReminderDue) EventName() string { return "appointment.reminder_due" }
