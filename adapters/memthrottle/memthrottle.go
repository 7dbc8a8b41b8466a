// Package memthrottle counts attempts in this process: for deployments of one process, and for the moments when Redis
// cannot be reached.
package memthrottle

import (
	"context"
	"sync"
	"time"

	"sundry/ports"
)

// maxKeys bounds the memory: about 100 bytes each.
const maxKeys = 100_000

var _ ports.Throttle = (*Throttle)(nil)

// Throttle implements ports.Throttle by the generic cell rate algorithm, as redis_rate does: one instant per key says
// until when the room is spoken for. (golang.org/x/time/rate keeps a mutex and five fields per key and cannot give an
// attempt back.)
type Throttle struct {
	mu    sync.Mutex
	now   func() time.Time
	taken map[string]time.Time
}

// New returns an empty throttle that reads the time from now.
func New(now func() time.Time) *Throttle {
	return &Throttle{now: now, taken: map[string]time.Time{}}
}

// Allow implements ports.Throttle.
func (t *Throttle) Allow(_ context.Context, key string, limit int, window time.Duration) (time.Duration, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now()
	next := later(t.taken[key], now).Add(window / time.Duration(limit))
	if wait := next.Sub(now) - window; wait > 0 {
		return wait, nil
	}
	if _, known := t.taken[key]; !known && len(t.taken) >= maxKeys {
		t.makeRoom(now)
	}
	t.taken[key] = next
	return 0, nil
}

// GiveBack implements ports.Throttle.
func (t *Throttle) GiveBack(_ context.Context, key string, limit int, window time.Duration) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if until, ok := t.taken[key]; ok {
		t.taken[key] = until.Add(-window / time.Duration(limit))
	}
	return nil
}

// makeRoom drops the keys that have all their room back and, of the others, what exceeds half the bound: a flood of
// fresh keys must neither grow the memory nor cost a walk each.
func (t *Throttle) makeRoom(now time.Time) {
	for key, until := range t.taken {
		if !until.After(now) {
			delete(t.taken, key)
		}
	}
	for key := range t.taken {
		if len(t.taken) < maxKeys/2 {
			return
		}
		delete(t.taken, key)
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
