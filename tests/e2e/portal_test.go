package e2e_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"sundry/tests/harness"
	"sundry/tests/testdb"
)

// visit opens the portal of a customer and returns its path.
func visit(t *testing.T, a *harness.Account, customerID string) string {
	t.Helper()
	var made struct{ URL string }
	a.AsBackend(t, http.MethodPost, "/v1/customer-portal-sessions",
		harness.JSON{"customerId": customerID, "returnUrl": "https://shop.example/account"}).Want(t, 201).Into(t, &made)
	return made.URL[strings.Index(made.URL, "/p/"):]
}

// read opens a page and returns it; submit sends a form and returns where it leads.
func read(t *testing.T, app *harness.App, path string) string {
	t.Helper()
	res := app.AskUnjudged(t, harness.Request{Method: http.MethodGet, Path: path}).Want(t, 200)
	for name, want := range map[string]string{"Cache-Control": "no-store", "Referrer-Policy": "no-referrer"} {
		if got := res.Header.Get(name); got != want {
			t.Errorf("%s: %s is %q", path, name, got)
		}
	}
	if res.Header.Get("Set-Cookie") != "" || !strings.Contains(res.Header.Get("Content-Security-Policy"),
		"script-src 'none'") {
		t.Errorf("%s: %v", path, res.Header)
	}
	return string(res.Body)
}

func submit(t *testing.T, app *harness.App, path string, form url.Values) string {
	t.Helper()
	request, err := http.NewRequestWithContext(
		t.Context(), http.MethodPost, app.URL+path, strings.NewReader(form.Encode()),
	)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	client := http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Timeout:       30 * time.Second,
	}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusSeeOther {
		t.Fatalf("POST %s: %d", path, response.StatusCode)
	}
	return strings.TrimPrefix(response.Header.Get("Location"), app.URL)
}

func TestACustomerManagesTheirPlanInThePortal(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		s := subscribe(t, a, plans(t, a, 0), "basic", "ada", harness.CardSucceeds)
		portal := visit(t, a, s.CustomerID)
		if html := read(t, app, portal); !strings.Contains(html, s.ID) || !strings.Contains(html, "4242") ||
			!strings.Contains(html, "/r/") {
			t.Fatalf("the portal shows\n%s", html)
		}
		mine := portal + "/plans/" + s.ID
		read(t, app, mine+"/cancel")
		if to := submit(t, app, mine+"/cancel", nil); to != portal+"?done=canceled" {
			t.Errorf("canceling leads to %s", to)
		}
		if got := subscription(t, a, s.ID); !got.CancelAtPeriodEnd {
			t.Fatalf("%+v", got)
		}
		submit(t, app, mine+"/resume", nil)
		html := read(t, app, mine+"/change?plan=studio&interval=month")
		_, quote, _ := strings.Cut(html, `name="quote" value="`)
		quote, _, _ = strings.Cut(quote, `"`)
		if to := submit(
			t, app, mine+"/change", url.Values{"plan": {"studio"}, "interval": {"month"}, "quote": {quote}},
		); to != portal+"?done=plan" {
			t.Errorf("changing leads to %s", to)
		}
		if got := subscription(t, a, s.ID); got.Plan != "studio" || got.CancelAtPeriodEnd {
			t.Fatalf("%+v", got)
		}
		html = read(t, app, portal+"?done=plan")
		_, receipt, _ := strings.Cut(html, `href="`+portal+"/receipts/")
		receipt, _, _ = strings.Cut(receipt, `"`)
		_, pdf, _ := strings.Cut(read(t, app, portal+"/receipts/"+receipt), `id="pdf" href="`)
		pdf, _, _ = strings.Cut(pdf, `"`)
		res := app.AskUnjudged(t, harness.Request{Method: http.MethodGet, Path: strings.TrimPrefix(pdf, app.URL)}).
			Want(t, 200)
		if !strings.HasPrefix(string(res.Body), "%PDF-") {
			t.Errorf("the receipt's document is %.20q", res.Body)
		}
		note := text(t, a.AsBackend(t, post, "/v1/refunds", JSON{
			"paymentId": receipt, "amountInCents": 123, "reason": "requested_by_customer",
		}).Want(t, 201).Map(t)["creditNoteNumber"])
		if html := read(t, app, portal+"/receipts/"+receipt); !strings.Contains(html, "Refunded: €1.23") ||
			!strings.Contains(html, ">"+note+"</a>") {
			t.Errorf("the receipt shows neither %s nor its amount:\n%s", note, html)
		}
	})
}

