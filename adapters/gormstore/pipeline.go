package gormstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"gorm.io/gorm"

	"sundry/adapters/gormstore/repo"
)

// pipeline is a transaction on PostgreSQL whose round trips are few: the statements whose results are not needed yet stay
// here, the BEGIN among them, and travel in one batch with the next that somebody does wait for, or with the COMMIT. No
// statement ever runs before one that was made earlier.
type pipeline struct {
	conn    *sql.Conn
	waiting []statement
	begun   bool
	pooled  bool // behind a pooler, which keeps no settings
	// fence goes with the next statements that are waited for, but not with the COMMIT.
	fence *statement
	// outside means that there is no transaction: what is read together is read on one connection.
	outside bool
	// reading means that what is asked is only asked ahead; ahead are the results of that, by statement.
	reading bool
	ahead   map[string]*aheadResult
	// offsetOf is the account whose clock's offset was asked for.
	offsetOf string
	// unsent means that some of them are still to be sent.
	unsent bool
}

// aheadResult is what a statement that was asked ahead is read into, and whether it has been.
type aheadResult struct {
	into any
	read bool
}

// begin is the statement that begins a transaction.
const begin = "begin"

type statement struct {
	doing  string
	sql    string
	args   []any
	into   []any // what the one row of its response is read into; nil when it has none
	after  func()
	missed error                     // what it is when it met no row
	read   func(rows pgx.Rows) error // reads all rows of its response
}

// inPipeline runs fn in a transaction of an pipeline.
func (s *Store) inPipeline(ctx context.Context, fn func(db *gorm.DB, pipe *pipeline) error) error {
	return s.write.WithContext(ctx).Connection(func(db *gorm.DB) (err error) {
		conn, _ := db.Statement.ConnPool.(*sql.Conn) // what Connection is for
		pipe := &pipeline{conn: conn, pooled: s.pooled}
		committed := false
		defer func() { // a panic rolls back too
			if !committed {
				err = errors.Join(err, pipe.rollback(ctx))
			}
		}()
		if err = fn(db, pipe); err != nil {
			return err
		}
		committed, err = pipe.commit(ctx)
		return err
	})
}

// begin makes sure that the transaction begins with the next round trip.
func (p *pipeline) begin() *pipeline {
	if !p.begun {
		p.begun = true
		p.waiting = append(p.waiting, statement{doing: begin, sql: begin})
		if p.pooled {
			p.waiting = append(p.waiting, statement{doing: "set the time-outs", sql: localTimeouts})
		}
	}
	return p
}

// Enqueue keeps a statement, its parameters written as ?.
func (p *pipeline) Enqueue(doing, query string, args []any, into ...any) error {
	return p.enqueue(statement{doing: doing, sql: repo.Numbered(query), args: args, into: into})
}

// EnqueueChecked implements repo.Pipeline.
func (p *pipeline) EnqueueChecked(doing, query string, args []any, missed error) error {
	return p.enqueue(statement{doing: doing, sql: refusing(query), args: args, missed: missed})
}

// refusing makes the server itself fail when a statement meets no row, by a division by zero: what follows in the same
// batch, the COMMIT perhaps, must not run then.
func refusing(query string) string {
	met := repo.Numbered(query)
	if !strings.HasPrefix(met, "SELECT") {
		met += " RETURNING 1"
	}
	return "WITH met AS (" + met + ") SELECT 1 / COUNT(*) FROM met"
}

// divisionByZero is the SQLSTATE of a statement of refusing that met no row.
const divisionByZero = "22012"

// Query implements repo.Pipeline.
func (p *pipeline) Query(ctx context.Context, doing, query string, args []any, read func(rows pgx.Rows) error) error {
	if err := p.enqueue(statement{doing: doing, sql: query, args: args, read: read}); err != nil {
		return err
	}
	_, err := p.Flush(ctx)
	return err
}

// EnqueueQuery implements repo.Pipeline.
func (p *pipeline) EnqueueQuery(doing, query string, args []any, read func(rows pgx.Rows) error) error {
	return p.enqueue(statement{doing: doing, sql: query, args: args, read: read})
}

// ReadAhead implements ports.Store.
func (s *Store) ReadAhead(ctx context.Context, read func()) {
	tx, ok := current(ctx)
	if !ok || tx.pipeline == nil {
		return
	}
	p, before := tx.pipeline, tx.pipeline.reading
	p.reading = true
	defer func() { p.reading = before }()
	read()
}

// ReadingAhead implements repo.Pipeline.
func (p *pipeline) ReadingAhead() bool { return p.reading }

// Remember implements repo.Pipeline.
func (p *pipeline) Remember(query string, args []any, result any) (isNew bool) {
	if p.ahead == nil {
		p.ahead = map[string]*aheadResult{}
	}
	key := statementKey(query, args)
	if _, known := p.ahead[key]; known {
		return false
	}
	p.ahead[key], p.unsent = &aheadResult{into: result}, true
	return true
}

// Peek implements repo.Pipeline.
func (p *pipeline) Peek(query string, args []any) (result any, read bool) {
	if len(p.ahead) == 0 {
		return nil, false
	}
	known, ok := p.ahead[statementKey(query, args)]
	if !ok || !known.read {
		return nil, false
	}
	return known.into, true
}

