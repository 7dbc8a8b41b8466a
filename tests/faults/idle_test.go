package faults

import (
	"testing"
	"time"
)

// TestIdleProcessesAskForLittle counts what processes send to their servers while nothing happens: about 1.2 requests a
// second to PostgreSQL and 0.8 to Redis. Each transaction is at least one request.
func TestIdleProcessesAskForLittle(t *testing.T) {
	t.Parallel()
	const window, mostPerSecond = 8 * time.Second, 3.5
	for name, commands := range map[string][]string{"one process": {""}, "apart": {"serve", "worker"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := Distributed(t)
			for _, command := range commands {
				d.Start(t, command, nil)
			}
			time.Sleep(9 * time.Second) // what a start schedules and the first check of the invariants are over
			database, redis := d.Database.Requests(), d.Redis.Requests()
			time.Sleep(window)
			for server, sent := range map[string]int64{
				"PostgreSQL": d.Database.Requests() - database, "Redis": d.Redis.Requests() - redis,
			} {
				perSecond := float64(sent) / window.Seconds()
				t.Logf("%s: %.1f requests a second", server, perSecond)
				if perSecond > mostPerSecond {
					t.Errorf("%s: %.1f requests a second, want at most %.1f", server, perSecond, mostPerSecond)
				}
			}
		})
	}
}
