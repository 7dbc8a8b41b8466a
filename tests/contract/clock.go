package contract

import (
	"testing"
	"time"

	"sundry/ports"
)

// ClockFixture is a clock whose accounts can be moved.
type ClockFixture struct {
	Clock ports.Clock
	// Advance puts an account's clock so far ahead of real time. Nil for a clock whose accounts are all on real time.
	Advance func(t *testing.T, creatorID string, offset time.Duration)
}

// Clock is the suite of ports.Clock.
func Clock(t *testing.T, newFixture func(t *testing.T) ClockFixture) {
	t.Helper()
	for name, test := range map[string]func(t *testing.T, f ClockFixture){
		"is UTC in whole milliseconds":                              clockIsUTCInMilliseconds,
		"shows real time to accounts whose clocks were never moved": clockShowsRealTime,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newFixture(t))
		})
	}
	if f := newFixture(t); f.Advance != nil {
		t.Run("moves one account and neither others nor the real time", func(t *testing.T) {
			t.Parallel()
			clockMovesOneAccount(t, f)
		})
	}
}

// aheadOfReal bounds how far the account's time runs ahead of real time. It takes the reading between two of the real
// clock.
func (f ClockFixture) aheadOfReal(t *testing.T, creatorID string) (least, most time.Duration) {
	t.Helper()
	before := f.Clock.Real()
	now, err := f.Clock.Now(t.Context(), creatorID)
	if err != nil {
		t.Fatal(err)
	}
	return now.Sub(f.Clock.Real()), now.Sub(before)
}

func (f ClockFixture) wantAhead(t *testing.T, creatorID string, want time.Duration) {
	t.Helper()
	if least, most := f.aheadOfReal(t, creatorID); least > want || most < want {
		t.Errorf("account %q is %v to %v ahead, want %v", creatorID, least, most, want)
	}
}

func clockIsUTCInMilliseconds(t *testing.T, f ClockFixture) {
	now, err := f.Clock.Now(t.Context(), "crt_1")
	if err != nil {
		t.Fatal(err)
	}
	for name, at := range map[string]time.Time{"Real": f.Clock.Real(), "Now": now} {
		if at.Location() != time.UTC || !at.Equal(at.Truncate(time.Millisecond)) || time.Since(at).Abs() > time.Minute {
			t.Errorf("%s is %v", name, at)
		}
	}
}

func clockShowsRealTime(t *testing.T, f ClockFixture) {
	f.wantAhead(t, "crt_1", 0)
	f.wantAhead(t, "", 0)
}

func clockMovesOneAccount(t *testing.T, f ClockFixture) {
	f.Advance(t, "crt_moved", 30*24*time.Hour+time.Millisecond)
	f.wantAhead(t, "crt_moved", 30*24*time.Hour+time.Millisecond)
	f.wantAhead(t, "crt_2", 0)
	f.wantAhead(t, "", 0)
	if now := f.Clock.Real(); time.Since(now).Abs() > time.Minute {
		t.Errorf("the real clock shows %v", now)
	}
}
