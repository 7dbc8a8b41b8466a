package e2e_test

import (
	"net/http"
	"strings"
	"testing"

	"sundry/tests/harness"
	"sundry/tests/testdb"
)

// A sale with German VAT goes through payment, partial refund, dispute lost and payout, and each amount is in the
// ledger.
func TestAGermanSaleIsExplainedLineByLine(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		session := w.NewSession(t, w.book(t, 11900), "default", harness.Unique("user"), harness.JSON{
			"customer": harness.JSON{"country": "DE"},
		})
		opened := w.AsBackend(t, get, "/v1/checkout-sessions/"+session.ID, nil).Want(t, 200).Map(t)
		if version(t, opened["taxInCents"]) != 1900 || version(t, opened["totalInCents"]) != 11900 {
			t.Errorf("the session shows %v tax of %v", opened["taxInCents"], opened["totalInCents"])
		}
		w.Pay(t, session, cardDisputed).Want(t, 200)
		receipt := w.Receipt(t, session)
		if version(t, receipt["taxInCents"]) != 1900 || version(t, receipt["subtotalInCents"]) != 11900 {
			t.Errorf("the receipt shows %v tax of %v", receipt["taxInCents"], receipt["subtotalInCents"])
		}
		paymentID := text(t, receipt["paymentId"])
		wantLegs(t, w.posted(t, paymentID), map[string]int64{
			"sale processor_clearing": 11900, "sale tax_payable": -1900, "sale platform_fee": -595,
			"sale creator_pending":        -9405,
			"processor_fee processor_fee": 204, "processor_fee processor_clearing": -204,
		})
		disputeID := w.disputeOf(t, paymentID)
		w.wantBalance(t, "while disputed", -595, 0, 10000, 0)
		w.AsBackend(t, post, "/v1/disputes/"+disputeID+"/evidence", harness.JSON{"text": "losing_evidence"}).Want(t, 200)
		wantLegs(t, w.posted(t, disputeID), map[string]int64{
			"dispute_opened disputed_funds": 11900, "dispute_opened processor_clearing": -11900,
			"dispute_opened creator_pending": 10000, "dispute_opened creator_reserved": -10000,
			"dispute_lost creator_reserved": 10000, "dispute_lost tax_payable": 1900,
			"dispute_lost disputed_funds": -11900,
		})
		_, second := w.sell(t, w.book(t, 11900), harness.CardSucceeds, harness.JSON{
			"customer": harness.JSON{"country": "DE"},
		})
		f := w.refund(t, text(t, second["paymentId"]), 5000).Want(t, 201).Map(t)
		if version(t, f["taxInCents"]) != 798 {
			t.Errorf("the refund shows %v tax", f["taxInCents"])
		}
		wantLegs(t, w.posted(t, text(t, f["id"])), map[string]int64{
			"refund tax_payable": 798, "refund creator_pending": 4202, "refund processor_clearing": -5000,
		})
		w.advance(t, week)
		w.wantBalance(t, "after the hold period", 0, 9405-4202-595, 0, 0)
		w.AsBackend(t, post, "/v1/payouts", harness.JSON{"currency": "eur"}).Want(t, 201)
		w.wantBalance(t, "after the payout", 0, 0, 0, 0)
		verified(t, app)
	})
}

