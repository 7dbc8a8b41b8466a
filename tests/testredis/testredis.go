// Package testredis hands Redis to tests: the server that TEST_REDIS_URL names (default 127.0.0.1:6379), or a
// substitute inside the test process when TEST_QUICK=1 does without services.
package testredis

import (
	"cmp"
	"os"
	"strconv"
	"testing"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
)

// The database numbers, so that test processes that empty theirs do not empty another's; tests/harness has those from 4 on.
const (
	// Shared is for tests that keep to keys of their own and empty nothing.
	Shared = 1
	// Dispatch belongs to the contract suite of the dispatchers, which empties it.
	Dispatch = 2
	// Faults belongs to tests/faults, which empties it.
	Faults = 3
)

// URL is the REDIS_URL of a database.
func URL(t testing.TB, db int) string {
	t.Helper()
	if os.Getenv("TEST_QUICK") != "" {
		return "redis://" + miniredis.RunT(t).Addr() + "/" + strconv.Itoa(db)
	}
	options, err := redis.ParseURL(cmp.Or(os.Getenv("TEST_REDIS_URL"), "redis://127.0.0.1:6379"))
	if err != nil {
		t.Fatalf("TEST_REDIS_URL: %v", err)
	}
	return "redis://" + options.Addr + "/" + strconv.Itoa(db)
}

// Client is a connection to a database, closed when the test ends.
func Client(t testing.TB, db int) *redis.Client {
	t.Helper()
	options, err := redis.ParseURL(URL(t, db))
	if err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(options)
	t.Cleanup(func() {
		if err := client.Close(); err != nil {
			t.Errorf("close redis: %v", err)
		}
	})
	return client
}