func TestANewCardIsSavedInThePortal(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		s := subscribe(t, a, plans(t, a, 0), "basic", "ada", cardFailsLater)
		advanceTo(t, a, s.CurrentPeriodEnd.Add(time.Hour))
		portal := visit(t, a, s.CustomerID)
		if html := read(t, app, portal); !strings.Contains(html, "Back to Ada&#39;s Workshop") {
			t.Errorf("the way back names no shop:\n%s", html)
		}
		setup := submit(t, app, portal+"/cards", nil)
		if html := read(t, app, setup); !strings.Contains(html, "You authorize") {
			t.Fatalf("the page shows no mandate:\n%s", html)
		}
		submit(t, app, setup, url.Values{"card": {harness.CardDeclined}})
		if html := read(t, app, setup); !strings.Contains(html, "declined") {
			t.Errorf("the page does not show that the card was declined:\n%s", html)
		}
		submit(t, app, setup, url.Values{"card": {harness.CardAsksAlways}})
		read(t, app, setup)
		submit(t, app, setup+"/authenticate", url.Values{"approve": {"no"}})
		submit(t, app, setup, url.Values{"card": {harness.CardSucceeds}})
		if html := read(t, app, setup); !strings.Contains(html, "4242") {
			t.Errorf("the page does not show which card was saved:\n%s", html)
		}
		advance(t, a, time.Second)
		if got := subscription(t, a, s.ID); got.Status != "active" {
			t.Errorf("the new card did not pay: %+v", got)
		}
	})
}

// challenged returns a subscription whose first payment, after its trial, waits for the customer's bank.
func challenged(t *testing.T, a *harness.Account) subscribed {
	t.Helper()
	s := subscribe(t, a, plans(t, a, 14), "basic", "ada", harness.CardSucceeds)
	a.AsBackend(t, http.MethodPost, "/v1/sandbox/customers/"+s.CustomerID+"/cards",
		harness.JSON{"cardNumber": harness.CardAsksAlways}).Want(t, 201)
	advanceTo(t, a, s.CurrentPeriodEnd.Add(time.Hour))
	return s
}

func TestAChallengedPaymentIsConfirmedInThePortal(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		s := challenged(t, a)
		if got := subscription(t, a, s.ID); got.Status != "past_due" || got.NextAttemptAt != nil {
			t.Fatalf("%+v", got)
		}
		portal := visit(t, a, s.CustomerID)
		mine := portal + "/plans/" + s.ID
		if to := submit(t, app, mine+"/pay", nil); to != mine+"/confirm" {
			t.Fatalf("paying leads to %s", to)
		}
		read(t, app, mine+"/confirm")
		if to := submit(t, app, mine+"/authenticate", url.Values{"approve": {"yes"}}); to != portal+"?done=paid" {
			t.Errorf("confirming leads to %s", to)
		}
		if got := subscription(t, a, s.ID); got.Status != "active" {
			t.Errorf("%+v", got)
		}
	})
}

// A plan's page charges no card more often than the pages on which customers type one.
func TestPortal_ChargesAreLimited(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		s := challenged(t, a)
		mine := visit(t, a, s.CustomerID) + "/plans/" + s.ID
		for n := range 20 {
			if to := submit(t, app, mine+"/pay", nil); to != mine+"/confirm" {
				t.Fatalf("attempt %d leads to %s", n+1, to)
			}
			submit(t, app, mine+"/authenticate", nil) // the bank is told no
		}
		change := "plan=studio&interval=month"
		for action, form := range map[string]string{"pay": "", "resume": "", "change": change} {
			refusesPage(t, app.AskUnjudged(t, harness.Request{
				Method: post, Path: mine + "/" + action, Body: []byte(form),
				Headers: map[string]string{"Content-Type": "application/x-www-form-urlencoded"},
			}), 429)
		}
	})
}

// Each page of a new card is stored, so a customer opens no more of them than cards may be tried.
func TestPortal_NewCardsAreLimited(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		customer := a.AsBackend(t, post, "/v1/customers",
			harness.JSON{"email": "ada@example.com", "displayName": "Ada"}).Want(t, 201).Map(t)
		portal := visit(t, a, text(t, customer["id"]))
		for range 20 {
			submit(t, app, portal+"/cards", nil)
		}
		refusesPage(t, app.AskUnjudged(t, harness.Request{
			Method: post, Path: portal + "/cards", Body: []byte{},
			Headers: map[string]string{"Content-Type": "application/x-www-form-urlencoded"},
		}), 429)
	})
}

