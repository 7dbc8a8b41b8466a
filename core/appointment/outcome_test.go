package appointment

import (
	"reflect"
	"testing"
	"time"

	"sundry/core/fault"
)

func TestRecordOutcome(t *testing.T) {
	t.Parallel()
	starts := instant(t, "2026-06-15T10:00:00Z")
	a := booked(t, Virtual)
	before := a.State()
	_, changed, err := a.RecordOutcome(NoShow, starts.Add(-time.Millisecond))
	if !fault.Is(err, fault.StateConflict) || changed || !reflect.DeepEqual(a.State(), before) {
		t.Errorf("before it begins: %v, %+v", err, a.State())
	}
	e, changed, err := a.RecordOutcome(NoShow, starts)
	if err != nil || !changed || !reflect.DeepEqual(e.State, a.State()) || e.Outcome != NoShow || !e.OutcomeAt.Equal(starts) ||
		e.Revision != before.Revision+1 || e.Sequence != before.Sequence || e.EventName() != "appointment.outcome_recorded" {
		t.Errorf("begun: %v, %+v", err, e)
	}
	if _, changed, err = a.RecordOutcome(NoShow, starts.Add(time.Hour)); err != nil || changed || !reflect.DeepEqual(a.State(), e.State) {
		t.Errorf("again: %v, %+v", err, a.State())
	}
	if _, changed, err = a.RecordOutcome(Completed, starts.Add(time.Hour)); err != nil || !changed ||
		a.State().Outcome != Completed {
		t.Errorf("another: %v, %+v", err, a.State())
	}
	if _, changed, err = a.RecordOutcome("", starts.Add(time.Hour)); err != nil || !changed ||
		a.State().Outcome != "" || !a.State().OutcomeAt.IsZero() {
		t.Errorf("taken back: %v, %+v", err, a.State())
	}
	canceled := booked(t, Virtual)
	if _, err := canceled.Cancel(Cancellation{By: ByBuyer}, starts.Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	_, changed, err = canceled.RecordOutcome(Completed, starts.Add(time.Hour))
	if !fault.Is(err, fault.StateConflict) || changed || canceled.State().Outcome != "" {
		t.Errorf("canceled: %v, %+v", err, canceled.State())
	}
	for o, ok := range map[Outcome]bool{"": true, Completed: true, NoShow: true, "late": false} {
		if err := CheckOutcome(o); (err == nil) != ok {
			t.Errorf("%q: %v", o, err)
		}
	}
}
