//go:build unix

package faults

import (
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"sundry/tests/harness"
)

// wantToMove moves the second cell to another PostgreSQL, by the steps of docs/scaling.md, while buyers pay and
// integrators report use: whatever was acknowledged is there, and the cell goes on where it was.
func (c *cells) wantToMove(t *testing.T, use *meteredUse, sold *sales) {
	t.Helper()
	one, stop := c.all[1], make(chan struct{})
	var reporting sync.WaitGroup
	reporting.Go(func() { use.reportAll(t, 1, stop) })
	sold.await(t, "sales before the move", 5)

	refused := c.move(t)
	before := use.accepted.Load()
	harness.Eventually(t, "a report after the move", func() bool { return use.accepted.Load() > before })
	t.Logf("the cell took no writes for %v, in which %d payments and sessions were refused",
		time.Since(refused).Round(time.Millisecond), sold.refused.Load())
	close(stop)
	reporting.Wait()

	// The one at the old place refuses writes even if somebody starts it by mistake.
	former := c.second.servers[1-c.second.primary]
	former.start()
	if got := onServer(t, c.second.address(1-c.second.primary), "SHOW default_transaction_read_only"); got != "on" {
		t.Errorf("default_transaction_read_only is %s at the old place", got)
	}
	sold.await(t, "sales while the former primary runs", 2)
	former.die(syscall.SIGINT)

	one.forget()
	one.DatabaseURL = withParameter(t, c.second.leader(), "search_path", one.env["DATABASE_SCHEMA"])
	use.account.AsBackend(t, http.MethodPost, "/v1/sandbox/clock/advance", harness.JSON{"seconds": 24 * 3600}).
		Want(t, http.StatusOK)
	use.wantSum(t, one.Deployment, "the counts", "SELECT SUM(quantity)::text FROM usage_rollups")
	use.wantSum(t, one.Deployment, "the reports", "SELECT SUM(quantity)::text FROM usage_events WHERE voided_at IS NULL")
	one.wantLeaders(t, 1)
	if n := one.Count(t, "SELECT COUNT(*) FROM payments WHERE substr(id, 15, 2) <> (SELECT substr(id, 15, 2) FROM creators)"); n > 0 {
		t.Errorf("%d payments have ids of another cell", n)
	}
}

// move takes these steps, and returns when writes began to be refused.
func (c *cells) move(t *testing.T) (refused time.Time) {
	t.Helper()
	p := c.second
	p.follow(c.place)
	refused = time.Now()
	p.configure("default_transaction_read_only = on")
	harness.Eventually(t, "the standby has what was written", func() bool {
		return onServer(t, p.leader(), `SELECT (NOT EXISTS (SELECT 1 FROM pg_stat_activity WHERE backend_xid IS NOT NULL)
			AND EXISTS (SELECT 1 FROM pg_stat_replication WHERE flush_lsn = pg_current_wal_lsn()))::text`) == "true"
	})
	p.servers[p.primary].die(syscall.SIGINT) // as pg_ctl stop -m fast: it sends the rest
	p.primary = 1 - p.primary
	if got := onServer(t, p.leader(), "SELECT pg_promote()::text"); !strings.HasPrefix(got, "t") {
		t.Fatalf("the standby is not promoted: %s", got)
	}
	return refused
}
