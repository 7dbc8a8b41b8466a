package repo

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// Engine is the database outside of any transaction, for the hot paths that leave gorm.
type Engine struct {
	Dialect Dialect
	// Pool is nil on SQLite.
	Pool *pgxpool.Pool
	// Point reads one row, its parameters written as $1, $2…
	Point func(ctx context.Context, query string, args ...any) Scanner
	// Retryable reports whether the engine asks to run a transaction again.
	Retryable func(err error) bool
}

// Failure is Base.Failure for what leaves gorm.
func (e Engine) Failure(op string, err error) error {
	return (&Base{Dialect: e.Dialect}).Failure(op, err)
}

// MaxAttempts bounds how often a transaction is run again: with jittered back-off that spans about two seconds.
const MaxAttempts = 12

// Retry runs a write until it succeeds, fails with a permanent error, or has lost too often. A database that is busy or
// lost is one of the ports' errors.
func (e Engine) Retry(ctx context.Context, write func(ctx context.Context) error) error {
	err := write(ctx)
	for attempt := 0; err != nil && e.Retryable(err) && attempt < MaxAttempts && BackOff(ctx, attempt) == nil; attempt++ {
		err = write(ctx)
	}
	if err == nil {
		return nil
	}
	if unavailable := e.Dialect.Unavailable(err); unavailable != nil {
		return fmt.Errorf("%w: %w", unavailable, err)
	}
	return err
}

// BackOff waits before the next attempt, longer each time; its error is ctx's.
func BackOff(ctx context.Context, attempt int) error {
	ceiling := min(time.Millisecond<<attempt, 500*time.Millisecond)
	wait := time.Duration(rand.Int64N(int64(ceiling)) + 1) //nolint:gosec // jitter, not a secret
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(wait):
		return nil
	}
}
