package gormstore

import (
	"context"
	"database/sql"
	"errors"
	"hash/fnv"
	"io"
	"net"
	"regexp"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"sundry/adapters/gormstore/repo"
	"sundry/ports"
)

// dialect is the whole list of differences between the engines.
type dialect interface {
	repo.Dialect
	// retryable reports whether the engine asks to run the transaction again.
	retryable(err error) bool
	// snapshot returns the options of a transaction whose statements all see one moment.
	snapshot() *sql.TxOptions
	// tuning is the SQL that runs after the migrations, every time; "" = none.
	tuning() string
	// hasTable is the query whether there is a table with a name.
	hasTable() string
	// skipLocked ends a query of tasks t whose rows are then written: it locks them and leaves out those that others lock.
	skipLocked() string
	// claimSQL is the statement that leases up to limit due tasks (taskclaim.go).
	claimSQL(limit int) string
	// dueSQL selects the tasks that are due at its one parameter (taskclaim.go).
	dueSQL() string
}

// postgresDialect: many writers, row and advisory locks. The tables are in its schema.
type postgresDialect struct{ schema string }

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

// Unavailable implements repo.Dialect.
func (postgresDialect) Unavailable(err error) error {
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return ports.ErrDatabaseBusy // nothing was sent
	}
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		switch pg.Code {
		case lockNotAvailable,
			"53300", // too_many_connections
			"53100", // disk_full
			"25006", // read_only_sql_transaction, as after a failover
			"57P03": // cannot_connect_now
			return ports.ErrDatabaseBusy
		case "57P01": // admin_shutdown: a COMMIT that waited for a standby may have been carried out
			return ports.ErrDatabaseLost
		}
		return nil
	}
	canceled := errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
	if pgconn.SafeToRetry(err) && !canceled {
		return ports.ErrDatabaseBusy // nothing was sent: the connection had been closed since its last use
	}
	_, ofNetwork := errors.AsType[*net.OpError](err)
	if (ofNetwork || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF)) && !canceled {
		return ports.ErrDatabaseLost
	}
	return nil
}

// shardNumber matches the number that a cluster's node appends to the name of an index, and inMessage the name in the
// message of a router, which drops the field for it.
var (
	shardNumber = regexp.MustCompile(`_[0-9]{6,}$`)
	inMessage   = regexp.MustCompile(`"([^"]+)"`)
)

// UniqueIndex implements repo.Dialect.
func (postgresDialect) UniqueIndex(err error) string {
	var pg *pgconn.PgError
	if !errors.As(err, &pg) || pg.Code != "23505" {
		return ""
	}
	name := pg.ConstraintName
	if found := inMessage.FindStringSubmatch(pg.Message); name == "" && found != nil {
		name = found[1]
	}
	return shardNumber.ReplaceAllString(name, "")
}

func (postgresDialect) skipLocked() string { return " FOR UPDATE OF t SKIP LOCKED" }

func (postgresDialect) snapshot() *sql.TxOptions {
	return &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true}
}

func (postgresDialect) tuning() string { return postgresTuning }

func (postgresDialect) hasTable() string { return "SELECT to_regclass(?) IS NOT NULL" }

func (postgresDialect) TryLock() string { return "pg_try_advisory_xact_lock(?)" }

func (postgresDialect) Lock() string { return "SELECT pg_advisory_xact_lock(?)" }

func (postgresDialect) CustomPlan() string { return "SET LOCAL plan_cache_mode = force_custom_plan" }

// LockNumber implements repo.Dialect. Advisory locks belong to the database, which other cells share.
func (d postgresDialect) LockNumber(name string) int64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(inSchema(name, d.schema)))
	return int64(h.Sum64()) //nolint:gosec // any 64 bits will do
}

// sqliteDialect: one writer at a time (BEGIN IMMEDIATE), which is every lock there is.
type sqliteDialect struct{}

// retryable is never: its one writer meets no conflict, and a lock of another process was waited for already.
func (sqliteDialect) retryable(error) bool { return false }

// errLocked is the error of transactions that wait behind a writer who was refused.
var errLocked = errors.New("database is locked by another process")

// Unavailable implements repo.Dialect.
func (sqliteDialect) Unavailable(err error) error {
	for _, reason := range []string{"SQLITE_BUSY", "database is locked", "disk is full", "readonly database"} {
		if strings.Contains(err.Error(), reason) {
			return ports.ErrDatabaseBusy
		}
	}
	return nil
}

const sqliteUnique = "UNIQUE constraint failed: "

// UniqueIndex turns "UNIQUE constraint failed: listings.creator_id, listings.slug" into "listings_creator_id_slug".
func (sqliteDialect) UniqueIndex(err error) string {
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

func (sqliteDialect) TryLock() string         { return "? = 0" } // the writer is alone
func (sqliteDialect) Lock() string            { return "" }
func (sqliteDialect) CustomPlan() string      { return "" }
func (sqliteDialect) LockNumber(string) int64 { return 0 }
func (sqliteDialect) skipLocked() string      { return "" }

// snapshot implements dialect: every transaction sees one moment.
func (sqliteDialect) snapshot() *sql.TxOptions { return &sql.TxOptions{} }

func (sqliteDialect) tuning() string { return "" }
func (sqliteDialect) hasTable() string {
	return "SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?)"
}
