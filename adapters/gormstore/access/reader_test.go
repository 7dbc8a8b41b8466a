package access_test

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"sundry/adapters/gormstore/access"
	"sundry/tests/testdb"
)

// TestTheHotReadsAreLookupsByKey reads PostgreSQL's plans over a table in which a lookup by key pays.
func TestTheHotReadsAreLookupsByKey(t *testing.T) {
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
		read := explain(t, conn, access.ReadSQL, "crt_1", "customer-1")
		if !strings.HasPrefix(read, "Index Scan using access_snapshots_pkey") || strings.Contains(read, "Filter") {
			t.Errorf("the plan of a read is\n%s", read)
		}
		above := explain(t, conn, access.AboveOnPostgres, `[["crt_1", "customer-1", 0]]`)
		if !strings.Contains(above, "Index Scan using access_snapshots_pkey") || strings.Contains(above, "Seq Scan") {
			t.Errorf("the plan of a comparison is\n%s", above)
		}
	})
}

// explain returns the plan of a statement.
func explain(t *testing.T, conn *pgx.Conn, statement string, args ...any) string {
	t.Helper()
	rows, err := conn.Query(t.Context(), "EXPLAIN "+statement, append([]any{pgx.QueryExecModeSimpleProtocol}, args...)...)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(lines, "\n")
}
