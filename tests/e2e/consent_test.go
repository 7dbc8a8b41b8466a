package e2e_test

import (
	"net/http"
	"strings"
	"testing"

	"sundry/tests/harness"
	"sundry/tests/testdb"
)

// TestConsent_EvidenceOfTheButton buys a download in the Union: what the buyer agreed to is asked for, kept, shown,
// mailed and exported, outlives a change of the policy, and loses its network when the buyer is erased.
func TestConsent_EvidenceOfTheButton(t *testing.T) {
	t.Parallel()
	testdb.EachEngine(t, func(t *testing.T, engine testdb.Engine) {
		app := harness.New(t, engine, map[string]string{"TERMS_URL": "https://sundry.example/terms"})
		w := newFixture(t, app)
		policy := func(text string) {
			w.AsCreator(t, http.MethodPatch, "/v1/creator", harness.JSON{"refundPolicy": text}).Want(t, 200)
		}
		policy("Money back for a month.")
		session, buyer := w.NewSession(t, w.book(t, 2900), "default", "user-1", nil), harness.Unique("zoe")+"@example.com"
		body := harness.JSON{"email": buyer, "country": "IE", "cardNumber": harness.CardSucceeds}
		pay := func(body harness.JSON) *harness.Response {
			return app.Ask(t, harness.Request{Method: post, Path: "/c/" + session.Secret() + "/pay", Body: body,
				Headers: map[string]string{"User-Agent": "Mozilla/5.0 (X11; Linux) Firefox/140.0"}})
		}
		page := app.Ask(t, harness.Request{Method: get, Path: "/c/" + session.Secret()})
		for _, want := range []string{
			`href="https://sundry.example/terms"`, "Money back for a month.", "By ordering, you agree to",
			`id="immediateSupply"`,
		} {
			if !strings.Contains(string(page.Body), want) {
				t.Errorf("the page does not show %q:\n%s", want, page.Body)
			}
		}
		pay(body).Refuses(t, 400, "VALIDATION_FAILED", "immediateSupply")
		agreed := app.Agreed(t, session, body)
		policy("Money back for a week.")
		pay(agreed).Refuses(t, 409, "STATE_CONFLICT") // the page showed another policy
		if n := app.Count(t, "SELECT COUNT(*) FROM payments"); n != 0 {
			t.Errorf("%d payments were started", n)
		}
		pay(app.Agreed(t, session, body)).Want(t, 200)
		w.AsCreator(t, http.MethodPatch, "/v1/creator", harness.JSON{"refundPolicy": nil}).Want(t, 200)

		path := "/v1/checkout-sessions/" + session.ID
		consent := w.AsBackend(t, get, path, nil).Want(t, 200).Map(t)["consent"].(map[string]any)
		if consent["termsUrl"] != "https://sundry.example/terms" || consent["locale"] != "en" ||
			len(text(t, consent["refundPolicyHash"])) != 64 ||
			!strings.Contains(text(t, consent["immediateSupply"]), "right of withdrawal") ||
			!strings.Contains(text(t, consent["network"]), "127.0.0.1") ||
			!strings.Contains(text(t, consent["userAgent"]), "Firefox") {
			t.Errorf("consent %v", consent)
		}
		receipt := w.Receipt(t, session)
		v := w.Visit(t)
		order := v.Open(t, "/dashboard/orders/"+text(t, receipt["paymentId"])).Body
		for _, want := range []string{
			"Money back for a week.", "Firefox on Linux", "By ordering, you agree to the terms of Sundry",
		} {
			if !strings.Contains(order, want) {
				t.Errorf("the order does not show %q:\n%s", want, order)
			}
		}
		shown := app.AskUnjudged(t, harness.Request{
			Method: get, Path: strings.TrimPrefix(text(t, receipt["receiptUrl"]), app.URL),
		})
		workOff(t, w.Account)
		mailed := mailsTo(t, app, buyer)
		if len(mailed) != 1 {
			t.Fatalf("%d mails", len(mailed))
		}
		for what, words := range map[string]string{"receipt": string(shown.Body), "mail": mailed[0].Parts["text/plain"]} {
			if !strings.Contains(words, "lose my 14-day right of withdrawal") {
				t.Errorf("the %s does not confirm what was agreed to:\n%s", what, words)
			}
		}
		if body := mailed[0].Parts["text/plain"]; !strings.Contains(body,
			"Refund policy of Ada's Workshop: Money back for a week.") ||
			!strings.Contains(body, "Terms: https://sundry.example/terms") {
			t.Errorf("the mail does not have the texts:\n%s", body)
		}

		customer := "/v1/customers/" + text(t, receipt["customerId"])
		exported := w.AsBackend(t, get, customer+"/export", nil).Want(t, 200)
		if !strings.Contains(string(exported.Body), "Firefox/140.0") {
			t.Errorf("the export lacks it:\n%s", exported.Body)
		}
		w.AsBackend(t, post, customer+"/erase", nil).Want(t, 200)
		consent = w.AsBackend(t, get, path, nil).Want(t, 200).Map(t)["consent"].(map[string]any)
		if consent["network"] != nil || consent["userAgent"] != nil || consent["immediateSupply"] == nil {
			t.Errorf("erased: %v", consent)
		}

		byKey := w.NewSession(t, w.book(t, 900), "default", "user-2", nil)
		w.Pay(t, byKey, harness.CardSucceeds).Want(t, 200)
		if got := w.AsBackend(t, get, "/v1/checkout-sessions/"+byKey.ID, nil).Want(t, 200).Map(t)["consent"]; got != nil {
			t.Errorf("paid by the API with the consent %v", got)
		}
		if order := v.Open(t, "/dashboard/orders/"+text(t, w.Receipt(t, byKey)["paymentId"])).Body; !strings.Contains(order,
			"wasn’t paid on a page") {
			t.Error("the order does not say that nothing was agreed to")
		}
		verified(t, app)
	})
}
