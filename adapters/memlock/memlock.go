// Package memlock keeps slot locks in this process, for a deployment of one process.
package memlock

import (
	"context"
	"slices"
	"sync"
	"time"

	"sundry/core/slot"
	"sundry/ports"
)

var _ ports.SlotLocks = (*Locks)(nil)

// Locks implements ports.SlotLocks.
type Locks struct {
	mu  sync.Mutex
	now func() time.Time
	// creators maps a creator to the locks of their time, by holder. A creator without a lock has no entry.
	creators map[string]map[string]lock
}

type lock struct {
	intervals []slot.Interval
	until     time.Time
}

// New returns no locks, reading the time from now.
func New(now func() time.Time) *Locks {
	return &Locks{now: now, creators: map[string]map[string]lock{}}
}

// TryLock implements ports.SlotLocks.
func (l *Locks) TryLock(_ context.Context, creatorID, holder string, wanted []slot.Interval,
	lifetime time.Duration) (bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	for other, held := range l.creators[creatorID] {
		switch {
		case !held.until.After(now):
			l.drop(creatorID, other)
		case other != holder && overlap(held.intervals, wanted):
			return false, nil
		}
	}
	if l.creators[creatorID] == nil {
		l.creators[creatorID] = map[string]lock{}
	}
	l.creators[creatorID][holder] = lock{slices.Clone(wanted), now.Add(lifetime)}
	return true, nil
}

// Unlock implements ports.SlotLocks.
func (l *Locks) Unlock(_ context.Context, creatorID, holder string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.drop(creatorID, holder)
	return nil
}

func (l *Locks) drop(creatorID, holder string) {
	delete(l.creators[creatorID], holder)
	if len(l.creators[creatorID]) == 0 {
		delete(l.creators, creatorID)
	}
}

func overlap(some, others []slot.Interval) bool {
	return slices.ContainsFunc(some, func(a slot.Interval) bool { return slices.ContainsFunc(others, a.Overlaps) })
}
