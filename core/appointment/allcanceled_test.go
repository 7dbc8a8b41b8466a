package appointment_test

import (
	"testing"

	"sundry/core/appointment"
)

func TestNoneIsLeftOnceAllAreCanceled(t *testing.T) {
	t.Parallel()
	confirmed, canceled := appointment.State{Status: appointment.StatusConfirmed},
		appointment.State{Status: appointment.StatusCanceled}
	for name, c := range map[string]struct {
		session []appointment.State
		want    bool
	}{
		"none was ever booked": {nil, false},
		"one is left":          {[]appointment.State{canceled, confirmed, canceled}, false},
		"the only one is":      {[]appointment.State{canceled}, true},
		"all are canceled":     {[]appointment.State{canceled, canceled}, true},
	} {
		if got := appointment.NoneLeft(c.session); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
