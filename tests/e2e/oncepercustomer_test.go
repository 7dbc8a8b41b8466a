package e2e_test

import (
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sundry/tests/harness"
	"sundry/tests/stripefake"
	"sundry/tests/testdb"
)

// anonymous opens a session for a buyer whom the integrator does not name.
func anonymous(t *testing.T, a *harness.Account, listing harness.Listing, over harness.JSON) (made struct {
	harness.Session
	TotalInCents int64
}) {
	t.Helper()
	body := harness.JSON{"listingId": listing.ID, "successUrl": "https://shop.example/welcome"}
	maps.Copy(body, over)
	a.AsBackend(t, post, "/v1/checkout-sessions", body).Want(t, 201).Into(t, &made)
	return made
}

func cancelNow(t *testing.T, a *harness.Account, id string) {
	t.Helper()
	if s := ask(t, a, id, "cancel", harness.JSON{"atPeriodEnd": false}); s.Status != "canceled" {
		t.Fatalf("%+v", s)
	}
}

func TestACustomerHasOneTrialOfAListing(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		listing := plans(t, a, 14)
		total := func(customer string) any {
			t.Helper()
			return a.AsBackend(t, post, "/v1/checkout-sessions", harness.SessionBody(listing, "basic", customer, nil)).
				Want(t, 201).Map(t)["totalInCents"]
		}
		early := a.NewSession(t, listing, "basic", "ada", nil)
		s := subscribe(t, a, listing, "basic", "ada", harness.CardSucceeds)
		if s.Status != "trialing" {
			t.Fatalf("%+v", s)
		}
		cancelNow(t, a, s.ID)
		if got := total("ada"); fmt.Sprint(got) != "1000" {
			t.Errorf("the second session of a customer asks for %v, want 1000", got)
		}
		if got := total("bea"); fmt.Sprint(got) != "0" {
			t.Errorf("another customer's asks for %v, want 0", got)
		}
		a.Pay(t, early, harness.CardSucceeds).Want(t, 200) // it was opened before the trial
		paid := a.Receipt(t, early)
		if again := subscription(t, a, text(t, paid["subscriptionId"])); again.Status != "active" ||
			fmt.Sprint(paid["totalInCents"]) != "1000" {
			t.Errorf("%v was paid for %+v", paid["totalInCents"], again)
		}

		a.AsCreator(t, http.MethodPatch, "/v1/listings/"+listing.ID,
			harness.JSON{"trialOncePerCustomer": false, "oneSubscriptionPerCustomer": false}).Want(t, 200)
		if got := total("ada"); fmt.Sprint(got) != "0" {
			t.Errorf("with the limit switched off a session asks for %v, want 0", got)
		}
	})
}

func TestAnEmailAddressHasOneTrial(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		listing := plans(t, a, 14)
		first := anonymous(t, a, listing, nil)
		a.Pay(t, first.Session, harness.CardSucceeds).Want(t, 200) // as grace@example.com
		if got := anonymous(t, a, listing, harness.JSON{"email": "Grace@Example.com"}); got.TotalInCents != 1000 {
			t.Errorf("a session with the address asks for %d, want 1000", got.TotalInCents)
		}
		if got := anonymous(t, a, listing, harness.JSON{"email": "bea@example.com"}); got.TotalInCents != 0 {
			t.Errorf("a session with another address asks for %d, want 0", got.TotalInCents)
		}

		described := anonymous(t, a, listing, nil)
		state := app.Ask(t, harness.Request{Method: post, Path: "/c/" + described.Secret() + "/details", Body: harness.JSON{
			"email": "grace@example.com",
		}}).Want(t, 200).Map(t)
		if fmt.Sprint(state["totalInCents"]) != "1000" {
			t.Errorf("after the details the page asks for %v, want 1000", state["totalInCents"])
		}

		atOnce := anonymous(t, a, listing, nil)
		pay := harness.Request{Method: post, Path: "/c/" + atOnce.Secret() + "/pay", Body: app.Agreed(t, atOnce.Session,
			harness.JSON{"email": "grace@example.com", "cardNumber": harness.CardSucceeds, "country": "IE"})}
		refusal := app.Ask(t, pay)
		refusal.Refuses(t, 409, "STATE_CONFLICT")
		if details, _ := refusal.Map(t)["details"].([]any); len(details) != 1 {
			t.Errorf("the refusal does not name the address: %v", details)
		}
		if paid := app.Ask(t, pay).Want(t, 200).Map(t); paid["status"] != "paid" ||
			fmt.Sprint(paid["totalInCents"]) != "1000" {
			t.Errorf("paid %v, status %v", paid["totalInCents"], paid["status"])
		}

		backend := anonymous(t, a, listing, nil)
		a.Pay(t, backend.Session, harness.CardSucceeds).Want(t, 200)
		if got := a.Receipt(t, backend.Session)["totalInCents"]; fmt.Sprint(got) != "1000" {
			t.Errorf("the sandbox paid %v, want 1000", got)
		}
	})
}

