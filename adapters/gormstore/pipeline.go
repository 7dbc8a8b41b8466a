package gormstore

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"gorm.io/gorm"

	"sundry/adapters/gormstore/repo"
)

// pipeline is a transaction on PostgreSQL whose round trips are few: the statements whose results are not needed yet
// stay here, the BEGIN among them, and travel in one batch with the next that somebody does wait for, or with the
// COMMIT. No statement ever runs before one that was made earlier.
type pipeline struct {
	conn    *queuedConn // nil once the transaction has ended: it is another's then
	waiting []statement
	begun   bool
	pooled  bool // behind a pooler, which keeps no settings
	// fence goes with the next statements that are waited for, but not with the COMMIT.
	fence *statement
	// preloads go behind the next statements that are waited for.
	preloads []statement
	// refusable means that a unique index or a revision may refuse one of the waiting statements.
	refusable bool
	// cache is told of every write.
	cache *repo.Cache
}

// errEnded refuses what somebody does in a transaction that is over.
var errEnded = errors.New("the transaction has ended")

// begin is the statement that begins a transaction.
const begin = "begin"

type statement struct {
	op          string
	sql         string
	args        []any
	into        []any                     // what the one row of its response is read into; nil when it has none
	errIfNoRows error                     // what it is when it met no row
	read        func(rows pgx.Rows) error // reads all rows of its response
}

// fewStatements is about the number of statements of a short transaction.
const fewStatements = 12

// runInPipeline runs fn in tx as a pipelined transaction.
func (s *Store) runInPipeline(ctx context.Context, tx *transaction, fn func() error) (err error) {
	conn, err := s.queue.take(ctx)
	if err != nil {
		return err
	}
	pipe := &pipeline{conn: conn, pooled: s.pooled, cache: repo.NewCache()}
	pipe.waiting = make([]statement, 0, fewStatements)
	tx.pipeline = pipe
	committed := false
	defer func() { // a panic rolls back too
		if !committed {
			err = errors.Join(err, pipe.rollback(ctx))
		}
		pipe.conn = nil
		err = errors.Join(err, conn.Close())
	}()
	if err = fn(); err != nil {
		return err
	}
	committed, err = pipe.commit(ctx)
	return err
}

// begin makes sure that the transaction begins with the next round trip.
func (p *pipeline) begin() *pipeline {
	if !p.begun {
		p.begun = true
		p.waiting = append(p.waiting, statement{op: begin, sql: begin})
		if p.pooled {
			p.waiting = append(p.waiting, statement{op: "set the time-outs", sql: localTimeouts})
		}
	}
	return p
}

// Enqueue keeps a statement, its parameters written as ?.
func (p *pipeline) Enqueue(op, query string, args []any, into ...any) error {
	p.cache.Wrote(query)
	p.refusable = true
	return p.enqueue(statement{op: op, sql: repo.Numbered(query), args: args, into: into})
}

// EnqueueNew implements repo.Pipeline.
func (p *pipeline) EnqueueNew(op, query string, args []any) error {
	p.cache.Wrote(query)
	return p.enqueue(statement{op: op, sql: repo.Numbered(query), args: args})
}

// EnqueueChecked implements repo.Pipeline.
func (p *pipeline) EnqueueChecked(op, query string, args []any, errIfNoRows error) error {
	p.cache.Wrote(query)
	p.refusable = true
	return p.EnqueueGuard(op, query, args, errIfNoRows)
}

// EnqueueGuard implements repo.Pipeline.
func (p *pipeline) EnqueueGuard(op, query string, args []any, errIfNoRows error) error {
	return p.enqueue(statement{op: op, sql: failIfNoRows(query), args: args, errIfNoRows: errIfNoRows})
}

// failIfNoRows makes the server itself fail when a statement meets no row, by a division by zero: what follows in the
// same batch, the COMMIT perhaps, must not run then.
func failIfNoRows(query string) string {
	text, _ := failing.Get(query, func() (string, error) {
		met := repo.Numbered(query)
		if !strings.HasPrefix(met, "SELECT") {
			met += " RETURNING 1"
		}
		return "WITH met AS (" + met + ") SELECT 1 / COUNT(*) FROM met", nil
	})
	return text
}

var failing repo.Memo[string, string]

// divisionByZero is the SQLSTATE of a statement of failIfNoRows that met no row.
const divisionByZero = "22012"

// Query implements repo.Pipeline.
func (p *pipeline) Query(ctx context.Context, op, query string, args []any, read func(rows pgx.Rows) error) error {
	if err := p.enqueue(statement{op: op, sql: query, args: args, read: read}); err != nil {
		return err
	}
	_, err := p.Flush(ctx)
	return err
}

// EnqueueQuery implements repo.Pipeline.
func (p *pipeline) EnqueueQuery(op, query string, args []any, read func(rows pgx.Rows) error) error {
	return p.enqueue(statement{op: op, sql: query, args: args, read: read})
}

// Preload implements repo.Pipeline.
func (p *pipeline) Preload(op, query string, args []any, read func(rows pgx.Rows) error) {
	p.preloads = append(p.preloads, statement{op: op, sql: query, args: args, read: read})
}

