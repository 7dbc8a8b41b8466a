package e2e_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"sundry/tests/harness"
)

// placed makes a customer with billing details and a saved card; over replaces or adds members.
func (w *fixture) placed(t *testing.T, over harness.JSON) (id string) {
	t.Helper()
	body := harness.JSON{"email": "grace@example.com", "externalCustomerId": harness.Unique("user")}
	maps.Copy(body, over)
	made := w.AsBackend(t, http.MethodPost, "/v1/customers", body).Want(t, 201).Map(t)
	id = text(t, made["id"])
	w.AsBackend(t, http.MethodPost, "/v1/sandbox/customers/"+id+"/cards", harness.JSON{
		"cardNumber": harness.CardSucceeds,
	}).Want(t, 201)
	return id
}

// billed pushes an invoice of 119 euros and returns its tax and total.
func (w *fixture) billed(t *testing.T, customerID string) (tax, total int64) {
	t.Helper()
	made := w.AsBackend(t, http.MethodPost, "/v1/invoices", harness.JSON{
		"customerId": customerID, "currency": "eur", "idempotencyKey": harness.Unique("march"),
		"lineItems": []harness.JSON{{"description": "March", "amountInCents": 11_900}},
	}).Want(t, 201).Map(t)
	return version(t, made["taxInCents"]), version(t, made["totalInCents"])
}

func TestAnInvoiceIsTaxedByTheBillingAddress(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		for name, c := range map[string]struct {
			over harness.JSON
			tax  int64
		}{
			"of a consumer in Germany": {harness.JSON{"billingAddress": harness.JSON{"country": "DE"}}, 1900},
			"of a business in Germany": {
				harness.JSON{"billingAddress": harness.JSON{"country": "DE"}, "taxId": "DE136695976"}, 0,
			},
			"or else by the card's country": {harness.JSON{}, 0},
		} {
			id := w.placed(t, c.over)
			if tax, total := w.billed(t, id); tax != c.tax || total != 11_900 {
				t.Errorf("an invoice %s has %d tax of %d, want %d", name, tax, total, c.tax)
			}
			one := "/v1/customers/" + id
			moved := w.AsBackend(t, http.MethodPatch, one, harness.JSON{
				"billingAddress": harness.JSON{"line1": "1 Quay Street", "city": "Dublin", "country": "IE"}, "taxId": nil,
			}).Want(t, 200).Map(t)
			address := moved["billingAddress"].(map[string]any) //nolint:forcetypeassert,errcheck // the document says so
			if address["line1"] != "1 Quay Street" || address["country"] != "IE" || address["postalCode"] != nil ||
				moved["taxId"] != nil {
				t.Errorf("moved: %v", moved)
			}
			if tax, _ := w.billed(t, id); tax != 2225 { // 23 % within 119
				t.Errorf("after the move to Ireland %d tax", tax)
			}
			cleared := w.AsBackend(t, http.MethodPatch, one, harness.JSON{"billingAddress": nil}).Want(t, 200).Map(t)
			if cleared["billingAddress"] != nil {
				t.Errorf("cleared: %v", cleared)
			}
		}
	})
}

func TestABillingAddressIsChecked(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		id := w.placed(t, harness.JSON{"billingAddress": harness.JSON{"country": "IE"}})
		for _, c := range map[string]struct {
			body   harness.JSON
			fields []string
		}{
			"no such country": {harness.JSON{"billingAddress": harness.JSON{"country": "XX"}},
				[]string{"billingAddress.country"}},
			"not a VAT ID": {harness.JSON{"taxId": "DE1"}, []string{"taxId"}},
			"lines and long text": {harness.JSON{"billingAddress": harness.JSON{"country": "IE", "city": "a\nb",
				"line1": strings.Repeat("x", 201)}}, []string{"billingAddress.city", "billingAddress.line1"}},
		} {
			w.AsBackend(t, http.MethodPatch, "/v1/customers/"+id, c.body).Refuses(t, 400, "VALIDATION_FAILED", c.fields...)
			c.body["email"] = "grace@example.com"
			if address, ok := c.body["billingAddress"].(harness.JSON); !ok || address["country"] == nil {
				c.body["billingAddress"] = harness.JSON{"country": "DE"}
			}
			w.AsBackend(t, http.MethodPost, "/v1/customers", c.body).Refuses(t, 400, "VALIDATION_FAILED", c.fields...)
		}
	})
}

