package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"sundry/tests/harness"
)

// state reads what the hosted page reads.
func state(t *testing.T, app *harness.App, session harness.Session) harness.JSON {
	t.Helper()
	return app.Ask(t, harness.Request{Method: get, Path: "/c/" + session.Secret() + "/state"}).Want(t, 200).Map(t)
}

// payOnPage submits the page's form.
func payOnPage(t *testing.T, app *harness.App, session harness.Session, card string) *harness.Response {
	t.Helper()
	body := harness.JSON{
		"email": "grace@example.com", "country": "IE", "cardNumber": card, "expiry": "12 / 34", "cvc": "123",
	}
	return app.Ask(t, harness.Request{
		Method: post, Path: "/c/" + session.Secret() + "/pay", Body: app.Agreed(t, session, body),
	})
}

// version is a JSON number as an integer.
func version(t *testing.T, v any) int64 {
	t.Helper()
	number, _ := v.(json.Number)
	n, err := number.Int64()
	if err != nil {
		t.Fatalf("%v is no integer", v)
	}
	return n
}

// TestTheIntegration follows the guide's first two levels: recipe, session, the buyer's payment on the hosted page,
// the receipt in both ways, and the access that came with it.
func TestTheIntegration(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w, buyer := newFixture(t, app), harness.Unique("user")
		recipePath := "/v1/catalog/listings/" + w.listing.CatalogKey + "/recipe"
		first := w.AsBackend(t, get, recipePath, nil).Want(t, 200)
		var recipe struct {
			Plans []struct {
				Key    string
				Prices []struct {
					AmountInCents int64
					Interval      string
				}
			}
		}
		first.Into(t, &recipe)
		app.Ask(t, harness.Request{Method: get, Path: recipePath, Bearer: w.Key,
			Headers: map[string]string{"If-None-Match": first.Header.Get("ETag")}}).Want(t, 304)

		session := w.NewSession(t, w.listing, recipe.Plans[0].Key, buyer, harness.JSON{
			"successUrl":  "https://shop.example/done/{CHECKOUT_SESSION_ID}?a=1&checkout_id=old#top",
			"referenceId": "order-7",
		})
		if s := state(t, app, session); s["state"] != "pay" && s["state"] != "details" || s["redirectUrl"] != nil {
			t.Errorf("before payment: %v", s)
		}
		if receipt := w.Receipt(t, session); receipt["status"] != "processing" || receipt["pollAfterMs"] == nil ||
			receipt["paidAt"] != nil {
			t.Errorf("before payment: %v", receipt)
		}
		if access := w.Access(t, buyer); len(access["activePlans"].([]any)) != 0 {
			t.Errorf("access before payment: %v", access)
		}

		paid := payOnPage(t, app, session, harness.CardSucceeds).Want(t, 200).Map(t)
		redirect, err := url.Parse(fmt.Sprint(paid["redirectUrl"]))
		if err != nil || redirect.Path != "/done/"+session.ID || redirect.Query().Get("checkout_id") != session.ID ||
			redirect.Query().Get("a") != "1" || redirect.Fragment != "top" {
			t.Fatalf("redirect to %v, %v", paid["redirectUrl"], err)
		}
		token := redirect.Query().Get("return_token")
		checkReceipts(t, w, session, token)

		receipt := w.Receipt(t, session)
		want := fmt.Sprint(recipe.Plans[0].Prices[0].AmountInCents)
		if receipt["status"] != "paid" || fmt.Sprint(receipt["totalInCents"]) != want ||
			receipt["referenceId"] != "order-7" || receipt["externalCustomerId"] != buyer || receipt["subscriptionId"] == nil {
			t.Errorf("receipt %v", receipt)
		}
		item, _ := receipt["items"].([]any)[0].(map[string]any)
		if item["listingId"] != w.listing.ID || item["planKey"] != "pro" || item["planName"] == nil || item["title"] == "" ||
			item["variantId"] != nil ||
			item["interval"] == nil || fmt.Sprint(item["totalInCents"]) != want ||
			fmt.Sprint(receipt["refundedInCents"]) != "0" {
			t.Errorf("receipt items %v", receipt["items"])
		}
		checkAccess(t, w, buyer, receipt)
		w.Pay(t, session, harness.CardSucceeds).Refuses(t, 409, "SESSION_ALREADY_PAID")
		payOnPage(t, app, session, harness.CardSucceeds).Refuses(t, 409, "SESSION_ALREADY_PAID")
		w.AsBackend(t, post, "/v1/checkout-sessions/"+session.ID+"/expire", nil).Refuses(t, 409, "SESSION_ALREADY_PAID")
		if after := w.Receipt(t, session); fmt.Sprint(after) != fmt.Sprint(receipt) {
			t.Errorf("the receipt changed: %v, was %v", after, receipt)
		}
	})
}

