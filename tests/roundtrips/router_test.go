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
	} {
		if got := routerFaults(statement); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", statement, got, want)
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
