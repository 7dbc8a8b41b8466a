package appointment

import (
	"time"

	"sundry/core/money"
)

// Booked is emitted once per appointment, when its payment has arrived.
type Booked struct{ State }

// EventName implements event.Event.
func (Booked) EventName() string { return "appointment.booked" }

// Rescheduled is emitted each time an appointment moves.
type Rescheduled struct {
	State
	PreviousStartsAt time.Time
}

// EventName implements event.Event.
func (Rescheduled) EventName() string { return "appointment.rescheduled" }

// Canceled is emitted once, when an appointment is canceled.
type Canceled struct {
	State
	// Refunded is the amount that goes back to the buyer, with RefundDue.
	Refunded money.Amount
	// Together means that the creator canceled the whole time, and hears of it with another of its appointments.
	Together bool
}

// EventName implements event.Event.
func (Canceled) EventName() string { return "appointment.canceled" }
