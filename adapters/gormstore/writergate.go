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
	turn        chan struct{}
	busyAt      time.Time
	unavailable func(error) error
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
	if g.busyAt.After(began) {
		return errLocked
	}
	err := write()
	if err != nil && g.unavailable(err) != nil {
		g.busyAt = time.Now()
	}
	return err
}
