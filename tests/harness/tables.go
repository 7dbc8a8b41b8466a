package harness

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
	_ "modernc.org/sqlite"             // the driver "sqlite"
)

// comparedColumns are those of tables that background work writes too: a snapshot's body shows the counts of use,
// which are brought up to date every minute, without another version.
var comparedColumns = map[string]string{"access_snapshots": "creator_id, external_customer_id, version, next_end"}

// Tables is a fingerprint of every table's rows, by the table's name. Two of them differ where something was written
// in between.
func (a *App) Tables(t testing.TB) map[string]string {
	t.Helper()
	tables := map[string]string{}
	a.eachTable(t, func(name string, rows []string) {
		slices.Sort(rows)
		sum := sha256.Sum256([]byte(strings.Join(rows, "\n")))
		tables[name] = fmt.Sprintf("%d rows, %s", len(rows), hex.EncodeToString(sum[:8]))
	})
	return tables
}

// TablesWith lists the tables that hold a text in plain.
func (a *App) TablesWith(t testing.TB, text string) (names []string) {
	t.Helper()
	a.eachTable(t, func(name string, rows []string) {
		if slices.ContainsFunc(rows, func(row string) bool { return strings.Contains(row, text) }) {
			names = append(names, name)
		}
	})
	return names
}

// idText matches ids wherever they are in a text.
var idText = regexp.MustCompile(`\b[a-z]{2,5}_[0-7][0-9a-hjkmnp-tv-z]{25}\b`)

// StoredIDs lists every id that any table holds in plain.
func (a *App) StoredIDs(t testing.TB) []string {
	t.Helper()
	found := map[string]bool{}
	a.eachTable(t, func(_ string, rows []string) {
		for _, row := range rows {
			for _, one := range idText.FindAllString(row, -1) {
				found[one] = true
			}
		}
	})
	return slices.Sorted(maps.Keys(found))
}

func (a *App) eachTable(t testing.TB, do func(name string, rows []string)) {
	t.Helper()
	list := "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public' AND table_type = 'BASE TABLE'"
	if strings.HasPrefix(a.DatabaseURL, "sqlite:") {
		list = "SELECT name FROM sqlite_master WHERE type = 'table'"
	}
	db := a.shared(t)
	names, err := rowsOf(t.Context(), db, list)
	if err != nil || len(names) < 10 {
		t.Fatalf("the tables are %v, %v", names, err)
	}
	for _, name := range names {
		rows, err := rowsOf(t.Context(), db, "SELECT "+cmp.Or(comparedColumns[name], "*")+" FROM "+name)
		if err != nil {
			t.Fatal(err)
		}
		do(name, rows)
	}
}

