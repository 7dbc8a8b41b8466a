// Package repo is what the repositories of every area share: the connection of their transaction, the columns, and the
// reads and writes that are alike for every kind of row.
package repo

import (
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"sundry/ports"
)

// Base is what every repository needs: the connection of its transaction and the engine's few differences.
type Base struct {
	DB      *gorm.DB
	Dialect Dialect
	// Pipeline takes the writes whose results are not needed; nil where each is made at once.
	Pipeline Pipeline
	// PrefetchOffset reads how far the clock of the account runs ahead that a row of a table belongs to, together with the
	// next statement that is waited for; nil outside of a pipeline.
	PrefetchOffset func(table, id string)
	// Memo keeps rows that hardly ever change for the rest of a pipelined transaction; nil outside of one.
	Memo map[string]any
	// AtCommit registers, once per key, what is done in the transaction right before it commits; nil outside of one.
	AtCommit func(key string, do func() error)
	// Pool is where single rows are read outside of a transaction; nil inside one, and on SQLite.
	Pool *pgxpool.Pool
	// lock is how TakeOne locks its row where it goes without gorm.
	lock string
}

// Dialect is what repositories need to know of an engine.
type Dialect interface {
	// UniqueIndex names the unique index that refused a row; "" when err is something else.
	UniqueIndex(err error) string
	// Busy reports whether the engine gave up waiting for somebody else.
	Busy(err error) bool
	// TryLock is the SQL that tries to take the advisory lock of LockNumber's value (its one parameter) until the
	// transaction ends, and reports whether it did.
	TryLock() string
	// Lock is the statement that waits for the same lock, "" where none is needed.
	Lock() string
	// CustomPlan is the statement that lets the rest of a transaction be planned for its parameters, "" where all is.
	CustomPlan() string
	// LockNumber is the parameter of both for a name.
	LockNumber(name string) any
}

// Scanner is what one-row queries give in pgx and in database/sql alike.
type Scanner interface{ Scan(into ...any) error }

// OnPostgres reports whether the engine has ranges and exact decimals of its own, and many writers.
func (b Base) OnPostgres() bool { return b.Dialect.Lock() != "" }

// Failure turns a driver error into one of the ports' errors, naming what was being done.
func (b Base) Failure(doing string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, gorm.ErrRecordNotFound), errors.Is(err, sql.ErrNoRows), errors.Is(err, pgx.ErrNoRows):
		return fmt.Errorf("%s: %w", doing, ports.ErrNotFound)
	}
	if b.Dialect.Busy(err) {
		return fmt.Errorf("%s: %w: %w", doing, ports.ErrDatabaseBusy, err)
	}
	if index := b.Dialect.UniqueIndex(err); index != "" {
		return fmt.Errorf("%s: %w", doing, &ports.DuplicateError{Index: index})
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// Changed is Failure for a write that must have met a row: missed is the error when it met none.
func (b Base) Changed(doing string, res *gorm.DB, missed error) error {
	if res.Error == nil && res.RowsAffected == 0 {
		return fmt.Errorf("%s: %w", doing, missed)
	}
	return b.Failure(doing, res.Error)
}

// Exec runs a statement now; its count of rows does not matter.
func (b Base) Exec(doing, query string, args ...any) error {
	return b.Failure(doing, b.DB.Exec(query, args...).Error)
}

// AdvisoryLock waits for the lock of a name and keeps it until the transaction ends. An engine with one writer has none.
func (b Base) AdvisoryLock(doing, name string) error {
	statement := b.Dialect.Lock()
	if statement == "" {
		return nil
	}
	return b.ExecDeferred(doing, statement, b.Dialect.LockNumber(name))
}

// InsertRow writes a new row, given as a pointer. In a pipeline it is InsertRowDeferred.
func (b Base) InsertRow(doing string, row any) error {
	if b.Pipeline != nil {
		return b.InsertRowDeferred(doing, row, "")
	}
	return b.Failure(doing, b.DB.Create(row).Error)
}

// UpdateRow writes every column of a row, given as a pointer, whose revision was raised by one since it was loaded.
// ErrStale when somebody else wrote it in between, which in a pipeline may come with a later statement.
func (b Base) UpdateRow(doing string, row any, id string, revision int64) error {
	if b.Pipeline != nil {
		return b.updateRowDeferred(doing, row, id, revision)
	}
	res := b.DB.Model(row).Where("id = ? AND revision = ?", id, revision-1).Select("*").Omit("id").Updates(row)
	return b.Changed(doing, res, ports.ErrStale)
}

// ForUpdate makes reads lock their rows until the transaction ends (SQLite's single writer is lock enough).
func (b Base) ForUpdate() Base {
	b.DB = b.DB.Clauses(clause.Locking{Strength: clause.LockingStrengthUpdate})
	b.lock = " FOR UPDATE"
	return b
}

// ForShare makes reads keep their rows as they are until the transaction ends; many may do so at once.
func (b Base) ForShare() Base {
	b.DB = b.DB.Clauses(clause.Locking{Strength: clause.LockingStrengthShare})
	b.lock = " FOR SHARE"
	return b
}

// QueryIDs runs a query for at most so many ids as its last argument specifies.
func (b Base) QueryIDs(doing, query string, args ...any) ([]string, error) {
	var ids []string
	err := b.DB.Raw(query, args...).Scan(&ids).Error
	return ids, b.Failure(doing, err)
}

// TakeOne loads one row by condition. ErrNotFound when there is none.
func TakeOne[R any](b Base, doing, where string, args ...any) (R, error) {
	var row R
	if b.Pipeline != nil || b.Pool != nil {
		found, err := takeWithoutGorm[R](b, doing, where, args)
		if err == nil && len(found) == 0 {
			err = gorm.ErrRecordNotFound
		}
		if err != nil {
			return row, b.Failure(doing, err)
		}
		return found[0], nil
	}
	err := b.DB.Where(where, args...).Take(&row).Error
	return row, b.Failure(doing, err)
}

// Memoized is what get returns, and in a pipelined transaction from then on the same: several subscribers of one event ask for
// the same account and the same customer. Who writes such a row clears Memo.
func Memoized[T any](b Base, doing string, get func() (T, error)) (T, error) {
	if known, ok := b.Memo[doing].(T); ok {
		return known, nil
	}
	found, err := get()
	if err == nil && b.Memo != nil && !b.Pipeline.ReadingAhead() {
		b.Memo[doing] = found
	}
	return found, err
}

// ScanRow reads the one row of a query without gorm's reflection.
func ScanRow(query *gorm.DB, into ...any) error {
	row := query.Row()
	if row == nil { // the query was not run
		return query.Error
	}
	return row.Scan(into...)
}

// IsNotFound reports whether a row was missing.
func IsNotFound(err error) bool { return errors.Is(err, ports.ErrNotFound) }

// Storable makes text fit for a column of either engine, which PostgreSQL refuses to be cut inside a character or to
// hold NUL.
func Storable(s string, n int) string {
	return strings.ToValidUTF8(strings.ReplaceAll(s[:min(n, len(s))], "\x00", ""), "")
}
