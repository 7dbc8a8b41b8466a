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

// RateLimiter is the suite of ports.RateLimiter. The windows are long enough that nothing is restored during a case.
func RateLimiter(t *testing.T, limiter ports.RateLimiter) {
	t.Helper()
	for name, test := range map[string]func(*testing.T, counter){
		"allows the limit and reports how long to wait after it": limiterRefusesPastTheLimit,
		"counts every key by itself":                             limiterSeparatesKeys,
		"allows again what was refunded":                         limiterRefunds,
		"never admits more than the limit at once":               limiterHoldsUnderConcurrency,
		"reports what remains":                                   limiterReportsWhatRemains,
		"does not count what it refused":                         limiterForgetsRefusals,
		"counts several attempts at once, or none of them":       limiterCountsSeveral,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, counter{limiter: limiter, key: "contract:" + rand.Text()})
		})
	}
}

func limiterCountsSeveral(t *testing.T, c counter) {
	several := func(n int) ports.Quota {
		quota, err := c.limiter.AllowN(context.Background(), c.key, n, limiterLimit, limiterWindow)
		if err != nil {
			t.Fatal(err)
		}
		return quota
	}
	if quota := several(3); quota.Wait != 0 || quota.Remaining != limiterLimit-3 {
		t.Errorf("three of %d: %+v", limiterLimit, quota)
	}
	if quota := several(3); quota.Wait <= 0 {
		t.Errorf("three more: %+v, want to wait", quota)
	}
	if quota := several(2); quota.Wait != 0 || quota.Remaining != 0 {
		t.Errorf("the two that remain: %+v", quota)
	}
	if quota := c.count(t); quota.Wait <= 0 {
		t.Errorf("one more: %+v, want to wait", quota)
	}
}

// counter is a limiter with a fresh key.
type counter struct {
	limiter ports.RateLimiter
	key     string
}

const (
	limiterLimit  = 5
	limiterWindow = time.Hour
)

func (c counter) allow(t *testing.T) time.Duration {
	t.Helper()
	return c.count(t).Wait
}

func (c counter) count(t *testing.T) ports.Quota {
	t.Helper()
	quota, err := c.limiter.Allow(context.Background(), c.key, limiterLimit, limiterWindow)
	if err != nil {
		t.Fatal(err)
	}
	return quota
}

func (c counter) exhaust(t *testing.T) {
	t.Helper()
	for i := range limiterLimit {
		if wait := c.allow(t); wait != 0 {
			t.Fatalf("attempt %d of %d has to wait %v", i+1, limiterLimit, wait)
		}
	}
}

func limiterRefusesPastTheLimit(t *testing.T, c counter) {
	c.exhaust(t)
	share := limiterWindow / limiterLimit
	if wait := c.allow(t); wait <= share-time.Minute || wait > share {
		t.Errorf("past the limit: wait %v, want just under %v", wait, share)
	}
}

func limiterReportsWhatRemains(t *testing.T, c counter) {
	share := limiterWindow / limiterLimit
	for i := range limiterLimit {
		quota, reset := c.count(t), time.Duration(i+1)*share
		if quota.Remaining != limiterLimit-1-i || quota.Reset > reset || quota.Reset < reset-time.Minute {
			t.Errorf("attempt %d: %+v, want %d more and all of it in %v", i+1, quota, limiterLimit-1-i, reset)
		}
	}
	if quota := c.count(t); quota.Remaining != 0 || quota.Reset > limiterWindow ||
		quota.Reset < limiterWindow-time.Minute {
		t.Errorf("past the limit: %+v", quota)
	}
}

func limiterSeparatesKeys(t *testing.T, c counter) {
	c.exhaust(t)
	c.key += "'"
	c.exhaust(t)
}

func limiterRefunds(t *testing.T, c counter) {
	c.exhaust(t)
	if err := c.limiter.Refund(context.Background(), c.key, limiterLimit, limiterWindow); err != nil {
		t.Fatal(err)
	}
	if wait := c.allow(t); wait != 0 {
		t.Errorf("what was released has to wait %v", wait)
	}
	if wait := c.allow(t); wait == 0 {
		t.Error("one attempt was released and two passed")
	}
}

func limiterForgetsRefusals(t *testing.T, c counter) {
	c.exhaust(t)
	first := c.allow(t)
	for range 3 * limiterLimit {
		if wait := c.allow(t); wait == 0 || wait > first {
			t.Fatalf("refusals moved the wait from %v to %v", first, wait)
		}
	}
}

func limiterHoldsUnderConcurrency(t *testing.T, c counter) {
	var passed atomic.Int64
	var all sync.WaitGroup
	for range 4 * limiterLimit {
		all.Go(func() {
			if quota, err := c.limiter.Allow(
				context.Background(), c.key, limiterLimit, limiterWindow,
			); err == nil && quota.Wait == 0 {
				passed.Add(1)
			}
		})
	}
	all.Wait()
	if passed.Load() != limiterLimit {
		t.Errorf("%d attempts passed at once, want %d", passed.Load(), limiterLimit)
	}
}
