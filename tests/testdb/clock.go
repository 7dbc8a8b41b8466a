package testdb

import (
	"context"
	"sync"
	"time"

	"sundry/adapters/gormstore"
	"sundry/ports"
)

// ClockedStore is a store whose transactions see a test's clock in the place of the accounts' own.
type ClockedStore struct {
	*gormstore.Store
	clock ports.AccountClock
}

// WithClock is the store on a test's clock.
func WithClock(store *gormstore.Store, clock ports.AccountClock) *ClockedStore {
	return &ClockedStore{store, clock}
}

// Atomically implements ports.Store.
func (s *ClockedStore) Atomically(ctx context.Context, fn func(ctx context.Context, r ports.Repos) error) error {
	return s.Store.Atomically(ctx, s.clocked(fn))
}

// clocked gives a transaction the test's clock.
func (s *ClockedStore) clocked(
	fn func(ctx context.Context, r ports.Repos) error,
) func(ctx context.Context, r ports.Repos) error {
	return func(ctx context.Context, r ports.Repos) error {
		r.Clock = s.clock
		return fn(ctx, r)
	}
}

// Read implements ports.Store.
func (s *ClockedStore) Read(ctx context.Context) ports.Repos {
	r := s.Store.Read(ctx)
	r.Clock = s.clock
	return r
}

// Clock is a clock, of accounts and real alike, that shows one time until a test moves it.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock is a clock that shows a time.
func NewClock(now time.Time) *Clock { return &Clock{now: now} }

// Real implements ports.Clock.
func (c *Clock) Real() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Now implements ports.AccountClock.
func (c *Clock) Now(context.Context, string) (time.Time, error) { return c.Real(), nil }

// Set moves the clock to a time.
func (c *Clock) Set(to time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = to
}

// Advance moves the clock forward.
func (c *Clock) Advance(by time.Duration) { c.Set(c.Real().Add(by)) }