// Recall implements repo.Pipeline.
func (p *pipeline) Recall(query string, args []any) (result any, known bool) {
	if len(p.ahead) == 0 {
		return nil, false
	}
	key := statementKey(query, args)
	asked, known := p.ahead[key]
	if !known {
		return nil, false
	}
	delete(p.ahead, key)
	return asked.into, true
}

// Await implements repo.Pipeline.
func (p *pipeline) Await(ctx context.Context) error {
	if !p.unsent {
		return nil
	}
	_, err := p.Flush(ctx)
	return err
}

// statementKey identifies a statement, parameters included.
func statementKey(query string, args []any) string {
	key := []byte(query)
	for _, arg := range args {
		switch v := arg.(type) {
		case string:
			key = strconv.AppendQuote(append(key, 0), v)
		case int:
			key = strconv.AppendInt(append(key, 1), int64(v), 10)
		case int64:
			key = strconv.AppendInt(append(key, 2), v, 10)
		default:
			key = fmt.Appendf(append(key, 3), "%#v", v)
		}
	}
	return string(key)
}

func (p *pipeline) enqueue(s statement) error {
	plain := make([]any, len(s.args))
	for i, arg := range s.args {
		plain[i] = arg
		if valuer, ok := arg.(driver.Valuer); ok {
			value, err := valuer.Value()
			if err != nil {
				return fmt.Errorf("%s: %w", s.doing, err)
			}
			plain[i] = value
		}
	}
	s.args = plain
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
	return p.send(ctx)
}

// send is Flush of at least one statement.
func (p *pipeline) send(ctx context.Context) (changed int64, err error) {
	sent := p.waiting
	p.waiting, p.unsent = nil, false
	err = p.withPgxConn(func(conn *pgx.Conn) error {
		batch := &pgx.Batch{}
		for _, s := range sent {
			batch.Queue(s.sql, s.args...)
		}
		results := conn.SendBatch(ctx, batch)
		defer func() { _ = results.Close() }() // it repeats the first error
		for _, s := range sent {
			switch {
			case s.into != nil:
				if err = results.QueryRow().Scan(s.into...); err == nil && s.after != nil {
					s.after()
				}
			case s.read != nil:
				err = readAll(results, s.read)
			default:
				changed, err = execute(results)
				if refused := (*pgconn.PgError)(nil); s.missed != nil && errors.As(err, &refused) && refused.Code == divisionByZero {
					err = s.missed
				}
			}
			if err != nil {
				return fmt.Errorf("%s: %w", s.doing, err)
			}
		}
		return nil
	})
	for _, asked := range p.ahead {
		asked.read = asked.read || err == nil
	}
	return changed, err
}

func readAll(results pgx.BatchResults, read func(rows pgx.Rows) error) error {
	rows, err := results.Query()
	if err != nil {
		return err
	}
	defer rows.Close()
	return read(rows)
}

// errAborted reports that a statement had failed and its error was not heeded, so that there is nothing to commit.
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
	p.waiting = append(p.waiting, statement{doing: "commit", sql: "commit"})
	_, err := p.send(ctx)
	return err == nil, err
}

const rollbackTimeout = 5 * time.Second

// rollback undoes what was sent. A connection on which it fails is not used again.
func (p *pipeline) rollback(ctx context.Context) error {
	if !p.begun {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackTimeout)
	defer cancel()
	err := p.withPgxConn(func(conn *pgx.Conn) error {
		if conn.IsClosed() { // and the server has rolled back with it
			return nil
		}
		if _, err := conn.Exec(ctx, "rollback"); err != nil {
			return errors.Join(driver.ErrBadConn, err)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("roll back: %w", err)
	}
	return nil
}

// withPgxConn lends the driver's own connection.
func (p *pipeline) withPgxConn(fn func(conn *pgx.Conn) error) error {
	return p.conn.Raw(func(lent any) error {
		return fn(lent.(*stdlib.Conn).Conn()) //nolint:forcetypeassert,errcheck // the pool is ours
	})
}

// flushFirst runs before every statement of gorm: what waits goes first, and the transaction begins.
func flushFirst(db *gorm.DB) {
	tx, ok := current(db.Statement.Context)
	if !ok || tx.pipeline == nil || db.DryRun {
		return
	}
	if _, err := tx.pipeline.begin().Flush(db.Statement.Context); err != nil {
		_ = db.AddError(err)
	}
}

// registerFlushCallback makes gorm send what waits before each of its own statements.
func registerFlushCallback(db *gorm.DB) error {
	const name, first = "sundry:flush_first", "*"
	callbacks := db.Callback()
	for _, register := range []func(string, func(*gorm.DB)) error{
		callbacks.Create().Before(first).Register, callbacks.Query().Before(first).Register, callbacks.Update().Before(first).Register,
		callbacks.Delete().Before(first).Register, callbacks.Row().Before(first).Register, callbacks.Raw().Before(first).Register,
	} {
		if err := register(name, flushFirst); err != nil {
			return fmt.Errorf("register with gorm: %w", err)
		}
	}
	return nil
}
