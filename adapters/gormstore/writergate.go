package gormstore

import (
	"context"
	"sync/atomic"
	"time"
)

// writerGate lets one writer of this process at a time to SQLite. While another process locks the database the first
// writer waits for it as long as the engine does; those that came meanwhile do not wait as long again, one after the
// other.
type writerGate struct {
	// turn holds one token; anyone who has it may read and write busyAt.
	turn        chan struct{}
	busyAt      time.Time
	unavailable func(error) error

	taken, waits atomic.Int64
	waited       atomic.Int64 // nanoseconds
}

func newWriterGate(unavailable func(error) error) *writerGate {
	return &writerGate{turn: make(chan struct{}, 1), unavailable: unavailable}
}

// do runs a write. A nil gate is always open.
func (g *writerGate) do(ctx context.Context, write func() error) error {
	if g == nil {
		return write()
	}
	began := time.Now()
	select {
	case g.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-g.turn }()
	g.noteTurn(began)
	if g.busyAt.After(began) {
		return errLocked
	}
	err := write()
	if err != nil && g.unavailable(err) != nil {
		g.busyAt = time.Now()
	}
	return err
}

// shortWait is the time that taking a free turn may last.
const shortWait = time.Millisecond

// noteTurn counts a turn that was asked for at a time.
func (g *writerGate) noteTurn(asked time.Time) {
	g.taken.Add(1)
	if waited := time.Since(asked); waited > shortWait {
		g.waits.Add(1)
		g.waited.Add(int64(waited))
	}
}

func (g *writerGate) turns() turns {
	return turns{
		inUse: len(g.turn), max: 1, taken: g.taken.Load(), waits: g.waits.Load(), waited: time.Duration(g.waited.Load()),
	}
}
