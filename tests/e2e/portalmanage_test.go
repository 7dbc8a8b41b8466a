package e2e_test

import (
	"html"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"sundry/tests/harness"
	"sundry/tests/testdb"
)

// TestPortal_CustomersManageTheirPlan does in the portal what it offers beside canceling: the card that pays, the
// quantity, a pause where the creator allows it. Each step is refused where it is not offered.
func TestPortal_CustomersManageTheirPlan(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		a.AsCreator(t, patch, "/v1/creator", harness.JSON{"accentColor": "#4f46e5", "refundPolicy": "A month."}).Want(t, 200)
		club := plans(t, a, 0)
		session := a.NewSession(t, club, "basic", "ada",
			harness.JSON{"quantity": 2, "customer": harness.JSON{"country": "DE"}})
		a.Pay(t, session, harness.CardSucceeds).Want(t, 200)
		receipt := a.Receipt(t, session)
		path, customer := "/v1/subscriptions/"+text(t, receipt["subscriptionId"]), text(t, receipt["customerId"])
		subscription := func() map[string]any { return a.AsBackend(t, get, path, nil).Want(t, 200).Map(t) }
		first := text(t, subscription()["paymentMethodId"])
		a.AsBackend(t, post, "/v1/sandbox/customers/"+customer+"/cards",
			harness.JSON{"cardNumber": harness.CardAsksOnce}).Want(t, 201)
		if subscription()["paymentMethodId"] == first {
			t.Fatal("a card that is saved does not pay")
		}
		portal := visit(t, a, customer)
		shows := func(step string, wants ...string) {
			t.Helper()
			page := html.UnescapeString(read(t, app, portal))
			for _, want := range wants {
				if !strings.Contains(page, want) {
					t.Errorf("%s: the portal lacks %q:\n%s", step, want, page)
				}
			}
		}
		shows("the shop", "Ada's Workshop", "/accent/4f46e5.css", "A month.",
			"Sundry will charge €20.00 to Visa •••• 3155 on", "Tax included, 19% (Germany): €3.19")
		if to := submit(t, app, portal+"/cards/"+first+"/choose", nil); to != portal+"?done=chosen" ||
			subscription()["paymentMethodId"] != first {
			t.Errorf("after the choice of a card: %s, %v", to, subscription()["paymentMethodId"])
		}
		shows("the card", "to Visa •••• 4242 on")
		if to := submit(t, app, portal+"/cards/pm_nobody/choose", nil); to != portal+"?done=changed" {
			t.Errorf("a stranger's card: %s", to)
		}

		mine := portal + "/plans/" + text(t, receipt["subscriptionId"])
		quote := read(t, app, mine+"/change?quantity=3")
		_, id, found := strings.Cut(quote, `name="quote" value="`)
		id, _, _ = strings.Cut(id, `"`)
		if !found || !strings.Contains(quote, "quantity 3") || !strings.Contains(quote, "€10.00 due today") {
			t.Fatalf("the preview of three:\n%s", quote)
		}
		submit(t, app, mine+"/change", url.Values{"quantity": {"3"}, "quote": {id}})
		if got := asJSON(t, subscription()["quantity"]); got != "3" {
			t.Errorf("%s are paid for, want 3", got)
		}
		again := url.Values{"quantity": {"3"}, "quote": {id}} // as a double click sends it
		if to := submit(t, app, mine+"/change", again); to != portal+"?done=plan" {
			t.Errorf("the same change again: %s", to)
		}
		for _, quantity := range []string{"0", "-1", "10001", "many", ""} {
			if to := submit(t, app, mine+"/change", url.Values{"quantity": {quantity}}); to != portal+"?done=changed" {
				t.Errorf("a quantity of %q: %s", quantity, to)
			}
		}

		if to := submit(t, app, mine+"/pause", nil); to != portal+"?done=changed" || subscription()["status"] != "active" {
			t.Errorf("paused without permission: %s, %v", to, subscription()["status"])
		}
		a.AsCreator(t, patch, "/v1/listings/"+club.ID,
			harness.JSON{"metadata": harness.JSON{"customersMayPause": true}}).Want(t, 200)
		if to := submit(t, app, mine+"/pause", nil); to != portal+"?done=paused" || subscription()["status"] != "paused" {
			t.Errorf("a pause: %s, %v", to, subscription()["status"])
		}
		if to := submit(t, app, mine+"/pause", nil); to != portal+"?done=paused" {
			t.Errorf("a pause that is sent twice: %s", to)
		}
		for range 2 {
			if to := submit(t, app, mine+"/resume", nil); to != portal+"?done=resumed" || subscription()["status"] != "active" {
				t.Errorf("resumed: %s, %v", to, subscription()["status"])
			}
		}
		if page := read(t, app, mine+"/cancel"); !strings.Contains(page, "You can use your plan until ") {
			t.Errorf("a cancellation of an active plan:\n%s", page)
		}
		submit(t, app, mine+"/pause", nil)
		if page := read(t, app, mine+"/cancel"); !strings.Contains(page, "Your plan stays paused and ends on ") {
			t.Errorf("a cancellation while paid time is left:\n%s", page)
		}
		advance(t, a, 32*24*time.Hour)
		if page := read(t, app, mine+"/cancel"); !strings.Contains(page, "Your plan ends now.") {
			t.Errorf("a cancellation once it is over:\n%s", page)
		}
		shows("a pause that outlasted what was paid", "Sundry will charge €30.00 to Visa •••• 4242 when you resume this plan.")
		submit(t, app, mine+"/resume", nil)
		if subscription()["status"] != "active" {
			t.Errorf("resumed by a payment: %v", subscription()["status"])
		}
		verified(t, app)
	})
}

