// Package gormstore is the database behind every repository port: one store over PostgreSQL and SQLite.
//
// The two engines differ in a handful of places, all of them in dialect.go. Everything else, migrations included, is
// written once in the SQL that both understand. Rows are this package's own shape; aggregates enter and leave through
// their State.
package gormstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"gorm.io/gorm"

	"sundry/adapters/gormstore/repo"
	"sundry/adapters/gormstore/usage"
	"sundry/adapters/gormstore/webhooks"
	"sundry/ports"
)

// Store implements ports.Store.
type Store struct {
	write   *gorm.DB
	read    *gorm.DB
	dialect dialect
	// classOf names the workers that run a kind of task.
	classOf func(kind string) ports.TaskClass
	// keyOf names the concurrency key that a task shares limits by, "" = none.
	keyOf func(kind, subject, creatorID string) string
	// engine serves the hot paths, which leave gorm and read and write outside transactions.
	engine repo.Engine
	*webhooks.DeliveryStore
	*usage.Intake
	// wake is called after a commit that scheduled work due now, so that the relay need not wait for its next poll.
	wake     func()
	notifier *notifier // nil on SQLite
	// direct leads to PostgreSQL itself, for what needs a session; nil on SQLite. pooled means that the other connections lead
	// to a pooler.
	direct *pgx.ConnConfig
	pooled bool
	gate   *writerGate // nil on PostgreSQL
	probe  probe
	// lock takes the database for this process; nil where several may have it.
	lock  func() (release func() error, err error)
	close func() error
}

var _ ports.Store = (*Store)(nil)

// Option is a choice that is made when the store is opened.
type Option func(*Store)

// TaskClasses names the function that returns which workers run a kind of task. Without it all are DefaultTasks.
func TaskClasses(classOf func(kind string) ports.TaskClass) Option {
	return func(s *Store) { s.classOf = classOf }
}

// TaskKeys names the function that returns the concurrency key of a task, "" for none. Without it no task has one.
func TaskKeys(keyOf func(kind, subject, creatorID string) string) Option {
	return func(s *Store) { s.keyOf = keyOf }
}

// OnScheduled names the function to call after each commit that scheduled a task due now. It must not block.
func OnScheduled(wake func()) Option { return func(s *Store) { s.wake = wake } }

func unclassified(string) ports.TaskClass      { return ports.DefaultTasks }
func withoutKey(string, string, string) string { return "" }
func asleep()                                  {}

// Close gives the connections back.
func (s *Store) Close() error { return s.close() }

// transaction is what ctx carries while one is open.
type transaction struct {
	db *gorm.DB
	// repos are the repositories of the whole transaction, its joined parts included.
	repos *ports.Repos
	// scheduled means that a task was written, so that the relay is woken after the commit.
	scheduled *bool
	// failed is the first error of a part that joined: the whole can no longer commit.
	failed *error
	// pipeline is nil where every write is made at once.
	pipeline *pipeline
	// atCommit is what remains to be done before the commit.
	atCommit commitHooks
	// offsets remembers how far the clocks of accounts run ahead: they are asked for again and again.
	offsets map[string]time.Duration
}

// commitHooks run in the order of their keys, so that two transactions lock in one order.
type commitHooks map[string]func() error

// commitTasks is the key of what a transaction does to tasks: before the positions of its events, which "events of" an
// account wait for.
const commitTasks = "background tasks"

func (h commitHooks) register(key string, do func() error) {
	if _, known := h[key]; !known {
		h[key] = do
	}
}

func (h commitHooks) run() error {
	for _, key := range slices.Sorted(maps.Keys(h)) {
		if err := h[key](); err != nil {
			return err
		}
	}
	return nil
}

type transactionKey struct{}

func current(ctx context.Context) (transaction, bool) {
	tx, ok := ctx.Value(transactionKey{}).(transaction)
	return tx, ok
}

// Atomically implements ports.Store.
func (s *Store) Atomically(ctx context.Context, fn func(ctx context.Context, r ports.Repos) error) error {
	return s.transact(ctx, s.inTransaction, fn)
}

// Pipelined implements ports.Store. On SQLite round trips cost nothing.
func (s *Store) Pipelined(ctx context.Context, fn func(ctx context.Context, r ports.Repos) error) error {
	if s.engine.Pool == nil {
		return s.Atomically(ctx, fn)
	}
	return s.transact(ctx, s.inPipeline, fn)
}

// ReadTogether implements ports.Store. A pipeline without BEGIN and COMMIT is what one connection is asked in batches.
func (s *Store) ReadTogether(ctx context.Context, fn func(ctx context.Context, r ports.Repos) error) error {
	if _, inside := current(ctx); inside || s.engine.Pool == nil {
		return fn(ctx, s.Read(ctx))
	}
	return s.read.WithContext(ctx).Connection(func(db *gorm.DB) error {
		conn, _ := db.Statement.ConnPool.(*sql.Conn) // what Connection is for
		var repos ports.Repos
		var failed error
		inner := context.WithValue(ctx, transactionKey{}, transaction{
			db: db, repos: &repos, scheduled: new(bool), failed: &failed, pipeline: &pipeline{conn: conn, begun: true, outside: true},
			atCommit: commitHooks{}, offsets: map[string]time.Duration{},
		})
		repos = s.repos(db.WithContext(inner), new(bool))
		return fn(inner, repos)
	})
}

