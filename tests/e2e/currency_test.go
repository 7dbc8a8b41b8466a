package e2e_test

import (
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"sundry/tests/harness"
	"sundry/tests/testdb"
)

// twoCurrencies adds prices in dollars to the plans basic (€10, $12 a month) and studio (€31, $40 a month, €300 a
// year), and the plan local without any.
func twoCurrencies(t *testing.T, a *harness.Account) harness.Listing {
	t.Helper()
	listing := plans(t, a, 0)
	price := func(interval, currency string, minor int) harness.JSON {
		return harness.JSON{"interval": interval, "intervalCount": 1, "currency": currency, "amountInCents": minor}
	}
	for key, prices := range map[string][]harness.JSON{
		"basic":  {price("month", "eur", 1000), price("month", "usd", 1200)},
		"studio": {price("month", "eur", 3100), price("month", "usd", 4000), price("year", "eur", 30000)},
		"local":  {price("month", "eur", 500)},
	} {
		a.AsCreator(t, http.MethodPut, "/v1/listings/"+listing.ID+"/plans/"+key, harness.JSON{
			"name": key, "isDefault": key == "basic", "trialDays": 0, "prices": prices, "entitlements": []harness.JSON{},
			"credits": []harness.JSON{}, "meters": []harness.JSON{},
		}).Want(t, 200)
	}
	return listing
}

// pricedSession reads the price that a session shows.
type pricedSession struct {
	harness.Session
	Currency     string
	TotalInCents int64
	Catalog      *struct{ Currency string }
}

func (s pricedSession) price() string { return fmt.Sprintf("%s %d", s.Currency, s.TotalInCents) }

func TestASessionIsInTheCurrencyNamed(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		listing := twoCurrencies(t, a)
		open := func(plan string, catalog, over harness.JSON) *harness.Response {
			body := harness.SessionBody(listing, plan, harness.Unique("user"), over)
			maps.Copy(body["catalog"].(harness.JSON), catalog)
			return a.AsBackend(t, post, "/v1/checkout-sessions", body)
		}
		for name, c := range map[string]struct {
			plan          string
			catalog, over harness.JSON
			want          string
		}{
			"none named":                {"basic", nil, nil, "eur 1000"},
			"dollars":                   {"basic", harness.JSON{"currency": "usd"}, nil, "usd 1200"},
			"euros, whatever country":   {"basic", harness.JSON{"currency": "eur"}, country("US"), "eur 1000"},
			"the country's":             {"basic", nil, country("US"), "usd 1200"},
			"a territory's":             {"basic", nil, country("PR"), "usd 1200"},
			"a country without a price": {"basic", nil, country("GB"), "eur 1000"},
			"a plan without one":        {"local", nil, country("US"), "eur 500"},
			"an interval without one":   {"studio", harness.JSON{"interval": "year"}, country("US"), "eur 30000"},
		} {
			var s pricedSession
			open(c.plan, c.catalog, c.over).Want(t, 201).Into(t, &s)
			if s.price() != c.want || s.Catalog.Currency != s.Currency {
				t.Errorf("%s: %s (catalog %s), want %s", name, s.price(), s.Catalog.Currency, c.want)
			}
		}
		open("local", harness.JSON{"currency": "usd"}, nil).Refuses(t, 404, "NOT_FOUND")
		open("basic", harness.JSON{"currency": "jpy"}, nil).Refuses(t, 404, "NOT_FOUND")
		open("studio", harness.JSON{"currency": "usd", "interval": "year"}, nil).Refuses(t, 404, "NOT_FOUND")
		open("basic", harness.JSON{"currency": "USD"}, nil).Refuses(t, 400, "VALIDATION_FAILED", "catalog.currency")

		single := a.NewListing(t, harness.JSON{"priceInCents": 900, "slug": harness.Unique("single")})
		listing = a.Publish(t, single)
		var s pricedSession
		open("default", nil, country("US")).Want(t, 201).Into(t, &s)
		if s.price() != "eur 900" {
			t.Errorf("a listing without plans is sold for %s, want eur 900", s.price())
		}
		open("default", harness.JSON{"currency": "usd"}, nil).Refuses(t, 404, "NOT_FOUND")
	})
}

func country(code string) harness.JSON {
	return harness.JSON{"customer": harness.JSON{"country": code}}
}

