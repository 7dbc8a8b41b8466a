package memratelimit

import (
	"context"
	"strconv"
	"testing"
	"time"

	"sundry/tests/contract"
)

func TestContract(t *testing.T) {
	t.Parallel()
	contract.RateLimiter(t, New(time.Now))
}

// still is a clock that moves manually.
type still struct{ at time.Time }

func (s *still) now() time.Time { return s.at }

func TestRoomGrowsBackEvenly(t *testing.T) {
	t.Parallel()
	clock := &still{time.Date(2026, 3, 8, 12, 0, 0, 0, time.UTC)}
	limiter := New(clock.now)
	admitted := func() (n int) {
		for {
			if quota, _ := limiter.Allow(context.Background(), "k", 10, time.Minute); quota.Wait > 0 {
				return n
			}
			n++
		}
	}
	for _, step := range []struct {
		wait time.Duration
		want int
	}{{0, 10}, {5999 * time.Millisecond, 0}, {time.Millisecond, 1}, {30 * time.Second, 5}, {time.Minute, 10},
		{time.Hour, 10}} {
		clock.at = clock.at.Add(step.wait)
		if got := admitted(); got != step.want {
			t.Errorf("after another %v: %d attempts pass, want %d", step.wait, got, step.want)
		}
	}
}

func TestTheWaitIsExact(t *testing.T) {
	t.Parallel()
	clock := &still{time.Date(2026, 3, 8, 12, 0, 0, 0, time.UTC)}
	limiter := New(clock.now)
	for range 3 {
		_, _ = limiter.Allow(context.Background(), "k", 3, time.Minute)
	}
	quota, _ := limiter.Allow(context.Background(), "k", 3, time.Minute)
	wait := quota.Wait
	if wait != 20*time.Second {
		t.Fatalf("wait %v", wait)
	}
	clock.at = clock.at.Add(wait)
	if quota, _ := limiter.Allow(context.Background(), "k", 3, time.Minute); quota.Wait != 0 {
		t.Errorf("after the wait: %v more", quota.Wait)
	}
}

func TestAFloodOfKeysDoesNotGrowTheMemory(t *testing.T) {
	t.Parallel()
	clock := &still{time.Date(2026, 3, 8, 12, 0, 0, 0, time.UTC)}
	limiter := New(clock.now)
	for i := range maxKeys + maxKeys/2 {
		_, _ = limiter.Allow(context.Background(), strconv.Itoa(i), 1, time.Hour)
	}
	if len(limiter.taken) > maxKeys {
		t.Errorf("%d keys are kept", len(limiter.taken))
	}
	clock.at = clock.at.Add(2 * time.Hour)
	for i := len(limiter.taken); i <= maxKeys; i++ {
		_, _ = limiter.Allow(context.Background(), "new "+strconv.Itoa(i), 1, time.Hour)
	}
	if len(limiter.taken) > maxKeys/2+1 {
		t.Errorf("%d keys are kept though their capacity is back", len(limiter.taken))
	}
}
