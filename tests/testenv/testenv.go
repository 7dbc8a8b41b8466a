// Package testenv tells tests which services and programs this run has. Each is named by a TEST_* variable. tests/run
// sets them all; a plain go test has none of them and needs none. No other package reads such a variable.
package testenv

import (
	"os"
	"testing"
)

// The variables.
const (
	Database   = "TEST_DATABASE_URL" // a PostgreSQL server whose user may create databases
	Citus      = "TEST_CITUS_URL"    // the coordinator of a Citus, whose databases take the place of PostgreSQL's
	PgBouncer  = "TEST_PGBOUNCER"    // the program
	HAProxy    = "TEST_HAPROXY"      // the program
	PgBackRest = "TEST_PGBACKREST"   // the program
	Redis      = "TEST_REDIS_URL"    // a server whose databases the tests may empty
	Chromium   = "TEST_CHROMIUM"     // the program
	Axe        = "TEST_AXE_PATH"     // the file axe.min.js
	Node       = "TEST_NODE"         // the program
	Packages   = "TEST_NPM"          // the folder with the npm packages of tests/npm
	StripeMock = "TEST_STRIPE_MOCK"  // the program
	Engine     = "TEST_ENGINE"       // "sqlite" or "postgres": the only engine to use; "" for all that there are
)

// Run names a run of tests/run. Because a result in go's test cache is good only for the values of the variables that
// the test has read, what has read a variable here runs in every run, and all other results may come from the cache.
const Run = "TEST_RUN"

// Get returns the value of a variable, "" when it is not set.
func Get(variable string) string {
	_ = os.Getenv(Run)
	return os.Getenv(variable)
}

// Need returns the value of a variable. Without one it skips the test, which tests/run counts as a failure.
func Need(t testing.TB, variable string) string {
	t.Helper()
	value := Get(variable)
	if value == "" {
		t.Skipf("%s is not set: go run ./tests/run sets it", variable)
	}
	return value
}
