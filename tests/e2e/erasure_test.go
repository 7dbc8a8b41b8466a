package e2e_test

import (
	"database/sql"
	"fmt"
	"hash/fnv"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"sundry/tests/harness"
	"sundry/tests/testdb"
)

// legalRecords are the tables that keep who bought: the tax laws ask for it.
var legalRecords = []string{"documents"}

func TestAnErasedPersonIsInLegalRecordsOnly(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		echo := httptest.NewServer(http.HandlerFunc(func(res http.ResponseWriter, req *http.Request) {
			_, _ = io.Copy(res, req.Body)
		}))
		t.Cleanup(echo.Close)
		w.AsBackend(t, http.MethodPost, "/v1/webhook-endpoints", harness.JSON{"url": echo.URL, "events": []string{"*"}}).
			Want(t, 201)
		name := "Zoë " + harness.Unique("person")
		email, external := harness.Unique("person")+"@example.com", harness.Unique("user")
		words := harness.JSON{"who": name}
		session := w.NewSession(t, plans(t, w.Account, 0), "basic", external, harness.JSON{
			"email": email, "customer": harness.JSON{"name": name, "country": "IE", "postalCode": "D02 " + external[:4]},
			"referenceId": "order of " + name, "metadata": words,
		})
		w.AsBackend(t, http.MethodPost, "/v1/sandbox/checkout-sessions/"+session.ID+"/pay", harness.JSON{
			"cardNumber": harness.CardSucceeds, "email": email,
		}).Want(t, 200)
		receipt := w.Receipt(t, session)
		customer := "/v1/customers/" + text(t, receipt["customerId"])
		subscription := "/v1/subscriptions/" + text(t, receipt["subscriptionId"])
		left := w.NewSession(t, plans(t, w.Account, 0), "basic", external, harness.JSON{"email": email, "metadata": words})
		w.AsBackend(t, http.MethodPatch, customer, harness.JSON{
			"metadata": words, "billingAddress": harness.JSON{"line1": name + "'s house", "country": "IE"},
		}).Want(t, 200)
		w.AsBackend(t, http.MethodPatch, subscription, harness.JSON{"metadata": harness.JSON{"who": name + "!"}}).Want(t, 200)
		w.AsBackend(t, http.MethodPost, "/v1/invoices", harness.JSON{
			"customerId": receipt["customerId"], "currency": "eur", "idempotencyKey": harness.Unique("invoice"),
			"lineItems": []harness.JSON{{"description": "Work", "amountInCents": 500}}, "metadata": words,
		}).Want(t, 201)
		w.AsBackend(t, http.MethodPost, "/v1/refunds", harness.JSON{
			"paymentId": receipt["paymentId"], "amountInCents": 1, "reason": "a favor for " + name, "metadata": words,
		}).Want(t, 201)
		w.AsBackend(t, http.MethodPost, "/v1/customer-access/"+external+"/grants", harness.JSON{
			"entitlements": []harness.JSON{{"key": "beta", "type": "boolean", "value": true}}, "note": "friend of " + name,
		}).Want(t, 201)
		portal := w.AsBackend(t, http.MethodPost, "/v1/customer-portal-sessions", harness.JSON{
			"customerId": receipt["customerId"], "returnUrl": "https://shop.example/account",
		}).Want(t, 201).Map(t)["url"].(string)
		advance(t, w.Account, time.Minute)
		if known := app.TablesWith(t, name); len(known) < 9 {
			t.Fatalf("before, the name is in %q only: the test proves too little", known)
		}

		erase := func() *harness.Response { return w.AsBackend(t, http.MethodPost, customer+"/erase", nil) }
		erase().Refuses(t, 409, "STATE_CONFLICT")
		app.NewAccount(t).AsBackend(t, http.MethodPost, customer+"/erase", nil).Refuses(t, 404, "CUSTOMER_NOT_FOUND")
		if kept := w.AsBackend(t, http.MethodGet, customer, nil).Want(t, 200).Map(t); kept["email"] != email {
			t.Errorf("a refusal has changed the customer: %v", kept)
		}
		w.AsBackend(t, http.MethodPost, subscription+"/cancel", nil).Want(t, 200)
		advance(t, w.Account, time.Minute)
		first := erase().Want(t, 200).Map(t)
		if first["erasedAt"] == nil || first["email"] != nil || asJSON(t, first["metadata"]) != "{}" {
			t.Errorf("erased: %v", first)
		}
		for _, word := range []string{name, email, strings.TrimPrefix(name, "Zoë ")} {
			for _, table := range app.TablesWith(t, word) {
				if !slices.Contains(legalRecords, table) {
					t.Errorf("%q is in %s", word, table)
				}
			}
		}
		if again := erase().Want(t, 200).Map(t); again["erasedAt"] != first["erasedAt"] || again["updatedAt"] != first["updatedAt"] {
			t.Errorf("again: %v, first %v", again, first)
		}
		access := w.AsBackend(t, http.MethodGet, "/v1/customer-access/"+external, nil).Want(t, 200).Map(t)
		if asJSON(t, access["activePlans"]) != "[]" || asJSON(t, access["entitlements"]) != "[]" {
			t.Errorf("access is left: %v", access)
		}
		w.AsBackend(t, http.MethodPatch, customer, harness.JSON{"displayName": "Z"}).Refuses(t, 409, "STATE_CONFLICT")
		w.AsBackend(t, http.MethodPost, "/v1/customer-portal-sessions", harness.JSON{
			"customerId": receipt["customerId"], "returnUrl": "https://shop.example/account",
		}).Refuses(t, 409, "STATE_CONFLICT")
		w.AsBackend(t, http.MethodPost, "/v1/card-setup-sessions", harness.JSON{
			"customerId": receipt["customerId"], "returnUrl": "https://shop.example/account",
		}).Refuses(t, 409, "STATE_CONFLICT")
		w.AsBackend(t, http.MethodPost, "/v1/sandbox/customers/"+text(t, receipt["customerId"])+"/cards", harness.JSON{
			"cardNumber": harness.CardSucceeds,
		}).Refuses(t, 409, "STATE_CONFLICT")
		address, err := url.Parse(portal)
		if err != nil {
			t.Fatal(err)
		}
		if page := app.AskUnjudged(t, harness.Request{Method: http.MethodGet, Path: address.Path}); page.Status != 404 {
			t.Errorf("the portal opens: %d", page.Status)
		}
		if log := w.Visit(t).Open(t, "/dashboard/security/log"); !strings.Contains(log.Body, "Customer erased") {
			t.Error("the access log does not say that it happened")
		}
		if page := w.Visit(t).Open(t, "/dashboard"+strings.TrimPrefix(customer, "/v1")); !strings.Contains(page.Body, "erased") {
			t.Error("the customer's page does not say that they were erased")
		}
		if lines, err := app.Program.Verify(t.Context()); err != nil || len(lines) > 0 {
			t.Errorf("verify: %q, %v", lines, err)
		}
		w.AsBackend(t, http.MethodPost, "/v1/checkout-sessions/"+left.ID+"/expire", nil).Want(t, 200)
		back := w.NewSession(t, plans(t, w.Account, 0), "basic", external, harness.JSON{"email": email})
		w.Pay(t, back, harness.CardSucceeds).Want(t, 200)
		if known := w.AsBackend(t, http.MethodGet, customer, nil).Want(t, 200).Map(t); known["email"] == nil || known["erasedAt"] != nil {
			t.Errorf("who buys again is not known again: %v", known)
		}
	})
}

