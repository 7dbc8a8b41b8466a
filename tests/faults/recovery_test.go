//go:build unix

package faults

import (
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"sundry/tests/harness"
	"sundry/tests/stripefake"
	"sundry/tests/testenv"
)

// backedUpServer is a PostgreSQL whose WAL pgBackRest archives, as deploy/recovery/pgbackrest.conf has it, with a base
// backup. backrest runs a command of pgBackRest.
func backedUpServer(t *testing.T) (s *server, address string, backrest func(args ...string)) {
	t.Helper()
	path := testenv.Need(t, testenv.PgBackRest)
	s, address, ok := newPostgresServer(t)
	if !ok {
		t.Fatal("pgBackRest is installed and PostgreSQL's own programs are not")
	}
	example, err := os.ReadFile("../../deploy/recovery/pgbackrest.conf")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(s.addr)
	in := func(name string) string { return filepath.Join(s.dir, name) }
	text := strings.NewReplacer(
		"/var/lib/pgbackrest", in("repository"), "/var/log/pgbackrest", in("log"), "/tmp/pgbackrest", in("lock"),
		"/var/lib/postgresql/15/main", in("data"), "/var/run/postgresql", s.dir, "5432", port,
	).Replace(string(example))
	conf := in("pgbackrest.conf")
	if err := os.WriteFile(conf, []byte(text), 0o644); err != nil { //nolint:gosec // another account reads it
		t.Fatal(err)
	}
	s.run("mkdir", in("repository"), in("log"), in("lock"))
	s.args = append(s.args, "-c", "unix_socket_directories="+s.dir, "-c", "archive_mode=on",
		"-c", fmt.Sprintf("archive_command=%s --config=%s --stanza=sundry archive-push %%p", path, conf))
	s.start()
	backrest = func(args ...string) {
		t.Helper()
		s.run(path, append([]string{"--config=" + conf, "--stanza=sundry"}, args...)...)
	}
	backrest("stanza-create")
	backrest("--type=full", "backup")
	// pgBackRest keeps the time of a backup's end in whole seconds, and restores to a later one.
	ended := time.Now().Unix()
	harness.Eventually(t, "the second of the backup's end is over", func() bool {
		return time.Now().Unix() > ended
	})
	return s, address, backrest
}

// TestRestore_ToAPointInTime loses a database after two sales and comes back to the time between them, by the steps of
// docs/recovery.md.
func TestRestore_ToAPointInTime(t *testing.T) {
	t.Parallel()
	d := newDeployment(t)
	postgres, address, backrest := backedUpServer(t)
	fake := stripefake.New(t)
	d.DatabaseURL = address
	maps.Copy(d.env, map[string]string{
		"DATABASE_URL": address, "STRIPE_SECRET_KEY": "sk_test_1", "STRIPE_PUBLISHABLE_KEY": "pk_test_1",
		"STRIPE_WEBHOOK_SECRET": "whsec_only_for_tests", "STRIPE_API_BASE": fake.URL,
	})
	program := d.Start(t, "", nil)
	account := program.App.NewAccount(t)
	listing := account.Published(t, harness.JSON{"priceInCents": 2000, "currency": "eur"})
	details := harness.JSON{"email": "ada@example.com", "country": "IE"}
	paid := harness.JSON{
		"email": "ada@example.com", "country": "IE", "confirmationToken": "ctoken_" + stripefake.Succeeds,
	}
	submit := func(session harness.Session, page string, body harness.JSON) {
		t.Helper()
		if page == "/pay" {
			body = account.Agreed(t, session, body)
		}
		account.Ask(t, harness.Request{Method: "POST", Path: "/c/" + session.Secret() + page, Body: body}).Want(t, 200)
	}
	open := func() harness.Session { return account.NewSession(t, listing, "default", harness.Unique("user"), nil) }
	first, described := open(), open()
	submit(first, "/pay", paid)
	submit(described, "/details", details)
	var point time.Time
	if err := d.database(t).QueryRowContext(t.Context(), "SELECT clock_timestamp()").Scan(&point); err != nil {
		t.Fatal(err)
	}
	submit(described, "/pay", paid)
	second := open()
	submit(second, "/pay", paid)
	// A server that is lost a minute later has archived this by itself (archive_timeout).
	var segment string
	if err := d.database(t).QueryRowContext(t.Context(), "SELECT pg_walfile_name(pg_switch_wal())").
		Scan(&segment); err != nil {
		t.Fatal(err)
	}
	harness.Eventually(t, "the last sale is archived", func() bool {
		return d.Count(t, "SELECT COUNT(*) FROM pg_stat_archiver WHERE last_archived_wal >= '"+segment+"'") == 1
	})
	program.Kill()
	d.forget()
	postgres.die(syscall.SIGKILL)
	if err := os.RemoveAll(filepath.Join(postgres.dir, "data")); err != nil {
		t.Fatal(err)
	}

	lost := time.Now()
	postgres.run("mkdir", "-m", "700", "data")
	backrest("--type=time", "--target="+point.UTC().Format("2006-01-02 15:04:05.999999-07"), "--target-action=promote",
		"restore")
	postgres.start()
	harness.Eventually(t, "the server is at the point", func() bool {
		recovering := true
		err := d.database(t).QueryRowContext(t.Context(), "SELECT pg_is_in_recovery()").Scan(&recovering)
		return err == nil && !recovering
	})
	since := point.UTC().Format(time.RFC3339)
	for _, want := range []string{"differences: 2, left open: 0", "nothing is different"} {
		out, err := d.RunToEnd(t, "reconcile --apply "+since)
		if err != nil || !strings.Contains(out, want) {
			t.Errorf("reconcile: %v\n%s\nwant %q", err, out, want)
		}
	}
	d.Verify(t)
	account.App = d.Start(t, "", map[string]string{"BASE_URL": program.App.URL}).App
	t.Logf("back after %s", time.Since(lost).Round(100*time.Millisecond))

	for _, session := range []harness.Session{first, described} {
		if got := account.Receipt(t, session)["status"]; got != "paid" {
			t.Errorf("session %s is %v", session.ID, got)
		}
	}
	account.AsBackend(t, "GET", "/v1/checkout-sessions/"+second.ID+"/receipt?headless=true", nil).
		Refuses(t, 404, "NOT_FOUND")
	for session, want := range map[harness.Session]int64{first: 0, described: 0, second: 2000} {
		paymentID, _ := fake.Get("pi_", "subject_id", session.ID)["metadata"].(map[string]any)["payment_id"].(string)
		if got := fake.Refunded(paymentID); got != want {
			t.Errorf("Stripe returned %d of session %s, want %d", got, session.ID, want)
		}
	}
	submit(open(), "/pay", paid) // business goes on
	d.Verify(t)
}
