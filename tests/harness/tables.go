package harness

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"

	_ "github.com/glebarez/go-sqlite"  // the driver "sqlite"
	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
)

// Tables is a fingerprint of every table's rows, by the table's name. Two of them differ where something was written
// in between.
func (a *App) Tables(t testing.TB) map[string]string {
	t.Helper()
	list := "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public' AND table_type = 'BASE TABLE'"
	if strings.HasPrefix(a.DatabaseURL, "sqlite:") {
		list = "SELECT name FROM sqlite_master WHERE type = 'table'"
	}
	db := a.database(t)
	defer func() { _ = db.Close() }()
	names, err := rowsOf(t.Context(), db, list)
	if err != nil || len(names) < 10 {
		t.Fatalf("the tables are %v, %v", names, err)
	}
	tables := map[string]string{}
	for _, name := range names {
		rows, err := rowsOf(t.Context(), db, "SELECT * FROM "+name)
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(rows)
		sum := sha256.Sum256([]byte(strings.Join(rows, "\n")))
		tables[name] = fmt.Sprintf("%d rows, %s", len(rows), hex.EncodeToString(sum[:8]))
	}
	return tables
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

// Exec changes rows behind the program's back, to what no request can bring about. Arguments are $1, $2, ….
func (a *App) Exec(t testing.TB, query string, args ...any) {
	t.Helper()
	db := a.database(t)
	defer func() { _ = db.Close() }()
	if _, err := db.ExecContext(t.Context(), query, args...); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

// rowsOf renders each row of a query as text.
func rowsOf(ctx context.Context, db *sql.DB, query string) ([]string, error) {
	rows, err := db.QueryContext(ctx, query)
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
		all = append(all, strings.TrimSuffix(strings.TrimPrefix(fmt.Sprint(values), "["), "]"))
	}
	return all, rows.Err()
}
