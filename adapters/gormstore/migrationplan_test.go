package gormstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// firstUpgradable is the number of the first migration that a program of the release before may run beside. Those below
// were made while no release was tagged: nobody upgrades past them without a stop.
const firstUpgradable = 60

// A release is followed by one whose migrations only expand, and the next one may contract what nobody uses any more:
// so processes of two successive releases run beside each other.
func TestMigrationsExpandOrContract(t *testing.T) {
	t.Parallel()
	for _, engine := range []string{"sqlite", "postgres"} {
		files, err := migrationsOf(engine)
		if err != nil {
			t.Fatal(err)
		}
		known, err := readMigrations(files)
		if err != nil {
			t.Fatalf("%s: %v", engine, err)
		}
		checked, phases := 0, map[string]map[phase]string{} // release → phase → a migration of it
		for _, m := range known {
			if m.version < firstUpgradable {
				continue
			}
			checked++
			content, err := fs.ReadFile(files, m.path)
			if err != nil {
				t.Fatal(err)
			}
			for _, fault := range upgradeFaults(engine, string(content), m.changes) {
				t.Errorf("%s for %s: %s", m.path, engine, fault)
			}
			at := slices.IndexFunc(releases, func(r release) bool { return m.version <= r.last })
			if at < 0 {
				t.Fatalf("%s is after the last release", m.path)
			}
			if m.phase != neutral {
				if phases[releases[at].version] == nil {
					phases[releases[at].version] = map[phase]string{}
				}
				phases[releases[at].version][m.phase] = m.path
			}
		}
		if checked < 2 {
			t.Errorf("checked %d migrations for %s, want those since %d", checked, engine, firstUpgradable)
		}
		for version, found := range phases {
			if len(found) > 1 {
				t.Errorf("%s for %s expands with %s and contracts with %s: the next release contracts", version, engine,
					found[expand], found[contract])
			}
		}
	}
}

// release is a version and the number of its last migration.
type release struct {
	version string
	last    int64
}

// releases are in their order. The last one is the next, whose migrations may still be added to.
var releases = []release{{"0.1.0", 19}, {"unreleased", math.MaxInt64}}

// upgradeFaults returns why processes could not go on beside a migration.
func upgradeFaults(engine, content string, changes []change) []string {
	var faults []string
	if phases := phasesOf(changes); len(phases) > 1 {
		faults = append(faults, "it expands and contracts: the next release contracts")
	}
	for _, c := range changes {
		upper := strings.ToUpper(c.statement)
		if engine == "postgres" && strings.HasPrefix(upper, "CREATE") && strings.Contains(upper, "INDEX") && c.table != "" &&
			!c.concurrently {
			faults = append(faults, "an index on a table in use needs CONCURRENTLY, in a file of PostgreSQL's own: "+c.statement)
		}
		if c.concurrently && !strings.Contains(content, "-- +goose NO TRANSACTION") {
			faults = append(faults, "CONCURRENTLY needs -- +goose NO TRANSACTION")
		}
		if c.concurrently && (len(changes) > 1 || !strings.Contains(upper, "IF NOT EXISTS") && strings.HasPrefix(upper, "CREATE")) {
			faults = append(faults, "CONCURRENTLY is alone in its file, and with IF NOT EXISTS: it may have to run again")
		}
	}
	return faults
}

func TestUpgradeFaults(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]string{
		"CREATE TABLE a (id TEXT); CREATE UNIQUE INDEX a_x ON a (x); INSERT INTO a VALUES (1);": "",
		"ALTER TABLE a ADD COLUMN b TEXT;":                                                                  "",
		"ALTER TABLE a ADD COLUMN b TEXT NOT NULL DEFAULT '';":                                              "",
		"ALTER TABLE a ADD COLUMN b BIGINT DEFAULT 0 NOT NULL; UPDATE a SET b = 1;":                         "",
		"DROP TABLE a; ALTER TABLE b DROP COLUMN c;":                                                        "",
		"-- +goose NO TRANSACTION\n-- +goose Up\nCREATE INDEX CONCURRENTLY IF NOT EXISTS a_b ON a (b);":     "",
		"CREATE TABLE a (id TEXT); DROP TABLE b;":                                                           "expands and contracts",
		"ALTER TABLE a ADD COLUMN b TEXT; ALTER TABLE a RENAME COLUMN c TO d;":                              "expands and contracts",
		"CREATE INDEX a_b ON a (b);":                                                                        "needs CONCURRENTLY",
		"CREATE INDEX CONCURRENTLY IF NOT EXISTS a_b ON a (b);":                                             "NO TRANSACTION",
		"-- +goose NO TRANSACTION\n-- +goose Up\nCREATE INDEX CONCURRENTLY a_b ON a (b);":                   "IF NOT EXISTS",
		"ALTER TABLE a ADD COLUMN b TEXT NOT NULL; ALTER TABLE a ADD COLUMN c TEXT;":                        "expands and contracts",
		"-- +goose StatementBegin\nCREATE FUNCTION f() RETURNS x AS $$ a; b; $$;\n-- +goose StatementEnd\n": "",
	} {
		changes, err := changesOf(content)
		if err != nil {
			t.Errorf("%s: %v", content, err)
		}
		got := strings.Join(upgradeFaults("postgres", content, changes), "; ")
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%s: got %q, want %q", content, got, want)
		}
	}
	if _, err := changesOf("VACUUM FULL a;"); err == nil {
		t.Error("an unknown statement passes")
	}
}

func TestMigrationsWaitForLocksInTurns(t *testing.T) {
	t.Parallel()
	locked := fmt.Errorf("run: %w", &pgconn.PgError{Code: "55P03"})
	for name, c := range map[string]struct {
		results []error
		calls   int
		want    string
	}{
		"a lock that is freed":       {[]error{locked, locked, nil}, 3, "<nil>"},
		"a lock that is never freed": {make([]error, 0), migrationTries, "end the transaction"},
		"another error":              {[]error{errors.New("syntax")}, 1, "syntax"},
	} {
		calls := 0
		err := untilUnlocked(t.Context(), 0, func() error {
			calls++
			if calls <= len(c.results) {
				return c.results[calls-1]
			}
			return locked
		})
		if calls != c.calls || !strings.Contains(fmt.Sprint(err), c.want) {
			t.Errorf("%s: got %d calls and %v, want %d and %q", name, calls, err, c.calls, c.want)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := untilUnlocked(ended, migrationPause, func() error { return locked }); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %v", err)
	}
}