// A change of plan is priced and receipted in the language of the page.
func TestAChangeOfPlanIsInTheReadersLanguage(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		s := subscribe(t, a, plans(t, a, 0), "basic", "ada", harness.CardSucceeds)
		portal := visit(t, a, s.CustomerID)
		german := func(path string) string {
			t.Helper()
			return string(app.AskUnjudged(t, harness.Request{
				Method: get, Path: path, Headers: map[string]string{"Accept-Language": "de"},
			}).Want(t, 200).Body)
		}
		const line, english = "Nicht genutzte Zeit: ", "Unused time on"
		quote := german(portal + "/plans/" + s.ID + "/change?plan=studio&interval=month")
		if !strings.Contains(quote, line) || strings.Contains(quote, english) {
			t.Errorf("the price of the change is not in German:\n%s", quote)
		}
		a.AsBackend(t, post, "/v1/subscriptions/"+s.ID+"/change",
			harness.JSON{"plan": "studio", "interval": "month", "prorationMode": "charge_now"}).Want(t, 200)
		var list struct{ Data []struct{ ID string } }
		a.AsBackend(t, get, "/v1/payments?externalCustomerId=ada", nil).Want(t, 200).Into(t, &list)
		receipt := german(portal + "/receipts/" + list.Data[0].ID)
		if !strings.Contains(receipt, line) || strings.Contains(receipt, english) {
			t.Errorf("the receipt of the change is not in German:\n%s", receipt)
		}
		v := a.Visit(t)
		v.Post(t, "/dashboard/language", "language", "de")
		reads(t, v.Open(t, "/dashboard/orders"), " Tagen)", " days)")
	})
}

func TestAChallengedChangeIsConfirmedInThePortal(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		s := subscribe(t, a, plans(t, a, 0), "basic", "ada", harness.CardSucceeds)
		a.AsBackend(t, http.MethodPost, "/v1/sandbox/customers/"+s.CustomerID+"/cards",
			harness.JSON{"cardNumber": harness.CardAsksAlways}).Want(t, 201)
		change := harness.JSON{"plan": "studio", "interval": "month", "prorationMode": "charge_now"}
		a.AsBackend(t, http.MethodPost, "/v1/subscriptions/"+s.ID+"/change", change).Refuses(
			t, 402, "AUTHENTICATION_REQUIRED",
		)
		portal := visit(t, a, s.CustomerID)
		mine := portal + "/plans/" + s.ID
		if to := submit(
			t, app, mine+"/change", url.Values{"plan": {"studio"}, "interval": {"month"}},
		); to != mine+"/confirm" {
			t.Fatalf("changing leads to %s", to)
		}
		if html := read(t, app, portal); !strings.Contains(html, mine+"/confirm") {
			t.Errorf("the portal does not lead back to the bank's question:\n%s", html)
		}
		submit(t, app, mine+"/authenticate", url.Values{"approve": {"yes"}})
		if got := subscription(t, a, s.ID); got.Plan != "studio" {
			t.Fatalf("%+v", got)
		}
		a.AsBackend(t, http.MethodPost, "/v1/subscriptions/"+s.ID+"/pause", nil).Want(t, 200)
		advanceTo(t, a, s.CurrentPeriodEnd.Add(time.Hour))
		a.AsBackend(t, http.MethodPost, "/v1/subscriptions/"+s.ID+"/resume", nil).Refuses(
			t, 402, "AUTHENTICATION_REQUIRED",
		)
		if to := submit(t, app, mine+"/resume", nil); to != mine+"/confirm" {
			t.Fatalf("resuming leads to %s", to)
		}
		submit(t, app, mine+"/authenticate", url.Values{"approve": {"yes"}})
		if got := subscription(t, a, s.ID); got.Status != "active" {
			t.Errorf("%+v", got)
		}
	})
}

func TestAPortalLinkOpensOnlyItsOwnCustomer(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		listing := plans(t, a, 0)
		mine, theirs := subscribe(t, a, listing, "basic", "ada", harness.CardSucceeds), subscribe(
			t, a, listing, "basic", "grace", harness.CardSucceeds,
		)
		portal := visit(t, a, mine.CustomerID)
		for _, path := range []string{"/p/x", portal + "x", portal + "/plans/" + theirs.ID + "/cancel",
			portal + "/receipts/pay_x"} {
			app.AskUnjudged(t, harness.Request{Method: http.MethodGet, Path: path}).Want(t, 404)
		}
		if got := subscription(t, a, theirs.ID); got.CancelAtPeriodEnd {
			t.Errorf("%+v", got)
		}
	})
}

