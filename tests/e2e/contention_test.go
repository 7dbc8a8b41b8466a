package e2e_test

import (
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"sundry/tests/harness"
	"sundry/tests/testdb"
)

// deadlocks returns the database's count of deadlocks; 0 on an engine with one writer.
func deadlocks(t *testing.T, app *harness.App) int64 {
	t.Helper()
	if strings.HasPrefix(app.DatabaseURL, "sqlite:") {
		return 0
	}
	return app.Count(t, "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")
}

func TestAClockAdvanceAmidPaymentsMeetsNoDeadlock(t *testing.T) {
	t.Parallel()
	testdb.EachEngine(t, func(t *testing.T, engine testdb.Engine) {
		app := harness.New(t, engine, nil)
		w, other := newFixture(t, app), newFixture(t, app)
		const payments = 40
		sessions := make([]harness.Session, payments)
		for i := range sessions {
			account := w
			if i%4 == 3 {
				account = other
			}
			sessions[i] = account.NewSession(t, account.listing, "pro", harness.Unique("customer"), nil)
		}
		before := deadlocks(t, app)
		var all sync.WaitGroup
		for i, session := range sessions {
			account := w
			if i%4 == 3 {
				account = other
			}
			all.Go(func() {
				if response := account.Pay(t, session, harness.CardSucceeds); response.Status != http.StatusOK {
					t.Errorf("payment %d: %d %s", i, response.Status, response.Body)
				}
			})
		}
		all.Go(func() {
			for range 5 { // less than a day: no session is over before it is paid
				advance(t, w.Account, 4*time.Hour)
			}
		})
		all.Wait()
		if after := deadlocks(t, app); after != before {
			t.Errorf("%d deadlocks before, %d after", before, after)
		}
		for i, session := range sessions {
			if i%4 != 3 && w.Receipt(t, session)["status"] != "paid" {
				t.Errorf("session %d: %v", i, w.Receipt(t, session))
			}
		}
		if violations, err := app.Program.Verify(t.Context()); err != nil || len(violations) > 0 {
			t.Errorf("verify: %v, %v", violations, err)
		}
	})
}

// TestAnAccountThatIsStuckDelaysNoOther locks every row of one account, as its slowest transaction might, and lets
// another sell meanwhile: an account that waited would wait until the end. An engine with one writer has no such
// promise.
func TestAnAccountThatIsStuckDelaysNoOther(t *testing.T) {
	t.Parallel()
	testdb.EachEngine(t, func(t *testing.T, engine testdb.Engine) {
		if engine.Name == testdb.SQLite.Name {
			return
		}
		app := harness.New(t, engine, nil)
		stuck, other := newFixture(t, app), newFixture(t, app)
		customer := harness.Unique("customer")
		stuck.Pay(t, stuck.NewSession(t, stuck.listing, "pro", customer, nil), harness.CardSucceeds).Want(t, 200)
		waiting := stuck.NewSession(t, stuck.listing, "pro", customer, nil)
		release := app.LockAccount(t, stuck.ID)
		pay := harness.Request{
			Method: http.MethodPost, Path: "/v1/sandbox/checkout-sessions/" + waiting.ID + "/pay", Bearer: stuck.Key,
			Body: harness.JSON{"cardNumber": harness.CardSucceeds, "email": "grace@example.com"},
		}
		done := make(chan *harness.Response, 1)
		go func() { done <- app.AskAnything(t, pay) }()
		for range 3 {
			other.Pay(t, other.NewSession(t, other.listing, "pro", harness.Unique("customer"), nil),
				harness.CardSucceeds).Want(t, 200)
		}
		advance(t, other.Account, time.Hour)
		var response *harness.Response
		select {
		case response = <-done:
			if response.Status != http.StatusServiceUnavailable {
				t.Fatalf("the lock locked nothing: %d %s", response.Status, response.Body)
			}
			release()
		default:
			release()
			response = <-done
		}
		if response.Status == http.StatusServiceUnavailable { // its own wait was too long
			response = app.AskAnything(t, pay)
		}
		response.Want(t, 200)
	})
}

// waitsWithoutAccess checks that what is being done, if it waits for another transaction, has not locked the access of
// a customer, which that other transaction may want next.
func waitsWithoutAccess(t *testing.T, app *harness.App, done <-chan struct{}) {
	t.Helper()
	testdb.Postgres.AwaitWait(t, app.DatabaseURL, done)
	if held := app.Count(t, `SELECT COUNT(*) FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
			WHERE a.datname = current_database() AND a.wait_event_type = 'Lock' AND l.locktype = 'advisory' AND l.granted`,
	); held != 0 {
		t.Errorf("it waits, and holds %d locks of access", held)
	}
}

// TestARenewalWaitsForItsSubscriptionBeforeTheAccess lets a charge of a subscription succeed while somebody changes
// the subscription: it must not wait for them with the customer's access and the account's next receipt number locked.
// It is of PostgreSQL alone: SQLite has one writer at a time.
func TestARenewalWaitsForItsSubscriptionBeforeTheAccess(t *testing.T) {
	t.Parallel()
	app := harness.New(t, testdb.Postgres, nil)
	a := app.NewAccount(t)
	s := challenged(t, a)
	mine := visit(t, a, s.CustomerID) + "/plans/" + s.ID
	submit(t, app, mine+"/pay", nil)
	read(t, app, mine+"/confirm")
	release := app.Hold(t, "SELECT id FROM subscriptions WHERE id = $1 FOR UPDATE", s.ID)
	paid := make(chan struct{})
	go func() {
		defer close(paid)
		submit(t, app, mine+"/authenticate", url.Values{"approve": {"yes"}})
	}()
	waitsWithoutAccess(t, app, paid)
	release()
	<-paid
	if got := subscription(t, a, s.ID); got.Status != "active" {
		t.Errorf("%+v", got)
	}
}

// TestAnErasureLocksAsPaymentsDo erases a customer while a payment of theirs is being recorded, which locks the
// customer before the session: an erasure that waits for it must have left the session alone. It is of PostgreSQL
// alone: SQLite has one writer at a time.
func TestAnErasureLocksAsPaymentsDo(t *testing.T) {
	t.Parallel()
	app := harness.New(t, testdb.Postgres, nil)
	a := app.NewAccount(t)
	listing := a.Published(t, nil)
	bought := a.NewSession(t, listing, "default", "ada", nil)
	a.Pay(t, bought, harness.CardSucceeds).Want(t, 200)
	customerID := text(t, a.Receipt(t, bought)["customerId"])
	begun := a.NewSession(t, listing, "default", "ada", nil)
	release := app.Hold(t, "SELECT id FROM customers WHERE id = $1 FOR NO KEY UPDATE", customerID)
	erased := make(chan struct{})
	go func() {
		defer close(erased)
		a.AsBackend(t, http.MethodPost, "/v1/customers/"+customerID+"/erase", nil).Want(t, 200)
	}()
	testdb.Postgres.AwaitWait(t, app.DatabaseURL, erased)
	if free := app.Count(t, "SELECT COUNT(*) FROM (SELECT id FROM sessions WHERE id = $1 FOR UPDATE SKIP LOCKED) AS free",
		begun.ID); free != 1 {
		t.Error("it waits for the customer with the session locked")
	}
	release()
	<-erased
}