func TestTheBillingAddressDecidesTheCurrency(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		listing := twoCurrencies(t, a)
		a.AsBackend(t, post, "/v1/customers", harness.JSON{
			"email": "ada@example.com", "displayName": "Ada", "externalCustomerId": "ada",
			"billingAddress": harness.JSON{"country": "US", "postalCode": "10001"},
		}).Want(t, 201)
		open := func(over harness.JSON) (s pricedSession) {
			a.AsBackend(t, post, "/v1/checkout-sessions", harness.SessionBody(listing, "basic", "ada", over)).
				Want(t, 201).Into(t, &s)
			return s
		}
		if got := open(nil); got.price() != "usd 1200" {
			t.Errorf("with an address in the US: %s, want usd 1200", got.price())
		}
		if got := open(country("DE")); got.price() != "eur 1000" {
			t.Errorf("with another country in the request: %s, want eur 1000", got.price())
		}

		frozen := open(nil)
		state := app.Ask(t, harness.Request{Method: post, Path: "/c/" + frozen.Secret() + "/details",
			Body: harness.JSON{"country": "DE"}}).Want(t, 200).Map(t)
		if state["currency"] != "usd" {
			t.Errorf("a country entered on the page changed the currency to %v", state["currency"])
		}
		a.AsBackend(t, post, "/v1/checkout-sessions/"+frozen.ID+"/expire", nil).Want(t, 200)
		again := app.AskUnjudged(t, harness.Request{Method: get, Path: "/c/" + frozen.Secret() + "/again"}).Want(t, 303)
		address := again.Header.Get("Location")
		if state := app.Ask(t, harness.Request{Method: get, Path: address[strings.Index(address, "/c/"):] + "/state"}).
			Want(t, 200).Map(t); state["currency"] != "usd" {
			t.Errorf("the session in its place is in %v, want usd", state["currency"])
		}
	})
}

func TestALinkIsInTheVisitorsCurrency(t *testing.T) {
	t.Parallel()
	testdb.EachEngine(t, func(t *testing.T, engine testdb.Engine) {
		app := harness.New(t, engine, map[string]string{
			"CLIENT_COUNTRY_HEADER": "CF-IPCountry", "TRUSTED_PROXIES": "private",
		})
		a := app.NewAccount(t)
		listing := twoCurrencies(t, a)
		link := func(over harness.JSON) (made struct{ ID, Code string }) {
			body := harness.JSON{"listingId": listing.ID}
			maps.Copy(body, over)
			a.AsCreator(t, post, "/v1/payment-links", body).Want(t, 201).Into(t, &made)
			return made
		}
		open := func(code, from string) any {
			t.Helper()
			opened := app.AskUnjudged(t, harness.Request{Method: get, Path: "/l/" + code,
				Headers: map[string]string{"CF-IPCountry": from}}).Want(t, 303)
			address := opened.Header.Get("Location")
			return app.Ask(t, harness.Request{Method: get, Path: address[strings.Index(address, "/c/"):] + "/state"}).
				Want(t, 200).Map(t)["currency"]
		}
		free, dollars := link(nil), link(harness.JSON{"currency": "usd"})
		for _, c := range []struct{ code, from, want string }{
			{free.Code, "US", "usd"}, {free.Code, "DE", "eur"}, {free.Code, "JP", "eur"}, {free.Code, "", "eur"},
			{dollars.Code, "DE", "usd"},
		} {
			if got := open(c.code, c.from); got != c.want {
				t.Errorf("from %q: %v, want %s", c.from, got, c.want)
			}
		}
		a.AsCreator(t, post, "/v1/payment-links", harness.JSON{"listingId": listing.ID, "plan": "local", "currency": "usd"}).
			Refuses(t, 404, "NOT_FOUND")
		a.AsCreator(t, post, "/v1/payment-links", harness.JSON{"listingId": listing.ID, "currency": "dollar"}).
			Refuses(t, 400, "VALIDATION_FAILED", "currency")
		a.AsCreator(t, http.MethodPatch, "/v1/payment-links/"+dollars.ID, harness.JSON{"currency": nil}).Want(t, 200)
		if got := open(dollars.Code, "DE"); got != "eur" {
			t.Errorf("a link without its currency: %v, want eur", got)
		}
	})
}

