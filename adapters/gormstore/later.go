package gormstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"gorm.io/gorm"
)

// outbox holds the writes of a transaction whose results nobody waits for. They go to PostgreSQL in one journey, with the
// next statement that somebody does wait for or at the commit, so that a use case of ten writes makes few journeys. No
// statement of the transaction ever runs before a write that was made earlier.
type outbox struct {
	conn   *sql.Conn
	writes []pendingWrite
}

type pendingWrite struct {
	doing string
	sql   string
	args  []any
}

// put writes a new row; query carries its clauses. The error of a refused row may come with a later statement, so a
// caller that wants to know of a duplicate uses insert.
func (t table) put(doing string, query *gorm.DB, row any) error {
	if t.outbox == nil {
		return t.failure(doing, query.Create(row).Error)
	}
	built := query.Session(&gorm.Session{DryRun: true}).Create(row)
	if built.Error != nil {
		return t.failure(doing, built.Error)
	}
	return t.post(doing, built.Statement.SQL.String(), built.Statement.Vars)
}

// exec runs a statement whose count of rows does not matter.
func (t table) exec(doing, statement string, args ...any) error {
	if t.outbox == nil {
		return t.failure(doing, t.db.Exec(statement, args...).Error)
	}
	built := t.db.Session(&gorm.Session{DryRun: true}).Exec(statement, args...)
	return t.post(doing, built.Statement.SQL.String(), built.Statement.Vars)
}

// putNow writes a new row with everything that waits, and tells how many rows it made.
func (t table) putNow(doing string, query *gorm.DB, row any) (int64, error) {
	if t.outbox == nil {
		made := query.Create(row)
		return made.RowsAffected, t.failure(doing, made.Error)
	}
	if err := t.put(doing, query, row); err != nil {
		return 0, err
	}
	made, err := t.outbox.flush(t.db.Statement.Context)
	return made.RowsAffected(), t.failure(doing, err)
}

func (t table) post(doing, statement string, args []any) error {
	plain := slices.Clone(args)
	for i, arg := range plain {
		if valuer, ok := arg.(driver.Valuer); ok {
			value, err := valuer.Value()
			if err != nil {
				return t.failure(doing, err)
			}
			plain[i] = value
		}
	}
	t.outbox.writes = append(t.outbox.writes, pendingWrite{doing, statement, plain})
	return nil
}

// flush sends what waits and answers with the last write's result.
func (o *outbox) flush(ctx context.Context) (last pgconn.CommandTag, err error) {
	if o == nil || len(o.writes) == 0 {
		return last, nil
	}
	writes := o.writes
	o.writes = nil
	err = o.conn.Raw(func(raw any) error {
		batch := &pgx.Batch{}
		for _, w := range writes {
			batch.Queue(w.sql, w.args...)
		}
		results := raw.(*stdlib.Conn).Conn().SendBatch(ctx, batch) //nolint:forcetypeassert,errcheck // the pool is ours
		for _, w := range writes {
			tag, err := results.Exec()
			if err != nil {
				_ = results.Close() // it repeats the error
				return fmt.Errorf("%s: %w", w.doing, err)
			}
			last = tag
		}
		return results.Close()
	})
	return last, err
}

// flushFirst runs before every statement of gorm.
func flushFirst(db *gorm.DB) {
	if db.DryRun {
		return
	}
	if tx, ok := current(db.Statement.Context); ok && tx.outbox != nil {
		if _, err := tx.outbox.flush(db.Statement.Context); err != nil {
			_ = db.AddError(err)
		}
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
