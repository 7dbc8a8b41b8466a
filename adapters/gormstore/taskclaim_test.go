package gormstore_test

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"sundry/adapters/gormstore"
	"sundry/ports"
	"sundry/tests/testdb"
)

// TestAClaimDoesNotGrowWithTheBacklogOfOneKey reads the plan over one concurrency key with a long backlog beside a few
// quiet ones: every step goes through an index, and none takes more of a key than its head.
func TestAClaimDoesNotGrowWithTheBacklogOfOneKey(t *testing.T) {
	t.Parallel()
	testdb.EachEngine(t, func(t *testing.T, engine testdb.Engine) {
		db, explain := testdb.OpenToExplain(t, engine)
		query := gormstore.ClaimSQL(engine.Name, 64)
		for name, value := range map[string]string{"@class": "'webhooks'", "@now": "1800000000000",
			"@until": "1800000020000", "@limit": "64"} {
			query = strings.ReplaceAll(query, name, value)
		}
		for _, statement := range []string{
			"", // an empty table that nobody has analyzed
			`INSERT INTO tasks (id, kind, subject, class, due_at, run_at, concurrency_key)
				WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 100000)
				SELECT 'a:' || n, 'a', 'n', 'webhooks', n, n, CASE WHEN n > 99990 THEN 'quiet-' || n ELSE 'busy' END FROM n`,
			"ANALYZE tasks",
		} {
			if statement != "" {
				if _, err := db.ExecContext(t.Context(), statement); err != nil {
					t.Fatal(err)
				}
			}
			plan := testdb.PlanOf(t, db, explain+query)
			if strings.Contains(plan, "Seq Scan on tasks") || strings.Contains(plan, "SCAN tasks") ||
				strings.Contains(plan, "SCAN t\n") ||
				strings.Count(plan, "tasks_class_key_run_at") < 3 {
				t.Errorf("after %.20q the plan is\n%s", statement, plan)
			}
		}
		look := strings.ReplaceAll(gormstore.AnyKeySQL, "$1", "'webhooks'")
		if plan := testdb.PlanOf(t, db, explain+look); strings.Contains(plan, "Seq Scan") ||
			strings.Contains(plan, "SCAN tasks") {
			t.Errorf("the look for keys scans:\n%s", plan)
		}
		wantHead(t, db, engine, query)
	})
}

// wantHead runs the claim and checks how many rows of the busy key it took, which is its limit.
func wantHead(t *testing.T, db *sql.DB, engine testdb.Engine, query string) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() { // a statement that returns rows is done when all were read
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	var busy, quiet int
	err = db.QueryRowContext(t.Context(), "SELECT SUM(CASE WHEN concurrency_key = 'busy' THEN 1 ELSE 0 END), SUM(CASE "+
		"WHEN concurrency_key = 'busy' THEN 0 ELSE 1 END) FROM tasks WHERE lease_until > 0").Scan(&busy, &quiet)
	if err != nil || busy != ports.MaxPerKey || quiet != 10 {
		t.Errorf("%s: claimed %s, %v; want its limit of the busy key and all 10 quiet ones", engine.Name,
			fmt.Sprint(busy, " and ", quiet), err)
	}
}

// TestAClaimsTextDoesNotDependOnItsLimit: each text of a claim is planned on each connection, which takes longer than
// most claims.
func TestAClaimsTextDoesNotDependOnItsLimit(t *testing.T) {
	t.Parallel()
	for _, engine := range []string{testdb.Postgres.Name, testdb.SQLite.Name} {
		for limit := 2; limit <= 64; limit++ {
			if gormstore.ClaimSQL(engine, limit) != gormstore.ClaimSQL(engine, 1) {
				t.Errorf("%s: the claim of %d is another statement than that of 1", engine, limit)
			}
		}
		if gormstore.ClaimSQL(engine, 65) == gormstore.ClaimSQL(engine, 64) {
			t.Errorf("%s: a claim of 65 does not read more than one of 64", engine)
		}
	}
}
