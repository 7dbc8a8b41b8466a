package gormstore

import (
	"context"
	"time"

	"github.com/pressly/goose/v3/lock"

	"sundry/adapters/gormstore/treasury"
)

// RowsRead returns the number of rows of a table that the connection of ctx's transaction has read, on PostgreSQL.
func RowsRead(ctx context.Context, table string) (rows int64, err error) {
	tx, _ := current(ctx)
	err = tx.db.WithContext(ctx).Raw(
		"SELECT COALESCE(MAX(seq_tup_read + COALESCE(idx_tup_fetch, 0)), 0) FROM pg_stat_xact_user_tables WHERE relname = ?",
		table).Scan(&rows).Error
	return rows, err
}

// SchemaLock is the lock of the default schema's check.
const SchemaLock = schemaLock

// LockTimeout limits the wait of a statement for a lock.
var LockTimeout, _ = time.ParseDuration(lockTimeout + "ms")

// Dial opens connections to PostgreSQL.
var Dial = dial

// AnyKeySQL is for tests of its plan.
const AnyKeySQL = anyKeySQL

// ClaimSQL is for tests of the plan of an engine's claim.
func ClaimSQL(engine string, limit int) string {
	if engine == "postgres" {
		return postgresDialect{}.claimSQL(limit)
	}
	return sqliteDialect{}.claimSQL(limit)
}

// SumBalancesInPages is SumBalances with few postings in a transaction.
func SumBalancesInPages(ctx context.Context, s *Store, now time.Time, page int) error {
	return s.sumPostings(ctx, now, page, treasury.SumBalances)
}

// SumDaysInPages is SumDays with few postings in a transaction.
func SumDaysInPages(ctx context.Context, s *Store, now time.Time, page int) error {
	return s.sumPostings(ctx, now, page, treasury.SumDays)
}

// NewIndexLocker returns the lock under which an index is built.
func NewIndexLocker(index string) (lock.SessionLocker, error) {
	locker, err := lock.NewPostgresSessionLocker()
	return &indexLocker{locker, index}, err
}
