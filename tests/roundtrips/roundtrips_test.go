package roundtrips

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"sundry/adapters/gormstore"
	"sundry/tests/harness"
	"sundry/tests/testdb"
	"sundry/tests/testredis"
)

func TestMain(m *testing.M) { harness.Main(m) }

// TestRoundTripsStayFew counts what one sale asks of the database once every statement is prepared, and what it writes:
// a change that adds to it has to lower something else, or to raise the maximum here and give the reason. Splits of
// index pages come and go, so index entries and the log have a little room. What may travel together does unless the
// machine is busy: the first of three tries that keeps to the maximum is enough.
func TestRoundTripsStayFew(t *testing.T) {
	t.Parallel()
	databaseURL := testdb.Postgres.URL(t)
	leadInstead(t, databaseURL)
	p, via := newTap(t, databaseURL)
	if err := testredis.Client(t, testredis.RoundTrips).FlushDB(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	app := harness.New(t, testdb.Postgres, map[string]string{
		"DATABASE_URL": via + "&pool_max_conns=4", "REDIS_URL": testredis.URL(t, testredis.RoundTrips),
	})
	leaveRoom(t, databaseURL)
	delayMeters(t, databaseURL)
	a := app.NewAccount(t)
	listing := a.Published(t, nil)
	writes := newWriteLog(t, databaseURL)
	count := func(what string, most work, before, do func()) {
		t.Helper()
		var trips []trip
		var left written
		var did work
		for range 3 {
			before()
			p.take()
			start := writes.end(t)
			do()
			settled(t, databaseURL)
			trips, left = ours(p.take()), writes.since(t, start)
			for i, one := range trips {
				if numbers := strings.Join(one.statements, "\n"); strings.Contains(numbers, "INTO document_numbers") &&
					!trips[i+1].commits {
					t.Errorf("%s: the account's next document number is locked for more than the commit:\n%s", what, listed(trips))
				}
			}
			did = workOf(trips, left)
			if !did.exceeds(most) {
				break
			}
		}
		t.Logf("%s: %s", what, did)
		if did.exceeds(most) {
			t.Errorf("%s%s%s: %s, where at most %s are stated", listed(trips), left.tables, what, did, most)
		}
	}
	pay := func(email string, session harness.Session) {
		a.AsBackend(t, http.MethodPost, "/v1/sandbox/checkout-sessions/"+session.ID+"/pay",
			harness.JSON{"cardNumber": harness.CardSucceeds, "email": email}).Want(t, http.StatusOK)
	}
	var session harness.Session
	var form harness.JSON
	openPage := func(email string, session harness.Session) {
		form = app.Agreed(t, session, harness.JSON{"email": email, "country": "IE", "cardNumber": harness.CardSucceeds})
	}
	payOnPage := func() {
		app.Ask(t, harness.Request{Method: http.MethodPost, Path: "/c/" + session.Secret() + "/pay", Body: form}).Want(t,
			http.StatusOK)
	}
	nothing := func() {}
	// The creator gets twenty mails about orders an hour, so that many payments have all theirs. One address gets twenty,
	// so each payment is by a customer of its own.
	const payments = 20
	paid := 0
	begin := func() { session = a.NewSession(t, listing, "default", fmt.Sprint("buyer-", paid), nil) }
	address := func() string { return fmt.Sprintf("buyer-%d@example.com", paid) }
	beginOnPage := func() {
		begin()
		openPage(address(), session)
	}
	payNow := func() {
		pay(address(), session)
		paid++
	}
	payNowOnPage := func() {
		payOnPage()
		paid++
	}
	for paid < payments-6 { // every connection prepares every statement
		begin()
		payNow()
		beginOnPage()
		payNowOnPage()
	}
	settled(t, databaseURL)
	count("a session", work{2, 1, 4, 2, 8, 8}, nothing, begin)
	key := 0
	beginOnce := func() {
		key++
		a.Once(t, fmt.Sprint("key-", key), http.MethodPost, "/v1/checkout-sessions",
			harness.SessionBody(listing, "default", "buyer", nil)).Want(t, http.StatusCreated)
	}
	for range 4 { // of the pool
		beginOnce()
	}
	count("a session with an idempotency key", work{2, 1, 6, 3, 12, 10}, nothing, beginOnce)
	count("a payment with its two mails and its announcement", work{9, 4, 31, 26, 54, 18}, begin, payNow)
	count("the same on the hosted page", work{10, 4, 32, 26, 54, 18}, beginOnPage, payNowOnPage)
	for paid < payments {
		begin()
		payNow()
	}

	for range 10 {
		a.Published(t, nil)
	}
	visitor := a.Visit(t)
	customer := fmt.Sprint(a.AsBackend(t, http.MethodPost, "/v1/customers", harness.JSON{"email": "bob@example.com"}).Want(t,
		http.StatusCreated).Map(t)["id"])
	give := func() { visitor.Open(t, "/dashboard/customers/"+customer+"/grant") }
	give()
	p.take()
	give()
	if trips := ours(p.take()); len(trips) > 8 {
		t.Errorf("%sthe form of a grant, with eleven listings: %d round trips, where at most 8 are stated", listed(trips),
			len(trips))
	}

	hook := fmt.Sprint(a.AsBackend(t, http.MethodPost, "/v1/webhook-endpoints",
		harness.JSON{"url": "https://receiver.example/hook", "events": []string{"*"}}).Want(t,
		http.StatusCreated).Map(t)["id"])
	testdb.Postgres.Exec(t, databaseURL, "INSERT INTO concurrency_pauses VALUES ('"+hook+"', 9000000000000)") // nothing is sent
	replay := func() {
		path := "/v1/webhook-endpoints/" + hook + "/replay"
		replayed := a.AsBackend(t, http.MethodPost, path, harness.JSON{"from": "2000-01-01T00:00:00.000Z"}).Want(t,
			http.StatusAccepted).Map(t)
		if fmt.Sprint(replayed["replayed"]) != "40" {
			t.Errorf("replayed %v", replayed)
		}
	}
	replay() // makes the deliveries
	enable := func(enabled bool) {
		a.AsBackend(t, http.MethodPatch, "/v1/webhook-endpoints/"+hook, harness.JSON{"enabled": enabled}).Want(t,
			http.StatusOK)
	}
	count("a replay of 40 events", work{6, 1, 51, 80, 132, 34}, nothing, replay)
	count("enabling an endpoint with 40 deliveries, and a page of its backlog", work{7, 2, 14, 45, 136, 34},
		func() { enable(false) }, func() { enable(true) })

	club := a.Published(t, harness.JSON{"type": "SUBSCRIPTION", "title": "Club",
		"metadata": harness.JSON{"interval": "month"}})
	pay("grace@example.com", a.NewSession(t, club, "default", "grace", nil))
	renew := func() {
		letRenew(t, databaseURL)
		settled(t, databaseURL)
	}
	renew()
	count("a renewal with its mail and its announcement", work{8, 4, 45, 36, 80, 25}, nothing, renew)

	report, end := meterCalls(t, a, databaseURL)
	report()
	end()
	count("a period's close with its count, invoice and charge", work{29, 5, 66, 37, 92, 28}, report, end)
	a.AsBackend(t, http.MethodGet, "/v1/payments", nil).Want(t, http.StatusOK)
	tables := strings.Fields(writes.text(t,
		"SELECT string_agg(relname, ' ') FROM pg_class WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace"))
	for _, statement := range p.statements() {
		if asksForAll(statement, tables) {
			t.Errorf("it asks for every column of a table, of which the next version may have more:\n%s", statement)
		}
		for _, why := range routerFaults(statement) {
			t.Errorf("%s:\n%s", why, statement)
		}
	}
}

// leaveRoom keeps most of every table's pages free: a row that changes and no longer fits its page gets an entry in
// each index, and whether it fits depends on what the run wrote before.
func leaveRoom(t *testing.T, databaseURL string) {
	t.Helper()
	testdb.Postgres.Exec(t, databaseURL, `DO $$ DECLARE t text; BEGIN
		FOR t IN SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace LOOP
			EXECUTE format('ALTER TABLE %I SET (fillfactor = 25)', t);
		END LOOP;
	END $$`)
}

// delayMeters lets a customer's snapshot wait seconds for the counts of use that follow: a close that takes longer than
// its usual tenth of a second would update the snapshot for the count, and once more for itself.
func delayMeters(t *testing.T, databaseURL string) {
	t.Helper()
	testdb.Postgres.Exec(t, databaseURL, `CREATE FUNCTION delay() RETURNS trigger LANGUAGE plpgsql AS
		$$ BEGIN NEW.run_at := NEW.run_at + 2500; RETURN NEW; END $$`)
	testdb.Postgres.Exec(t, databaseURL, `CREATE TRIGGER delay BEFORE INSERT ON tasks FOR EACH ROW
		WHEN (NEW.kind = 'access.meters') EXECUTE FUNCTION delay()`)
}

// leadInstead makes this process the leader, which does nothing: a sweep of the program would be counted with a sale.
func leadInstead(t *testing.T, databaseURL string) {
	t.Helper()
	store, err := gormstore.Open(t.Context(), databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	leads, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		store.RunAsLeader(ctx, "sweeps", func(ctx context.Context) {
			close(leads)
			<-ctx.Done()
		})
	}()
	t.Cleanup(func() {
		stop()
		<-ended
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	<-leads
}

// settled waits until nothing is due any more and no charge is under way.
func settled(t *testing.T, databaseURL string) {
	t.Helper()
	harness.Eventually(t, "the tasks are done", func() bool {
		return testdb.Postgres.Int(t, databaseURL, fmt.Sprintf(`SELECT COUNT(*)
				+ (SELECT COUNT(*) FROM payments WHERE settled_at IS NULL)
			FROM tasks WHERE run_at <= %d AND kind IN ('mail.send', 'access.announce', 'access.meters', 'subscription.due',
				'payment.charge', 'usage.close_period', 'webhook.wake')`, time.Now().Add(3*time.Second).UnixMilli())) == 0
	})
}

// letRenew makes the one subscription due, as if its period had begun a month earlier, and so its last announcement.
func letRenew(t *testing.T, databaseURL string) {
	t.Helper()
	end := time.Now().UTC().Add(-time.Second).Truncate(time.Millisecond)
	begin := end.AddDate(0, -1, 0).UnixMilli()
	testdb.Postgres.Exec(t, databaseURL, fmt.Sprintf(`WITH told AS (UPDATE access_snapshots SET announced_at = %[1]d
			WHERE external_customer_id = 'grace'), due AS (
			UPDATE subscriptions SET anchor = %[1]d, current_period_start = %[1]d, current_period_end = %[2]d)
		UPDATE tasks SET due_at = %[2]d, run_at = %[2]d WHERE kind = 'subscription.due'`, begin, end.UnixMilli()))
}

// ours leaves out what does not belong to one sale: the relay's polls, which serve all tasks, pings, the wait for the
// lead, the log of requests, which is written once a second, the API key and the account with its limits, which are
// remembered for seconds, the deployment's keys, which are read again twice a minute, and the schema's version.
func ours(all []trip) (kept []trip) {
	for _, one := range all {
		text := strings.Join(one.statements, "\n")
		polls := strings.HasPrefix(text, "LISTEN") || text == `SELECT * FROM "creators" WHERE id = $1 LIMIT 1`
		for _, other := range []string{"WITH RECURSIVE keys", "FROM tasks WHERE class = $1 AND concurrency_key",
			"-- ping", "SELECT pg_try_advisory_lock", "INSERT INTO api_requests", `FROM "api_keys"`,
			"FROM account_limits", "FROM deployment_keys", "FROM goose_db_version"} {
			polls = polls || strings.Contains(text, other)
		}
		if !polls {
			kept = append(kept, one)
		}
	}
	return kept
}

func listed(trips []trip) string {
	var b strings.Builder
	for i, one := range trips {
		for _, statement := range one.statements {
			fmt.Fprintf(&b, "%2d  %.120s\n", i+1, strings.Join(strings.Fields(statement), " "))
		}
	}
	return b.String()
}

// meterCalls bills the one subscription for calls by the day. report adds some to the period that ends, and its close
// is due when end is called.
func meterCalls(t *testing.T, a *harness.Account, databaseURL string) (report, end func()) {
	t.Helper()
	post := func(path string, body harness.JSON) string {
		return fmt.Sprint(a.AsBackend(t, http.MethodPost, "/v1/usage/"+path, body).Want(t, http.StatusCreated).Map(t)["id"])
	}
	var subscriptions struct{ Data []struct{ ID string } }
	a.AsBackend(t, http.MethodGet, "/v1/subscriptions", nil).Want(t, http.StatusOK).Into(t, &subscriptions)
	subscription := subscriptions.Data[0].ID
	meter := post("meters", harness.JSON{"name": "Calls", "eventName": "calls", "aggregation": "SUM"})
	product := post("products", harness.JSON{"name": "Calls", "type": "SERVICE"})
	price := post("prices", harness.JSON{
		"productId": product, "billingScheme": "usage_based", "currency": "eur", "recurring": harness.JSON{"interval": "day"},
		"tiers": []harness.JSON{{"upTo": nil, "unitAmountDecimal": "100"}},
	})
	post("billing-plans", harness.JSON{
		"subscriptionId": subscription, "meterId": meter, "priceId": price, "billingInterval": "day",
	})
	reports := 0
	return func() {
			reports++
			over := time.Now().UTC().Add(-time.Hour).Truncate(time.Millisecond)
			testdb.Postgres.Exec(t, databaseURL, fmt.Sprintf(`WITH plan AS (UPDATE usage_billing_plans
					SET anchor = %[1]d, starts_at = %[1]d, current_start = %[1]d, current_end = %[2]d)
				UPDATE usage_streams SET anchor = %[1]d, starts_at = %[1]d, version = version + 1`,
				over.AddDate(0, 0, -1).UnixMilli(), over.UnixMilli()))
			a.AsBackend(t, http.MethodPost, "/v1/usage/events", harness.JSON{
				"subscriptionId": subscription, "meter": "calls", "quantity": 5, "idempotencyKey": fmt.Sprint("calls-", reports),
				"timestamp": over.Add(-time.Hour).Format(time.RFC3339),
			}).Want(t, http.StatusAccepted)
		}, func() {
			testdb.Postgres.Exec(t, databaseURL, "UPDATE tasks SET due_at = 1, run_at = 1 WHERE kind = 'usage.close_period'")
			settled(t, databaseURL)
		}
}
