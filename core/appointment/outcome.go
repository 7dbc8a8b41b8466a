package appointment

import (
	"time"

	"sundry/core/fault"
)

// Outcome is the outcome of an appointment that the creator recorded; "" for none.
type Outcome string

// The outcomes.
const (
	Completed Outcome = "completed"
	NoShow    Outcome = "no_show" // the buyer did not come
)

// CheckOutcome refuses what is no outcome, with VALIDATION_FAILED; "" takes one back.
func CheckOutcome(o Outcome) error {
	var f fault.Violations
	if o != "" {
		f.OneOf("outcome", string(o), string(Completed), string(NoShow))
	}
	return f.Err()
}

// OutcomeRecorded is emitted when the creator says how an appointment went, or takes that back.
type OutcomeRecorded struct{ State }

// EventName implements event.Event.
func (OutcomeRecorded) EventName() string { return "appointment.outcome_recorded" }

// RecordOutcome records how the appointment went; "" takes it back. changed is false when it is recorded already.
// STATE_CONFLICT before it begins and once it is canceled.
func (a *Appointment) RecordOutcome(o Outcome, now time.Time) (e OutcomeRecorded, changed bool, err error) {
	switch {
	case a.s.Status == StatusCanceled:
		return e, false, fault.New(fault.StateConflict, "The appointment is canceled.")
	case now.Before(a.s.StartsAt):
		return e, false, fault.New(fault.StateConflict, "The appointment has not begun yet.")
	case o == a.s.Outcome:
		return e, false, nil
	}
	a.s.Outcome, a.s.OutcomeAt = o, now
	if o == "" {
		a.s.OutcomeAt = time.Time{}
	}
	a.s.Revision++ // the time is the same: calendars that were told of it need not know
	return OutcomeRecorded{a.s}, true, nil
}
