package access_test

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"sundry/adapters/gormstore/access"
	"sundry/tests/testdb"
)

// TestTheHotReadIsOneLookupByKey reads PostgreSQL's plan over a table in which a lookup by key pays.
func TestTheHotReadIsOneLookupByKey(t *testing.T) {
	t.Parallel()
	testdb.EachEngine(t, func(t *testing.T, engine testdb.Engine) {
		if engine.Name != testdb.Postgres.Name {
			return // its only index is the primary key
		}
		conn, err := pgx.Connect(t.Context(), engine.URL(t))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close(t.Context()) }()
		for _, statement := range []string{
			`INSERT INTO access_snapshots SELECT 'crt_' || n % 10, 'customer-' || n, 1, '"x"', '\x7b7d', NULL
				FROM generate_series(1, 20000) n`,
			"ANALYZE access_snapshots",
		} {
			if _, err := conn.Exec(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
		rows, err := conn.Query(t.Context(), "EXPLAIN "+access.ReadSQL, pgx.QueryExecModeSimpleProtocol, "crt_1",
			"customer-1")
		if err != nil {
			t.Fatal(err)
		}
		lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatal(err)
		}
		plan := strings.Join(lines, "\n")
		if !strings.HasPrefix(plan, "Index Scan using access_snapshots_pkey") || strings.Contains(plan, "Filter") {
			t.Errorf("the plan is\n%s", plan)
		}
	})
}