// TestFindPurchases_SameAnswer asks for the link by an address: those who bought get it, nobody learns who did, and
// neither a network nor a recipient is asked for without end.
func TestFindPurchases_SameAnswer(t *testing.T) {
	t.Parallel()
	testdb.EachEngine(t, func(t *testing.T, engine testdb.Engine) {
		app := harness.New(t, engine, nil) // of its own, whose network nobody else is counted by
		w := newFixture(t, app)
		known, unknown := harness.Unique("ada")+"@example.com", harness.Unique("bea")+"@example.com"
		w.AsBackend(t, post, "/v1/sandbox/checkout-sessions/"+w.session(t).ID+"/pay",
			harness.JSON{"cardNumber": harness.CardSucceeds, "email": known}).Want(t, 200)
		at := "/find/" + w.ID
		if page := read(t, app, at); !strings.Contains(page, "Find your purchases from Ada&#39;s Workshop") {
			t.Errorf("the page is not the shop's:\n%s", page)
		}
		asks := func(address string) string { return submit(t, app, at, url.Values{"email": {address}}) }
		links := func(address string) (n int) {
			t.Helper()
			advance(t, w.Account, time.Second)
			for _, m := range mailsTo(t, app, address) {
				if strings.Contains(m.Parts["text/plain"], app.URL+"/p/") &&
					strings.Contains(m.Subject, "Your link to your purchases") {
					n++
				}
			}
			return n
		}
		for range 5 { // a recipient gets one an hour, and is asked for three times at most
			if to, stranger := asks(strings.ToUpper(known)), asks(unknown); to != at+"?done=mailed" || stranger != to {
				t.Errorf("the answers are %s and %s", to, stranger)
			}
		}
		if n, strangers := links(known), links(unknown); n != 1 || strangers != 0 {
			t.Errorf("%d links were mailed, and %d to a stranger", n, strangers)
		}
		if to := asks("nobody"); to != at+"?done=email" {
			t.Errorf("no address: %s", to)
		}
		crossSite := app.AskUnjudged(t, harness.Request{
			Method: post, Path: at, Body: "email=" + url.QueryEscape(known),
			Headers: map[string]string{"Sec-Fetch-Site": "cross-site", "Content-Type": "application/x-www-form-urlencoded"},
		})
		if crossSite.Status != http.StatusSeeOther || crossSite.Header.Get("Location") != at {
			t.Errorf("a form of another site: %d to %s", crossSite.Status, crossSite.Header.Get("Location"))
		}
		app.AskUnjudged(t, harness.Request{Method: get, Path: "/find/crt_nobody"}).Want(t, 404)
		limited := 0
		for range 40 {
			if app.AskUnjudged(t, harness.Request{
				Method: post, Path: at, Body: "email=" + url.QueryEscape(harness.Unique("zoe")+"@example.com"),
				Headers: map[string]string{"Content-Type": "application/x-www-form-urlencoded"},
			}).Status == http.StatusTooManyRequests {
				limited++
			}
		}
		if limited < 20 {
			t.Errorf("a network was refused %d times", limited)
		}
	})
}

// A payment whose outcome is not known yet is neither received nor asked about by a bank.
func TestPortal_PaymentStaysProcessing(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		club := plans(t, a, 0)
		session := a.NewSession(t, club, "basic", "ada", nil)
		a.Pay(t, session, harness.CardSucceeds).Want(t, 200)
		receipt := a.Receipt(t, session)
		customer := text(t, receipt["customerId"])
		save := func(card string) {
			t.Helper()
			a.AsBackend(t, post, "/v1/sandbox/customers/"+customer+"/cards", harness.JSON{"cardNumber": card}).Want(t, 201)
		}
		save(harness.CardStaysPending)
		portal := visit(t, a, customer)
		mine := portal + "/plans/" + text(t, receipt["subscriptionId"])
		if to := submit(t, app, mine+"/change", url.Values{"plan": {"studio"}, "interval": {"month"}}); to != portal+"?done=processing" {
			t.Errorf("a change of plan: %s", to)
		}
		page := html.UnescapeString(read(t, app, portal+"?done=processing"))
		if strings.Contains(page, "Confirm payment") || strings.Count(page, "Your payment is being processed.") != 2 {
			t.Errorf("the portal while a payment is processed:\n%s", page)
		}
	})
}

// TestPlanChange_AfterANewCatalogKey changes plans of a listing that had another key when it was bought, which another
// listing has now.
func TestPlanChange_AfterANewCatalogKey(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		club := plans(t, a, 0)
		s := subscribe(t, a, club, "basic", "ada", harness.CardSucceeds)
		a.AsCreator(t, patch, "/v1/listings/"+club.ID, harness.JSON{"catalogKey": harness.Unique("renamed")}).Want(t, 200)
		a.NewListing(t, harness.JSON{"slug": harness.Unique("other"), "catalogKey": club.Slug})
		mine := visit(t, a, s.CustomerID) + "/plans/" + s.ID + "/change"
		if page := read(t, app, mine); !strings.Contains(page, "studio") {
			t.Errorf("the portal offers no other plan:\n%s", page)
		}
		if page := a.Visit(t).Open(t, "/dashboard/subscriptions/"+s.ID+"/change"); !strings.Contains(page.Body, "studio") {
			t.Errorf("the dashboard offers no other plan: %s\n%s", page.Path, page.Body)
		}
		if got := ask(t, a, s.ID, "change", harness.JSON{"plan": "studio"}); got.Plan != "studio" {
			t.Errorf("the plan is %s, want studio", got.Plan)
		}
	})
}