// enqueue keeps a statement and its args.
func (p *pipeline) enqueue(s statement) error {
	if p.conn == nil {
		return fmt.Errorf("%s: %w", s.op, errEnded)
	}
	for i, arg := range s.args {
		if valuer, ok := arg.(driver.Valuer); ok {
			value, err := valuer.Value()
			if err != nil {
				return fmt.Errorf("%s: %w", s.op, err)
			}
			s.args[i] = value
		}
	}
	p.begin()
	p.waiting = append(p.waiting, s)
	return nil
}

// Flush sends what waits and returns how many rows the last of it changed.
func (p *pipeline) Flush(ctx context.Context) (changed int64, err error) {
	if p == nil || len(p.waiting) == 0 {
		return 0, nil
	}
	if p.fence != nil {
		at := len(p.waiting) - 1 // in front of what its caller asks
		if p.waiting[at].sql == begin {
			at++
		}
		p.waiting, p.fence = slices.Insert(p.waiting, at, *p.fence), nil
	}
	p.waiting, p.preloads = append(p.waiting, p.preloads...), nil
	return p.send(ctx)
}

// sendRefusable sends what waits if the database may refuse some of it.
func (p *pipeline) sendRefusable(ctx context.Context) error {
	if p == nil || !p.refusable {
		return nil
	}
	_, err := p.Flush(ctx)
	return err
}

// send is Flush of at least one statement.
func (p *pipeline) send(ctx context.Context) (changed int64, err error) {
	sent := p.waiting
	p.waiting, p.refusable = p.waiting[len(sent):], false
	queries := make([]pgx.QueuedQuery, len(sent))
	batch := &pgx.Batch{QueuedQueries: make([]*pgx.QueuedQuery, len(sent))}
	for i, s := range sent {
		queries[i].SQL, queries[i].Arguments = s.sql, s.args
		batch.QueuedQueries[i] = &queries[i]
	}
	results := p.conn.pgx().SendBatch(ctx, batch)
	defer func() { _ = results.Close() }() // it repeats the first error
	for _, s := range sent {
		switch {
		case s.into != nil:
			err = results.QueryRow().Scan(s.into...)
		case s.read != nil:
			err = readAll(results, s.read)
		default:
			changed, err = execute(results)
			if refused, ok := errors.AsType[*pgconn.PgError](err); ok && s.errIfNoRows != nil &&
				refused.Code == divisionByZero {
				err = s.errIfNoRows
			}
		}
		if err != nil {
			return changed, fmt.Errorf("%s: %w", s.op, err)
		}
	}
	return changed, nil
}

func readAll(results pgx.BatchResults, read func(rows pgx.Rows) error) error {
	rows, err := results.Query()
	if err != nil {
		return err
	}
	defer rows.Close()
	return read(rows)
}

// errAborted: an earlier statement failed, its error was ignored, and PostgreSQL rolled back instead of committing.
var errAborted = errors.New("the transaction was aborted before its commit")

// execute runs the batch's next statement. A COMMIT that PostgreSQL responds to with ROLLBACK is an error.
func execute(results pgx.BatchResults) (changed int64, err error) {
	tag, err := results.Exec()
	if err == nil && tag.String() == "ROLLBACK" {
		err = errAborted
	}
	return tag.RowsAffected(), err
}

// commit sends the rest with the COMMIT. A transaction that never sent anything makes no round trip at all.
func (p *pipeline) commit(ctx context.Context) (bool, error) {
	if !p.begun {
		return true, nil
	}
	p.waiting = append(p.waiting, statement{op: "commit", sql: "commit"})
	_, err := p.send(ctx)
	return err == nil, err
}

const rollbackTimeout = 5 * time.Second

// rollback undoes what was sent. A connection on which it fails is not used again: the pool takes none that is in a
// transaction.
func (p *pipeline) rollback(ctx context.Context) error {
	if !p.begun {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackTimeout)
	defer cancel()
	conn := p.conn.pgx()
	if conn.IsClosed() { // and the server has rolled back with it
		return nil
	}
	if _, err := conn.Exec(ctx, "rollback"); err != nil {
		return fmt.Errorf("roll back: %w", err)
	}
	return nil
}

// registerFlushCallback makes gorm send what waits before each of its own statements, and tells the cache of its
// writes.
func registerFlushCallback(db *gorm.DB) error {
	const name, first = "sundry:flush_first", "*"
	flush := func(writes bool) func(*gorm.DB) {
		return func(db *gorm.DB) {
			if tx, ok := current(db.Statement.Context); ok && tx.pipeline != nil && !db.DryRun {
				tx.pipeline.flushBefore(db, writes)
			}
		}
	}
	callbacks := db.Callback()
	return errors.Join(
		callbacks.Create().Before(first).Register(name, flush(true)), callbacks.Update().Before(first).Register(name,
			flush(true)),
		callbacks.Delete().Before(first).Register(name, flush(true)), callbacks.Query().Before(first).Register(name,
			flush(false)),
		callbacks.Row().Before(first).Register(name, flush(false)), callbacks.Raw().Before(first).Register(name,
			flush(false)))
}

// flushBefore sends what waits before a statement of gorm, which runs in the transaction then.
func (p *pipeline) flushBefore(db *gorm.DB, writes bool) {
	if query := db.Statement.SQL.String(); query != "" { // written by hand
		p.cache.Wrote(query)
	} else if writes {
		p.cache.WroteTo(db.Statement.Table)
	}
	if _, err := p.begin().Flush(db.Statement.Context); err != nil {
		_ = db.AddError(err)
	}
}
