package gormstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"gorm.io/gorm"
)

// outbox is a transaction on PostgreSQL whose journeys are few: the statements that nobody waits for stay here, the BEGIN
// among them, and travel in one batch with the next that somebody does wait for, or with the COMMIT. No statement ever
// runs before one that was made earlier.
type outbox struct {
	conn    *sql.Conn
	waiting []statement
	begun   bool
}

type statement struct {
	doing string
	sql   string
	args  []any
	into  []any // what the one row of its answer is read into; nil when it has none
}

// inOutbox runs fn in a transaction of an outbox.
func (s *Store) inOutbox(ctx context.Context, fn func(db *gorm.DB, box *outbox) error) error {
	return s.write.WithContext(ctx).Connection(func(db *gorm.DB) (err error) {
		conn, _ := db.Statement.ConnPool.(*sql.Conn) // what Connection is for
		box := &outbox{conn: conn}
		committed := false
		defer func() { // a panic rolls back too
			if !committed {
				err = errors.Join(err, box.rollback(ctx))
			}
		}()
		if err = fn(db, box); err != nil {
			return err
		}
		committed, err = box.commit(ctx)
		return err
	})
}

// put writes a new row; query carries its clauses. The error of a refused row may come with a later statement, so a
// caller that wants to know of a duplicate uses insert.
func (t table) put(doing string, query *gorm.DB, row any) error {
	if t.outbox == nil {
		return t.failure(doing, query.Create(row).Error)
	}
	built := query.Session(&gorm.Session{DryRun: true}).Create(row)
	return t.failure(doing, t.outbox.take(doing, built))
}

// putNow writes a new row with everything that waits, and tells how many rows it made.
func (t table) putNow(doing string, query *gorm.DB, row any) (made int64, err error) {
	if t.outbox == nil {
		created := query.Create(row)
		return created.RowsAffected, t.failure(doing, created.Error)
	}
	if err := t.put(doing, query, row); err != nil {
		return 0, err
	}
	made, err = t.outbox.flush(t.db.Statement.Context)
	return made, t.failure(doing, err)
}

// exec runs a statement whose count of rows does not matter.
func (t table) exec(doing, query string, args ...any) error {
	if t.outbox == nil {
		return t.failure(doing, t.db.Exec(query, args...).Error)
	}
	return t.failure(doing, t.outbox.take(doing, t.db.Session(&gorm.Session{DryRun: true}).Exec(query, args...)))
}

// scanNow reads the one row of a query, with everything that waits. beside are more such queries for the same journey.
func (t table) scanNow(doing string, query rowQuery, beside ...rowQuery) error {
	for _, q := range append([]rowQuery{query}, beside...) {
		if t.outbox == nil {
			if err := scan(t.db.Raw(q.sql, q.args...), q.into...); err != nil {
				return t.failure(doing, err)
			}
			continue
		}
		if err := t.outbox.take(doing, t.db.Session(&gorm.Session{DryRun: true}).Exec(q.sql, q.args...), q.into...); err != nil {
			return t.failure(doing, err)
		}
	}
	_, err := t.outbox.flush(t.db.Statement.Context)
	return t.failure(doing, err)
}

// rowQuery asks for one row.
type rowQuery struct {
	sql  string
	args []any
	into []any
}

// begin makes sure that the transaction begins with the next journey.
func (o *outbox) begin() *outbox {
	if !o.begun {
		o.begun = true
		o.waiting = append(o.waiting, statement{doing: "begin", sql: "begin"})
	}
	return o
}

// take keeps a statement that gorm has built and not run.
func (o *outbox) take(doing string, built *gorm.DB, into ...any) error {
	if built.Error != nil {
		return built.Error
	}
	args := slices.Clone(built.Statement.Vars)
	for i, arg := range args {
		valuer, ok := arg.(driver.Valuer)
		if !ok {
			continue
		}
		value, err := valuer.Value()
		if err != nil {
			return err
		}
		args[i] = value
	}
	o.begin()
	o.waiting = append(o.waiting, statement{doing, built.Statement.SQL.String(), args, into})
	return nil
}

// flush sends what waits and answers with how many rows the last of it changed.
func (o *outbox) flush(ctx context.Context) (changed int64, err error) {
	if o == nil || len(o.waiting) == 0 {
		return 0, nil
	}
	sent := o.waiting
	o.waiting = nil
	err = o.raw(func(conn *pgx.Conn) error {
		batch := &pgx.Batch{}
		for _, s := range sent {
			batch.Queue(s.sql, s.args...)
		}
		results := conn.SendBatch(ctx, batch)
		defer func() { _ = results.Close() }() // it repeats the first error
		for _, s := range sent {
			if s.into != nil {
				err = results.QueryRow().Scan(s.into...)
			} else {
				changed, err = execute(results)
			}
			if err != nil {
				return fmt.Errorf("%s: %w", s.doing, err)
			}
		}
		return nil
	})
	return changed, err
}

// errAborted says that a statement had failed and its error was not heeded, so that there is nothing to commit.
var errAborted = errors.New("the transaction was aborted before its commit")

// execute runs the batch's next statement. A COMMIT that PostgreSQL answers with ROLLBACK is an error.
func execute(results pgx.BatchResults) (changed int64, err error) {
	tag, err := results.Exec()
	if err == nil && tag.String() == "ROLLBACK" {
		err = errAborted
	}
	return tag.RowsAffected(), err
}

// commit sends the rest with the COMMIT. A transaction that never said anything makes no journey at all.
func (o *outbox) commit(ctx context.Context) (bool, error) {
	if !o.begun {
		return true, nil
	}
	o.waiting = append(o.waiting, statement{doing: "commit", sql: "commit"})
	_, err := o.flush(ctx)
	return err == nil, err
}

const rollbackPatience = 5 * time.Second

// rollback undoes what was sent. A connection on which it fails is not used again.
func (o *outbox) rollback(ctx context.Context) error {
	if !o.begun {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackPatience)
	defer cancel()
	err := o.raw(func(conn *pgx.Conn) error {
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

// raw lends the driver's own connection.
func (o *outbox) raw(fn func(conn *pgx.Conn) error) error {
	return o.conn.Raw(func(lent any) error {
		return fn(lent.(*stdlib.Conn).Conn()) //nolint:forcetypeassert,errcheck // the pool is ours
	})
}

// flushFirst runs before every statement of gorm: what waits goes first, and the transaction begins.
func flushFirst(db *gorm.DB) {
	tx, ok := current(db.Statement.Context)
	if db.DryRun || !ok || tx.outbox == nil {
		return
	}
	if _, err := tx.outbox.begin().flush(db.Statement.Context); err != nil {
		_ = db.AddError(err)
	}
}

// keepOrder makes gorm send what waits before each of its own statements.
func keepOrder(db *gorm.DB) error {
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
