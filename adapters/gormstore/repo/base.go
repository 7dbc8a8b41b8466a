// Package repo has the parts that the repositories of all areas share: the connection of their transaction, the
// columns, and the reads and writes that are alike for every kind of row.
package repo

import (
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"sundry/ports"
)

// Base is embedded by every repository: the connection of its transaction and the engine's few differences.
type Base struct {
	DB      *gorm.DB
	Dialect Dialect
	// Pipeline takes the writes whose results are not needed; nil where each is made at once.
	Pipeline Pipeline
	// Cache keeps rows that the transaction reads several times; nil where nothing is cached.
	Cache *Cache
	// Preload reads what usually follows the row of a table with that key, right after the next statement that is waited
	// for and in its round trip; nil where round trips cost nothing.
	Preload func(table string, key ...string)
	// AtCommit registers, once per key, what is done in the transaction right before it commits; nil outside of one.
	AtCommit func(key string, do func() error)
	// Pool serves reads of single rows outside of a transaction; nil inside one, and on SQLite.
	Pool *pgxpool.Pool
	// Since is the time from which on rows were made that audits check; zero: they check all.
	Since time.Time
	// lock is the clause with which TakeOne locks its row where it bypasses gorm.
	lock string
}

// Dialect describes the differences of an engine to repositories.
type Dialect interface {
	// UniqueIndex names the unique index that refused a row; "" when err is something else.
	UniqueIndex(err error) string
	// Unavailable returns ports.ErrDatabaseBusy where the engine gave up waiting for somebody else,
	// ports.ErrDatabaseLost where it did not respond, and nil for any other error.
	Unavailable(err error) error
	// TryLock is the SQL that tries to take the advisory lock of LockNumber's value (its one parameter) until the
	// transaction ends, and reports whether it did.
	TryLock() string
	// Lock is the statement that waits for the same lock, "" where none is needed.
	Lock() string
	// CustomPlan is the statement that lets the rest of a transaction be planned for its parameters, "" where all is.
	CustomPlan() string
	// LockNumber is the parameter of both for a name.
	LockNumber(name string) int64
}

// Scanner is the result of one-row queries in pgx and in database/sql alike.
type Scanner interface{ Scan(into ...any) error }

// OnPostgres reports whether the engine has ranges and exact decimals of its own, and many writers.
func (b *Base) OnPostgres() bool { return b.Dialect.Lock() != "" }

// Failure turns a driver error into one of the ports' errors, naming what was being done.
func (b *Base) Failure(op string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, gorm.ErrRecordNotFound), errors.Is(err, sql.ErrNoRows), errors.Is(err, pgx.ErrNoRows):
		return fmt.Errorf("%s: %w", op, ports.ErrNotFound)
	}
	if unavailable := b.Dialect.Unavailable(err); unavailable != nil {
		return fmt.Errorf("%s: %w: %w", op, unavailable, err)
	}
	if index := b.Dialect.UniqueIndex(err); index != "" {
		return fmt.Errorf("%s: %w", op, &ports.DuplicateError{Index: index})
	}
	return fmt.Errorf("%s: %w", op, err)
}

// Changed is Failure for a write that must affect a row: it returns errIfNoRows when it affected none.
func (b *Base) Changed(op string, res *gorm.DB, errIfNoRows error) error {
	if res.Error == nil && res.RowsAffected == 0 {
		return fmt.Errorf("%s: %w", op, errIfNoRows)
	}
	return b.Failure(op, res.Error)
}

// Exec runs a statement now; its count of rows does not matter.
func (b *Base) Exec(op, query string, args ...any) error {
	return b.Failure(op, b.DB.Exec(query, args...).Error)
}

// AdvisoryLock waits for the lock of a name and keeps it until the transaction ends; what was cached before is read
// again. An engine with one writer has none.
func (b *Base) AdvisoryLock(op, name string) error {
	if b.Cache != nil && b.Dialect.Lock() != "" {
		b.Cache.WroteTo("")
	}
	return b.EnqueueLock(op, name)
}

