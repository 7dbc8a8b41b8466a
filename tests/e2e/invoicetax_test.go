package e2e_test

import (
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"sundry/tests/harness"
)

// An invoice carries the tax of the country that its customer gave last.
func TestAPushedInvoiceIsTaxedByItsCustomersCountry(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		m := newFixture(t, app).subscribed(t, harness.CardSucceeds, "SUM")
		push := func(over harness.JSON) harness.JSON {
			t.Helper()
			body := m.invoiceBody(harness.Unique("march"), 11900)
			body["lineItems"] = []harness.JSON{
				{"description": "Support", "amountInCents": 12900},
				{"description": "Deduction", "amountInCents": -1000},
			}
			maps.Copy(body, over)
			return m.AsBackend(t, http.MethodPost, "/v1/invoices", body).Want(t, 201).Map(t)
		}
		wantTotals := func(when string, inv harness.JSON, subtotal, tax, total int64) {
			t.Helper()
			if version(t, inv["subtotalInCents"]) != subtotal || version(t, inv["taxInCents"]) != tax ||
				version(t, inv["totalInCents"]) != total {
				t.Errorf("%s: %v, %v tax of %v", when, inv["subtotalInCents"], inv["taxInCents"], inv["totalInCents"])
			}
		}
		wantTotals("no country is known", push(nil), 11900, 0, 11900)
		app.Exec(t, `UPDATE customers SET details = '{"country":"DE"}' WHERE id = $1`, m.customerID)
		taxed := push(nil)
		wantTotals("contained", taxed, 11900, 1900, 11900)
		wantLegs(t, m.posted(t, text(t, taxed["paymentId"])), map[string]int64{
			"sale processor_clearing": 11900, "sale tax_payable": -1900, "sale platform_fee": -595,
			"sale creator_pending":        -9405,
			"processor_fee processor_fee": 204, "processor_fee processor_clearing": -204,
		})
		added := push(harness.JSON{"taxBehavior": "exclusive"})
		wantTotals("added", added, 11900, 2261, 14161)
		if added["taxBehavior"] != "exclusive" || taxed["taxBehavior"] != "inclusive" {
			t.Errorf("%v, %v", added["taxBehavior"], taxed["taxBehavior"])
		}
		for _, c := range []struct {
			invoice map[string]any
			wants   []string
		}{
			{taxed, []string{"Tax included, 19% (Germany)", "€19.00"}},
			{added, []string{"Subtotal", "€119.00", "Tax, 19% (Germany)", "€22.61", "€141.61"}},
		} {
			address := strings.TrimPrefix(text(t, c.invoice["hostedUrl"]), app.URL)
			page := string(app.Ask(t, harness.Request{Method: get, Path: address}).Want(t, 200).Body)
			for _, want := range c.wants {
				if !strings.Contains(page, want) {
					t.Errorf("the page of an invoice of %v lacks %q:\n%s", c.invoice["totalInCents"], want, page)
				}
			}
		}
		app.Exec(
			t, `UPDATE customers SET details = '{"country":"DE","taxId":"DE136695976"}' WHERE id = $1`, m.customerID,
		)
		charge := push(nil)
		wantTotals("a business across the border", charge, 11900, 0, 11900)
		page := string(app.Ask(t, harness.Request{
			Method: http.MethodGet, Path: strings.TrimPrefix(text(t, charge["hostedUrl"]), app.URL),
		}).Want(t, 200).Body)
		if !strings.Contains(page, `VAT (reverse charge)</th><td class="num">€0.00<`) {
			t.Errorf("the page does not say who accounts for the tax:\n%s", page)
		}
		f := m.refund(t, text(t, added["paymentId"]), 0).Want(t, 201).Map(t)
		if version(t, f["taxInCents"]) != 2261 || version(t, f["amountInCents"]) != 14161 {
			t.Errorf("all of it went back as %v with %v tax", f["amountInCents"], f["taxInCents"])
		}
		m.wantDocument(
			t, strings.TrimSuffix(text(t, added["pdfUrl"]), "/pdf"), "en", text(t, added["number"]), "Paid on",
		)
		m.wantDocument(
			t, text(t, f["creditNoteUrl"]), "en", "Refund of "+text(t, added["number"]), "VAT 19% (Germany) on €119.00",
		)
		m.AsBackend(t, http.MethodPost, "/v1/invoices", harness.JSON{
			"customerId": m.customerID, "currency": "eur", "idempotencyKey": harness.Unique("k"),
			"taxBehavior": "maybe",
			"lineItems":   []harness.JSON{{"description": "x", "amountInCents": 1}},
		}).Refuses(t, 400, "VALIDATION_FAILED", "taxBehavior")
		verified(t, app)
	})
}

// What a subscription uses is billed with its tax as its price is: contained, or on top.
func TestAPeriodIsTaxedAsThePriceOfItsSubscription(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		for behavior, want := range map[string]struct{ tax, total int64 }{"inclusive": {23, 145}, "exclusive": {28, 173}} {
			w := newFixture(t, app)
			w.AsCreator(t, patch, "/v1/listings/"+w.listing.ID, harness.JSON{"taxBehavior": behavior}).Want(t, 200)
			m := w.metered(t, harness.CardSucceeds)
			m.AsBackend(t, patch, "/v1/customers/"+m.customerID, harness.JSON{
				"billingAddress": harness.JSON{"country": "DE"},
			}).Want(t, 200)
			m.report(t, "100")
			advance(t, m.Account, day+2*time.Minute)
			billed := m.invoices(t)
			if len(billed) != 1 {
				t.Fatalf("%s: %d invoices", behavior, len(billed))
			}
			got := m.AsBackend(t, get, "/v1/invoices/"+billed[0].ID, nil).Want(t, 200).Map(t)
			if got["status"] != "paid" || got["taxBehavior"] != behavior || version(t, got["subtotalInCents"]) != 145 ||
				version(t, got["taxInCents"]) != want.tax || version(t, got["totalInCents"]) != want.total {
				t.Errorf("%s: %v", behavior, got)
			}
			verified(t, app)
		}
	})
}
