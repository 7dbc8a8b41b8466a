package memlock

import (
	"testing"
	"time"

	"sundry/core/slot"
	"sundry/tests/contract"
)

func TestContract(t *testing.T) {
	t.Parallel()
	contract.SlotLocks(t, New(time.Now))
}

func TestNothingIsKeptOfWhoLeftOrRanOut(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
	locks := New(func() time.Time { return now })
	wanted := []slot.Interval{{From: now, Until: now.Add(time.Hour)}}
	for _, holder := range []string{"a", "b"} {
		if entered, err := locks.TryLock(t.Context(), "crt_1", holder, wanted, time.Second); !entered || err != nil {
			t.Fatal(entered, err)
		}
		now = now.Add(time.Second)
	}
	if err := locks.Unlock(t.Context(), "crt_1", "b"); err != nil || len(locks.creators) != 0 {
		t.Errorf("left are %v, %v", locks.creators, err)
	}
}
