package e2e_test

import (
	"encoding/csv"
	"html"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"sundry/adapters/web/layout/layouttest"
	"sundry/tests/harness"
)

const hostileText = `"><script>alert(1)</script><img src=x onerror=alert(2)>'`

// busyShop is an account that has one of nearly everything, with hostile texts wherever a person may write.
func busyShop(t *testing.T, app *harness.App) *fixture {
	t.Helper()
	w := newFixture(t, app)
	w.AsCreator(t, patch, "/v1/creator", JSON{"displayName": hostileText, "refundPolicy": hostileText}).Want(t, 200)
	w.AsCreator(t, patch, "/v1/listings/"+w.listing.ID, JSON{"title": hostileText, "description": hostileText}).
		Want(t, 200)
	session := w.NewSession(t, w.listing, "pro", "user-1", JSON{
		"referenceId": hostileText, "metadata": JSON{"note": hostileText}, "customer": JSON{"name": hostileText},
	})
	w.Pay(t, session, harness.CardSucceeds).Want(t, 200)
	disputed := w.NewSession(t, w.listing, "pro", "user-2", nil)
	w.Pay(t, disputed, "4000000000000259").Want(t, 200)
	w.AsCreator(t, post, "/v1/payment-links", JSON{"listingId": w.listing.ID}).Want(t, 201)
	w.AsCreator(t, post, "/v1/discounts", JSON{"code": "SPRING", "percentOff": 20}).Want(t, 201)
	w.AsBackend(t, post, "/v1/customer-access/user-1/grants",
		JSON{"entitlements": []JSON{{"key": "vip", "type": "text", "value": hostileText}}, "note": hostileText}).Want(t, 201)
	w.endpoint(t)
	w.delivery(t)
	w.booked(t)
	w.usageOf(t)
	w.AsBackend(t, post, "/v1/sandbox/clock/advance", JSON{"seconds": 9 * 86400}).Want(t, 200)
	w.AsBackend(t, post, "/v1/payouts", JSON{"currency": "eur"}).Want(t, 201)
	return w
}

// isPage reports whether a response is a page and no file.
func isPage(page *harness.Page) bool {
	return strings.HasPrefix(page.Header.Get("Content-Type"), "text/html")
}

// everyPage follows the links of the dashboard except those that leaveOut matches, if it isn't nil, calls visit with
// every page, and returns their addresses.
func everyPage(
	t *testing.T, v *harness.Visitor, leaveOut *regexp.Regexp, visit func(path string, page *harness.Page),
) map[string]bool {
	t.Helper()
	seen, waiting := map[string]bool{}, []string{"/dashboard"}
	for len(waiting) > 0 {
		path := waiting[0]
		waiting = waiting[1:]
		page := v.Open(t, path)
		if page.Status != http.StatusOK {
			t.Errorf("%s is %d: %s", path, page.Status, page.Body)
			continue
		}
		visit(path, page)
		if !isPage(page) {
			continue
		}
		for _, m := range links.FindAllStringSubmatch(page.Body, -1) {
			next := html.UnescapeString(m[1])
			if next, _, _ = strings.Cut(next, "#"); !seen[next] && (leaveOut == nil || !leaveOut.MatchString(next)) {
				seen[next] = true
				waiting = append(waiting, next)
			}
		}
	}
	return seen
}

var links = regexp.MustCompile(`href="(/dashboard[^"]*)"`)

func TestEveryPageOfTheDashboardIsSound(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		seen := everyPage(t, busyShop(t, app).Visit(t), nil, func(path string, page *harness.Page) {
			if strings.Contains(path, "format=csv") {
				checkCSV(t, path, page)
			}
			if !isPage(page) {
				return // a list or a file of a dispute
			}
			if strings.Contains(page.Body, "<script>alert") || strings.Contains(page.Body, "<img src=x") {
				t.Errorf("%s runs what somebody typed: %s", path, page.Body)
			}
			layouttest.CheckMarkup(t, []byte(page.Body))
		})
		for _, area := range dashboardAreas {
			if !seen["/dashboard/"+area] {
				t.Errorf("nothing leads to %s", area)
			}
		}
	})
}