func TestTaxIsComputedOnceTheCountryIsKnown(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		for name, c := range map[string]struct {
			customer harness.JSON
			tax      int64
		}{
			"nothing is known":               {nil, 0},
			"Ireland, the seller's country":  {harness.JSON{"country": "IE"}, 2225},
			"a country without registration": {harness.JSON{"country": "US"}, 0},
			"a business across the border":   {harness.JSON{"country": "DE", "taxId": "DE136695976"}, 0},
			"a business at home":             {harness.JSON{"country": "IE", "taxId": "IE6388047V"}, 2225},
		} {
			session, receipt := w.sell(t, w.book(t, 11900), harness.CardSucceeds, harness.JSON{"customer": c.customer})
			if version(t, receipt["taxInCents"]) != c.tax || version(t, receipt["totalInCents"]) != 11900 {
				t.Errorf("%s: %v tax of %v in %s", name, receipt["taxInCents"], receipt["totalInCents"], session.ID)
			}
		}
		w.AsBackend(t, post, "/v1/checkout-sessions", harness.SessionBody(w.listing, "pro", "user", harness.JSON{
			"customer": harness.JSON{"country": "DE", "taxId": "DE136695977"},
		})).Refuses(t, 400, "VALIDATION_FAILED", "customer.taxId")

		session := w.NewSession(t, w.book(t, 11900), "default", harness.Unique("user"), nil)
		app.Ask(t, harness.Request{Method: post, Path: "/c/" + session.Secret() + "/details",
			Body: harness.JSON{"country": "DE"}}).Want(t, 200)
		opened := w.AsBackend(t, get, "/v1/checkout-sessions/"+session.ID, nil).Want(t, 200).Map(t)
		if version(t, opened["taxInCents"]) != 1900 {
			t.Errorf("after the buyer named their country the session shows %v tax", opened["taxInCents"])
		}
		verified(t, app)
	})
}

// A listing may add the tax to its prices; the offer that a session froze keeps it.
func TestTaxIsAddedWhereTheListingSaysSo(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		listing := w.Published(t, harness.JSON{"priceInCents": 10000, "taxBehavior": "exclusive"})
		recipe := w.AsBackend(t, get, "/v1/catalog/listings/"+listing.CatalogKey+"/recipe", nil).Want(t, 200).Map(t)
		if recipe["taxBehavior"] != "exclusive" {
			t.Errorf("the recipe shows %v", recipe["taxBehavior"])
		}
		session, receipt := w.sell(t, listing, harness.CardSucceeds, harness.JSON{
			"customer": harness.JSON{"country": "DE"},
		})
		if version(t, receipt["subtotalInCents"]) != 10000 || version(t, receipt["taxInCents"]) != 1900 ||
			version(t, receipt["totalInCents"]) != 11900 {
			t.Errorf(
				"%s: %v + %v tax = %v", session.ID, receipt["subtotalInCents"], receipt["taxInCents"],
				receipt["totalInCents"],
			)
		}
		f := w.refund(t, text(t, receipt["paymentId"]), 0).Want(t, 201).Map(t)
		if version(t, f["taxInCents"]) != 1900 {
			t.Errorf("all of it went back with %v tax", f["taxInCents"])
		}
		w.AsCreator(t, "PATCH", "/v1/listings/"+listing.ID, harness.JSON{"taxBehavior": "sometimes"}).Refuses(
			t, 400, "VALIDATION_FAILED", "taxBehavior",
		)
		changed := w.AsCreator(t, "PATCH", "/v1/listings/"+listing.ID, harness.JSON{"taxBehavior": "inclusive"}).
			Want(t, 200).Map(t)
		if changed["taxBehavior"] != "inclusive" {
			t.Errorf("%v", changed["taxBehavior"])
		}
		verified(t, app)
	})
}

// payAs pays a session as a buyer with an address.
func (w *fixture) payAs(t *testing.T, session harness.Session, email string) {
	t.Helper()
	w.AsBackend(t, post, "/v1/sandbox/checkout-sessions/"+session.ID+"/pay",
		harness.JSON{"cardNumber": harness.CardSucceeds, "email": email}).Want(t, 200)
}

