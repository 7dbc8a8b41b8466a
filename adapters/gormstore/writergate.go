package gormstore

import (
	"context"
	"time"
)

// writerGate lets one writer of this process at a time to SQLite. While another process locks the database the first
// writer waits for it as long as the engine does; those that came meanwhile do not wait as long again, one after the
// other.
type writerGate struct {
	// turn holds one token; anyone who has it may read and write busyAt.
	turn   chan struct{}
	busyAt time.Time
	busy   func(error) bool
}

func newWriterGate(busy func(error) bool) *writerGate {
	return &writerGate{turn: make(chan struct{}, 1), busy: busy}
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
	if g.busyAt.After(began) {
		return errLocked
	}
	err := write()
	if err != nil && g.busy(err) {
		g.busyAt = time.Now()
	}
	return err
}