// TestFirstPurchasesAtOnceLockInOneOrder lets a customer begin a trial while another purchase makes that customer: the
// trial waits for it, and must hold no lock that the other takes next. It is of PostgreSQL alone: SQLite has one writer
// at a time.
func TestFirstPurchasesAtOnceLockInOneOrder(t *testing.T) {
	t.Parallel()
	app := harness.New(t, testdb.Postgres, nil)
	a := app.NewAccount(t)
	a.AsBackend(t, post, "/v1/customers", harness.JSON{
		"externalCustomerId": "ada", "email": "ada@example.com",
	}).Want(t, 201)
	session := a.NewSession(t, plans(t, a, 14), "basic", "bea", nil)
	release := app.Hold(t, `INSERT INTO customers (id, revision, creator_id, external_customer_id, email, display_name,
			details, metadata, created_at, updated_at)
		SELECT 'cus_bea', revision, creator_id, 'bea', email, display_name, details, metadata, created_at, updated_at
		FROM customers WHERE creator_id = $1`, a.ID)
	paid := make(chan struct{})
	go func() {
		defer close(paid)
		a.Pay(t, session, harness.CardSucceeds).Want(t, 200)
	}()
	waitsWithoutAccess(t, app, paid)
	release()
	<-paid
}

// trials counts the account's subscriptions by whether they began with a trial.
func trials(t *testing.T, a *harness.Account) (with, without int) {
	t.Helper()
	var list struct{ Data []subscribed }
	a.AsBackend(t, get, "/v1/subscriptions?limit=100", nil).Want(t, 200).Into(t, &list)
	for _, s := range list.Data {
		if s.TrialEndsAt != nil {
			with++
		} else {
			without++
		}
	}
	return with, without
}

func TestOneTrialWhateverWasOpenedBefore(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		listing := plans(t, a, 14)
		first, second := anonymous(t, a, listing, nil), anonymous(t, a, listing, nil)
		a.Pay(t, first.Session, harness.CardAsksOnce).Refuses(t, 402, "AUTHENTICATION_REQUIRED")
		a.Pay(t, second.Session, harness.CardSucceeds).Want(t, 200)
		page := app.Ask(t, harness.Request{Method: post, Path: "/c/" + first.Secret() + "/authenticate",
			Body: harness.JSON{"approve": true}}).Want(t, 200).Map(t)
		if with, without := trials(t, a); with != 1 || without != 0 || page["status"] != "expired" {
			t.Errorf("%d trials, %d others, and the session of the late challenge is %v", with, without, page["status"])
		}
		if again := anonymous(t, a, listing, harness.JSON{"email": "grace@example.com"}); again.TotalInCents != 1000 {
			t.Errorf("the next session asks for %d, want 1000", again.TotalInCents)
		}

		b := app.NewAccount(t)
		raced := plans(t, b, 14)
		var all sync.WaitGroup
		for range 6 {
			session := anonymous(t, b, raced, nil)
			all.Go(func() { b.Pay(t, session.Session, harness.CardSucceeds).Want(t, 200) })
		}
		all.Wait()
		if with, _ := trials(t, b); with != 1 {
			t.Errorf("%d trials for one address that pays at once", with)
		}
		verified(t, app)
	})
}

