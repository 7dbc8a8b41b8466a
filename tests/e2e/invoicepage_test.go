package e2e_test

import (
	"html"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"sundry/tests/harness"
)

// sendInvoicePage sends a form of an invoice's page.
func sendInvoicePage(t *testing.T, app *harness.App, inv invoiceBody, path string, form url.Values) *harness.Response {
	t.Helper()
	page, err := url.Parse(inv.HostedURL)
	if err != nil {
		t.Fatal(err)
	}
	return app.Ask(t, harness.Request{
		Method: http.MethodPost, Path: page.Path + path, Body: form.Encode(),
		Headers: map[string]string{"Content-Type": "application/x-www-form-urlencoded", "Accept-Language": "fr-CH"},
	})
}

// The saved card is refused while the customer is away. On the page they pay with another, whose bank asks them.
func TestAnInvoiceIsConfirmedToTheBankOnItsPage(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		customer := w.AsBackend(t, post, "/v1/customers",
			harness.JSON{"email": "ada@example.com", "displayName": "Ada"}).Want(t, 201).Map(t)
		id := text(t, customer["id"])
		w.AsBackend(t, post, "/v1/sandbox/customers/"+id+"/cards", harness.JSON{"cardNumber": "4000000000000341"}).
			Want(t, 201)
		w.AsBackend(t, post, "/v1/invoices", harness.JSON{
			"customerId": id, "currency": "eur",
			"lineItems":      []any{harness.JSON{"description": "Seats", "amountInCents": 1500}},
			"idempotencyKey": "one", "periodStart": "2026-01-01", "periodEnd": "2026-02-01",
		}).Want(t, 402)
		var list struct {
			Data []invoiceBody `json:"data"`
		}
		read := func() invoiceBody {
			w.AsBackend(t, get, "/v1/invoices", nil).Want(t, 200).Into(t, &list)
			return list.Data[0]
		}
		cards := func() int {
			return len(
				w.AsBackend(t, get, "/v1/customers/"+id+"/payment-methods", nil).Want(t, 200).Map(t)["data"].([]any),
			)
		}
		inv := read()
		asks := url.Values{"cardNumber": {"4000002760003184"}}
		sendInvoicePage(t, app, inv, "/authenticate", url.Values{"approve": {"yes"}}) // nobody asked
		if now := read(); now.Status != "failed" {
			t.Fatalf("a confirmation that nobody asked for made the invoice %s", now.Status)
		}
		page, err := url.Parse(inv.HostedURL)
		if err != nil {
			t.Fatal(err)
		}
		shown := html.UnescapeString(string(app.AskUnjudged(t, harness.Request{
			Method: get, Path: page.Path, Headers: map[string]string{"Accept-Language": "fr-CH"},
		}).Want(t, 200).Body))
		for _, c := range []struct{ approve, status string }{{"no", "failed"}, {"yes", "paid"}} {
			sendInvoicePage(t, app, inv, "/pay", asks).Want(t, http.StatusSeeOther)
			if now := read(); now.Status == "paid" || cards() != 1 {
				t.Fatalf("before the confirmation the invoice is %s, with %d cards", now.Status, cards())
			}
			sendInvoicePage(t, app, inv, "/authenticate", url.Values{"approve": {c.approve}})
			if now := read(); now.Status != c.status {
				t.Fatalf("responded with %s, the invoice is %s", c.approve, now.Status)
			}
		}
		if n := cards(); n != 2 {
			t.Errorf("%d cards are saved, want the one of before and the one that has paid", n)
		}
		saved := w.AsBackend(t, get, "/v1/customers/"+id+"/payment-methods", nil).
			Want(t, 200).Map(t)["data"].([]any)[0].(map[string]any)
		if mandate := text(t, saved["mandate"].(map[string]any)["text"]); !strings.HasPrefix(mandate, "Vous autorisez") ||
			!strings.Contains(shown, mandate) {
			t.Errorf("the card is saved with %q, the page shows:\n%s", mandate, shown)
		}
	})
}

// A customer leaves their bank's challenge alone while the last planned charge falls due.
func TestAChallengeTakesNoPlannedChargesPlace(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		m := newFixture(t, app).subscribed(t, cardFailsLater, "SUM")
		var inv invoiceBody
		m.AsBackend(t, post, "/v1/invoices", m.invoiceBody(harness.Unique("march"), 500)).Want(t, 402).Into(t, &inv)
		advanceTo(t, m.Account, inv.NextAttemptAt.Add(6*day-10*time.Minute))
		m.payOnPage(t, inv, harness.CardAsksAlways).Want(t, http.StatusSeeOther)
		advance(t, m.Account, 2*time.Hour)
		const charged = "SELECT COUNT(*) FROM payments WHERE subject_id = $1 AND status = 'declined'"
		if n := m.Count(t, charged, inv.ID); n != 5 {
			t.Errorf("the saved card was charged %d times, want at once and after 1, 3, 5 and 7 days", n)
		}
		m.AsBackend(t, get, "/v1/invoices/"+inv.ID, nil).Want(t, 200).Into(t, &inv)
		if inv.Status != "failed" || inv.AttemptCount != 6 || inv.DeclineCode != "card_declined" {
			t.Errorf("%+v", inv)
		}
	})
}

// While the outcome of a charge is not known, the page neither calls the invoice due nor offers to pay it again.
func TestAnInvoicesPaymentStaysProcessing(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		customer := w.AsBackend(t, post, "/v1/customers",
			harness.JSON{"email": "ada@example.com", "displayName": "Ada"}).Want(t, 201).Map(t)
		id := text(t, customer["id"])
		w.AsBackend(t, post, "/v1/sandbox/customers/"+id+"/cards",
			harness.JSON{"cardNumber": harness.CardStaysPending}).Want(t, 201)
		var inv invoiceBody
		w.AsBackend(t, post, "/v1/invoices", harness.JSON{
			"customerId": id, "currency": "eur", "idempotencyKey": "one",
			"lineItems": []any{harness.JSON{"description": "Seats", "amountInCents": 1500}},
		}).Want(t, 201).Into(t, &inv)
		page := func() string {
			t.Helper()
			address := strings.TrimPrefix(inv.HostedURL, app.URL)
			return string(app.Ask(t, harness.Request{Method: get, Path: address}).Want(t, 200).Body)
		}
		if p := page(); !strings.Contains(p, "Your payment is being processed.") || strings.Contains(p, "Pay now") {
			t.Errorf("the page while a payment is processed:\n%s", p)
		}
		advance(t, w.Account, time.Hour)
		if p := page(); !strings.Contains(p, "This invoice is paid.") || !strings.Contains(p, "Merchant of record for ") {
			t.Errorf("the page afterwards:\n%s", p)
		}
	})
}