// checkReceipts reads the paid receipt in every way that is allowed, and some that are not.
func checkReceipts(t *testing.T, w *fixture, session harness.Session, token string) {
	t.Helper()
	path := "/v1/checkout-sessions/" + session.ID + "/receipt"
	read := func(bearer string, query url.Values) *harness.Response {
		return w.Ask(t, harness.Request{Method: get, Path: path, Query: query, Bearer: bearer})
	}
	for range 2 { // the token is reusable
		if public := read("", url.Values{"returnToken": {token}}).Want(t, 200).Map(t); len(public) != 2 ||
			public["status"] != "paid" || public["checkoutId"] != session.ID {
			t.Errorf("with the token alone: %v", public)
		}
	}
	read(w.Key, url.Values{"returnToken": {token}}).Want(t, 200)
	read(w.Key, url.Values{}).Refuses(t, 400, "VALIDATION_FAILED", "returnToken")
	read(w.Key, url.Values{"headless": {"maybe"}}).Refuses(t, 400, "VALIDATION_FAILED", "headless", "returnToken")
	read(w.Token, url.Values{"headless": {"true"}}).Refuses(t, 401, "UNAUTHENTICATED")
	for name, bad := range map[string]string{
		"none": "", "garbage": "x", "cut": token[:len(token)-1], "longer": token + "A", "changed": flip(token),
		"of another checkout": "",
	} {
		if name == "of another checkout" {
			bad = returnToken(t, w)
		}
		read("", url.Values{"returnToken": {bad}}).Refuses(t, 401, "UNAUTHENTICATED")
		if bad != "" {
			read(w.Key, url.Values{"returnToken": {bad}}).Refuses(t, 401, "UNAUTHENTICATED")
		}
	}
	unknown := "/v1/checkout-sessions/cs_01jqz5y2c4e6g8h0k2m4p6r8s0/receipt"
	w.Ask(t, harness.Request{Method: get, Path: unknown, Query: url.Values{"returnToken": {token}}}).Refuses(t, 401,
		"UNAUTHENTICATED")
	w.Ask(t, harness.Request{Method: get, Path: unknown, Query: url.Values{"headless": {"true"}},
		Bearer: w.Key}).Refuses(t, 404, "NOT_FOUND")
}

// flip changes one character in the middle.
func flip(token string) string {
	i := len(token) / 2
	other := "A"
	if token[i] == 'A' {
		other = "B"
	}
	return token[:i] + other + token[i+1:]
}

// returnToken is the token of a session of its own, paid.
func returnToken(t *testing.T, w *fixture) string {
	t.Helper()
	session := w.session(t)
	paid := payOnPage(t, w.App, session, harness.CardSucceeds).Want(t, 200).Map(t)
	redirect, err := url.Parse(fmt.Sprint(paid["redirectUrl"]))
	if err != nil {
		t.Fatal(err)
	}
	return redirect.Query().Get("return_token")
}