var dashboardAreas = []string{
	"listings", "links", "orders", "customers", "subscriptions", "keys", "webhooks", "events", "requests", "bookings",
	"bookings/week", "bookings/settings", "discounts", "balance", "ledger", "disputes", "invoices", "usage",
	"usage/meters", "usage/prices", "usage/products", "settings", "security", "security/log",
}

func checkCSV(t *testing.T, path string, page *harness.Page) {
	t.Helper()
	records, err := csv.NewReader(strings.NewReader(page.Body)).ReadAll()
	if err != nil || len(records) == 0 || !strings.HasPrefix(page.Header.Get("Content-Type"), "text/csv") {
		t.Errorf("%s: %d records, %v", path, len(records), err)
	}
}

func TestListsFilterAndExport(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		for i := range 27 {
			a.NewListing(t, JSON{"title": "Zine " + string(rune('A'+i))})
		}
		a.NewListing(t, JSON{"title": "=HYPERLINK(1)"})
		v := a.Visit(t)
		first := v.Open(t, "/dashboard/listings").Body
		if strings.Count(first, `href="/dashboard/listings/lst_`) != 25 || !strings.Contains(first, `rel="next"`) {
			t.Errorf("the first page has %d listings", strings.Count(first, `href="/dashboard/listings/lst_`))
		}
		next := regexp.MustCompile(`href="(/dashboard/listings\?cursor=[^"]+)"`).FindStringSubmatch(first)
		if next == nil {
			t.Fatal("no next page")
		}
		if second := v.Open(t, html.UnescapeString(next[1])).Body; strings.Count(second,
			`href="/dashboard/listings/lst_`) != 3 || strings.Contains(second, `rel="next"`) {
			t.Errorf("the second page has %d listings", strings.Count(second, `href="/dashboard/listings/lst_`))
		}
		if found := v.Open(t, "/dashboard/listings?q=zine+b&status=DRAFT").Body; strings.Count(found,
			`href="/dashboard/listings/lst_`) != 1 {
			t.Errorf("the filter finds %d", strings.Count(found, `href="/dashboard/listings/lst_`))
		}
		if found := v.Open(t, "/dashboard/listings?status=ARCHIVED").Body; !strings.Contains(found, "Nothing matches") {
			t.Error("a filter that nothing matches shows something")
		}
		records, err := csv.NewReader(strings.NewReader(v.Open(t, "/dashboard/listings?format=csv").Body)).ReadAll()
		if err != nil || len(records) != 29 || !slices.ContainsFunc(records,
			func(r []string) bool { return r[0] == "'=HYPERLINK(1)" }) {
			t.Errorf("%d lines, %v: %v", len(records), err, records)
		}
	})
}

func TestAnotherAccountsThingsAreNotThere(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := busyShop(t, app)
		payment := w.AsBackend(t, get, "/v1/payments", nil).Want(t, 200).Map(t)["data"].([]any)[0].(map[string]any)
		eve := app.NewAccount(t).Visit(t)
		for _, path := range []string{
			"/listings/" + w.listing.ID, "/listings/" + w.listing.ID + "/edit", "/orders/" + payment["id"].(string),
			"/orders/" + payment["id"].(string) + "/refund",
			"/customers/" + payment["customerId"].(string), "/webhooks/" + w.hook,
		} {
			if page := eve.Open(t, "/dashboard"+path); page.Status != 404 {
				t.Errorf("%s is %d", path, page.Status)
			}
		}
		eve.Open(t, "/dashboard")
		token := eve.Token(t)
		for _, path := range []string{"/listings/" + w.listing.ID + "/archive", "/webhooks/" + w.hook + "/delete",
			"/webhooks/" + w.hook + "/secret", "/orders/" + payment["id"].(string) + "/refund"} {
			eve.Post(t, "/dashboard"+path, "token", token, "amount", "1.00")
		}
		if status := w.AsCreator(t, get, "/v1/listings/mine", nil).
			Want(t, 200).Map(t)["data"].([]any)[0].(map[string]any)["status"]; status != "ACTIVE" {
			t.Errorf("another account made it %v", status)
		}
		w.AsBackend(t, get, "/v1/webhook-endpoints/"+w.hook, nil).Want(t, 200)
	})
}