func TestADiscountInAnotherCurrencyIsRefused(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		listing := twoCurrencies(t, a)
		a.AsCreator(t, post, "/v1/discounts", harness.JSON{
			"code": "THREE", "amountOffInCents": 300, "currency": "eur", "duration": "once",
		}).Want(t, 201)
		open := func(currency string) *harness.Response {
			body := harness.SessionBody(listing, "basic", harness.Unique("user"), harness.JSON{"discountCode": "THREE"})
			body["catalog"].(harness.JSON)["currency"] = currency
			return a.AsBackend(t, post, "/v1/checkout-sessions", body)
		}
		open("eur").Want(t, 201)
		open("usd").Refuses(t, 400, "VALIDATION_FAILED", "discountCode")
	})
}

// Two subscriptions to one listing run side by side, each in its own currency from the sale to the refund.
func TestTwoCurrenciesLiveSideBySide(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		listing := twoCurrencies(t, w.Account)
		bought := map[string]subscribed{}
		for currency, buyer := range map[string]string{"eur": "DE", "usd": "US"} {
			session := w.NewSession(t, listing, "basic", "buyer-"+currency, country(buyer))
			w.Pay(t, session, harness.CardSucceeds).Want(t, 200)
			bought[currency] = subscription(t, w.Account, text(t, w.Receipt(t, session)["subscriptionId"]))
		}
		advanceTo(t, w.Account, bought["usd"].CurrentPeriodEnd.Add(time.Hour))

		change := func(id, plan, interval, at string) *harness.Response {
			return w.AsBackend(t, post, "/v1/subscriptions/"+id+"/change"+at, harness.JSON{
				"plan": plan, "interval": interval, "prorationMode": "charge_now",
			})
		}
		dollars := bought["usd"]
		for _, at := range []string{"", "/preview"} {
			change(dollars.ID, "local", "month", at).Refuses(t, 404, "NOT_FOUND")
			change(dollars.ID, "studio", "year", at).Refuses(t, 404, "NOT_FOUND")
		}
		quote := change(dollars.ID, "studio", "month", "/preview").Want(t, 200).Map(t)
		if quote["currency"] != "usd" {
			t.Errorf("the change is quoted in %v", quote["currency"])
		}
		customer := text(t, w.AsBackend(t, get, "/v1/subscriptions/"+dollars.ID, nil).Map(t)["customerId"])
		offered := read(t, app, visit(t, w.Account, customer)+"/plans/"+dollars.ID+"/change")
		if !strings.Contains(offered, "$40.00") || strings.Contains(offered, "€") {
			t.Errorf("the portal offers %s", offered)
		}
		change(dollars.ID, "studio", "month", "").Want(t, 200)
		change(bought["eur"].ID, "studio", "month", "").Want(t, 200)
		ask(t, w.Account, dollars.ID, "change",
			harness.JSON{"plan": "basic", "interval": "month", "prorationMode": "next_period"})
		advanceTo(t, w.Account, subscription(t, w.Account, dollars.ID).CurrentPeriodEnd.Add(time.Hour))

		var paid struct {
			Data []struct {
				ID, Currency, SubscriptionID, Status string
				AmountInCents                        int64
			}
		}
		w.AsBackend(t, get, "/v1/payments?limit=100", nil).Want(t, 200).Into(t, &paid)
		totals := map[string][]int64{}
		for _, p := range paid.Data {
			totals[p.Currency] = append(totals[p.Currency], p.AmountInCents)
		}
		if got, want := fmt.Sprint(totals), "map[eur:[3100 2100 1000 1000] usd:[1200 2800 1200 1200]]"; got != want {
			t.Errorf("the payments are %s, want %s", got, want)
		}
		for _, p := range paid.Data {
			w.refund(t, p.ID, 0).Want(t, 201)
		}
		for _, b := range w.AsBackend(t, get, "/v1/balance", nil).Want(t, 200).Map(t)["data"].([]any) {
			if b := b.(harness.JSON); b["currency"] != "eur" && b["currency"] != "usd" {
				t.Errorf("a balance in %v", b["currency"])
			}
		}
		verified(t, app)
	})
}

