package testdb

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
	_ "modernc.org/sqlite"             // the driver "sqlite"
)

// OpenToExplain opens a new database of the engine past gorm; explain is what its plans are asked for with.
func OpenToExplain(t *testing.T, engine Engine) (db *sql.DB, explain string) {
	t.Helper()
	driver, address, explain := "pgx", engine.URL(t), "EXPLAIN (COSTS OFF) "
	if engine.Name == SQLite.Name {
		driver, address, explain = "sqlite", strings.TrimPrefix(address, "sqlite:"), "EXPLAIN QUERY PLAN "
	}
	db, err := sql.Open(driver, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db, explain
}

// PlanOf joins the last column of each row, in which both engines write the plan.
func PlanOf(t *testing.T, db *sql.DB, statement string) string {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), statement)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var plan strings.Builder
	for rows.Next() {
		values := make([]any, len(columns))
		for i := range values {
			values[i] = new(any)
		}
		if err := rows.Scan(values...); err != nil {
			t.Fatal(err)
		}
		last, _ := values[len(values)-1].(*any)
		fmt.Fprintln(&plan, *last)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return plan.String()
}
