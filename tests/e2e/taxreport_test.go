package e2e_test

import (
	"maps"
	"strings"
	"testing"
	"time"

	"sundry/core/document"
	"sundry/core/money"
	"sundry/modules/invoicing"
	"sundry/tests/harness"
	"sundry/tests/testdb"
)

const taxReportHeader = "country,treatment,taxId,ratePercent,currency,documents,salesNet,salesTax,creditedNet,creditedTax,net,tax"

// taxReport is the rows of the report of a time.
func taxReport(t *testing.T, app *harness.App, from, until time.Time) (rows []string) {
	t.Helper()
	var out strings.Builder
	report := document.TaxReport{}
	if err := app.Program.ForCommands().Documents.SumTaxes(t.Context(), from, until, report); err != nil {
		t.Fatal(err)
	}
	if err := invoicing.WriteTaxReport(report, &out); err != nil {
		t.Fatal(err)
	}
	header, rest, _ := strings.Cut(out.String(), "\n")
	if header != taxReportHeader {
		t.Errorf("the columns are %s", header)
	}
	return strings.Split(strings.TrimSuffix(rest, "\n"), "\n")
}

// wantTaxReport compares the rows of all times, and the tax in them with the tax account of the ledger.
func wantTaxReport(t *testing.T, app *harness.App, want ...string) {
	t.Helper()
	got := taxReport(t, app, time.Unix(0, 0), time.Unix(1<<34, 0))
	if want != nil && strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("the report is\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	owed := map[string]money.Amount{}
	for _, row := range got {
		cells := strings.Split(row, ",")
		currency, text := cells[4], cells[11]
		due, ok := money.ParseTyped(strings.TrimPrefix(text, "-"), money.Currency(currency))
		if !ok {
			t.Fatalf("%q is no tax of %s", text, row)
		}
		if strings.HasPrefix(text, "-") {
			due.Minor = -due.Minor
		}
		due.Minor += owed[currency].Minor
		owed[currency] = due
	}
	for currency, due := range owed {
		inLedger := app.Count(
			t,
			"SELECT CAST(COALESCE(-SUM(tax_payable), 0) AS BIGINT) FROM ledger_postings WHERE currency = $1",
			currency,
		)
		if due.Minor != inLedger {
			t.Errorf(
				"the report has %d %s of tax, the ledger has %d:\n%s", due.Minor, currency, inLedger,
				strings.Join(got, "\n"),
			)
		}
	}
}

// Sales of two accounts: with German VAT contained and added, refunded, disputed, discounted, invoiced and renewed,
// and those without a tax to collect. What is not German is in rows of its own.
func TestTheTaxReportAddsUpWhatWasIssued(t *testing.T) {
	t.Parallel()
	testdb.EachEngine(t, func(t *testing.T, engine testdb.Engine) {
		app := harness.New(t, engine, nil)
		w, other := newFixture(t, app), newFixture(t, app)
		from := func(country string, over harness.JSON) harness.JSON {
			body := harness.JSON{"customer": harness.JSON{"country": country}}
			maps.Copy(body, over)
			return body
		}
		_, refunded := w.sell(t, w.book(t, 11900), harness.CardSucceeds, from("DE", nil)) // 100.00 + 19.00
		w.refund(t, text(t, refunded["paymentId"]), 5000).Want(t, 201)                    // 42.02 + 7.98
		for _, taxID := range []string{"DE136695976", "136695976"} {
			w.sell(t, w.book(t, 11900), harness.CardSucceeds, harness.JSON{
				"customer": harness.JSON{"country": "DE", "taxId": taxID},
			})
		}
		w.sell(t, w.book(t, 2000), harness.CardSucceeds, nil)

		_, disputed := other.sell(t, other.book(t, 11900), cardDisputed, from("DE", nil)) // 100.00 + 19.00, and back
		other.AsBackend(t, post, "/v1/disputes/"+other.disputeOf(t, text(t, disputed["paymentId"]))+"/accept", nil).
			Want(t, 200)
		other.sell(t, other.book(t, 10000), harness.CardSucceeds, from("US", nil))
		added := other.Published(t, harness.JSON{"priceInCents": 10000, "taxBehavior": "exclusive"})
		code := other.discount(t, harness.JSON{"listingIds": nil})
		other.sell(t, added, harness.CardSucceeds, from("DE", harness.JSON{"discountCode": code.Code})) // 80.00 + 15.20

		m := w.subscribed(t, harness.CardSucceeds, "SUM") // 19.00 before the country is known
		app.Exec(t, `UPDATE customers SET details = '{"country":"DE"}' WHERE id = $1`, m.customerID)
		body := m.invoiceBody(harness.Unique("march"), 12000)
		body["taxBehavior"] = "exclusive"
		invoice := m.AsBackend(t, post, "/v1/invoices", body).Want(t, 201).Map(t) // 119.00 + 22.61, paid by card
		if invoice["status"] != "paid" {
			t.Errorf("the invoice is %v", invoice["status"])
		}
		unpaid := w.subscribed(t, cardFailsLater, "SUM") // 19.00 before the country is known
		app.Exec(t, `UPDATE customers SET details = '{"country":"DE"}' WHERE id = $1`, unpaid.customerID)
		unpaid.AsBackend(t, post, "/v1/invoices", unpaid.invoiceBody(harness.Unique("march"), 11900)).Want(t, 402)
		ask(t, w.Account, unpaid.subscriptionID, "cancel", harness.JSON{"atPeriodEnd": true})
		w.advance(t, 32*24*3600) // a renewal: 15.97 + 3.03

		wantTaxReport(t, app,
			",undetermined,,0,eur,3,58.00,0.00,0.00,0.00,58.00,0.00",
			"DE,reverse_charge,DE136695976,0,eur,2,238.00,0.00,0.00,0.00,238.00,0.00",
			"DE,taxed,,19,eur,7,414.97,78.84,142.02,26.98,272.95,51.86",
			"US,not_collected,,0,eur,1,100.00,0.00,0.00,0.00,100.00,0.00",
		)
		tomorrow := time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, 1)
		if got := strings.Join(
			taxReport(t, app, tomorrow, tomorrow.AddDate(1, 0, 0)), "\n",
		); got != "DE,taxed,,19,eur,1,15.97,3.03,0.00,0.00,15.97,3.03" {
			t.Errorf("of the time to come the report is\n%s", got)
		}
		verified(t, app)
	})
}