// checkAccess reads the access that the receipt promises.
func checkAccess(t *testing.T, w *fixture, buyer string, receipt harness.JSON) {
	t.Helper()
	response := w.AsBackend(t, get, "/v1/customer-access/"+buyer, nil).Want(t, 200)
	access := response.Map(t)
	if version(t, access["version"]) < version(t, receipt["accessVersion"]) || version(t, access["version"]) < 1 {
		t.Errorf("version %v, the receipt promised %v", access["version"], receipt["accessVersion"])
	}
	var seen struct {
		ActivePlans []struct {
			Key, ListingKey, Source, SourceID, Status, Interval string
			CurrentPeriodStart, CurrentPeriodEnd                time.Time
		}
		Entitlements []struct {
			Key   string
			Value any
		}
		Credits []struct {
			Key     string
			Balance int64
		}
	}
	response.Into(t, &seen)
	if len(seen.ActivePlans) != 1 || len(seen.Entitlements) != 3 || len(seen.Credits) != 1 {
		t.Fatalf("access %s", response.Body)
	}
	plan := seen.ActivePlans[0]
	if plan.Key != "pro" || plan.ListingKey != w.listing.CatalogKey || plan.Source != "subscription" ||
		plan.SourceID != receipt["subscriptionId"] ||
		plan.Status != "active" || plan.Interval != "month" ||
		!plan.CurrentPeriodEnd.Equal(plan.CurrentPeriodStart.AddDate(0, 1, 0)) && plan.CurrentPeriodStart.Day() < 29 {
		t.Errorf("plan %+v", plan)
	}
	if seen.Entitlements[0].Value != true || seen.Entitlements[1].Value != float64(50) ||
		seen.Entitlements[2].Value != "mail" || seen.Credits[0].Balance != 100 {
		t.Errorf("access %s", response.Body)
	}
	w.Ask(t, harness.Request{Method: get, Path: "/v1/customer-access/" + buyer, Bearer: w.Key,
		Headers: map[string]string{"If-None-Match": response.Header.Get("ETag")}}).Want(t, 304)
}

func TestEveryTestCardDoesWhatItIsKnownFor(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		for card, c := range map[string]struct {
			code      string // of the refusal; "" when it pays
			lastError string
		}{
			"4242424242424242":    {"", ""},
			"4242 4242 4242 4242": {"", ""},
			"4000000000000002":    {"CARD_DECLINED", "card_declined"},
			"4000000000009995":    {"CARD_DECLINED", "insufficient_funds"},
			"4000000000000069":    {"CARD_DECLINED", "expired_card"},
			"4000000000000127":    {"CARD_DECLINED", "incorrect_cvc"},
			"4000002500003155":    {"AUTHENTICATION_REQUIRED", ""},
			"4000002760003184":    {"AUTHENTICATION_REQUIRED", ""},
			"4000000000000341":    {"", ""},
			"4000000000000259":    {"", ""},
		} {
			session := w.session(t)
			response := w.Pay(t, session, card)
			receipt := w.Receipt(t, session)
			if c.code == "" {
				if response.Want(t, 200); receipt["status"] != "paid" || receipt["lastPaymentError"] != nil {
					t.Errorf("%s: %v", card, receipt)
				}
				continue
			}
			response.Refuses(t, 402, c.code)
			if receipt["status"] != "processing" || receipt["paymentId"] != nil {
				t.Errorf("%s: %v", card, receipt)
			}
			if e, _ := receipt["lastPaymentError"].(map[string]any); c.lastError != "" && e["code"] != c.lastError {
				t.Errorf("%s: last error %v, want %s", card, e, c.lastError)
			}
			w.Pay(t, session, harness.CardSucceeds).Want(t, 200) // another card is welcome
			if receipt := w.Receipt(t, session); receipt["status"] != "paid" || receipt["lastPaymentError"] != nil {
				t.Errorf("%s, then a good one: %v", card, receipt)
			}
		}
		for _, bad := range []string{"", "4242", "5555555555554444", "4242424242424243", "４２４２", "4242424242424242 or 1=1"} {
			session := w.session(t)
			w.Pay(t, session, bad).Refuses(t, 400, "VALIDATION_FAILED", "cardNumber")
			if receipt := w.Receipt(t, session); receipt["status"] != "processing" || receipt["lastPaymentError"] != nil {
				t.Errorf("%q was tried: %v", bad, receipt)
			}
		}
	})
}

