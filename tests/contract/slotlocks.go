package contract

import (
	"context"
	"crypto/rand"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sundry/core/slot"
	"sundry/ports"
)

// SlotLocks is the suite of ports.SlotLocks.
func SlotLocks(t *testing.T, locks ports.SlotLocks) {
	t.Helper()
	for name, test := range map[string]func(*testing.T, lockedTime){
		"keeps others out of what overlaps, and lets them have the rest": slotLocksOverlap,
		"locks a pack whole or not at all":                               slotLocksAreAtomic,
		"is over when it is left, and by itself":                         slotLocksEnd,
		"is of one creator's time":                                       slotLocksAreOfOneCreator,
		"lets one of a burst in":                                         slotLocksHoldUnderConcurrency,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, lockedTime{locks, "crt_" + rand.Text()})
		})
	}
}

// lockedTime is a creator without locks.
type lockedTime struct {
	locks     ports.SlotLocks
	creatorID string
}

// hours is an interval of a day, in hours.
func hours(from, until float64) slot.Interval {
	day := time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
	at := func(hour float64) time.Time { return day.Add(time.Duration(hour * float64(time.Hour))) }
	return slot.Interval{From: at(from), Until: at(until)}
}

func (l lockedTime) enters(t *testing.T, holder string, want bool, wanted ...slot.Interval) {
	t.Helper()
	l.entersFor(t, holder, want, time.Minute, wanted...)
}

func (l lockedTime) entersFor(t *testing.T, holder string, want bool, lifetime time.Duration, wanted ...slot.Interval) {
	t.Helper()
	entered, err := l.locks.TryLock(context.Background(), l.creatorID, holder, wanted, lifetime)
	if err != nil || entered != want {
		t.Errorf("%s for %v: %v, %v; want %v", holder, wanted, entered, err, want)
	}
}

// leave ends what a holds.
func (l lockedTime) leave(t *testing.T) {
	t.Helper()
	if err := l.locks.Unlock(context.Background(), l.creatorID, "a"); err != nil {
		t.Error(err)
	}
}

func slotLocksOverlap(t *testing.T, l lockedTime) {
	l.enters(t, "a", true, hours(9, 10))
	l.enters(t, "b", false, hours(9.5, 10.5))
	l.enters(t, "b", false, hours(8, 12))
	l.enters(t, "b", false, hours(9.2, 9.4))
	l.enters(t, "b", true, hours(10, 11)) // half-open: neighbours do not overlap
	l.enters(t, "c", true, hours(8, 9))
	l.enters(t, "a", true, hours(9, 9.5)) // another wish of the same holder takes the place of the first
	l.enters(t, "d", true, hours(9.5, 10))
}

func slotLocksAreAtomic(t *testing.T, l lockedTime) {
	l.enters(t, "a", true, hours(12, 13))
	l.enters(t, "b", false, hours(9, 10), hours(12.5, 13.5))
	l.enters(t, "c", true, hours(9, 10), hours(14, 15)) // b has left nothing behind
	l.enters(t, "b", false, hours(14.9, 16))
}

func slotLocksEnd(t *testing.T, l lockedTime) {
	l.enters(t, "a", true, hours(9, 10))
	l.leave(t)
	l.leave(t)
	l.enters(t, "b", true, hours(9, 10))
	l.leave(t) // not b's
	l.enters(t, "c", false, hours(9, 10))
	l.entersFor(t, "d", true, 20*time.Millisecond, hours(11, 12))
	time.Sleep(60 * time.Millisecond)
	l.enters(t, "e", true, hours(11, 12))
	l.enters(t, "c", false, hours(9, 10)) // a short lock does not end a long one
}

func slotLocksAreOfOneCreator(t *testing.T, l lockedTime) {
	other := lockedTime{l.locks, l.creatorID + "2"}
	l.enters(t, "a", true, hours(9, 10))
	other.enters(t, "b", true, hours(9, 10))
	other.leave(t)
	l.enters(t, "c", false, hours(9, 10))
}

func slotLocksHoldUnderConcurrency(t *testing.T, l lockedTime) {
	var all sync.WaitGroup
	var won atomic.Int64
	for i := range 32 {
		all.Go(func() {
			wanted := hours(9+float64(i)/64, 10+float64(i)/64)
			if entered, err := l.locks.TryLock(
				context.Background(), l.creatorID, rand.Text(), []slot.Interval{wanted}, time.Minute,
			); err != nil {
				t.Error(err)
			} else if entered {
				won.Add(1)
			}
		})
	}
	all.Wait()
	if won.Load() != 1 {
		t.Errorf("%d were let in", won.Load())
	}
}
