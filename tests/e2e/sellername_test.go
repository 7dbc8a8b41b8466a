package e2e_test

import (
	"net/http"
	"strings"
	"testing"

	"sundry/tests/harness"
	"sundry/tests/testdb"
)

func TestPagesAndMailsNameTheSeller(t *testing.T) {
	t.Parallel()
	testdb.EachEngine(t, func(t *testing.T, engine testdb.Engine) {
		app := harness.New(t, engine, map[string]string{"SELLER_NAME": "Harbour Trading Company Ltd"})
		w := newFixture(t, app)
		session := w.session(t)
		page := app.Ask(t, harness.Request{Method: http.MethodGet, Path: strings.TrimPrefix(session.CheckoutURL, app.URL)})
		if !strings.Contains(string(page.Body), "Sold by Harbour Trading Company Ltd, merchant of record") {
			t.Error("the checkout page does not name the seller")
		}
		buyer := harness.Unique("grace") + "@example.com"
		w.AsBackend(t, http.MethodPost, "/v1/sandbox/checkout-sessions/"+session.ID+"/pay", harness.JSON{
			"cardNumber": harness.CardSucceeds, "email": buyer,
		}).Want(t, 200)
		workOff(t, w.Account)
		mails := mailsTo(t, app, buyer)
		if len(mails) != 1 || !strings.Contains(mails[0].Parts["text/plain"], "Sold by Harbour Trading Company Ltd,") ||
			!strings.Contains(mails[0].Parts["text/plain"], "will show HARBOUR TRADING COMPAN.") {
			t.Errorf("%d mails, or they do not name the seller: %+v", len(mails), mails)
		}
	})
}