func TestACustomerHasOneSubscriptionToAListing(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		listing := plans(t, a, 0)
		open := func() harness.Session { return a.NewSession(t, listing, "basic", "ada", nil) }
		sessions := make([]harness.Session, 6)
		for i := range sessions {
			sessions[i] = open()
		}
		onPage := open()
		var paid atomic.Int64
		var all sync.WaitGroup
		for _, session := range sessions {
			all.Go(func() {
				switch r := a.Pay(t, session, harness.CardSucceeds); r.Status {
				case 200:
					paid.Add(1)
				case 409:
				default:
					t.Errorf("status %d: %s", r.Status, r.Body)
				}
			})
		}
		all.Wait()
		if got := paid.Load(); got != 1 {
			t.Fatalf("%d of the sessions were paid, want 1", got)
		}

		next := func() *harness.Response {
			return a.AsBackend(t, post, "/v1/checkout-sessions", harness.SessionBody(listing, "studio", "ada", nil))
		}
		refused := next()
		refused.Refuses(t, 409, "ALREADY_SUBSCRIBED")
		portal, _ := refused.Map(t)["portalUrl"].(string)
		if len(portal) < 20 {
			t.Errorf("portalUrl %q", portal)
		}
		page := app.Ask(t, harness.Request{Method: post, Path: "/c/" + onPage.Secret() + "/pay", Body: app.Agreed(t, onPage,
			harness.JSON{"email": "ada@example.com", "cardNumber": harness.CardSucceeds, "country": "IE"})})
		page.Refuses(t, 409, "ALREADY_SUBSCRIBED")
		if _, shown := page.Map(t)["portalUrl"]; shown {
			t.Error("the page shows the portal to whoever has the checkout's address")
		}
		a.NewSession(t, listing, "basic", "bea", nil)
		a.NewSession(t, plans(t, a, 0), "basic", "ada", nil)

		a.AsCreator(t, http.MethodPatch, "/v1/listings/"+listing.ID,
			harness.JSON{"oneSubscriptionPerCustomer": false}).Want(t, 200)
		next().Want(t, 201)
		a.AsCreator(t, http.MethodPatch, "/v1/listings/"+listing.ID, harness.JSON{"oneSubscriptionPerCustomer": true}).
			Want(t, 200)
		var list struct{ Data []subscribed }
		a.AsBackend(t, get, "/v1/subscriptions?externalCustomerId=ada", nil).Want(t, 200).Into(t, &list)
		cancelNow(t, a, list.Data[0].ID)
		next().Want(t, 201)
	})
}

func TestAPlanWithoutATrialEndsTheTrialByAPI(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		listing := plans(t, a, 14)
		a.AsCreator(t, http.MethodPut, "/v1/listings/"+listing.ID+"/plans/mega", harness.JSON{
			"name": "Mega", "isDefault": false, "trialDays": 0, "entitlements": []harness.JSON{}, "credits": []harness.JSON{},
			"meters": []harness.JSON{},
			"prices": []harness.JSON{{"interval": "month", "intervalCount": 1, "currency": "eur", "amountInCents": 100000}},
		}).Want(t, 200)
		s := subscribe(t, a, listing, "basic", "ada", harness.CardSucceeds)
		if got := ask(t, a, s.ID, "change", harness.JSON{"plan": "studio",
			"prorationMode": "charge_now"}); got.Status != "trialing" {
			t.Errorf("a plan with a trial ends it: %+v", got)
		}
		quote := a.AsBackend(t, post, "/v1/subscriptions/"+s.ID+"/change/preview", harness.JSON{
			"plan": "mega", "prorationMode": "charge_now",
		}).Want(t, 200).Map(t)
		if fmt.Sprint(quote["amountDueInCents"]) != "100000" {
			t.Errorf("due %v, want 100000", quote["amountDueInCents"])
		}
		got := ask(t, a, s.ID, "change", harness.JSON{"plan": "mega", "prorationMode": "charge_now",
			"quoteId": quote["quoteId"]})
		if got.Status != "active" || got.Plan != "mega" || got.TrialEndsAt == nil || got.TrialEndsAt.After(time.Now()) {
			t.Errorf("%+v", got)
		}
	})
}

func TestARefundOfASubscriptionCancelsIt(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		listing := plans(t, a, 0)
		refund := func(customer string, over harness.JSON) (subscribed, harness.JSON) {
			t.Helper()
			s := subscribe(t, a, listing, "basic", customer, harness.CardSucceeds)
			var list struct{ Data []struct{ ID string } }
			a.AsBackend(t, get, "/v1/payments?externalCustomerId="+customer, nil).Want(t, 200).Into(t, &list)
			body := harness.JSON{"paymentId": list.Data[0].ID, "reason": "other"}
			maps.Copy(body, over)
			made := a.AsBackend(t, post, "/v1/refunds", body).Want(t, 201).Map(t)
			return subscription(t, a, s.ID), made
		}
		if s, made := refund("ada", nil); s.Status != "canceled" || made["subscription"] != nil {
			t.Errorf("%s, %v", s.Status, made)
		}
		if s, made := refund("bea", harness.JSON{"subscription": "cancel_at_period_end"}); s.Status != "active" ||
			!s.CancelAtPeriodEnd || made["subscription"] != "cancel_at_period_end" {
			t.Errorf("%+v, %v", s, made)
		}
		s, _ := refund("cleo", harness.JSON{"subscription": "keep"})
		if s.Status != "active" || s.CancelAtPeriodEnd || len(a.Access(t, "cleo")["activePlans"].([]any)) != 0 {
			t.Errorf("%+v", s)
		}
		advanceTo(t, a, s.CurrentPeriodEnd.Add(time.Minute))
		if len(a.Access(t, "cleo")["activePlans"].([]any)) != 1 {
			t.Error("the next paid period gives no access")
		}
		a.AsBackend(t, post, "/v1/refunds", harness.JSON{
			"paymentId": "pay_01h00000000000000000000000", "reason": "other", "keepAccess": true, "subscription": "cancel_now",
		}).Refuses(t, 400, "VALIDATION_FAILED")
	})
}

