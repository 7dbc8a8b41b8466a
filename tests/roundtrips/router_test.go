package roundtrips

import (
	"regexp"
	"slices"
	"testing"

	"sundry/tests/harness"
	"sundry/tests/testdb"
)

// routerRules name what Citus and poolers that route do not carry, each with a part that a statement may not have
// beside the other. The statements of all areas go through them in TestRoundTripsStayFew.
var routerRules = []struct {
	why        string
	part, with *regexp.Regexp
}{
	{"a subquery in VALUES", regexp.MustCompile(`(?i)VALUES\s*\([^)]*\(\s*SELECT`), nil},
	{"a setting of the connection, which another server does not have",
		regexp.MustCompile(`(?i)current_setting\(`), regexp.MustCompile(`(?i)\b(FROM|INTO|UPDATE)\b`)},
	{"a recursive query in a statement that inserts",
		regexp.MustCompile(`(?i)WITH RECURSIVE`), regexp.MustCompile(`(?i)INSERT INTO`)},
	{"several arrays in one unnest, with locks",
		regexp.MustCompile(`(?i)FROM\s+unnest\([^)]*\[\]\s*,`), regexp.MustCompile(`(?i)FOR (NO KEY )?(UPDATE|SHARE)`)},
	{"a WITH that locks, beside one that inserts: Citus loses its columns unless the lock is in a query within",
		regexp.MustCompile(`(?i)FOR (NO KEY )?(UPDATE|SHARE)[^()]*\)\s*,`),
		regexp.MustCompile(`(?i)\bAS (MATERIALIZED )?\(\s*INSERT`)},
	{"chance in a statement that writes", regexp.MustCompile(`(?i)\brandom\(\)`),
		regexp.MustCompile(`(?i)\b(INSERT|UPDATE|DELETE)\b`)},
	{"a sequence, which is where the connection is, in a query of tables, which are not",
		regexp.MustCompile(`(?i)\bsetval\(`), regexp.MustCompile(`(?i)\bMAX\(`)},
}

func routerFaults(statement string) (why []string) {
	for _, rule := range routerRules {
		if rule.part.MatchString(statement) && (rule.with == nil || rule.with.MatchString(statement)) {
			why = append(why, rule.why)
		}
	}
	return why
}

func TestRouterFaults(t *testing.T) {
	t.Parallel()
	for statement, want := range map[string][]string{
		"INSERT INTO events VALUES ($1, (SELECT last FROM positions))":                      {routerRules[0].why},
		"INSERT INTO events SELECT $1, last FROM positions":                                 nil,
		"SELECT current_setting('x') FROM mails":                                            {routerRules[1].why},
		"SELECT current_setting('server_version')":                                          nil,
		"WITH RECURSIVE k AS (SELECT 1) INSERT INTO rates SELECT * FROM k":                  {routerRules[2].why},
		"WITH RECURSIVE k AS (SELECT 1) UPDATE tasks SET n = 1":                             nil,
		"SELECT * FROM unnest($1::text[], $2::bigint[]) r JOIN tasks USING (id) FOR UPDATE": {routerRules[3].why},
		"SELECT unnest($1::text[]), unnest($2::bigint[]) FROM tasks FOR UPDATE":             nil,
		"WITH mine AS (SELECT id FROM tasks FOR UPDATE OF tasks), logged AS (INSERT INTO attempts SELECT id FROM mine) " +
			"DELETE FROM tasks": {routerRules[4].why},
		"WITH mine AS (SELECT * FROM (SELECT id FROM tasks FOR UPDATE) AS locked), logged AS (INSERT INTO attempts " +
			"SELECT id FROM mine) DELETE FROM tasks": nil,
		"UPDATE tasks SET token = 1 WHERE id = (SELECT id FROM tasks ORDER BY random() LIMIT 1)": {routerRules[5].why},
		"SELECT setval('positions', (SELECT MAX(position) FROM reports))":                        {routerRules[6].why},
		"SELECT setval('positions', $1) FROM positions WHERE last_value < $1":                    nil,
	} {
		if got := routerFaults(statement); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", statement, got, want)
		}
	}
}

var everyColumn = regexp.MustCompile(`(?i)\b(\w+)\.\*|\bSELECT\s+\*\s+FROM\s+"?(\w+)|\b(RETURNING)\s+\*`)

// asksForAll reports whether a statement asks for every column of one of the tables. PostgreSQL refuses to run it again
// when a migration of a later version has added one.
func asksForAll(statement string, tables []string) bool {
	for _, match := range everyColumn.FindAllStringSubmatch(statement, -1) {
		alias, table, returning := match[1], match[2], match[3]
		if returning != "" || slices.Contains(tables, table) || slices.Contains(tables, alias) {
			return true
		}
		if alias == "" {
			continue
		}
		named := regexp.MustCompile(`(?i)\b(?:FROM|JOIN|UPDATE|INTO)\s+"?(\w+)"?\s+(?:AS\s+)?` + alias + `\b`)
		for _, source := range named.FindAllStringSubmatch(statement, -1) {
			if slices.Contains(tables, source[1]) {
				return true
			}
		}
	}
	return false
}

func TestAsksForAll(t *testing.T) {
	t.Parallel()
	for statement, want := range map[string]bool{
		`SELECT * FROM "tasks" WHERE id = $1`:                            true,
		"SELECT t.*, 1 AS n FROM keys k JOIN tasks t ON t.key = k.key":   true,
		"SELECT tasks.* FROM tasks":                                      true,
		"UPDATE tasks SET n = 1 RETURNING *":                             true,
		`SELECT "tasks"."id" FROM "tasks"`:                               false,
		"SELECT COUNT(*) FROM tasks":                                     false,
		"SELECT r.* FROM unnest($1::text[]) r JOIN tasks t ON t.id = r":  false,
		"WITH due AS (SELECT id FROM tasks) SELECT * FROM due":           false,
		"SELECT * FROM (SELECT id FROM tasks) AS free":                   false,
		"INSERT INTO tasks (id) SELECT k.* FROM (VALUES ($1)) AS k (id)": false,
	} {
		if got := asksForAll(statement, []string{"tasks"}); got != want {
			t.Errorf("%s: %t, want %t", statement, got, want)
		}
	}
}

// TestReplicasCanFollowEveryTable: a logical replica refuses changes of a table without a key or another identity.
func TestReplicasCanFollowEveryTable(t *testing.T) {
	t.Parallel()
	app := harness.New(t, testdb.Postgres, nil)
	harness.Eventually(t, "the months of usage have partitions", func() bool {
		return app.Count(t, "SELECT COUNT(*) FROM pg_partition_tree('usage_events')") > 3
	})
	without := app.Count(t, `SELECT COUNT(*) FROM pg_class c WHERE c.relkind IN ('r', 'p')
		AND c.relnamespace = current_schema()::regnamespace AND c.relreplident <> 'f'
		AND NOT EXISTS (SELECT 1 FROM pg_index i WHERE i.indrelid = c.oid AND i.indisprimary)`)
	if without != 0 {
		t.Errorf("%d tables have neither a primary key nor a replica identity", without)
	}
}
