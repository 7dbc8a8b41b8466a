// Package testredis hands Redis to tests: the server that TEST_REDIS_URL names, or without one a substitute inside the
// test process.
package testredis

import (
	"strconv"
	"testing"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"sundry/tests/testenv"
)

// The database numbers keep a test process that empties its own from emptying another's; tests/harness has those from 5
// on.
const (
	// Shared is for tests that keep to keys of their own and empty nothing.
	Shared = 1
	// Dispatch belongs to the contract suite of the dispatchers, which empties it.
	Dispatch = 2
	// Faults belongs to tests/faults, which empties it.
	Faults = 3
	// RoundTrips belongs to tests/roundtrips, which runs at the same time as what else uses tests/harness.
	RoundTrips = 4
)

// URL is the REDIS_URL of a database.
func URL(t testing.TB, db int) string {
	t.Helper()
	server := testenv.Get(testenv.Redis)
	if server == "" {
		return "redis://" + miniredis.RunT(t).Addr() + "/" + strconv.Itoa(db)
	}
	options, err := redis.ParseURL(server)
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