func TestADisputedSubscriptionIsNotCharged(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		listing := plans(t, w.Account, 0)
		s := subscribe(t, w.Account, listing, "basic", "ada", cardDisputed)
		var list struct{ Data []struct{ ID string } }
		payments := func() int {
			w.AsBackend(t, get, "/v1/payments?externalCustomerId=ada", nil).Want(t, 200).Into(t, &list)
			return len(list.Data)
		}
		payments()
		disputeID := w.disputeOf(t, list.Data[0].ID)
		w.AsBackend(t, post, "/v1/sandbox/customers/"+s.CustomerID+"/cards",
			harness.JSON{"cardNumber": harness.CardSucceeds}).Want(t, 201)
		w.AsBackend(t, post, "/v1/disputes/"+disputeID+"/evidence", harness.JSON{"text": "under review, please"}).Want(t, 200)
		portal := visit(t, w.Account, s.CustomerID)
		wantHeld := func(when string) {
			t.Helper()
			const held = "Nothing is charged until the bank has decided."
			page := read(t, app, portal)
			if strings.Contains(page, "Renews on") || !strings.Contains(page, held) {
				t.Errorf("%s the portal does not say that charges are held:\n%s", when, page)
			}
		}
		wantHeld("during the paid time")
		advanceTo(t, w.Account, s.CurrentPeriodEnd.AddDate(0, 0, 1))
		wantHeld("after it")
		if got := payments(); got != 1 {
			t.Errorf("%d payments during the dispute, want 1", got)
		}
	})
}

// A card has one trial of a listing in live, for all customers together.
func TestACardHasOneTrialInLive(t *testing.T) {
	t.Parallel()
	testdb.EachEngine(t, func(t *testing.T, engine testdb.Engine) {
		if engine.Name != testdb.Postgres.Name {
			return // live has no embedded database
		}
		settings := liveSettings()
		settings["STRIPE_API_BASE"] = stripefake.New(t).URL
		app := harness.New(t, engine, settings)
		a := app.NewAccount(t)
		app.Exec(t, "UPDATE creators SET email_unconfirmed = FALSE")
		listing, other := plans(t, a, 14), plans(t, a, 14)
		pay := func(session harness.Session, card string) *harness.Response {
			return app.Ask(t, harness.Request{Method: post, Path: "/c/" + session.Secret() + "/pay", Body: app.Agreed(t, session,
				harness.JSON{"email": "ada@example.com", "country": "IE", "confirmationToken": "ctoken_succeeds_" + card})})
		}
		open := func(of harness.Listing) harness.Session {
			return a.NewSession(t, of, "basic", harness.Unique("user"), nil)
		}
		trial := func(what string, of harness.Listing, card string) {
			t.Helper()
			if paid := pay(open(of), card).Want(t, 200).Map(t); fmt.Sprint(paid["totalInCents"]) != "0" {
				t.Errorf("%s paid %v, want 0", what, paid["totalInCents"])
			}
		}
		trial("a new card", listing, "first")
		again := open(listing)
		pay(again, "first").Refuses(t, 409, "STATE_CONFLICT")
		paid := pay(again, "first").Want(t, 200).Map(t)
		if fmt.Sprint(paid["totalInCents"]) != "1000" || paid["status"] != "paid" {
			t.Errorf("the card that had a trial: %v %v, want paid 1000", paid["status"], paid["totalInCents"])
		}
		trial("another card", listing, "second")
		trial("the card at another listing", other, "first")
		if n := app.Count(t, "SELECT COUNT(*) FROM subscriptions WHERE trial_card LIKE '%first%'"); n != 0 {
			t.Error("the card's fingerprint itself is stored")
		}
	})
}
