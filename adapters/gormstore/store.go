// Package gormstore is the database behind every repository port: one store over PostgreSQL and SQLite.
//
// The two engines differ in a handful of places, all of them in dialect.go. Everything else, migrations included, is
// written once in the SQL that both understand. Rows are this package's own shape; aggregates enter and leave through
// their State.
package gormstore

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"gorm.io/gorm"

	"sundry/ports"
)

// Store implements ports.Store.
type Store struct {
	write   *gorm.DB
	read    *gorm.DB
	dialect dialect
	// classOf names the workers that run a kind of task.
	classOf func(kind string) ports.TaskClass
	// laneOf names the lane that a task shares a limit with, "" = none.
	laneOf func(kind, subject string) string
	pool   *pgxpool.Pool // nil on SQLite
	// arrivals wait to be recorded together.
	arrivals arrivals
	// point reads one row outside gorm and outside transactions, for the hot paths.
	point func(ctx context.Context, query string, args ...any) row
	// wake is called after a commit that scheduled work due now, so that the relay need not wait for its next look.
	wake  func()
	pages *pager // nil on SQLite
	close func() error
}

var _ ports.Store = (*Store)(nil)

// row is what one-row queries give in pgx and in database/sql alike.
type row interface{ Scan(into ...any) error }

// Classify names the function that tells which workers run a kind of task. Without it all are OtherTasks. Call it
// before the first use.
func (s *Store) Classify(classOf func(kind string) ports.TaskClass) { s.classOf = classOf }

// LaneBy names the function that tells which lane a task is in, "" for none. Without it none is. Call it before the first
// use.
func (s *Store) LaneBy(laneOf func(kind, subject string) string) { s.laneOf = laneOf }

// OnScheduled names the function to call after each commit that scheduled a task due now. It must not block. Call it
// before the first use.
func (s *Store) OnScheduled(wake func()) { s.wake = wake }

func (s *Store) wakeWorkers() {
	if s.wake != nil {
		s.wake()
	}
}

func unclassified(string) ports.TaskClass { return ports.OtherTasks }
func withoutLane(string, string) string   { return "" }

// Close gives the connections back.
func (s *Store) Close() error { return s.close() }

// Ping reports whether the database answers.
func (s *Store) Ping(ctx context.Context) error {
	db, err := s.read.DB()
	if err != nil {
		return fmt.Errorf("database handle: %w", err)
	}
	if err := db.PingContext(ctx); err != nil {
		return fmt.Errorf("ping database: %w", err)
	}
	return nil
}

// transaction is what ctx carries while one is open.
type transaction struct {
	db *gorm.DB
	// repos are the repositories of the whole transaction, its joined parts included.
	repos *ports.Repos
	// scheduled says that a task was written, so that the relay is woken after the commit.
	scheduled *bool
	// failed is the first error of a part that joined: the whole can no longer commit.
	failed *error
	// pipeline is nil where every write is made at once.
	pipeline *pipeline
	// offsets remembers how far the clocks of accounts run ahead: they are asked for again and again.
	offsets map[string]time.Duration
}

type transactionKey struct{}

func current(ctx context.Context) (transaction, bool) {
	tx, ok := ctx.Value(transactionKey{}).(transaction)
	return tx, ok
}

// maxAttempts bounds the retries of Atomically: with jittered back-off they span about two seconds.
const maxAttempts = 12

// Atomically implements ports.Store.
func (s *Store) Atomically(ctx context.Context, fn func(ctx context.Context, r ports.Repos) error) error {
	if outer, ok := current(ctx); ok {
		return s.join(ctx, outer, fn)
	}
	var err error
	for attempt := range maxAttempts {
		scheduled := false
		err = s.run(ctx, &scheduled, fn)
		if err == nil {
			if scheduled {
				s.wakeWorkers()
			}
			return nil
		}
		if !errors.Is(err, ports.ErrStale) && !s.dialect.retryable(err) {
			return err
		}
		if waitErr := backOff(ctx, attempt); waitErr != nil {
			return errors.Join(err, waitErr)
		}
	}
	return fmt.Errorf("transaction kept losing after %d attempts: %w", maxAttempts, err)
}

// run opens a transaction around fn.
func (s *Store) run(ctx context.Context, scheduled *bool, fn func(ctx context.Context, r ports.Repos) error) error {
	within := func(db *gorm.DB, pipe *pipeline) error {
		var failed error
		var repos ports.Repos
		inner := context.WithValue(ctx, transactionKey{}, transaction{
			db: db, repos: &repos, scheduled: scheduled, failed: &failed, pipeline: pipe, offsets: map[string]time.Duration{},
		})
		repos = s.repos(db.WithContext(inner), scheduled)
		if err := fn(inner, repos); err != nil {
			return err
		}
		return failed
	}
	if s.pool != nil {
		return s.inPipeline(ctx, within)
	}
	return s.write.WithContext(ctx).Transaction(func(db *gorm.DB) error { return within(db, nil) })
}

// join makes fn a part of the transaction that is open.
func (s *Store) join(ctx context.Context, outer transaction, fn func(ctx context.Context, r ports.Repos) error) error {
	if *outer.failed != nil {
		return *outer.failed
	}
	err := fn(ctx, *outer.repos)
	if err != nil {
		*outer.failed = err
	}
	return err
}

// Read implements ports.Store.
func (s *Store) Read(ctx context.Context) ports.Repos {
	if tx, inside := current(ctx); inside {
		return *tx.repos
	}
	db := s.read.WithContext(ctx)
	r := s.repos(db, new(bool))
	r.ClockOffsets = clockOffsets{table: table{db: db, dialect: s.dialect}, point: s.point}
	return r
}

// reader is the transaction of ctx, or else the reading pool.
func (s *Store) reader(ctx context.Context) *gorm.DB {
	if tx, ok := current(ctx); ok {
		return tx.db.WithContext(ctx)
	}
	return s.read.WithContext(ctx)
}

func backOff(ctx context.Context, attempt int) error {
	ceiling := min(time.Millisecond<<attempt, 500*time.Millisecond)
	wait := time.Duration(rand.Int64N(int64(ceiling)) + 1) //nolint:gosec // jitter, not a secret
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(wait):
		return nil
	}
}
