//go:build unix

package faults

import (
	"maps"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"sundry/tests/harness"
)

// TestAStandbyServesReads lets a standby serve lists and exports, at a process that bears any lag and at one that bears
// a second, while it follows, stands still and is gone.
func TestAStandbyServesReads(t *testing.T) {
	t.Parallel()
	d, p := newDeployment(t), newPair(t)
	p.configure("synchronous_standby_names = ''") // commits go on without it
	d.DatabaseURL = p.leader()
	maps.Copy(d.env, map[string]string{
		"DATABASE_URL": fewConnections(t, p.leader()), "DATABASE_READ_URL": fewConnections(t, p.address(1)),
		"DATABASE_READ_LAG_SECONDS": "3600",
	})
	patient := d.Start(t, "", nil)
	strict := d.Start(t, "serve", map[string]string{"DATABASE_READ_LAG_SECONDS": "1"})
	account := patient.App.NewAccount(t)
	listing := account.Published(t, nil)
	sell := func() {
		t.Helper()
		session := account.NewSession(t, listing, "default", harness.Unique("buyer"), nil)
		account.Pay(t, session, harness.CardSucceeds).Want(t, http.StatusOK)
		if status := account.Receipt(t, session)["status"]; status != "paid" {
			t.Errorf("the receipt of a sale is %v", status)
		}
	}
	payments := func(at *Process) int {
		var page struct{ Data []struct{ ID string } }
		at.at(account).AsBackend(t, http.MethodGet, "/v1/payments?limit=100", nil).Want(t, http.StatusOK).Into(t, &page)
		return len(page.Data)
	}
	exported := func(at *Process) int {
		export := at.at(account).AsBackend(t, http.MethodGet, "/v1/export", nil).Want(t, http.StatusOK)
		return strings.Count(string(export.Body), `{"type":"payment",`)
	}
	listed := func(at *Process, want int) func() bool { return func() bool { return payments(at) == want } }

	sell()
	harness.Eventually(t, "the standby has the first sale", listed(patient, 1))
	onServer(t, p.address(1), "SELECT '' FROM pg_wal_replay_pause()")
	harness.Eventually(t, "the standby stands still", func() bool {
		return onServer(t, p.address(1), "SELECT pg_get_wal_replay_pause_state()") == "paused"
	})
	sell()
	if got, lines := payments(patient), exported(patient); got != 1 || lines != 1 {
		t.Errorf("a standby that stands still serves %d payments, and %d in an export, want 1", got, lines)
	}
	harness.Eventually(t, "the primary serves where the standby lags", listed(strict, 2))
	onServer(t, p.address(1), "SELECT '' FROM pg_wal_replay_resume()")
	harness.Eventually(t, "the standby has the second sale", listed(patient, 2))

	p.servers[1].die(syscall.SIGKILL)
	sell()
	if got := payments(patient); got != 3 {
		t.Errorf("without a standby there are %d payments, want 3", got)
	}
	p.servers[1].start()
	scans := func() string {
		return onServer(t, p.address(1), "SELECT SUM(COALESCE(seq_scan, 0) + COALESCE(idx_scan, 0))::text FROM pg_stat_user_tables")
	}
	harness.Eventually(t, "verify is served by the standby", func() bool {
		before := scans()
		d.Verify(t)
		return scans() != before
	})
}
