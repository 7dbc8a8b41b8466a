// Package system is the machine behind the ports: its clock, its randomness, its process.
package system

import (
	"context"
	"crypto/rand"
	"fmt"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"

	"sundry/core/id"
	"sundry/ports"
)

// Clock reads the machine's clock and, in the sandbox, each account's offset from it.
type Clock struct {
	store ports.Store // nil in live: every account is on real time
}

// NewClock returns the clock of the sandbox (accounts may be ahead) or, when sandbox is false, of live.
func NewClock(store ports.Store, sandbox bool) Clock {
	if !sandbox {
		return Clock{}
	}
	return Clock{store: store}
}

// Real implements ports.Clock.
func (Clock) Real() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }

// Now implements ports.Clock.
func (c Clock) Now(ctx context.Context, creatorID string) (time.Time, error) {
	if c.store == nil || creatorID == "" {
		return c.Real(), nil
	}
	offset, err := c.store.Read(ctx).Sandbox.ClockOffsets.Get(ctx, creatorID)
	if err != nil {
		return time.Time{}, fmt.Errorf("account clock: %w", err)
	}
	return c.Real().Add(offset), nil
}

// Sleep implements ports.Sleeper.
func (Clock) Sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// IDs makes ULIDs that rise strictly within this process, so that ids made in one millisecond keep their order.
type IDs struct {
	mu      sync.Mutex
	entropy *ulid.MonotonicEntropy
}

// NewIDs returns a generator over the system's randomness.
func NewIDs() *IDs { return &IDs{entropy: ulid.Monotonic(rand.Reader, 0)} }

// New implements ports.IDs.
func (g *IDs) New(prefix id.Prefix) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return id.New(prefix, ulid.MustNew(ulid.Now(), g.entropy))
}

// Random implements ports.IDs.
func (g *IDs) Random(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails: crypto/rand aborts the program instead
	return b
}