// The portal lists invoices, and the appointments of a customer whom the integrator did not name.
func TestThePortalListsInvoicesAndAppointments(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		m := w.usageOf(t)
		inv := m.pushed(t)
		html := read(t, app, visit(t, w.Account, m.customerID))
		if strings.Count(html, inv.Number) != 1 || !strings.Contains(html, "/i/"+inv.secret()) ||
			strings.Contains(html, "/receipts/") {
			t.Errorf("the invoice is listed once, as an invoice:\n%s", html)
		}
		booked := w.bookedBy(t, "nameless@example.com", w.openTime(t))
		var found struct{ Data []struct{ ID string } }
		w.AsBackend(t, http.MethodGet, "/v1/customers?email=nameless@example.com", nil).Want(t, 200).Into(t, &found)
		html = read(t, app, visit(t, w.Account, found.Data[0].ID))
		if _, listed, ok := strings.Cut(html, "/a/"); !ok {
			t.Errorf("no appointment %s in\n%s", booked.ID, html)
		} else if words, _, _ := strings.Cut(listed, "</a>"); !strings.HasSuffix(words, "M UTC&#43;5:45") {
			t.Errorf("the time of an appointment in Kathmandu lacks its zone: %q", words)
		}
	})
}

func TestTheReceiptOfAPlanLeadsToAMailWithThePortal(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a, email := app.NewAccount(t), harness.Unique("ada")+"@example.com"
		session := a.NewSession(t, plans(t, a, 0), "basic", "ada", nil)
		shown := func(address string) string {
			return string(
				app.AskUnjudged(t, harness.Request{Method: http.MethodGet, Path: address[len(app.URL):]}).Want(t, 200).Body,
			)
		}
		page := shown(session.CheckoutURL)
		mandate := "You authorize Sundry to charge this card for what you subscribe to and use at Ada&#39;s Workshop"
		if !strings.Contains(page, mandate) || !strings.Contains(page, "Cancel anytime with the link in your receipt email") {
			t.Errorf("the checkout does not show what is agreed to:\n%s", page)
		}
		receipt := a.AsBackend(t, http.MethodPost, "/v1/sandbox/checkout-sessions/"+session.ID+"/pay",
			harness.JSON{"cardNumber": harness.CardSucceeds, "email": email}).Want(t, 200).Map(t)
		if paid := shown(session.CheckoutURL); !strings.Contains(paid, `id="manage" href="`+app.URL+`/p/`) {
			t.Errorf("the paid checkout leads to no portal:\n%s", paid)
		}
		html := shown(receipt["receiptUrl"].(string))
		_, link, found := strings.Cut(html, `id="manage" href="`)
		if !found {
			t.Fatalf("no way to the portal on\n%s", html)
		}
		link, _, _ = strings.Cut(link, `"`)
		asks := link[len(app.URL):]
		if html := read(t, app, asks); strings.Contains(html, "/plans/") ||
			!strings.Contains(html, "Manage or cancel your plan") {
			t.Errorf("anyone who sees the receipt may manage the plan:\n%s", html)
		}
		submit(t, app, asks+"/mail", nil)
		workOff(t, a)
		for _, m := range mailsTo(t, app, email) {
			if strings.Contains(m.Subject, "Your link") {
				return
			}
		}
		t.Error("no link was mailed")
	})
}