func TestAnErasedGuestsAppointmentSaysNothingOfThem(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		email, reason := harness.Unique("guest")+"@example.com", harness.Unique("illness")
		booked := w.bookedBy(t, email, w.openTime(t))
		var found struct{ Data []struct{ ID string } }
		w.AsBackend(t, http.MethodGet, "/v1/customers?email="+url.QueryEscape(email), nil).Want(t, 200).Into(t, &found)
		if len(found.Data) != 1 {
			t.Fatalf("%d customers have the address", len(found.Data))
		}
		erase := func() *harness.Response {
			return w.AsBackend(t, http.MethodPost, "/v1/customers/"+found.Data[0].ID+"/erase", nil)
		}
		erase().Refuses(t, 409, "STATE_CONFLICT")
		w.AsBackend(t, http.MethodPost, "/v1/appointments/"+booked.ID+"/cancel", harness.JSON{"reason": reason}).Want(t, 200)
		advance(t, w.Account, time.Minute)
		if known := app.TablesWith(t, reason); !slices.Contains(known, "events") || !slices.Contains(known, "appointments") {
			t.Fatalf("before, the reason is in %q only: the test proves too little", known)
		}
		erase().Want(t, 200)
		for _, word := range []string{email, reason} {
			for _, table := range app.TablesWith(t, word) {
				if !slices.Contains(legalRecords, table) {
					t.Errorf("%q is in %s", word, table)
				}
			}
		}
		if lines, err := app.Program.Verify(t.Context()); err != nil || len(lines) > 0 {
			t.Errorf("verify: %q, %v", lines, err)
		}
	})
}

