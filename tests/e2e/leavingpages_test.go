package e2e_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"sundry/tests/harness"
	"sundry/tests/testdb"
)

// evil is an address to which no parameter may redirect.
const evil = "https://evil.example/"

// Every address that a request may give to a page to lead to is held to one rule.
func TestNoAddressOfAnIntegratorLeavesTheRules(t *testing.T) {
	t.Parallel()
	app := harness.New(t, testdb.SQLite, nil)
	w := newFixture(t, app)
	customer := w.customer(t)
	for _, bad := range badURLs {
		if bad == "" {
			continue // none is none; where one is required, its own test shows it
		}
		w.AsBackend(t, post, "/v1/card-setup-sessions", harness.JSON{"customerId": customer, "returnUrl": bad}).Refuses(
			t, 400, "VALIDATION_FAILED", "returnUrl",
		)
		w.AsBackend(t, post, "/v1/customer-portal-sessions",
			harness.JSON{"customerId": customer, "returnUrl": bad}).Refuses(t, 400, "VALIDATION_FAILED", "returnUrl")
		link := w.linkBody()
		link["successUrl"] = bad
		w.AsCreator(t, post, "/v1/payment-links", link).Refuses(t, 400, "VALIDATION_FAILED", "successUrl")
	}
}

// No query of a buyer's page leads to another site, whatever it is called.
func TestNoQueryOfAPageLeadsToAnotherSite(t *testing.T) {
	t.Parallel()
	app := harness.New(t, testdb.SQLite, nil)
	w := newFixture(t, app)
	customer := w.customer(t)
	w.card(t, customer)
	paid := w.session(t)
	receipt := w.Pay(t, paid, harness.CardSucceeds).Want(t, 200).Map(t)
	expired := w.session(t)
	w.AsBackend(t, post, "/v1/checkout-sessions/"+expired.ID+"/expire", nil).Want(t, 200)
	inv := w.AsBackend(t, post, "/v1/invoices", harness.JSON{
		"customerId": customer, "currency": "eur",
		"lineItems":      []any{harness.JSON{"description": "Seats", "amountInCents": 1500}},
		"idempotencyKey": "one", "periodStart": "2026-01-01", "periodEnd": "2026-02-01",
	}).Want(t, 201).Map(t)
	setup := w.AsBackend(t, post, "/v1/card-setup-sessions",
		harness.JSON{"customerId": customer, "returnUrl": "https://shop.example/account"}).Want(t, 201).Map(t)
	link := w.AsCreator(t, get, "/v1/payment-links/"+w.link(t), nil).Want(t, 200).Map(t)
	query := url.Values{}
	for _, name := range []string{
		"next", "back", "to", "from", "done", "url", "return", "returnUrl", "return_url", "successUrl", "success_url",
		"cancelUrl", "cancel_url", "redirect", "redirect_url",
		"embed", "hours", "change",
	} {
		query.Set(name, evil)
	}
	for name, address := range map[string]string{
		"checkout":         w.session(t).CheckoutURL,
		"paid checkout":    paid.CheckoutURL,
		"expired checkout": expired.CheckoutURL,
		"again":            expired.CheckoutURL + "/again",
		"receipt":          text(t, receipt["receiptUrl"]),
		"link":             text(t, link["url"]),
		"invoice":          text(t, inv["hostedUrl"]),
		"card setup":       text(t, setup["hostedUrl"]),
		"portal":           app.URL + visit(t, w.Account, customer),
		"sign-in":          app.URL + "/dashboard/sign-in",
		"sign-up":          app.URL + "/dashboard/sign-up",
		"dashboard":        app.URL + "/dashboard/orders",
	} {
		response := app.AskUnjudged(t, harness.Request{
			Method: get, Path: strings.TrimPrefix(address, app.URL), Query: query,
		})
		if response.Status != http.StatusOK && response.Status != http.StatusSeeOther {
			t.Errorf("%s: %d", name, response.Status)
		}
		to := response.Header.Get("Location")
		if leaves := strings.HasPrefix(to, evil) || strings.HasPrefix(to, "//"); leaves ||
			strings.Contains(string(response.Body), `="`+evil) {
			t.Errorf("%s leads to %q:\n%s", name, to, response.Body)
		}
	}
}

func TestAFormThatIsTooLargeGetsAPageWithTheReason(t *testing.T) {
	t.Parallel()
	app := harness.New(t, testdb.SQLite, nil)
	photo := strings.Repeat("a", 1<<20+1)
	send := func(path, accept, language string) *harness.Response {
		return app.AskUnjudged(t, harness.Request{Method: post, Path: path, Body: photo, Headers: map[string]string{
			"Content-Type": "multipart/form-data; boundary=x", "Accept": accept, "Accept-Language": language,
		}})
	}
	const browser = "text/html,application/xhtml+xml,*/*;q=0.8"
	for language, words := range map[string]string{"en": "choose a smaller file", "de": "wähle eine kleinere Datei",
		"fr": "choisissez un fichier plus petit"} {
		page := send("/dashboard/settings/logo", browser, language).Want(t, http.StatusRequestEntityTooLarge)
		if kind := page.Header.Get("Content-Type"); kind != "text/html; charset=utf-8" ||
			!strings.Contains(string(page.Body), words) || page.Header.Get("X-Request-Id") == "" {
			t.Errorf("%s: %s, %s", language, kind, page.Body)
		}
	}
	for path, accept := range map[string]string{"/v1/listings": browser, "/dashboard/settings/logo": "application/json"} {
		send(path, accept, "en").Refuses(t, http.StatusRequestEntityTooLarge, "PAYLOAD_TOO_LARGE")
	}
}

func TestTheClockOfAPageIsDocumented(t *testing.T) {
	t.Parallel()
	app := harness.New(t, testdb.SQLite, nil)
	w := newFixture(t, app)
	session := w.session(t)
	for _, path := range []string{"/details", "/pay"} {
		app.Ask(t, harness.Request{Method: post, Path: "/c/" + session.Secret() + path,
			Body: harness.JSON{"hourCycle": "11"}}).Refuses(t, 400, "VALIDATION_FAILED", "hourCycle")
	}
	app.Ask(t, harness.Request{Method: post, Path: "/c/" + session.Secret() + "/details",
		Body: harness.JSON{"hourCycle": "24"}}).Want(t, 200)
}
