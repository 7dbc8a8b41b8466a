//go:build unix

package faults

import (
	"cmp"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"sundry/tests/harness"
	"sundry/tests/testdb"
	"sundry/tests/testenv"
)

// behindPgBouncer is a deployment on an empty database whose processes reach it through a PgBouncer of the test's
// own, which lends them a connection for one transaction at a time.
func behindPgBouncer(t *testing.T) *Deployment {
	t.Helper()
	path := testenv.Need(t, testenv.PgBouncer)
	d := newDeployment(t)
	d.DatabaseURL = testdb.Postgres.URL(t)
	testdb.Postgres.Exec(t, d.DatabaseURL, "DROP SCHEMA public CASCADE")
	testdb.Postgres.Exec(t, d.DatabaseURL, "CREATE SCHEMA public")
	direct, err := url.Parse(d.DatabaseURL)
	if err != nil {
		t.Fatal(err)
	}
	password, _ := direct.User.Password()
	login := ""
	if password != "" {
		login = " password='" + password + "'"
	}
	s := newServer(t, path, "postgres") // it refuses root
	host, port, _ := net.SplitHostPort(s.addr)
	users, config := filepath.Join(s.dir, "users.txt"), filepath.Join(s.dir, "pgbouncer.ini")
	for file, text := range map[string]string{
		users: fmt.Sprintf("%q %q\n", direct.User.Username(), password),
		config: fmt.Sprintf("[databases]\n* = host=%s port=%s user=%s%s\n[pgbouncer]\nlisten_addr = %s\nlisten_port = %s\n"+
			"unix_socket_dir =\nauth_type = trust\nauth_file = %s\npool_mode = transaction\ndefault_pool_size = 8\nmax_client_conn = 200\n",
			direct.Hostname(), cmp.Or(direct.Port(), "5432"), direct.User.Username(), login, host, port, users),
	} {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil { //nolint:gosec // another account reads it
			t.Fatal(err)
		}
	}
	s.args = []string{config}
	s.start()
	pooled := *direct
	pooled.Host = s.addr
	d.env["DATABASE_URL"], d.env["DATABASE_DIRECT_URL"] = fewConnections(t, pooled.String()), d.DatabaseURL
	return d
}

// TestEverythingWorksBehindPgBouncer migrates, sells, delivers and leads through connections that keep no session.
func TestEverythingWorksBehindPgBouncer(t *testing.T) {
	t.Parallel()
	d := behindPgBouncer(t)
	api := d.Start(t, "serve", map[string]string{"WEBHOOK_ALLOW_PRIVATE": "true"})
	d.Start(t, "worker", map[string]string{"WEBHOOK_ALLOW_PRIVATE": "true", "WEBHOOK_WORKERS": "16"})
	a := api.App.NewAccount(t)
	receiver := listen(t)
	receiver.subscribe(t, a)
	listing := a.Published(t, nil)
	const sales = 12
	for i := range sales {
		session := a.NewSession(t, listing, "default", fmt.Sprint("buyer-", i), nil)
		a.Pay(t, session, harness.CardSucceeds).Want(t, http.StatusOK)
	}
	harness.Eventually(
		t, "every change of access has arrived", func() bool { return receiver.received() == sales },
	)
	harness.Eventually(t, "the worker listens", func() bool {
		return d.Count(t, "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() AND query = 'LISTEN sundry_tasks'") == 1
	})
	leads := "SELECT COUNT(*) FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid WHERE l.locktype = 'advisory' AND a.datname = current_database() AND l.granted"
	harness.Eventually(t, "the worker leads", func() bool { return d.Count(t, leads) == 1 })
	d.Verify(t)
}