// The page and the receipt's mail name what the next charge will be.
func TestRenewalsAreNamedWithTheTaxOnTop(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w, buyer := newFixture(t, app), harness.Unique("grace")+"@example.com"
		listing := w.Published(t, harness.JSON{
			"type": "SUBSCRIPTION", "priceInCents": 10000, "taxBehavior": "exclusive", "metadata": harness.JSON{"interval": "month"},
		})
		session := w.NewSession(t, listing, "default", harness.Unique("user"), harness.JSON{
			"customer": harness.JSON{"country": "DE"},
		})
		page := app.Ask(t, harness.Request{Method: get, Path: "/c/" + session.Secret()}).Want(t, 200)
		const renews = "Renews at €119.00 per month"
		if !strings.Contains(string(page.Body), renews) || strings.Contains(string(page.Body), "Then €") {
			t.Errorf("the page doesn't say %q", renews)
		}
		w.payAs(t, session, buyer)
		workOff(t, w.Account)
		mails := mailsTo(t, app, buyer)
		if len(mails) != 1 || !strings.Contains(mails[0].Parts["text/plain"], renews) {
			t.Errorf("the mails don't say %q: %v", renews, mails)
		}
	})
}

// A trial, its notice and the charge at its end name one amount, whether there is a card to charge or not.
func TestATrialsNoticeNamesTheTaxOnTop(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		for _, charged := range []bool{true, false} {
			w, buyer := newFixture(t, app), harness.Unique("grace")+"@example.com"
			listing := w.Published(t, harness.JSON{
				"type": "SUBSCRIPTION", "priceInCents": 10000, "taxBehavior": "exclusive",
				"metadata": harness.JSON{"interval": "month", "trialDays": 14},
			})
			session := w.NewSession(t, listing, "default", harness.Unique("user"), harness.JSON{
				"customer": harness.JSON{"country": "DE"},
			})
			w.payAs(t, session, buyer)
			if !charged {
				cards := "/v1/customers/" + text(t, w.Receipt(t, session)["customerId"]) + "/payment-methods"
				var saved struct{ Data []struct{ ID string } }
				w.AsBackend(t, get, cards, nil).Want(t, 200).Into(t, &saved)
				w.AsBackend(t, http.MethodDelete, cards+"/"+saved.Data[0].ID, nil).Want(t, 204)
			}
			w.advance(t, 15*24*3600)
			mails := mailsTo(t, app, buyer)
			if len(mails) != 3 {
				t.Errorf("%d mails, want those of the trial, of its end and of the first charge", len(mails))
			}
			for _, mail := range mails {
				if text := mail.Parts["text/plain"]; !strings.Contains(text, "€119.00") {
					t.Errorf("charged %v: %s doesn't name €119.00:\n%s", charged, mail.Subject, text)
				}
			}
		}
	})
}

// The price of a change in the portal adds up with the tax on top.
func TestThePriceOfAChangeNamesItsTax(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		listing := w.subscription(t)
		w.AsCreator(t, patch, "/v1/listings/"+listing.ID, harness.JSON{"taxBehavior": "exclusive"}).Want(t, 200)
		session := w.NewSession(t, listing, "pro", harness.Unique("user"), harness.JSON{
			"customer": harness.JSON{"country": "DE"},
		})
		w.Pay(t, session, harness.CardSucceeds).Want(t, 200)
		receipt := w.Receipt(t, session)
		portal := visit(t, w.Account, text(t, receipt["customerId"]))
		quote := read(t, app, portal+"/plans/"+text(t, receipt["subscriptionId"])+"/change?plan=pro&interval=year")
		// €190.00 less the €19.00 of the month that has just begun, and a tax of 19 % on top
		for _, want := range []string{"€203.49 due today", "19% (Germany): €32.49"} {
			if !strings.Contains(quote, want) {
				t.Errorf("the price of the change lacks %q:\n%s", want, quote)
			}
		}
	})
}

func TestThePortalNamesTheReverseCharge(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		session := w.NewSession(t, w.subscription(t), "pro", harness.Unique("user"), harness.JSON{
			"customer": harness.JSON{"country": "DE", "taxId": "DE136695976"},
		})
		w.Pay(t, session, harness.CardSucceeds).Want(t, 200)
		receipt := w.Receipt(t, session)
		portal := visit(t, w.Account, text(t, receipt["customerId"]))
		plan := portal + "/plans/" + text(t, receipt["subscriptionId"])
		for what, path := range map[string]string{
			"next charge": portal, "receipt": portal + "/receipts/" + text(t, receipt["paymentId"]),
			"price of a change": plan + "/change?plan=pro&interval=year",
		} {
			if page := read(t, app, path); !strings.Contains(page, "VAT (reverse charge): €0.00") {
				t.Errorf("the %s does not say who accounts for the tax:\n%s", what, page)
			}
		}
	})
}

