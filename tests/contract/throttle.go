// Package contract holds one suite per port, run by every adapter that fills it, so that the adapters cannot drift
// apart.
package contract

import (
	"context"
	"crypto/rand"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sundry/ports"
)

// Throttle is the suite of ports.Throttle. The windows are long enough that no room grows back during a case.
func Throttle(t *testing.T, throttle ports.Throttle) {
	t.Helper()
	for name, test := range map[string]func(*testing.T, counter){
		"has room for the limit and says how long to wait after it": throttleRefusesPastTheLimit,
		"counts every key by itself":                                throttleSeparatesKeys,
		"has room again for what was given back":                    throttleGivesBack,
		"never admits more than the limit at once":                  throttleHoldsUnderConcurrency,
		"does not count what it refused":                            throttleForgetsRefusals,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, counter{throttle: throttle, key: "contract:" + rand.Text()})
		})
	}
}

// counter is a throttle with a fresh key.
type counter struct {
	throttle ports.Throttle
	key      string
}

const (
	throttleLimit  = 5
	throttleWindow = time.Hour
)

func (c counter) allow(t *testing.T) time.Duration {
	t.Helper()
	wait, err := c.throttle.Allow(context.Background(), c.key, throttleLimit, throttleWindow)
	if err != nil {
		t.Fatal(err)
	}
	return wait
}

func (c counter) exhaust(t *testing.T) {
	t.Helper()
	for i := range throttleLimit {
		if wait := c.allow(t); wait != 0 {
			t.Fatalf("attempt %d of %d has to wait %v", i+1, throttleLimit, wait)
		}
	}
}

func throttleRefusesPastTheLimit(t *testing.T, c counter) {
	c.exhaust(t)
	share := throttleWindow / throttleLimit
	if wait := c.allow(t); wait <= share-time.Minute || wait > share {
		t.Errorf("past the limit: wait %v, want just under %v", wait, share)
	}
}

func throttleSeparatesKeys(t *testing.T, c counter) {
	c.exhaust(t)
	c.key += "'"
	c.exhaust(t)
}

func throttleGivesBack(t *testing.T, c counter) {
	c.exhaust(t)
	if err := c.throttle.GiveBack(context.Background(), c.key, throttleLimit, throttleWindow); err != nil {
		t.Fatal(err)
	}
	if wait := c.allow(t); wait != 0 {
		t.Errorf("what was given back has to wait %v", wait)
	}
	if wait := c.allow(t); wait == 0 {
		t.Error("one attempt was given back and two passed")
	}
}

func throttleForgetsRefusals(t *testing.T, c counter) {
	c.exhaust(t)
	first := c.allow(t)
	for range 3 * throttleLimit {
		if wait := c.allow(t); wait == 0 || wait > first {
			t.Fatalf("refusals moved the wait from %v to %v", first, wait)
		}
	}
}

func throttleHoldsUnderConcurrency(t *testing.T, c counter) {
	var passed atomic.Int64
	var all sync.WaitGroup
	for range 4 * throttleLimit {
		all.Go(func() {
			if wait, err := c.throttle.Allow(context.Background(), c.key, throttleLimit, throttleWindow); err == nil && wait == 0 {
				passed.Add(1)
			}
		})
	}
	all.Wait()
	if passed.Load() != throttleLimit {
		t.Errorf("%d attempts passed at once, want %d", passed.Load(), throttleLimit)
	}
}
