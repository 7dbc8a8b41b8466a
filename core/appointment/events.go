package appointment

import "time"

// Booked is uttered once per appointment, when its payment has arrived.
type Booked struct{ State }

// EventName implements event.Event.
func (Booked) EventName() string { return "appointment.booked" }

// Rescheduled is uttered each time an appointment moves.
type Rescheduled struct {
	State
	PreviousStartsAt time.Time
}

// EventName implements event.Event.
func (Rescheduled) EventName() string { return "appointment.rescheduled" }

// Canceled is uttered once, when an appointment is called off.
type Canceled struct{ State }

// EventName implements event.Event.
func (Canceled) EventName() string { return "appointment.canceled" }