func TestTheBankAsksTheBuyer(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		session := w.session(t)
		response := func(approve bool) *harness.Response {
			return app.Ask(t, harness.Request{
				Method: post, Path: "/c/" + session.Secret() + "/authenticate", Body: harness.JSON{"approve": approve},
			})
		}
		response(true).Refuses(t, 409, "STATE_CONFLICT") // nobody asked
		if s := payOnPage(t, app, session, harness.CardAsksOnce).Want(t, 200).Map(t); s["state"] != "authenticating" ||
			s["status"] != "processing" {
			t.Errorf("asked: %v", s)
		}
		response(false).Refuses(t, 402, "CARD_DECLINED")
		if s := state(t, app, session); s["state"] != "payment_failed" || s["lastPaymentError"] == nil {
			t.Errorf("refused: %v", s)
		}
		payOnPage(t, app, session, harness.CardAsksOnce).Want(t, 200)
		if s := response(true).Want(t, 200).Map(t); s["state"] != "paid" {
			t.Errorf("approved: %v", s)
		}
		response(true).Refuses(t, 409, "STATE_CONFLICT")
	})
}

func TestTenDeclinesEndASession(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		session := w.session(t)
		for i := range 10 {
			if receipt := w.Receipt(t, session); receipt["status"] != "processing" {
				t.Fatalf("after %d declines: %v", i, receipt)
			}
			w.Pay(t, session, harness.CardDeclined).Refuses(t, 402, "CARD_DECLINED")
		}
		if receipt := w.Receipt(t, session); receipt["status"] != "failed" {
			t.Errorf("after ten declines: %v", receipt)
		}
		w.Pay(t, session, harness.CardSucceeds).Refuses(t, 409, "STATE_CONFLICT")
		if s := state(t, app, session); s["state"] != "failed" || s["redirectUrl"] != nil {
			t.Errorf("the page: %v", s)
		}
	})
}

func TestAnExpiredSessionIsOver(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		session := w.session(t)
		for range 2 {
			if s := w.AsBackend(t, post, "/v1/checkout-sessions/"+session.ID+"/expire", nil).
				Want(t, 200).Map(t); s["status"] != "expired" {
				t.Errorf("expired: %v", s)
			}
		}
		w.Pay(t, session, harness.CardSucceeds).Refuses(t, 410, "SESSION_EXPIRED")
		payOnPage(t, app, session, harness.CardSucceeds).Refuses(t, 410, "SESSION_EXPIRED")
		app.Ask(t, harness.Request{Method: post, Path: "/c/" + session.Secret() + "/details", Body: bodyOfPage()}).Refuses(t,
			410, "SESSION_EXPIRED")
		app.Ask(t, harness.Request{Method: post, Path: "/c/" + session.Secret() + "/authenticate",
			Body: harness.JSON{"approve": true}}).Refuses(t, 410, "SESSION_EXPIRED")
		app.Ask(t, harness.Request{Method: get, Path: "/c/" + session.Secret() + "/challenge"}).Refuses(t, 410,
			"SESSION_EXPIRED")
		if s := state(t, app, session); s["state"] != "expired" || s["status"] != "expired" { // stays readable
			t.Errorf("the page: %v", s)
		}
		if receipt := w.Receipt(t, session); receipt["status"] != "expired" || receipt["pollAfterMs"] != nil {
			t.Errorf("receipt: %v", receipt)
		}
	})
}

