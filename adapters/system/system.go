// Package system is the machine behind the ports: its clock, its randomness, its process.
package system

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"math/bits"
	"sync"
	"time"

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

// IDs makes ULIDs of one cell that rise strictly within this process, so that ids made in one millisecond keep their
// order.
type IDs struct {
	cell id.Cell
	mu   sync.Mutex
	last [16]byte
}

// NewIDs returns a generator for cell 0, which is that of a deployment of one cell.
func NewIDs() *IDs { return NewCellIDs(0) }

// NewCellIDs returns a generator over the system's randomness for a cell.
func NewCellIDs(cell id.Cell) *IDs { return &IDs{cell: cell} }

// Cell implements ports.IDs.
func (g *IDs) Cell() id.Cell { return g.cell }

// New implements ports.IDs.
func (g *IDs) New(prefix id.Prefix) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	for {
		if body := g.next(time.Now().UnixMilli()); body != [16]byte{} {
			g.last = body
			return id.New(prefix, body)
		}
	}
}

// next returns the value after the last one: random, and in one millisecond a random step further. It is zero where a
// step leads past the last value of the millisecond.
func (g *IDs) next(millis int64) (body [16]byte) {
	binary.BigEndian.PutUint64(body[:8], uint64(millis)<<16) //nolint:gosec // since 1970
	if [6]byte(body[:6]) != [6]byte(g.last[:6]) {
		_, _ = rand.Read(body[6:]) // never fails: crypto/rand aborts the program instead
		g.cell.Mark(body[6:])
		return body
	}
	var step [4]byte
	_, _ = rand.Read(step[:])
	low, carry := bits.Add64(binary.BigEndian.Uint64(g.last[8:]), uint64(binary.BigEndian.Uint32(step[:]))+1, 0)
	body = g.last
	binary.BigEndian.PutUint64(body[8:], low)
	if body[7] += byte(carry); body[7]>>6 != g.last[7]>>6 { //nolint:gosec // 0 or 1
		return [16]byte{}
	}
	return body
}

// Random implements ports.IDs.
func (g *IDs) Random(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails: crypto/rand aborts the program instead
	return b
}
