package faults

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sundry/tests/harness"
)

// firstPlanted is the number of the first migration of the version that TestUpgradesFailNoRequest makes.
const firstPlanted = 90001

// nextVersion is a deployment of a later version on the same database: this source with migrations that give every
// table of PostgreSQL a column more and payments an index, and that make a table.
func (d *Deployment) nextVersion(t *testing.T) *Deployment {
	t.Helper()
	rows, err := d.database(t).QueryContext(t.Context(), `SELECT relname FROM pg_class
		WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
		AND relname NOT IN ('goose_db_version', 'migration_checksums', 'migration_phases') ORDER BY relname`)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	planted := []string{
		"-- +goose Up\nCREATE TABLE next_table (id TEXT PRIMARY KEY);\n",
		"-- +goose NO TRANSACTION\n-- +goose Up\n" +
			"CREATE INDEX CONCURRENTLY IF NOT EXISTS next_index ON payments (creator_id, created_at);\n",
	}
	for rows.Next() {
		var table string
		if err := rows.Scan(&table); err != nil {
			t.Fatal(err)
		}
		planted = append(planted, "-- +goose Up\nALTER TABLE "+table+" ADD COLUMN next_column TEXT DEFAULT 'next';\n")
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	source, err := filepath.Abs("../../adapters/gormstore/migrations/postgres")
	if err != nil {
		t.Fatal(err)
	}
	overlay := map[string]map[string]string{"Replace": {}}
	for i, content := range planted {
		name := fmt.Sprintf("%05d_next.sql", firstPlanted+i)
		overlay["Replace"][filepath.Join(source, name)] = filepath.Join(folder, name)
		save(t, filepath.Join(folder, name), []byte(content))
	}
	list, err := json.Marshal(overlay)
	if err != nil {
		t.Fatal(err)
	}
	save(t, filepath.Join(folder, "overlay.json"), list)
	next := *d
	next.program = filepath.Join(folder, "sundry")
	if err := build(t.Context(), next.program, filepath.Join(folder, "overlay.json")); err != nil {
		t.Fatal(err)
	}
	return &next
}

func save(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestUpgradesFailNoRequest migrates to the schema of a later version, and replaces every process by one of it, while
// buyers pay and book, and integrators read, report use and receive events.
func TestUpgradesFailNoRequest(t *testing.T) {
	t.Parallel()
	d := Distributed(t)
	b, front := newBalancer(t)
	vars := map[string]string{"BASE_URL": front, "TRUSTED_PROXIES": "private"}
	old, oldWorker := d.Start(t, "serve", vars), d.Start(t, "worker", vars)
	b.set(t, old)
	app := &harness.App{URL: front, Log: &harness.Log{}}
	next := d.nextVersion(t)
	load := startTraffic(t, app)
	defer load.end() // after a failure, too
	load.passes(t, "before the upgrade")
	if out, err := next.RunToEnd(t, "migrate"); err != nil {
		t.Fatalf("the migration: %v\n%s", err, out)
	}
	load.passes(t, "on the next version's schema")
	if out, err := d.RunToEnd(t, "migrate --check"); err != nil || !strings.Contains(out, "of a later version") {
		t.Errorf("the check of the version before: %v\n%s", err, out)
	}
	again := d.Start(t, "serve", vars)
	beside, besideWorker := next.Start(t, "serve", vars), next.Start(t, "worker", vars)
	b.set(t, old, again, beside)
	load.passes(t, "with both versions")
	b.set(t, beside)
	time.Sleep(time.Second) // requests on their way to those that leave arrive
	for _, p := range []*Process{old, again, oldWorker} {
		p.Terminate(t)
	}
	load.passes(t, "with the next version alone")
	load.end()

	if failed := b.failed.Load(); failed > 0 {
		t.Errorf("%d requests failed", failed)
	}
	harness.Eventually(t, "every event is delivered", func() bool {
		return d.Count(t, "SELECT COUNT(*) FROM deliveries WHERE status <> 'delivered'") == 0
	})
	for _, p := range []*Process{old, oldWorker, again, beside, besideWorker} {
		for line := range strings.Lines(p.Log()) {
			if strings.Contains(line, "SQLSTATE") {
				t.Errorf("a statement failed: %s", line)
			}
		}
	}
	if n := d.Count(t, "SELECT COUNT(*) FROM usage_events"); int64(n) != load.reported.Load() {
		t.Errorf("%d reports of use are kept of %d that were accepted", n, load.reported.Load())
	}
	if d.Count(t, "SELECT COUNT(*) FROM pg_index WHERE indexrelid = 'next_index'::regclass AND indisvalid") != 1 {
		t.Error("the next version has no index")
	}
	next.Verify(t)
	d.Verify(t)
}

// traffic makes the requests of buyers and integrators until it is stopped.
type traffic struct {
	account                *harness.Account
	sold, booked, reported atomic.Int64
	stop                   chan struct{}
	once                   sync.Once
	all                    sync.WaitGroup
}

func startTraffic(t *testing.T, app *harness.App) *traffic {
	t.Helper()
	account := app.NewAccount(t)
	listing, hours, receiver := account.Published(t, nil), bookable(t, account), listen(t)
	receiver.subscribe(t, account)
	use := newMeteredUse(t, account)
	load := &traffic{account: account, stop: make(chan struct{})}
	for range 2 {
		load.repeat(func(int) {
			customer := harness.Unique("customer")
			session := account.NewSession(t, listing, "default", customer, nil)
			account.Pay(t, session, harness.CardSucceeds).Want(t, 200)
			account.AsBackend(t, http.MethodGet, "/v1/customer-access/"+customer, nil).Want(t, 200)
			account.AsBackend(t, http.MethodPost, "/v1/refunds", harness.JSON{
				"paymentId": account.Receipt(t, session)["paymentId"], "amountInCents": 100,
				"reason": "requested_by_customer",
			}).Want(t, 201)
			load.sold.Add(1)
		})
	}
	first, err := time.Parse(time.RFC3339, openStarts(t, account, hours)[0])
	if err != nil {
		t.Fatal(err)
	}
	load.repeat(func(n int) {
		for before := load.sold.Load(); load.sold.Load() < before+8; time.Sleep(10 * time.Millisecond) {
			if load.ended() {
				return
			}
		}
		at := first.AddDate(0, 0, n/7).Add(time.Duration(n%7) * time.Hour)
		session := account.NewSession(t, hours, "default", harness.Unique("customer"), harness.JSON{
			"appointmentSlot": harness.JSON{"startsAt": at.Format(time.RFC3339), "timezone": "Asia/Tokyo"},
		})
		account.Pay(t, session, harness.CardSucceeds).Want(t, 200)
		load.booked.Add(1)
	})
	load.repeat(func(n int) {
		account.AsBackend(t, http.MethodPost, "/v1/usage/events", harness.JSON{
			"subscriptionId": use.subscription, "meter": use.event, "quantity": 1, "idempotencyKey": fmt.Sprint("use-", n),
		}).Want(t, 202)
		load.reported.Add(1)
	})
	return load
}

// repeat runs do, which gets 0, 1 and so on, until the traffic ends.
func (load *traffic) repeat(do func(n int)) {
	load.all.Go(func() {
		for n := 0; !load.ended(); n++ {
			do(n)
		}
	})
}

func (load *traffic) ended() bool {
	select {
	case <-load.stop:
		return true
	default:
		return false
	}
}

// passes waits until something of every kind was done.
func (load *traffic) passes(t *testing.T, when string) {
	t.Helper()
	sold, booked, reported := load.sold.Load(), load.booked.Load(), load.reported.Load()
	harness.Eventually(t, "traffic "+when, func() bool {
		return load.sold.Load() > sold+4 && load.booked.Load() > booked+2 && load.reported.Load() > reported+2
	})
}

// end may be called again.
func (load *traffic) end() {
	load.once.Do(func() { close(load.stop) })
	load.all.Wait()
}