func TestAnOrderShowsHowTheVATIDWasChecked(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		_, receipt := w.sell(t, w.book(t, 11900), harness.CardSucceeds, harness.JSON{
			"customer": harness.JSON{"name": "Ada GmbH", "country": "DE", "taxId": "DE136695976"},
		})
		paymentID := text(t, receipt["paymentId"])
		shows := func(words ...string) {
			t.Helper()
			page := w.Visit(t).Open(t, "/dashboard/orders/"+paymentID)
			for _, s := range append(words, "Reverse charge", "Germany", "DE136695976") {
				if !strings.Contains(page.Body, s) {
					t.Errorf("the order lacks %q: %s", s, page.Body)
				}
			}
		}
		shows("Shape and check digits")
		app.Exec(t, `UPDATE payments SET sale = REPLACE(sale, '"declared":"DE"',
			'"declared":"DE","vatCheck":{"id":"DE136695976","registered":true,"checkedAt":"2026-11-22T13:00:00Z","consultation":"WAPI1"}') WHERE id = $1`, paymentID)
		shows("Registered", "Nov\u00a022,\u00a02026", "Consultation number", "WAPI1")
	})
}

func TestAPlanOfWhatIsNoLongerSoldIsNotChanged(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		w.Pay(t, w.NewSession(t, w.listing, "pro", "user-1", nil), harness.CardSucceeds).Want(t, 200)
		id := w.AsBackend(t, get, "/v1/subscriptions", nil).
			Want(t, 200).Map(t)["data"].([]any)[0].(map[string]any)["id"].(string)
		w.AsCreator(t, remove, "/v1/listings/"+w.listing.ID, nil).Want(t, 200)
		page := w.Visit(t).Open(t, "/dashboard/subscriptions/"+id+"/change")
		if page.Status != 200 || page.Path != "/dashboard/subscriptions/"+id ||
			!strings.Contains(page.Body, "no longer sold") {
			t.Errorf("changing the plan is %d %s", page.Status, page.Path)
		}
	})
}

// What is charged for in the dashboard is named before, and is not done before the payment is.
func TestSubscriptionsNameWhatTheyCharge(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		session := a.NewSession(t, plans(t, a, 0), "basic", "ada", nil)
		a.Pay(t, session, harness.CardSucceeds).Want(t, 200)
		receipt := a.Receipt(t, session)
		at, v := "/dashboard/subscriptions/"+text(t, receipt["subscriptionId"]), a.Visit(t)
		const over = "The paid time is over: the customer is charged €10.00 now, for a new period."
		v.Open(t, at)
		v.Send(t, at+"/pause")
		if page := v.Open(t, at); strings.Contains(page.Body, "The paid time is over") {
			t.Errorf("resuming in the paid time costs something:\n%s", page.Body)
		}
		advance(t, a, 32*24*time.Hour)
		if page := v.Open(t, at); !strings.Contains(page.Body, over) {
			t.Errorf("the page lacks %q:\n%s", over, page.Body)
		}
		a.AsBackend(t, post, "/v1/sandbox/customers/"+text(t, receipt["customerId"])+"/cards",
			harness.JSON{"cardNumber": harness.CardStaysPending}).Want(t, 201)
		if page := v.Send(t, at+"/resume"); !strings.Contains(page.Body, "The payment is being processed") {
			t.Errorf("resumed without a payment:\n%s", page.Body)
		}
	})
}

