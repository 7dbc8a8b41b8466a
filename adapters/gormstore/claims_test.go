package gormstore_test

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"

	_ "github.com/glebarez/sqlite" // the driver "sqlite"
	_ "github.com/jackc/pgx/v5/stdlib"

	"sundry/adapters/gormstore"
	"sundry/tests/testdb"
)

// TestTheCalendarsReadDoesNotGrowWithThePast looks at the plan over a creator with five thousand past sessions: both
// ends of the interval bound the index.
func TestTheCalendarsReadDoesNotGrowWithThePast(t *testing.T) {
	t.Parallel()
	testdb.EachEngine(t, func(t *testing.T, engine testdb.Engine) {
		db, explain := openToExplain(t, engine)
		const numbers = "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 5000) "
		for _, statement := range []string{
			`INSERT INTO claims ` + numbers + `SELECT 'clm_' || n, 'crt_1', 'lst_1', 'var_1', 'cs_' || n, 0, 'confirmed',
				n * hour, n * hour + 1, n * hour, n * hour + 1, 'UTC', 'virtual', 0, 1 FROM n, (SELECT CAST(3600000 AS BIGINT) AS hour) AS unit`,
			"ANALYZE claims",
		} {
			if _, err := db.ExecContext(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
		query := gormstore.LiveClaimsSQL
		for _, value := range []string{"'crt_1'", "17800000000", "18000000000", "17900000000"} {
			query = strings.Replace(query, "?", value, 1)
		}
		plan := planOf(t, db, explain+query)
		want := "Index Cond: ((creator_id = 'crt_1'::text) AND (blocked_from > '17800000000'::bigint) AND (blocked_from < '18000000000'::bigint))"
		if engine.Name == testdb.SQLite.Name {
			want = "SEARCH claims USING INDEX claims_live (creator_id=? AND blocked_from>? AND blocked_from<?)"
		}
		if !strings.Contains(plan, want) || !strings.Contains(plan, "claims_live") {
			t.Errorf("the plan is\n%s", plan)
		}
	})
}

// openToExplain opens a new database of the engine past gorm; explain is what its plans are asked for with.
func openToExplain(t *testing.T, engine testdb.Engine) (db *sql.DB, explain string) {
	t.Helper()
	driver, address, explain := "pgx", engine.URL(t), "EXPLAIN (COSTS OFF) "
	if engine.Name == testdb.SQLite.Name {
		driver, address, explain = "sqlite", strings.TrimPrefix(address, "sqlite:"), "EXPLAIN QUERY PLAN "
	}
	db, err := sql.Open(driver, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db, explain
}

// planOf joins the last column of each row, which is where both engines write the plan.
func planOf(t *testing.T, db *sql.DB, statement string) string {
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
	plan := ""
	for rows.Next() {
		values := make([]any, len(columns))
		for i := range values {
			values[i] = new(any)
		}
		if err := rows.Scan(values...); err != nil {
			t.Fatal(err)
		}
		last, _ := values[len(values)-1].(*any)
		plan += fmt.Sprintln(*last)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return plan
}