// TestManyPaymentsOfOneSessionTakeMoneyOnce: double clicks, two tabs and an impatient backend, all at once.
func TestManyPaymentsOfOneSessionTakeMoneyOnce(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w, buyer := newFixture(t, app), harness.Unique("user")
		session := w.NewSession(t, w.listing, "pro", buyer, nil)
		paid := 0
		for _, response := range together(10, func() *harness.Response {
			return payOnPage(t, app, session,
				harness.CardSucceeds)
		}) {
			switch response.Status {
			case http.StatusOK:
				paid++
			case http.StatusConflict:
			default:
				t.Errorf("responded with %d %s", response.Status, response.Body)
			}
		}
		receipt := w.Receipt(t, session)
		if paid < 1 || receipt["status"] != "paid" {
			t.Fatalf("%d tabs saw it paid: %v", paid, receipt)
		}
		access := w.Access(t, buyer)
		if plans := access["activePlans"].([]any); len(plans) != 1 ||
			version(t, access["version"]) != version(t, receipt["accessVersion"]) {
			t.Errorf("access %v, receipt %v", access, receipt)
		}
	})
}

func TestPaymentRacingExpiryHasOneEnd(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		ends := map[any]int{}
		for round := 0; round < 6 || round < 200 && len(ends) < 2; round++ {
			buyer := harness.Unique("user")
			session := w.NewSession(t, w.listing, "pro", buyer, nil)
			behind := time.Duration(round%8-4) * time.Millisecond // who starts later, so that each side wins some
			var both sync.WaitGroup
			both.Go(func() { time.Sleep(behind); payOnPage(t, app, session, harness.CardSucceeds) })
			both.Go(func() {
				time.Sleep(-behind)
				w.AsBackend(t, post, "/v1/checkout-sessions/"+session.ID+"/expire", nil)
			})
			both.Wait()
			receipt, access := w.Receipt(t, session), w.Access(t, buyer)
			plans := len(access["activePlans"].([]any))
			if receipt["status"] == "paid" && plans != 1 || receipt["status"] == "expired" && plans != 0 ||
				receipt["status"] == "processing" {
				t.Errorf("%v with %d plans", receipt, plans)
			}
			ends[receipt["status"]]++
		}
		if ends["paid"] == 0 || ends["expired"] == 0 {
			t.Errorf("the race ended one way only: %v", ends)
		}
	})
}