func TestACustomerGivesBillingDetailsOnPages(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		id := w.placed(t, nil)
		post := func(address string, form url.Values) *harness.Response {
			t.Helper()
			return app.AskUnjudged(t, harness.Request{
				Method: http.MethodPost, Path: strings.TrimPrefix(address, app.URL), Body: form.Encode(),
				Headers: map[string]string{"Content-Type": "application/x-www-form-urlencoded"},
			})
		}
		billing := func() string {
			t.Helper()
			c := w.AsBackend(t, http.MethodGet, "/v1/customers/"+id, nil).Want(t, 200).Map(t)
			return fmt.Sprint(c["billingAddress"], c["taxId"])
		}
		setup := w.AsBackend(t, http.MethodPost, "/v1/card-setup-sessions", harness.JSON{
			"customerId": id, "returnUrl": "https://shop.example/done",
		}).Want(t, 201).Map(t)
		page := text(t, setup["hostedUrl"])
		nonsense := post(page, url.Values{
			"card": {harness.CardSucceeds}, "country": {"DE"}, "postalCode": {"10115"}, "taxId": {"nonsense"},
		}).Want(t, 400)
		for _, kept := range []string{`value="DE" selected`, `value="10115"`, `value="nonsense"`} {
			if !strings.Contains(string(nonsense.Body), kept) {
				t.Errorf("a refused form has lost %s", kept)
			}
		}
		if got := billing(); got != "<nil> <nil>" {
			t.Errorf("a refused form saved %s", got)
		}
		post(page, url.Values{"card": {harness.CardSucceeds}, "country": {"DE"}, "postalCode": {"10115"}}).Want(t, 303)
		if got := billing(); !strings.Contains(got, "country:DE") || !strings.Contains(got, "postalCode:10115") {
			t.Errorf("with the card: %s", got)
		}
		late := text(t, w.AsBackend(t, http.MethodPost, "/v1/card-setup-sessions", harness.JSON{
			"customerId": id, "returnUrl": "https://shop.example/done",
		}).Want(t, 201).Map(t)["hostedUrl"])
		w.advance(t, 25*60*60)
		for what, over := range map[string]string{"has saved a card": page, "has expired": late} {
			post(over, url.Values{
				"card": {harness.CardSucceeds}, "country": {"FR"}, "postalCode": {"75001"},
			}).Want(t, 303)
			if got := billing(); !strings.Contains(got, "country:DE") || !strings.Contains(got, "postalCode:10115") {
				t.Errorf("a page that %s changed the address to %s", what, got)
			}
		}
		portal := text(t, w.AsBackend(t, http.MethodPost, "/v1/customer-portal-sessions", harness.JSON{
			"customerId": id, "returnUrl": "https://shop.example/account",
		}).Want(t, 201).Map(t)["url"])
		refused := post(portal+"/address", url.Values{"country": {"DE"}, "taxId": {"DE1"}, "city": {"Bonn"}}).Want(t, 200)
		if !strings.Contains(string(refused.Body), `value="Bonn"`) {
			t.Error("a refused form is not shown again as it was")
		}
		german := app.AskUnjudged(t, harness.Request{
			Method: http.MethodPost, Path: strings.TrimPrefix(portal, app.URL) + "/address",
			Body: "country=DE&taxId=DE1",
			Headers: map[string]string{
				"Content-Type": "application/x-www-form-urlencoded", "Accept-Language": "de",
			},
		}).Want(t, 200)
		if want := "Prüfe das Land und die USt-IdNr."; !strings.Contains(string(german.Body), want) {
			t.Errorf("a German reader is not told: %s", want)
		}
		post(portal+"/address", url.Values{
			"line1": {"Am Ufer 1"}, "city": {"Bonn"}, "postalCode": {"53111"}, "country": {"DE"}, "taxId": {"DE136695976"},
		}).Want(t, 303)
		if got := billing(); !strings.Contains(got, "Am Ufer 1") || !strings.Contains(got, "DE136695976") {
			t.Errorf("in the portal: %s", got)
		}
		home := app.AskUnjudged(t, harness.Request{Method: http.MethodGet, Path: strings.TrimPrefix(portal, app.URL)}).
			Want(t, 200)
		if !strings.Contains(string(home.Body), "Am Ufer 1") {
			t.Error("the portal does not show the address")
		}
	})
}