// A guest's other order, which is being paid, has their address and gives its receipt to it.
func TestErasureWaitsForAnotherOrderOfTheGuest(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		email, listing := harness.Unique("guest")+"@example.com", w.book(t, 2000)
		order := func(card string) (s harness.Session) {
			w.AsBackend(t, http.MethodPost, "/v1/checkout-sessions", harness.JSON{
				"listingId": listing.ID, "email": email, "successUrl": "https://shop.example/welcome",
				"cancelUrl": "https://shop.example/pricing",
			}).Want(t, 201).Into(t, &s)
			w.AsBackend(t, http.MethodPost, "/v1/sandbox/checkout-sessions/"+s.ID+"/pay", harness.JSON{"cardNumber": card}).
				Want(t, 200)
			return s
		}
		customer := func(s harness.Session) string { return "/v1/customers/" + text(t, w.Receipt(t, s)["customerId"]) }
		first, second := order(harness.CardSucceeds), order(harness.CardStaysPending)
		w.AsBackend(t, http.MethodPost, customer(first)+"/erase", nil).Refuses(t, 409, "STATE_CONFLICT")
		advance(t, w.Account, time.Hour)
		if bought := w.AsBackend(t, http.MethodGet, customer(second), nil).Want(t, 200).Map(t); bought["email"] != email {
			t.Errorf("who paid meanwhile is known by the address %v, want %s", bought["email"], email)
		}
		w.AsBackend(t, http.MethodPost, customer(first)+"/erase", nil).Want(t, 200)
	})
}