func TestPaymentLinks(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		id := w.link(t)
		var link struct{ URL string }
		w.AsCreator(t, get, "/v1/payment-links/"+id, nil).Want(t, 200).Into(t, &link)
		path := strings.TrimPrefix(link.URL, app.URL)
		open := func(query url.Values) *harness.Response {
			return app.Ask(t, harness.Request{Method: get, Path: path, Query: query})
		}
		query := url.Values{
			"customer_email": {"grace@example.com"}, "customer_name": {"Grace"}, "reference_id": {"ad-7"},
			"utm_source": {"mail"}, "utm_campaign": {"spring"},
			"priceInCents": {"1"}, "amount": {"1"}, "successUrl": {"https://evil.example"},
			"success_url": {"https://evil.example"}, "fbclid": {strings.Repeat("x", 900)},
		}
		to := open(query).Want(t, 303).Header.Get("Location")
		if again := open(query).Want(t, 303).Header.Get("Location"); again == to || !strings.HasPrefix(to, app.URL+"/c/") {
			t.Errorf("opened %s, then %s", to, again)
		}
		session := harness.Session{CheckoutURL: to}
		if s := state(t, app, session); fmt.Sprint(s["totalInCents"]) != "1900" {
			t.Errorf("the link's parameters changed the price: %v", s)
		}
		paid := app.Ask(t, harness.Request{Method: post, Path: "/c/" + session.Secret() + "/pay",
			Body: harness.JSON{"cardNumber": harness.CardSucceeds}}).Want(t, 200).Map(t)
		if redirect := fmt.Sprint(paid["redirectUrl"]); !strings.HasPrefix(redirect, "https://shop.example/welcome?") {
			t.Errorf("after payment to %s", redirect)
		}
		for _, name := range []string{"customer_email", "customer_name", "discount_code", "reference_id", "utm_source",
			"utm_anything"} {
			longest := 500
			if name == "customer_name" {
				longest = 200 // as everywhere
			}
			refusesPage(t, open(url.Values{name: {strings.Repeat("é", longest+1)}}), 400)
			open(url.Values{name: {strings.Repeat("é", longest)}}).Want(t, 303)
		}
		payment := w.found(t, "/v1/payments", nil)[0]
		if order := w.Visit(t).Open(t, "/dashboard/orders/"+payment).Body; !strings.Contains(order, "/links/"+id) {
			t.Errorf("the dashboard's page of a sale does not link to %s", id)
		}
		ended := harness.Session{CheckoutURL: open(nil).Want(t, 303).Header.Get("Location")}
		w.AsBackend(t, post, "/v1/checkout-sessions/"+text(t, state(t, app, ended)["checkoutId"])+"/expire", nil).Want(t, 200)
		again := harness.Request{Method: get, Path: "/c/" + ended.Secret() + "/again"}
		if to := app.Ask(t, again).Want(t, 303).Header.Get("Location"); to == ended.CheckoutURL {
			t.Errorf("an expired session is opened again as itself")
		}
		app.AskUnjudged(t, harness.Request{Method: http.MethodHead, Path: again.Path}).Want(t, 200)
		w.AsCreator(t, patch, "/v1/payment-links/"+id, harness.JSON{"active": false}).Want(t, 200)
		refusesPage(t, open(nil), 409)
		refusesPage(t, app.Ask(t, again), 409)
		again.Method = http.MethodHead
		app.AskUnjudged(t, again).Want(t, 409)
		refusesPage(t, app.Ask(t, harness.Request{Method: get, Path: "/l/nothing"}), 404)
		w.AsCreator(t, patch, "/v1/payment-links/"+id, harness.JSON{"active": true}).Want(t, 200)
		w.AsCreator(t, remove, "/v1/listings/"+w.listing.ID, nil).Want(t, 200)
		refusesPage(t, open(nil), 409)
	})
}

// Programs ask for the header alone of links in mails and pages: that holds no times and counts for no limit.
func TestHeadOpensNoSession(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		var link struct{ ID, Code string }
		w.AsCreator(t, post, "/v1/payment-links", w.linkBody()).Want(t, 201).Into(t, &link)
		ended := w.session(t)
		w.AsBackend(t, post, "/v1/checkout-sessions/"+ended.ID+"/expire", nil).Want(t, 200)
		head := func(path string) int {
			t.Helper()
			return app.AskUnjudged(t, harness.Request{Method: http.MethodHead, Path: path}).Status
		}
		code, secret := "/l/"+link.Code, "/c/"+ended.Secret()+"/again"
		for address, want := range map[string]int{code: 200, secret: 200, "/l/nothing": 404, "/c/nothing/again": 404} {
			if got := head(address); got != want {
				t.Errorf("HEAD %s responds with %d, want %d", address, got, want)
			}
		}
		if found := w.found(t, "/v1/checkout-sessions", nil); len(found) != 1 {
			t.Errorf("HEAD opened %d sessions", len(found)-1)
		}
		w.AsCreator(t, patch, "/v1/payment-links/"+link.ID, harness.JSON{"active": false}).Want(t, 200)
		if got := head(code); got != 409 {
			t.Errorf("HEAD of an inactive link responds with %d, want 409", got)
		}
	})
}

// refusesPage fails the test unless the response is a page with the status.
func refusesPage(t *testing.T, response *harness.Response, status int) {
	t.Helper()
	if response.Status != status || !response.IsHTML() {
		t.Errorf(
			"responded with %d %s, want a page with %d", response.Status, response.Header.Get("Content-Type"), status,
		)
	}
	if wait := response.Header.Get("Retry-After"); (wait != "") != (status == 429 || status == 503) {
		t.Errorf("a page with %d asks to wait %q", status, wait)
	}
}