func TestTheDashboardSetsCurrencies(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		listing := twoCurrencies(t, a)
		v := a.Visit(t)
		path := "/dashboard/listings/" + listing.ID + "/plans/basic"
		fields := []string{"name", "basic", "isDefault", "yes"}
		for i, currency := range []string{"eur", "usd", "gbp", "chf", "sek", "nok"} {
			row := fmt.Sprintf("prices%d.", i)
			fields = append(fields, row+"amountInCents", "12.00", row+"currency", currency, row+"interval", "month:1")
		}
		v.Open(t, path)
		if v.Send(t, path, fields...); v.Page.Status != 200 {
			t.Fatalf("saving the plan led to %d: %s", v.Page.Status, v.Page.Body)
		}
		form := v.Open(t, path).Body
		if got := strings.Count(form, `value="12.00"`); got != 6 {
			t.Errorf("the form shows %d prices, want 6", got)
		}
		v.Open(t, "/dashboard/links/new?listing="+listing.ID)
		if page := v.Send(t, "/dashboard/links/new", "listing", listing.ID, "plan", "basic:month", "currency",
			"gbp"); !strings.
			Contains(page.Body, "basic per month GBP") {
			t.Errorf("the page of the link is %s", page.Body)
		}
	})
}

// Processors move thousandths in tens only, so that any other price could never be paid.
func TestAmountsOfThousandthsEndInZero(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		kwd := func(minor int) harness.JSON {
			return harness.JSON{"priceInCents": minor, "currency": "kwd", "type": "APPOINTMENT"}
		}
		listing := w.NewListing(t, kwd(10_500))
		at := "/v1/listings/" + listing.ID
		price := func(minor int) harness.JSON {
			return harness.JSON{
				"name": "Pro", "isDefault": true, "trialDays": 0, "entitlements": []harness.JSON{}, "credits": []harness.JSON{},
				"meters": []harness.JSON{}, "prices": []harness.JSON{
					{"interval": "month", "intervalCount": 1, "currency": "kwd", "amountInCents": minor},
				},
			}
		}
		variant := func(minor int) harness.JSON {
			return harness.JSON{"durationMinutes": 30, "priceInCents": minor}
		}
		off := func(minor int) harness.JSON {
			return harness.JSON{"code": harness.Unique("OFF"), "amountOffInCents": minor, "currency": "kwd", "duration": "once"}
		}
		subscribable := w.Published(t, harness.JSON{"type": "SUBSCRIPTION", "priceInCents": 0})
		for name, c := range map[string]struct {
			method, path string
			body         func(minor int) harness.JSON
			status       int
			field        string
		}{
			"a listing": {http.MethodPatch, at, func(minor int) harness.JSON {
				return harness.JSON{"priceInCents": minor}
			}, 200, "priceInCents"},
			"a variant":  {post, at + "/variants", variant, 201, "priceInCents"},
			"a plan":     {http.MethodPut, "/v1/listings/" + subscribable.ID + "/plans/pro", price, 200, "prices[0].amountInCents"},
			"a discount": {post, "/v1/discounts", off, 201, "amountOffInCents"},
		} {
			w.AsCreator(t, c.method, c.path, c.body(1505)).Refuses(t, 400, "VALIDATION_FAILED", c.field)
			if got := w.AsCreator(t, c.method, c.path, c.body(1510)); got.Status != c.status {
				t.Errorf("%s of 1510: %s, want %d", name, got.Body, c.status)
			}
		}

		sold := w.Published(t, harness.JSON{"priceInCents": 10_500, "currency": "kwd"})
		_, receipt := w.sell(t, sold, harness.CardSucceeds, nil)
		paymentID := text(t, receipt["paymentId"])
		w.refund(t, paymentID, 505).Refuses(t, 400, "VALIDATION_FAILED", "amountInCents")
		v := w.Visit(t)
		order := "/dashboard/orders/" + paymentID + "/refund?reason=duplicate&amount="
		if asks := v.Open(t, order+"0.505"); !marked(asks)["refund-amount"] {
			t.Error("the dashboard offers to refund 0.505")
		}
		if asks := v.Open(t, order+"0.51"); marked(asks)["refund-amount"] {
			t.Error("the dashboard refuses to refund 0.51")
		}
		w.refund(t, paymentID, 510).Want(t, 201)
		w.refund(t, paymentID, 0).Want(t, 201)

		file := catalogFile(t, w.Account)
		for _, l := range file["listings"].([]any) {
			l.(harness.JSON)["priceInCents"] = 1505
		}
		if got := w.AsBackend(t, http.MethodPut, "/v1/catalog", file).Want(t, 400).Map(t); !strings.Contains(
			asJSON(t, got), ".priceInCents") {
			t.Errorf("the file: %s", asJSON(t, got))
		}
	})
}