// TestErasureSeesAPaymentThatBeginsMeanwhile is of PostgreSQL alone: SQLite has one writer at a time.
func TestErasureSeesAPaymentThatBeginsMeanwhile(t *testing.T) {
	t.Parallel()
	app := harness.New(t, testdb.Postgres, nil)
	w := newFixture(t, app)
	name, listing := harness.Unique("user"), w.book(t, 2000)
	bought := w.NewSession(t, listing, "default", name, nil)
	w.Pay(t, bought, harness.CardSucceeds).Want(t, 200)
	customer := "/v1/customers/" + text(t, w.Receipt(t, bought)["customerId"])
	begun := w.NewSession(t, w.book(t, 2000), "default", name, nil)
	db, err := sql.Open("pgx", app.DatabaseURL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	begin, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := begin.ExecContext(t.Context(),
		"UPDATE sessions SET live_payment_id = 'pay_begun', revision = revision + 1 WHERE id = $1", begun.ID,
	); err != nil {
		t.Fatal(err)
	}
	erased := make(chan *harness.Response, 1)
	go func() { erased <- w.AsBackend(t, http.MethodPost, customer+"/erase", nil) }()
	time.Sleep(300 * time.Millisecond) // long enough to look for obstacles
	if err := begin.Commit(); err != nil {
		t.Fatal(err)
	}
	(<-erased).Refuses(t, 409, "STATE_CONFLICT")
	w.Exec(t, "UPDATE sessions SET live_payment_id = '' WHERE id = $1", begun.ID)
}

// person makes a customer with a card, and returns their id and external id.
func (w *fixture) person(t *testing.T) (customerID, external string) {
	t.Helper()
	external = harness.Unique("user")
	customerID = text(t, w.AsBackend(t, http.MethodPost, "/v1/customers", harness.JSON{
		"email": external + "@example.com", "externalCustomerId": external,
	}).Want(t, 201).Map(t)["id"])
	w.card(t, customerID)
	return customerID, external
}

// amid runs request while a transaction with some statements about a customer is open, which it commits once the
// request waits for it, or has ended.
func (w *fixture) amid(t *testing.T, customerID string, statements []string, request func()) {
	t.Helper()
	db, err := sql.Open("pgx", w.DatabaseURL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range statements {
		if _, err := tx.ExecContext(t.Context(), statement, customerID); err != nil {
			t.Fatal(err)
		}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		request()
	}()
	testdb.Postgres.AwaitWait(t, w.DatabaseURL, done)
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	<-done
}

// TestNothingIsMadeOfACustomerAmidErasure is of PostgreSQL alone: SQLite has one writer at a time.
func TestNothingIsMadeOfACustomerAmidErasure(t *testing.T) {
	t.Parallel()
	app := harness.New(t, testdb.Postgres, nil)
	w := newFixture(t, app)
	catalog := harness.JSON{"listing": plans(t, w.Account, 0).CatalogKey, "plan": "basic"}
	for table, open := range map[string]func(customerID, external string) (request func()){
		"invoices": func(customerID, _ string) func() {
			return func() {
				w.AsBackend(t, http.MethodPost, "/v1/invoices", harness.JSON{
					"customerId": customerID, "currency": "eur", "idempotencyKey": harness.Unique("invoice"),
					"lineItems": []harness.JSON{{"description": "Work", "amountInCents": 500}},
				}).Refuses(t, 400, "PAYMENT_METHOD_REQUIRED")
			}
		},
		"subscriptions": func(_, external string) func() {
			return func() {
				w.AsBackend(t, http.MethodPost, "/v1/subscriptions", harness.JSON{
					"externalCustomerId": external, "catalog": catalog,
					"paidUntil": time.Now().AddDate(0, 0, 10).UTC().Format(time.RFC3339),
				}).Refuses(t, 409, "STATE_CONFLICT")
			}
		},
		"payment_methods": func(customerID, _ string) func() {
			page, err := url.Parse(text(t, w.AsBackend(t, http.MethodPost, "/v1/card-setup-sessions", harness.JSON{
				"customerId": customerID, "returnUrl": "https://shop.example/account",
			}).Want(t, 201).Map(t)["hostedUrl"]))
			if err != nil {
				t.Fatal(err)
			}
			return func() { submit(t, app, page.Path, url.Values{"card": {harness.CardSucceeds}}) }
		},
	} {
		customerID, external := w.person(t)
		w.amid(t, customerID, []string{
			"UPDATE customers SET erased_at = 1, revision = revision + 1 WHERE id = $1",
			"DELETE FROM payment_methods WHERE customer_id = $1",
		}, open(customerID, external))
		if n := w.Count(t, "SELECT COUNT(*) FROM "+table+" WHERE customer_id = $1", customerID); n != 0 {
			t.Errorf("%d %s of a customer who was erased meanwhile", n, table)
		}
	}
}

// TestErasureSeesWhatIsMadeMeanwhile is of PostgreSQL alone: SQLite has one writer at a time.
func TestErasureSeesWhatIsMadeMeanwhile(t *testing.T) {
	t.Parallel()
	app := harness.New(t, testdb.Postgres, nil)
	w := newFixture(t, app)
	customerID, _ := w.person(t)
	w.AsBackend(t, http.MethodPost, "/v1/invoices", harness.JSON{
		"customerId": customerID, "currency": "eur", "idempotencyKey": harness.Unique("invoice"),
		"lineItems": []harness.JSON{{"description": "Work", "amountInCents": 500}},
	}).Want(t, 201)
	w.amid(t, customerID, []string{
		"SELECT 1 FROM customers WHERE id = $1 FOR SHARE", "UPDATE invoices SET status = 'open' WHERE customer_id = $1",
	}, func() {
		w.AsBackend(t, http.MethodPost, "/v1/customers/"+customerID+"/erase", nil).Refuses(t, 409, "STATE_CONFLICT")
	})
	w.Exec(t, "UPDATE invoices SET status = 'paid' WHERE customer_id = $1", customerID)
}

// TestErasureWaitsForARefund is of PostgreSQL alone: SQLite has one writer at a time.
func TestErasureWaitsForARefund(t *testing.T) {
	t.Parallel()
	app := harness.New(t, testdb.Postgres, nil)
	a := app.NewAccount(t)
	session := a.NewSession(t, a.Published(t, nil), "default", harness.Unique("user"), nil)
	a.Pay(t, session, harness.CardSucceeds).Want(t, 200)
	receipt := a.Receipt(t, session)
	db, err := sql.Open("pgx", app.DatabaseURL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = tx.ExecContext(t.Context(), "UPDATE sales SET revision = revision WHERE id = $1", receipt["paymentId"])
	if err != nil {
		t.Fatal(err)
	}
	refunded, erased := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(refunded)
		a.AsBackend(t, http.MethodPost, "/v1/refunds", harness.JSON{
			"paymentId": receipt["paymentId"], "amountInCents": 1, "reason": "a favor for Zoë",
		}).Want(t, 201)
	}()
	testdb.Postgres.AwaitWait(t, app.DatabaseURL, refunded)
	status := 0
	go func() {
		defer close(erased)
		status = a.AsBackend(t, http.MethodPost, "/v1/customers/"+text(t, receipt["customerId"])+"/erase", nil).Status
	}()
	const waiting = "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() " +
		"AND wait_event_type = 'Lock'"
	for done := false; !done && testdb.Postgres.Int(t, app.DatabaseURL, waiting) < 2; {
		select {
		case <-erased:
			done = true
		case <-time.After(5 * time.Millisecond):
		}
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	<-refunded
	<-erased
	kept := a.Count(t, "SELECT COUNT(*) FROM refunds WHERE creator_id = $1 AND reason LIKE '%Zoë%'", a.ID)
	if status == 200 && kept != 0 {
		t.Error("the customer is erased, and a refund keeps a reason that names them")
	}
}

// TestARenamedCustomerBuysNothingUnderTheOldName is of PostgreSQL alone: SQLite has one writer at a time.
func TestARenamedCustomerBuysNothingUnderTheOldName(t *testing.T) {
	t.Parallel()
	app := harness.New(t, testdb.Postgres, nil)
	w := newFixture(t, app)
	customerID, external := w.person(t)
	session := w.NewSession(t, w.listing, "pro", external, nil)
	access := fnv.New64a() // the lock of the customer's access, which a change of their name takes
	_, _ = access.Write([]byte("access " + w.ID + "/" + external))
	w.amid(t, customerID, []string{
		fmt.Sprintf("SELECT pg_advisory_xact_lock(%d), $1::TEXT", int64(access.Sum64())), //nolint:gosec // all 64 bits
		"UPDATE customers SET external_customer_id = 'renamed', revision = revision + 1 WHERE id = $1",
	}, func() { w.Pay(t, session, harness.CardSucceeds).Want(t, 200) })
	if n := w.Count(t, `SELECT COUNT(*) FROM subscriptions s JOIN customers c ON c.id = s.customer_id
		WHERE s.external_customer_id <> c.external_customer_id AND s.creator_id = $1`, w.ID); n != 0 {
		t.Errorf("%d subscriptions under another name than their customer's", n)
	}
}

// TestTwoCardsRemovedAtOnceLeaveNoneThatPays is of PostgreSQL alone: SQLite has one writer at a time.
func TestTwoCardsRemovedAtOnceLeaveNoneThatPays(t *testing.T) {
	t.Parallel()
	app := harness.New(t, testdb.Postgres, nil)
	w := newFixture(t, app)
	sub := subscribe(t, w.Account, plans(t, w.Account, 0), "basic", harness.Unique("user"), harness.CardSucceeds)
	var found struct{ CustomerID, PaymentMethodID string }
	w.AsBackend(t, http.MethodGet, "/v1/subscriptions/"+sub.ID, nil).Want(t, 200).Into(t, &found)
	other := w.card(t, found.CustomerID) // pays from now on
	w.amid(t, found.PaymentMethodID, []string{
		"UPDATE payment_methods SET removed_at = 1, revision = revision + 1 WHERE id = $1",
	}, func() {
		w.AsBackend(t, http.MethodDelete, "/v1/customers/"+found.CustomerID+"/payment-methods/"+other, nil).Want(t, 204)
	})
	after := w.AsBackend(t, http.MethodGet, "/v1/subscriptions/"+sub.ID, nil).Want(t, 200).Map(t)
	if after["paymentMethodId"] != nil {
		t.Errorf("%v pays, which is removed", after["paymentMethodId"])
	}
}

// The name that the integrator gave may be somebody's again; the service's id is nobody else's.
func TestAnErasedCustomerIsGrantedNothing(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		id := w.customer(t)
		w.AsBackend(t, http.MethodPost, "/v1/customers/"+id+"/erase", nil).Want(t, 200)
		version := w.Access(t, id)["version"]
		w.AsBackend(t, http.MethodPost, accessPath(id)+"/grants", harness.JSON{
			"entitlements": []harness.JSON{{"key": "beta", "type": "boolean", "value": true}}, "note": "friend of Grace",
		}).Refuses(t, 409, "STATE_CONFLICT")
		if got := w.Access(t, id); got["version"] != version || len(got["entitlements"].([]any)) != 0 {
			t.Errorf("access after the refusal: %v, want version %v and nothing", got, version)
		}
	})
}

func TestNoCardOfAnErasedCustomerIsSaved(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		m := w.subscribed(t, cardFailsLater, "SUM")
		var owed invoiceBody
		m.AsBackend(t, http.MethodPost, "/v1/invoices", m.invoiceBody(harness.Unique("march"), 500)).Want(t, 402).
			Into(t, &owed)
		w.AsBackend(t, http.MethodPost, "/v1/subscriptions/"+m.subscriptionID+"/cancel", nil).Want(t, 200)
		advance(t, w.Account, 8*24*time.Hour)
		setup, err := url.Parse(text(t, w.AsBackend(t, http.MethodPost, "/v1/card-setup-sessions", harness.JSON{
			"customerId": m.customerID, "returnUrl": "https://shop.example/account",
		}).Want(t, 201).Map(t)["hostedUrl"]))
		if err != nil {
			t.Fatal(err)
		}
		submit(t, app, setup.Path, url.Values{"card": {harness.CardAsksAlways}})
		w.AsBackend(t, http.MethodPost, "/v1/customers/"+m.customerID+"/erase", nil).Want(t, 200)

		submit(t, app, setup.Path+"/authenticate", url.Values{"approve": {"yes"}})
		m.payOnPage(t, owed, harness.CardSucceeds).Want(t, 303)
		if paid := m.AsBackend(t, http.MethodGet, "/v1/invoices/"+owed.ID, nil).Want(t, 200).Map(t); paid["status"] != "paid" {
			t.Errorf("the invoice is %v", paid["status"])
		}
		var cards struct{ Data []struct{ Last4 string } }
		m.AsBackend(t, http.MethodGet, "/v1/customers/"+m.customerID+"/payment-methods", nil).Want(t, 200).Into(t, &cards)
		if len(cards.Data) > 0 {
			t.Errorf("cards are saved: %v", cards.Data)
		}
	})
}
