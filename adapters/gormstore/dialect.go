package gormstore

import (
	"errors"
	"hash/fnv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// dialect is the whole list of differences between the engines.
type dialect interface {
	// retryable reports whether the engine asks to run the transaction again.
	retryable(err error) bool
	// uniqueIndex names the unique index that refused a row; "" when err is something else.
	uniqueIndex(err error) string
	// tryLock is the SQL that tries to take the advisory lock of lockNumber's value (its one parameter) until the
	// transaction ends, and says whether it did.
	tryLock() string
	// lock is the statement that waits for the same lock, "" where none is needed.
	lock() string
	// lockNumber is the parameter of both for a name.
	lockNumber(name string) any
	// tuning is the SQL that runs after the migrations, every time; "" = none.
	tuning() string
	// claim is the statement that leases up to limit due tasks (claim.go).
	claim(limit int) string
}

// postgresDialect: many writers, row and advisory locks.
type postgresDialect struct{}

func (postgresDialect) retryable(err error) bool {
	var pg *pgconn.PgError
	if !errors.As(err, &pg) {
		return false
	}
	switch pg.Code {
	case "40001", // serialization_failure
		"40P01", // deadlock_detected
		"55P03": // lock_not_available
		return true
	}
	return false
}

func (postgresDialect) uniqueIndex(err error) string {
	var pg *pgconn.PgError
	if errors.As(err, &pg) && pg.Code == "23505" {
		return pg.ConstraintName
	}
	return ""
}

func (postgresDialect) tuning() string { return postgresTuning }

func (postgresDialect) tryLock() string { return "pg_try_advisory_xact_lock(?)" }

func (postgresDialect) lock() string { return "SELECT pg_advisory_xact_lock(?)" }

func (postgresDialect) lockNumber(name string) any {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name))
	return int64(h.Sum64()) //nolint:gosec // any 64 bits will do
}

// sqliteDialect: one writer at a time (BEGIN IMMEDIATE), which is every lock there is.
type sqliteDialect struct{}

func (sqliteDialect) retryable(err error) bool {
	return strings.Contains(err.Error(), "SQLITE_BUSY") || strings.Contains(err.Error(), "database is locked")
}

const sqliteUnique = "UNIQUE constraint failed: "

// uniqueIndex turns "UNIQUE constraint failed: listings.creator_id, listings.slug" into "listings_creator_id_slug".
func (sqliteDialect) uniqueIndex(err error) string {
	if err == nil {
		return ""
	}
	_, columns, ok := strings.Cut(err.Error(), sqliteUnique)
	if !ok {
		return ""
	}
	columns, _, _ = strings.Cut(columns, " (")
	name := ""
	for i, column := range strings.Split(columns, ", ") {
		tableName, col, _ := strings.Cut(column, ".")
		if i == 0 {
			name = tableName
		}
		name += "_" + col
	}
	return name
}

func (sqliteDialect) tryLock() string       { return "? = ''" } // the writer is alone
func (sqliteDialect) lock() string          { return "" }
func (sqliteDialect) lockNumber(string) any { return "" }
func (sqliteDialect) tuning() string        { return "" }