func TestTheReceiptsPageNamesTheReverseCharge(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		_, receipt := w.sell(t, w.book(t, 11900), harness.CardSucceeds, harness.JSON{
			"customer": harness.JSON{"country": "DE", "taxId": "DE136695976"},
		})
		page := string(app.AskUnjudged(t, harness.Request{
			Method: get, Path: strings.TrimPrefix(text(t, receipt["receiptUrl"]), app.URL),
		}).Want(t, 200).Body)
		if !strings.Contains(page, "VAT (reverse charge)") {
			t.Errorf("the page does not say who accounts for the tax:\n%s", page)
		}
	})
}

// The page shows what the buyer enters as they enter it, keeps the evidence, and changes nothing while a payment is
// under way.
func TestThePageFollowsTheBuyersCountryAndVATID(t *testing.T) {
	t.Parallel()
	testdb.EachEngine(t, func(t *testing.T, engine testdb.Engine) {
		app := harness.New(t, engine, map[string]string{
			"CLIENT_COUNTRY_HEADER": "CF-IPCountry", "TRUSTED_PROXIES": "private",
		})
		w := newFixture(t, app)
		session := w.NewSession(t, w.book(t, 11900), "default", harness.Unique("user"), nil)
		details := func(body harness.JSON) *harness.Response {
			return app.Ask(t, harness.Request{Method: post, Path: "/c/" + session.Secret() + "/details", Body: body})
		}
		wantTax := func(when string, tax int64, body harness.JSON) {
			t.Helper()
			if state := details(body).Want(t, 200).Map(t); version(t, state["taxInCents"]) != tax ||
				version(t, state["totalInCents"]) != 11900 {
				t.Errorf("%s: %v tax of %v", when, state["taxInCents"], state["totalInCents"])
			}
		}
		wantTax("in Germany", 1900, harness.JSON{"country": "DE", "taxId": ""})
		wantTax("a business there", 0, harness.JSON{"country": "DE", "taxId": "DE136695976"})
		page := string(app.Ask(t, harness.Request{Method: get, Path: "/c/" + session.Secret()}).Want(t, 200).Body)
		if !strings.Contains(page, "VAT (reverse charge)") || !strings.Contains(page, `value="DE136695976"`) {
			t.Error("the page does not show the reverse charge")
		}
		details(harness.JSON{"country": "FR", "taxId": "DE136695976"}).Refuses(t, 400, "VALIDATION_FAILED", "taxId")
		wantTax("no business after all, in France", 1983, harness.JSON{"country": "FR", "taxId": ""})

		pay := func(card string) *harness.Response {
			return app.Ask(t, harness.Request{
				Method: post, Path: "/c/" + session.Secret() + "/pay", Headers: map[string]string{"CF-IPCountry": "fr"},
				Body: app.Agreed(t, session, harness.JSON{"email": "ada@example.com", "country": "FR", "cardNumber": card}),
			})
		}
		pay("4000002760003184").Want(t, 200)
		details(harness.JSON{"country": "DE"}).Refuses(t, 409, "STATE_CONFLICT")
		pay(harness.CardSucceeds).Want(t, 200)
		if n := app.Count(
			t,
			`SELECT COUNT(*) FROM sessions WHERE id = $1 AND tax_details LIKE '%"evidence":{"declared":"FR","clientAddress":"FR","card":"US"}%'`,
			session.ID,
		); n != 1 {
			t.Error("the evidence of the buyer's country is not kept with the sale")
		}
		verified(t, app)
	})
}