// A guest who buys twice is two customers: what they typed proves nothing. A reader of the mail of their address sees
// all of it.
func TestAMailedPortalShowsAllOfItsAddress(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a, email := app.NewAccount(t), harness.Unique("lena")+"@buyer.example"
		book := a.Published(t, JSON{"title": "Type Handbook", "priceInCents": 2900})
		buy := func(listing harness.Listing, address string) (receipt JSON) {
			session := a.NewSession(t, listing, "default", "", JSON{
				"catalog": nil, "listingId": listing.ID, "externalCustomerId": nil,
			})
			return a.AsBackend(t, post, "/v1/sandbox/checkout-sessions/"+session.ID+"/pay",
				JSON{"cardNumber": harness.CardSucceeds, "email": address}).Want(t, 200).Map(t)
		}
		first, second := buy(book, email), buy(book, strings.ToUpper(email))
		club := buy(a.Published(t, JSON{
			"type": "SUBSCRIPTION", "title": "Type Club", "priceInCents": 900,
			"metadata": JSON{"interval": "month", "intervalCount": 1},
		}), email)
		stranger := buy(book, "x"+email)
		if first["customerId"] == second["customerId"] {
			t.Fatal("an address that a guest typed joined two customers")
		}
		workOff(t, a)
		var link string
		for _, m := range mailsTo(t, app, email) {
			if _, rest, ok := strings.Cut(m.Parts["text/plain"], app.URL+"/p/"); ok {
				link, _, _ = strings.Cut(rest, "\n")
			}
		}
		if link == "" {
			t.Fatal("no mail leads to the portal")
		}
		page := read(t, app, "/p/"+strings.TrimSpace(link))
		for _, receipt := range []JSON{first, second, club} {
			if number := text(t, receipt["receiptNumber"]); !strings.Contains(page, number) {
				t.Errorf("the portal lacks %s", number)
			}
		}
		if strings.Contains(page, "/change") {
			t.Error("the portal offers to change a plan where there is no other")
		}
		if strings.Contains(page, text(t, stranger["receiptNumber"])) {
			t.Error("the portal shows what another address bought")
		}
		asked := a.AsBackend(t, post, "/v1/customer-portal-sessions", JSON{
			"customerId": first["customerId"], "returnUrl": "https://shop.example/account",
		}).Want(t, 201).Map(t)
		page = read(t, app, strings.TrimPrefix(text(t, asked["url"]), app.URL))
		if !strings.Contains(page, text(t, first["receiptNumber"])) ||
			strings.Contains(page, text(t, second["receiptNumber"])) {
			t.Error("a link that an app asked for shows what others with the address bought")
		}
	})
}

// Somebody whose address was wrong, and is corrected, gets the link that they ask for again.
func TestALinkIsMailedToACorrectedAddress(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		wrong, right := harness.Unique("grcae")+"@example.com", harness.Unique("grace")+"@example.com"
		customer := text(t, a.AsBackend(t, post, "/v1/customers", JSON{"email": wrong, "displayName": "Grace"}).
			Want(t, 201).Map(t)["id"])
		portal := visit(t, a, customer)
		for _, address := range []string{wrong, right} {
			a.AsBackend(t, patch, "/v1/customers/"+customer, JSON{"email": address}).Want(t, 200)
			if to := submit(t, app, portal+"/mail", nil); to != portal+"?done=mailed" {
				t.Errorf("asked for a link: %s", to)
			}
			workOff(t, a)
			if mails := mailsTo(t, app, address); len(mails) != 1 {
				t.Errorf("%d mails to %s, want 1", len(mails), address)
			}
		}
	})
}

func TestPortal_NamesWhatWasBought(t *testing.T) {
	t.Parallel()
	w := newFixture(t, harness.New(t, testdb.SQLite, nil))
	booked := w.booked(t)
	receipt := w.Receipt(t, harness.Session{ID: booked.CheckoutID})
	page := read(t, w.App, visit(t, w.Account, text(t, receipt["customerId"])))
	if n := strings.Count(page, "<small>Type specimens"); n != 2 {
		t.Errorf("%d of the appointment and its receipt say what they are of:\n%s", n, page)
	}
}

func TestPortal_NamesTheFieldThatIsRefused(t *testing.T) {
	t.Parallel()
	app := harness.New(t, testdb.SQLite, nil)
	a := app.NewAccount(t)
	made := a.AsBackend(t, http.MethodPost, "/v1/customers", harness.JSON{"email": "ada@example.com"}).Want(t, 201).Map(t)
	page := app.AskUnjudged(t, harness.Request{
		Method: http.MethodPost, Path: visit(t, a, text(t, made["id"])) + "/address",
		Body:    url.Values{"country": {"DE"}, "taxId": {"DE12"}, "city": {"Bonn"}}.Encode(),
		Headers: map[string]string{"Content-Type": "application/x-www-form-urlencoded"},
	})
	body := string(page.Body)
	want := `<input id="taxId" aria-invalid="true" aria-describedby="problem" autofocus`
	if !strings.Contains(body, want) || strings.Count(body, "aria-invalid") != 1 ||
		!strings.Contains(body, `value="Bonn"`) {
		t.Errorf("no %s in\n%s", want, body)
	}
}