// opener opens one transaction around fn.
type opener func(ctx context.Context, fn func(db *gorm.DB, pipe *pipeline) error) error

func (s *Store) inTransaction(ctx context.Context, fn func(db *gorm.DB, pipe *pipeline) error) error {
	return s.write.WithContext(ctx).Transaction(func(db *gorm.DB) error {
		if s.pooled {
			if err := db.Exec(localTimeouts).Error; err != nil {
				return fmt.Errorf("set the time-outs: %w", err)
			}
		}
		return fn(db, nil)
	})
}

// maxPrefetches bounds how often one use case has something fetched: each time for another part of it, or because what
// was fetched got lost again.
const maxPrefetches = 8

// transact runs fn in a transaction of its own or joins the one that is open. What fn lacks from the network is fetched
// between two transactions.
func (s *Store) transact(ctx context.Context, open opener, fn func(ctx context.Context, r ports.Repos) error) error {
	if outer, ok := current(ctx); ok {
		return s.join(ctx, outer, fn)
	}
	for range maxPrefetches {
		err := s.commit(ctx, open, fn)
		var missing *ports.PrefetchError
		if !errors.As(err, &missing) {
			return err
		}
		if err := missing.Fetch(ctx); err != nil {
			return fmt.Errorf("fetch %s: %w", missing.What, err)
		}
	}
	return fmt.Errorf("a transaction asked %d times for something from the network", maxPrefetches)
}

// commit runs fn in a transaction until it commits, fails for good, or has lost too often.
func (s *Store) commit(ctx context.Context, open opener, fn func(ctx context.Context, r ports.Repos) error) error {
	var err error
	began := time.Now()
	for attempt := 0; attempt < repo.MaxAttempts && (attempt == 0 || time.Since(began) < busyLimit); attempt++ {
		scheduled := false
		err = s.gate.do(ctx, func() error { return s.run(ctx, open, &scheduled, fn) })
		if err == nil {
			if scheduled {
				s.wake()
			}
			return nil
		}
		if !errors.Is(err, ports.ErrStale) && !s.dialect.retryable(err) {
			return s.asBusy(s.asDuplicate(err))
		}
		if waitErr := repo.BackOff(ctx, attempt); waitErr != nil {
			return errors.Join(err, waitErr)
		}
	}
	return fmt.Errorf("transaction kept losing: %w: %w", ports.ErrDatabaseBusy, err)
}

// busyLimit bounds how long a transaction is run again: from then on the caller is asked to come back.
const busyLimit = 5 * time.Second

// asBusy wraps an error that means a busy database in ErrDatabaseBusy.
func (s *Store) asBusy(err error) error {
	if s.dialect.Busy(err) && !errors.Is(err, ports.ErrDatabaseBusy) {
		return fmt.Errorf("%w: %w", ports.ErrDatabaseBusy, err)
	}
	return err
}

// LockProcess makes this process the only one that serves or works on the database, where the engine has one: on SQLite,
// until Close.
func (s *Store) LockProcess() error {
	if s.lock == nil {
		return nil
	}
	release, err := s.lock()
	if err != nil {
		return err
	}
	closeAll := s.close
	s.close = func() error { return errors.Join(closeAll(), release()) }
	return nil
}

// asDuplicate is what a row comes to that was refused later than it was inserted, with a statement that sent it or with
// the commit.
func (s *Store) asDuplicate(err error) error {
	if index := s.dialect.UniqueIndex(err); index != "" && !errors.Is(err, ports.ErrDuplicate) {
		return fmt.Errorf("%w: %w", &ports.DuplicateError{Index: index}, err)
	}
	return err
}

// run opens a transaction around fn.
func (s *Store) run(ctx context.Context, open opener, scheduled *bool, fn func(ctx context.Context, r ports.Repos) error) error {
	within := func(db *gorm.DB, pipe *pipeline) error {
		var failed error
		var repos ports.Repos
		hooks := commitHooks{}
		inner := context.WithValue(ctx, transactionKey{}, transaction{
			db: db, repos: &repos, scheduled: scheduled, failed: &failed, pipeline: pipe, atCommit: hooks, offsets: map[string]time.Duration{},
		})
		repos = s.repos(db.WithContext(inner), scheduled)
		if err := fn(inner, repos); err != nil {
			return err
		}
		if failed != nil {
			return failed
		}
		return hooks.run()
	}
	return open(ctx, within)
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
	offsets := clockOffsets{Base: repo.Base{DB: db, Dialect: s.dialect}, point: s.engine.Point}
	r.Sandbox.ClockOffsets, r.Clock = offsets, accountClock{offsets: offsets}
	return r
}

// reader is the transaction of ctx, or else the reading pool.
func (s *Store) reader(ctx context.Context) *gorm.DB {
	if tx, ok := current(ctx); ok {
		return tx.db.WithContext(ctx)
	}
	return s.read.WithContext(ctx)
}
