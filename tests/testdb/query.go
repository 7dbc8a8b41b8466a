package testdb

import (
	"database/sql"
	"strings"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
	_ "modernc.org/sqlite"             // the driver "sqlite"
)

// Int reads one number from the database at url with a query that takes no argument.
func (e Engine) Int(t testing.TB, url, query string) (n int64) {
	t.Helper()
	e.with(t, url, func(db *sql.DB) error { return db.QueryRowContext(t.Context(), query).Scan(&n) })
	return n
}

// Exec runs a statement on the database at url, past everything that guards it.
func (e Engine) Exec(t testing.TB, url, statement string) {
	t.Helper()
	e.with(t, url, func(db *sql.DB) error {
		_, err := db.ExecContext(t.Context(), statement)
		return err
	})
}

// AwaitWait returns once done is closed, or a transaction in the PostgreSQL database at url waits for another.
func (e Engine) AwaitWait(t testing.TB, url string, done <-chan struct{}) {
	t.Helper()
	const waiting = "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() " +
		"AND wait_event_type = 'Lock'"
	for e.Int(t, url, waiting) == 0 {
		select {
		case <-done:
			return
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func (e Engine) with(t testing.TB, url string, do func(db *sql.DB) error) {
	t.Helper()
	driver := "pgx"
	if e.Name == SQLite.Name {
		// The program writes beside it.
		driver, url = "sqlite", "file:"+strings.TrimPrefix(url, "sqlite:")+"?_pragma=busy_timeout(10000)"
	}
	db, err := sql.Open(driver, url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if err := do(db); err != nil {
		t.Fatal(err)
	}
}
