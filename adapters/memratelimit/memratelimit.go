// Package memratelimit counts attempts in this process: for deployments of one process, and for the moments when Redis
// cannot be reached.
package memratelimit

import (
	"context"
	"sync"
	"time"

	"sundry/ports"
)

// maxKeys bounds the memory: about 100 bytes each.
const maxKeys = 100_000

var _ ports.RateLimiter = (*RateLimiter)(nil)

// RateLimiter implements ports.RateLimiter by the generic cell rate algorithm, as redis_rate does: one instant per key
// determines until when the limit is used up. (golang.org/x/time/rate keeps a mutex and five fields per key and cannot
// refund an attempt.)
type RateLimiter struct {
	mu    sync.Mutex
	now   func() time.Time
	taken map[string]time.Time
}

// New returns a rate limiter without attempts that reads the time from now.
func New(now func() time.Time) *RateLimiter {
	return &RateLimiter{now: now, taken: map[string]time.Time{}}
}

// Allow implements ports.RateLimiter.
func (l *RateLimiter) Allow(ctx context.Context, key string, limit int, window time.Duration) (ports.Quota, error) {
	return l.AllowN(ctx, key, 1, limit, window)
}

// AllowN implements ports.RateLimiter.
func (l *RateLimiter) AllowN(
	_ context.Context, key string, n, limit int, window time.Duration,
) (ports.Quota, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	share := window / time.Duration(limit)
	taken := time.Duration(n) * share
	next := later(l.taken[key], now).Add(taken)
	if wait := next.Sub(now) - window; wait > 0 {
		return ports.Quota{Wait: wait, Reset: next.Sub(now) - taken}, nil
	}
	if _, known := l.taken[key]; !known && len(l.taken) >= maxKeys {
		l.evict(now)
	}
	l.taken[key] = next
	return ports.Quota{Remaining: int((window - next.Sub(now)) / share), Reset: next.Sub(now)}, nil
}

// Refund implements ports.RateLimiter.
func (l *RateLimiter) Refund(_ context.Context, key string, limit int, window time.Duration) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if until, ok := l.taken[key]; ok {
		l.taken[key] = until.Add(-window / time.Duration(limit))
	}
	return nil
}

// evict drops the keys whose limit is fully restored and, of the others, what exceeds half the bound: a flood of
// new keys must neither grow the memory nor cost a walk each.
func (l *RateLimiter) evict(now time.Time) {
	for key, until := range l.taken {
		if !until.After(now) {
			delete(l.taken, key)
		}
	}
	for key := range l.taken {
		if len(l.taken) < maxKeys/2 {
			return
		}
		delete(l.taken, key)
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
