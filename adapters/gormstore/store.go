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
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"gorm.io/gorm"

	"sundry/adapters/gormstore/access"
	"sundry/adapters/gormstore/mail"
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
	*access.Reader
	*webhooks.DeliveryStore
	*mail.Outbox
	*usage.Intake
	// wake is called after a commit that scheduled work due now, so that the relay need not wait for its next poll.
	wake     func(classes ...ports.TaskClass)
	notifier *notifier // nil on SQLite
	queue    *queue    // nil on SQLite
	// direct leads to PostgreSQL itself, for what needs a session; nil on SQLite. pooled means that the other connections
	// lead to a pooler.
	direct *pgx.ConnConfig
	pooled bool
	// schema has the tables on PostgreSQL.
	schema string
	// standby serves reads that may be stale; nil where there is none. It is at standbyURL.
	standby      *standby
	standbyURL   string
	standbyLimit time.Duration
	gate         *writerGate  // nil on PostgreSQL
	tracer       ports.Tracer // nil where nothing is traced
	probe        probe
	delay        delayGauge
	keysFound    keysFound
	// realTime means that no account's clock can run ahead.
	realTime bool
	// existing means that no SQLite database is made where there is none.
	existing bool
	// lock takes the database for this process; nil where several may have it.
	lock func() (release func() error, err error)
	// wholeSchema makes the schema of an empty database at once; "" where its migrations do.
	wholeSchema string
	// lockSchema lets one process at a time change the schema where goose cannot; nil on PostgreSQL.
	lockSchema func() (release func() error, err error)
	close      func() error
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

// OnScheduled names the function to call after each commit that scheduled a task due now, with the classes of such
// tasks, none of them for all. It must not block.
func OnScheduled(wake func(classes ...ports.TaskClass)) Option {
	return func(s *Store) { s.wake = wake }
}

// RealTime leaves the clocks of accounts unread: all of them show the real time, as they do outside of the sandbox.
func RealTime() Option { return func(s *Store) { s.realTime = true } }

// Existing makes Open return ErrNoDatabase where the file of a SQLite database is missing or empty. Without it that
// makes one.
func Existing() Option { return func(s *Store) { s.existing = true } }

// InSchema names the schema of PostgreSQL that has the tables, which Migrate makes. Without it that is defaultSchema.
func InSchema(name string) Option { return func(s *Store) { s.schema = name } }

func unclassified(string) ports.TaskClass      { return ports.DefaultTasks }
func withoutKey(string, string, string) string { return "" }
func wakeNobody(...ports.TaskClass)            {}

// Close gives the connections back.
func (s *Store) Close() error { return s.close() }

// transaction is an open transaction, carried by ctx.
type transaction struct {
	db *gorm.DB
	// repos are the repositories of the whole transaction, its joined parts included.
	repos ports.Repos
	// scheduled names the classes of the tasks due now that were written, so that the relay is woken after the commit.
	scheduled dueClasses
	// failed is the first error of a part that joined: the whole can no longer commit.
	failed error
	// pipeline is nil where every write is made at once.
	pipeline *pipeline
	// atCommit lists the functions to run before the commit.
	atCommit commitHooks
	// after lists the functions to run once it has committed.
	after []func()
	// since is the time from which on rows were made that audits check.
	since time.Time
	// snapshot means that it is for reading, and that who writes opens another one.
	snapshot bool
}

// commitHooks run in the order of their keys, so that two transactions lock in one order.
type commitHooks []commitHook

type commitHook struct {
	key string
	do  func() error
}

// commitTasks is the key of what a transaction does to tasks: before the positions of its events, which "events of" an
// account wait for.
const commitTasks = "background tasks"

func (h *commitHooks) register(key string, do func() error) {
	if !slices.ContainsFunc(*h, func(known commitHook) bool { return known.key == key }) {
		*h = append(*h, commitHook{key, do})
	}
}

func (h commitHooks) run() error {
	slices.SortFunc(h, func(a, b commitHook) int { return strings.Compare(a.key, b.key) })
	for _, hook := range h {
		if err := hook.do(); err != nil {
			return err
		}
	}
	return nil
}

type transactionKey struct{}

func current(ctx context.Context) (*transaction, bool) {
	tx, ok := ctx.Value(transactionKey{}).(*transaction)
	return tx, ok
}

// AfterCommit has do run once the transaction of ctx has committed, for what is counted: it is lost with the process.
// It does nothing outside of a transaction.
func AfterCommit(ctx context.Context, do func()) {
	if tx, ok := current(ctx); ok && !tx.snapshot {
		tx.after = append(tx.after, do)
	}
}

// maxPrefetches bounds how often one use case has something fetched: each time for another part of it, or because what
// was fetched got lost again.
const maxPrefetches = 8