// EnqueueLock is AdvisoryLock that keeps what was cached; in a pipeline the lock is taken with the next statement whose
// result is needed.
func (b *Base) EnqueueLock(op, name string) error {
	statement := b.Dialect.Lock()
	if statement == "" {
		return nil
	}
	return b.ExecDeferred(op, statement, b.Dialect.LockNumber(name))
}

// Planned runs fn with statements that are planned for their parameters: where how rare a value is decides by which
// index it is found.
func (b *Base) Planned(op string, fn func(b *Base) error) error {
	plan := b.Dialect.CustomPlan()
	if plan == "" {
		return fn(b)
	}
	return b.DB.Transaction(func(db *gorm.DB) error {
		if err := db.Exec(plan).Error; err != nil {
			return b.Failure("plan to "+op, err)
		}
		planned := *b
		planned.DB = db
		return fn(&planned)
	})
}

// InsertRow writes a new row, given as a pointer. In a pipeline it is InsertRowDeferred.
func (b *Base) InsertRow(op string, row any) error {
	if b.Pipeline != nil {
		return b.InsertRowDeferred(op, row, "")
	}
	return b.Failure(op, b.DB.Create(row).Error)
}

// UpdateRow writes every column of a row, given as a pointer, whose revision was raised by one since it was loaded.
// ErrStale when somebody else wrote it in between, which in a pipeline may come with a later statement.
func (b *Base) UpdateRow(op string, row any, id string, revision int64) error {
	if b.Pipeline != nil {
		return b.updateRowDeferred(op, row, id, revision)
	}
	res := b.DB.Model(row).Where("id = ? AND revision = ?", id, revision-1).Select("*").Omit("id").Updates(row)
	return b.Changed(op, res, ports.ErrStale)
}

// ForUpdate makes reads lock their rows until the transaction ends (SQLite's single writer is lock enough).
func (b *Base) ForUpdate() *Base {
	locking := *b
	locking.DB = b.DB.Clauses(clause.Locking{Strength: clause.LockingStrengthUpdate})
	locking.lock = " FOR UPDATE"
	return &locking
}

// ForShare makes reads keep their rows as they are until the transaction ends; many may do so at once.
func (b *Base) ForShare() *Base {
	locking := *b
	locking.DB = b.DB.Clauses(clause.Locking{Strength: clause.LockingStrengthShare})
	locking.lock = " FOR SHARE"
	return &locking
}

// QueryIDs runs a query for at most so many ids as its last argument specifies.
func (b *Base) QueryIDs(op, query string, args ...any) ([]string, error) {
	var ids []string
	err := b.DB.Raw(query, args...).Scan(&ids).Error
	return ids, b.Failure(op, err)
}

// TakeOne loads one row by condition. ErrNotFound when there is none.
func TakeOne[R any](b *Base, op, where string, args ...any) (R, error) {
	var row R
	if b.Pipeline != nil || b.Pool != nil {
		found, err := findWithoutGorm[R](b, op, where+" LIMIT 1"+b.lock, args)
		if err == nil && len(found) == 0 {
			err = gorm.ErrRecordNotFound
		}
		if err != nil {
			return row, b.Failure(op, err)
		}
		return found[0], nil
	}
	err := b.DB.Where(where, args...).Take(&row).Error
	return row, b.Failure(op, err)
}

// PreloadWith calls Preload where there is one.
func (b *Base) PreloadWith(table string, key ...string) {
	if b.Preload != nil {
		b.Preload(table, key...)
	}
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

// SanitizeText truncates s to n bytes at a rune boundary and drops NUL and invalid UTF-8, which PostgreSQL rejects.
func SanitizeText(s string, n int) string {
	return strings.ToValidUTF8(strings.ReplaceAll(s[:min(n, len(s))], "\x00", ""), "")
}

var likeEscaper = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)

// Containing returns the pattern of LIKE … ESCAPE '\' that matches what contains text, whose wildcards mean themselves.
func Containing(text string) string { return "%" + likeEscaper.Replace(text) + "%" }