// A subscription whose card failed keeps its access for seven days, and the page says until when, then since when not.
func TestAFailedCardsPageNamesTheEndOfAccess(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		s := subscribe(t, a, plans(t, a, 0), "basic", "ada", cardFailsLater)
		const keeps, ended = "The customer keeps access until", "Access ended on"
		v, failed := a.Visit(t), s.CurrentPeriodEnd
		wantSays := func(when time.Duration, says, not string) {
			t.Helper()
			advanceTo(t, a, failed.Add(when))
			page := v.Open(t, "/dashboard/subscriptions/"+s.ID).Body
			if !strings.Contains(page, says) || strings.Contains(page, not) {
				t.Errorf("%s after the first failure the page lacks %q or has %q:\n%s", when, says, not, page)
			}
		}
		wantSays(time.Hour, keeps, ended)
		wantSays(7*day+time.Hour, ended, keeps)
	})
}

// While a dispute holds the charges of a subscription whose card failed, no page names a next try or asks to pay.
func TestADisputeHoldsAFailedSubscription(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		s := subscribe(t, a, plans(t, a, 0), "basic", "ada", cardFailsLater)
		advanceTo(t, a, s.CurrentPeriodEnd.Add(time.Hour))
		portal, v := visit(t, a, s.CustomerID), a.Visit(t)
		const asks, next = "Pay now or add another card", "It is tried again on"
		pay := "/plans/" + s.ID + "/pay"
		if page := read(t, app, portal); !strings.Contains(page, asks) || !strings.Contains(page, pay) {
			t.Fatalf("without a dispute the portal asks for no payment:\n%s", page)
		}
		if page := v.Open(t, "/dashboard/subscriptions/"+s.ID).Body; !strings.Contains(page, next) {
			t.Fatalf("without a dispute the dashboard names no next try:\n%s", page)
		}
		app.Exec(t, `UPDATE subscriptions SET disputes = '[{"id":"dp_1","paymentId":"pay_1"}]' WHERE id = $1`, s.ID)
		page := read(t, app, portal)
		if strings.Contains(page, asks) || strings.Contains(page, pay) {
			t.Errorf("the portal asks for a payment that is refused:\n%s", page)
		}
		if !strings.Contains(page, "Nothing is charged until the bank has decided.") {
			t.Errorf("the portal does not name the dispute:\n%s", page)
		}
		page = v.Open(t, "/dashboard/subscriptions/"+s.ID).Body
		if strings.Contains(page, next) || !strings.Contains(page, "Nothing is charged while a payment is disputed.") {
			t.Errorf("the dashboard names a next try during a dispute:\n%s", page)
		}
	})
}

// A list names its customers as people know them: by address, else by the app's own id, else by ours.
func TestListsNameTheirCustomers(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		listing := plans(t, a, 0)
		pay := func(over, with harness.JSON) string {
			session := a.NewSession(t, listing, "basic", "", over)
			with["cardNumber"] = harness.CardSucceeds
			receipt := a.AsBackend(t, post, "/v1/sandbox/checkout-sessions/"+session.ID+"/pay", with).Want(t, 200).Map(t)
			return text(t, receipt["customerId"])
		}
		named := harness.JSON{"externalCustomerId": "user-7"}
		pay(named, harness.JSON{"email": "grace@example.com"})
		named["externalCustomerId"] = "user-8"
		pay(named, harness.JSON{})
		unknown := pay(harness.JSON{"catalog": nil, "externalCustomerId": nil, "listingId": listing.ID}, harness.JSON{})
		v := a.Visit(t)
		for _, list := range []string{"/dashboard/orders", "/dashboard/subscriptions"} {
			page, file := v.Open(t, list).Body, v.Open(t, list+"?format=csv").Body
			for _, want := range []string{"grace@example.com", "user-8", unknown} {
				if !strings.Contains(page, ">"+want+"</a>") || !strings.Contains(file, want) {
					t.Errorf("%s does not name %s:\n%s\n%s", list, want, file, page)
				}
			}
			if strings.Contains(file, "user-7") {
				t.Errorf("%s names somebody by an id who has an address:\n%s", list, file)
			}
			if found := v.Open(t, list+"?customer=grace@").Body; !strings.Contains(found, "grace@example.com</a>") ||
				strings.Contains(found, "user-8</a>") {
				t.Errorf("%s is not searched by address", list)
			}
		}
	})
}