// Atomically implements ports.Store: it runs fn in a transaction of its own or joins the one that is open. What fn
// lacks from the network is fetched between two transactions.
func (s *Store) Atomically(ctx context.Context, fn func(ctx context.Context, r ports.Repos) error) error {
	if outer, ok := current(ctx); ok && !outer.snapshot {
		return s.join(ctx, outer, fn)
	}
	for range maxPrefetches {
		err := s.commit(ctx, fn)
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

// commit runs fn in a transaction until it commits, fails with a permanent error, or has lost too often.
func (s *Store) commit(ctx context.Context, fn func(ctx context.Context, r ports.Repos) error) error {
	var err error
	began := time.Now()
	for attempt := 0; attempt < repo.MaxAttempts && (attempt == 0 || time.Since(began) < busyLimit); attempt++ {
		tx := &transaction{}
		ctx, span := s.beginTransaction(ctx)
		err = s.gate.do(ctx, func() error { return s.run(ctx, tx, fn) })
		if span != nil {
			span.End(statementFailure(err))
		}
		if err == nil {
			if len(tx.scheduled) > 0 {
				s.wake(tx.scheduled...)
			}
			for _, do := range tx.after {
				do()
			}
			return nil
		}
		if !errors.Is(err, ports.ErrStale) && !s.dialect.retryable(err) {
			return s.wrapUnavailable(s.wrapDuplicate(err))
		}
		if waitErr := repo.BackOff(ctx, attempt); waitErr != nil {
			return errors.Join(err, waitErr)
		}
	}
	return fmt.Errorf("transaction kept losing: %w: %w", ports.ErrDatabaseBusy, err)
}

// busyLimit bounds how long a transaction is run again: from then on the caller is asked to come back.
const busyLimit = 5 * time.Second

// wrapUnavailable names an error that means a database that is busy or lost, unless that was done already.
func (s *Store) wrapUnavailable(err error) error {
	unavailable := s.dialect.Unavailable(err)
	if unavailable == nil || errors.Is(err, ports.ErrDatabaseBusy) || errors.Is(err, ports.ErrDatabaseLost) {
		return err
	}
	return fmt.Errorf("%w: %w", unavailable, err)
}

// LockProcess makes this process the only one that serves or works on the database, where the engine has one: on
// SQLite, until Close. It may be called again.
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
	s.lock = nil
	return nil
}

// wrapDuplicate maps a unique violation of a deferred insert, reported by a later statement or the commit, to
// ports.DuplicateError.
func (s *Store) wrapDuplicate(err error) error {
	if index := s.dialect.UniqueIndex(err); index != "" && !errors.Is(err, ports.ErrDuplicate) {
		return fmt.Errorf("%w: %w", &ports.DuplicateError{Index: index}, err)
	}
	return err
}

// run opens a transaction around fn: pipelined on PostgreSQL, where a round trip costs more than most statements.
func (s *Store) run(ctx context.Context, tx *transaction, fn func(ctx context.Context, r ports.Repos) error) error {
	inner := context.WithValue(ctx, transactionKey{}, tx)
	within := func(db *gorm.DB) error {
		tx.db = db.WithContext(inner)
		tx.repos = s.repos(tx.db, &tx.scheduled)
		if err := fn(inner, tx.repos); err != nil {
			return err
		}
		if tx.failed != nil {
			return tx.failed
		}
		return tx.atCommit.run()
	}
	if s.queue != nil {
		return s.runInPipeline(ctx, tx, func() error { return within(s.write) })
	}
	return s.write.WithContext(ctx).Transaction(within)
}

// join makes fn a part of the transaction that is open. What it wrote and may be refused is sent first, so that its
// caller hears of a refused write as if the transaction were its own.
func (s *Store) join(ctx context.Context, outer *transaction, fn func(ctx context.Context, r ports.Repos) error) error {
	if outer.failed != nil {
		return outer.failed
	}
	err := outer.pipeline.sendRefusable(ctx) // those of others, whose refusal is none of fn's
	if err == nil {
		err = fn(ctx, outer.repos)
	}
	if err == nil {
		err = outer.pipeline.sendRefusable(ctx)
	}
	if err != nil {
		outer.failed = s.wrapUnavailable(s.wrapDuplicate(err))
	}
	return outer.failed
}

// Read implements ports.Store.
func (s *Store) Read(ctx context.Context) ports.Repos {
	if tx, inside := current(ctx); inside {
		return tx.repos
	}
	db := s.read
	if s.mayBeStale(ctx) {
		db = s.standby.reads
	}
	return s.repos(db.WithContext(ctx), new(dueClasses))
}

// Snapshot runs fn, whose reads all see the database as it was when the first of them was made: what several statements
// read belongs together. Transactions that fn opens are of their own. It runs fn again, from the start, where a standby
// could not go on with it. Audits in it check the rows that were made since a time, by their ids, or all of them where
// it is zero.
func (s *Store) Snapshot(ctx context.Context, since time.Time, fn func(ctx context.Context) error) error {
	within := func(db *gorm.DB) error {
		tx := &transaction{db: db, snapshot: true, since: since}
		inner := context.WithValue(ctx, transactionKey{}, tx)
		tx.repos = s.repos(db.WithContext(inner), &tx.scheduled)
		return fn(inner)
	}
	if s.mayBeStale(ctx) {
		if done, err := s.standby.snapshot(ctx, within, s.dialect.snapshot()); done {
			return err
		}
	}
	return s.read.WithContext(ctx).Transaction(within, s.dialect.snapshot())
}

// reader is the transaction of ctx, or else the reading pool.
func (s *Store) reader(ctx context.Context) *gorm.DB {
	if tx, ok := current(ctx); ok {
		return tx.db.WithContext(ctx)
	}
	return s.read.WithContext(ctx)
}

// base is reader for what is written with the parts of package repo. It does not pipeline.
func (s *Store) base(ctx context.Context) *repo.Base {
	return &repo.Base{DB: s.reader(ctx), Dialect: s.dialect}
}