// database connects to the program's database. Close it.
func (a *App) database(t testing.TB) *sql.DB {
	t.Helper()
	driver, address := "pgx", a.DatabaseURL
	if path, ok := strings.CutPrefix(a.DatabaseURL, "sqlite:"); ok {
		driver, address = "sqlite", "file:"+path+"?_pragma=busy_timeout(10000)"
	}
	db, err := sql.Open(driver, address)
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// shared is database for short statements: tests make thousands, and to connect takes longer than they do.
func (a *App) shared(t testing.TB) *sql.DB {
	t.Helper()
	a.openBehind.Do(func() { a.behind = a.database(t) })
	return a.behind
}

// Exec changes rows behind the program's back, to what no request can bring about. Arguments are $1, $2, ….
func (a *App) Exec(t testing.TB, query string, args ...any) {
	t.Helper()
	if err := a.TryExec(t, query, args...); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

// TryExec is Exec of what the database may refuse.
func (a *App) TryExec(t testing.TB, query string, args ...any) error {
	t.Helper()
	_, err := a.shared(t).ExecContext(t.Context(), query, args...)
	return err
}

// rowsOf renders each row of a query as text.
func rowsOf(ctx context.Context, db *sql.DB, query string, args ...any) ([]string, error) {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	var all []string
	for rows.Next() {
		values := make([]any, len(columns))
		targets := make([]any, len(columns))
		for i := range values {
			targets[i] = &values[i]
		}
		if err := rows.Scan(targets...); err != nil {
			return nil, err
		}
		for i, value := range values {
			if raw, ok := value.([]byte); ok {
				values[i] = string(raw)
			}
		}
		all = append(all, strings.TrimSuffix(strings.TrimPrefix(fmt.Sprint(values), "["), "]"))
	}
	return all, rows.Err()
}

// BlockWrites makes the program's database refuse every write until allow is called: PostgreSQL is read-only, as
// after a failover, and SQLite is locked by another process.
func (a *App) BlockWrites(t testing.TB) (allow func()) {
	t.Helper()
	db := a.database(t)
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { _ = db.Close() })
	run := func(statements ...string) {
		t.Helper()
		for _, statement := range statements {
			if _, err := db.ExecContext(t.Context(), statement); err != nil {
				t.Fatalf("%s: %v", statement, err)
			}
		}
	}
	if strings.HasPrefix(a.DatabaseURL, "sqlite:") {
		run("BEGIN IMMEDIATE")
		return func() { run("ROLLBACK") }
	}
	setting := `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_read_only = ' || '`
	end := `', current_database()); END $$`
	reconnect := "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
	run(setting+"on"+end, reconnect)
	return func() { run("SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE", setting+"off"+end, reconnect) }
}

// Count asks the database behind the program's back for one number. Arguments are $1, $2, ….
func (a *App) Count(t testing.TB, query string, args ...any) (n int64) {
	t.Helper()
	if err := a.shared(t).QueryRowContext(t.Context(), query, args...).Scan(&n); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return n
}

// Rows asks the database behind the program's back for rows, each as text. Arguments are $1, $2, ….
func (a *App) Rows(t testing.TB, query string, args ...any) []string {
	t.Helper()
	rows, err := rowsOf(t.Context(), a.shared(t), query, args...)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return rows
}

// LockAccount locks every row of an account in PostgreSQL until release is called.
func (a *App) LockAccount(t testing.TB, creatorID string) (release func()) {
	t.Helper()
	db := a.database(t)
	t.Cleanup(func() { _ = db.Close() })
	tables, err := rowsOf(t.Context(), db, `SELECT c.table_name FROM information_schema.columns c JOIN information_schema.tables t
		ON t.table_schema = c.table_schema AND t.table_name = c.table_name
		WHERE c.table_schema = 'public' AND c.column_name = 'creator_id' AND t.table_type = 'BASE TABLE' ORDER BY c.table_name`)
	if err != nil || len(tables) < 10 {
		t.Fatalf("the tables of an account are %v, %v", tables, err)
	}
	tx, release := begun(t, db)
	for _, table := range tables {
		lock := "SELECT 1 FROM " + table + " WHERE creator_id = $1 FOR UPDATE" //nolint:gosec // the test's own table
		if _, err := tx.ExecContext(t.Context(), lock, creatorID); err != nil {
			t.Fatalf("lock %s: %v", table, err)
		}
	}
	return release
}

// Hold runs a statement in a transaction of PostgreSQL that lasts until release undoes it.
func (a *App) Hold(t testing.TB, query string, args ...any) (release func()) {
	t.Helper()
	db := a.database(t)
	t.Cleanup(func() { _ = db.Close() })
	tx, release := begun(t, db)
	if _, err := tx.ExecContext(t.Context(), query, args...); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return release
}

// begun begins a transaction, which release undoes.
func begun(t testing.TB, db *sql.DB) (tx *sql.Tx, release func()) {
	t.Helper()
	tx, err := db.BeginTx(context.WithoutCancel(t.Context()), nil)
	if err != nil {
		t.Fatal(err)
	}
	return tx, func() {
		t.Helper()
		if err := tx.Rollback(); err != nil {
			t.Error(err)
		}
	}
}
