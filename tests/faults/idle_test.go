package faults

import (
	"testing"
	"time"

	"sundry/tests/harness"
)

// TestIdleProcessesAskForLittle counts what processes send to their servers while nothing happens: about 1.2 requests a
// second to PostgreSQL and 0.8 to Redis. Each transaction is at least one request. On a busy machine the work of a start
// may last into the first windows.
func TestIdleProcessesAskForLittle(t *testing.T) {
	t.Parallel()
	const window, most = 8 * time.Second, 28
	for name, commands := range map[string][]string{"one process": {""}, "apart": {"serve", "worker"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := Distributed(t)
			for _, command := range commands {
				d.Start(t, command, nil)
			}
			time.Sleep(9 * time.Second) // what a start schedules and the first check of the invariants are over
			harness.Eventually(t, "they are idle", func() bool {
				database, redis := d.Database.Requests(), d.Redis.Requests()
				time.Sleep(window)
				database, redis = d.Database.Requests()-database, d.Redis.Requests()-redis
				t.Logf("in %v %d requests to PostgreSQL, %d to Redis", window, database, redis)
				return max(database, redis) <= most
			})
		})
	}
}
