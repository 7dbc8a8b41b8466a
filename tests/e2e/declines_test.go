package e2e_test

import (
	"html"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"sundry/core/locale"
	"sundry/tests/harness"
)

// A declined card by number, with its code.
var declinedCards = map[string]string{
	harness.CardDeclined: "card_declined",
	"4000000000009995":   "insufficient_funds",
	"4000000000000069":   "expired_card",
	"4000000000000127":   "incorrect_cvc",
}

// readIn opens a page as a reader of a language.
func readIn(t *testing.T, app *harness.App, address, language string) string {
	t.Helper()
	at, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	res := app.AskUnjudged(t, harness.Request{
		Method: http.MethodGet, Path: at.RequestURI(), Headers: map[string]string{"Accept-Language": language},
	}).Want(t, http.StatusOK)
	return html.UnescapeString(string(res.Body))
}

// wantReason fails unless each language's page gives the reason in that language, and the English one in no other.
func wantReason(t *testing.T, app *harness.App, address, code string) {
	t.Helper()
	english := locale.Default.Decline(code)
	for _, language := range locale.Languages() {
		page := readIn(t, app, address, language)
		_, shown, _ := strings.Cut(page, "<body") // the script gets every reason
		if want := (locale.Locale{Language: language}).Decline(code); !strings.Contains(shown, want) {
			t.Errorf("%s in %s lacks %q:\n%s", code, language, want, shown)
		}
		if language != "en" && strings.Contains(shown, english) {
			t.Errorf("%s in %s is English: %q", code, language, english)
		}
	}
}

func TestPagesExplainADeclinedCardInTheReadersLanguage(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		listing := a.Published(t, harness.JSON{"priceInCents": 2900})
		customer := a.AsBackend(t, post, "/v1/customers",
			harness.JSON{"email": "ada@example.com", "displayName": "Ada"}).Want(t, 201).Map(t)
		for number, code := range declinedCards {
			session := a.NewSession(t, listing, "default", harness.Unique("ada"), nil)
			refusal := a.Pay(t, session, number).Want(t, 402).Map(t)
			if refusal["message"] != locale.Default.Decline(code) || refusal["declineCode"] != code {
				t.Errorf("the API responds %v", refusal)
			}
			wantReason(t, app, session.CheckoutURL, code)

			setup := a.AsBackend(t, post, "/v1/card-setup-sessions",
				harness.JSON{"customerId": customer["id"], "returnUrl": "https://shop.example/"}).Want(t, 201).Map(t)
			page, err := url.Parse(text(t, setup["hostedUrl"]))
			if err != nil {
				t.Fatal(err)
			}
			submit(t, app, page.Path, url.Values{"card": {number}})
			wantReason(t, app, page.Path, code)
		}
	})
}

// The saved card is refused again when the customer pays for what is overdue, and their bank refuses to confirm
// another.
func TestThePortalTranslatesDeclines(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		s := subscribe(t, a, plans(t, a, 14), "basic", "ada", harness.CardSucceeds)
		a.AsBackend(t, post, "/v1/sandbox/customers/"+s.CustomerID+"/cards",
			harness.JSON{"cardNumber": harness.CardAsksAlways}).Want(t, 201)
		advanceTo(t, a, s.CurrentPeriodEnd.Add(time.Hour))
		portal := visit(t, a, s.CustomerID)
		mine := portal + "/plans/" + s.ID
		if to := submit(t, app, mine+"/pay", nil); to != mine+"/confirm" {
			t.Fatalf("paying leads to %s", to)
		}
		wantReason(t, app, submit(t, app, mine+"/authenticate", url.Values{"approve": {"no"}}), "authentication_failed")
		if page := readIn(t, app, portal+"?done=declined&reason=%3Cb%3E", "de"); !strings.Contains(page,
			locale.Locale{Language: "de"}.Decline("card_declined")) ||
			strings.Contains(page, "<b>") {
			t.Error("a reason that nobody knows is not shown as a declined card")
		}
		for language, want := range map[string]string{"en": "We couldn’t reach the card processor.",
			"de": "Der Kartenanbieter ist nicht erreichbar.", "fr": "Le prestataire de paiement ne répond pas."} {
			if page := readIn(t, app, portal+"?done=later", language); !strings.Contains(page, want) {
				t.Errorf("an unreachable processor in %s lacks %q", language, want)
			}
		}
	})
}

// An invoice's page explains a declined card in the reader's language, at an address that a reload charges nothing by.
func TestInvoicePagesTranslateDeclines(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		customer := a.AsBackend(t, post, "/v1/customers",
			harness.JSON{"email": "ada@example.com", "displayName": "Ada"}).Want(t, 201).Map(t)
		id := text(t, customer["id"])
		a.AsBackend(t, post, "/v1/sandbox/customers/"+id+"/cards", harness.JSON{"cardNumber": cardFailsLater}).Want(t, 201)
		inv := a.AsBackend(t, post, "/v1/invoices", harness.JSON{
			"customerId": id, "currency": "eur",
			"lineItems":      []any{harness.JSON{"description": "Seats", "amountInCents": 1500}},
			"idempotencyKey": "one", "periodStart": "2026-01-01", "periodEnd": "2026-02-01",
		}).Want(t, 402).Map(t)["invoice"].(map[string]any)
		page, err := url.Parse(text(t, inv["hostedUrl"]))
		if err != nil {
			t.Fatal(err)
		}
		for number, code := range declinedCards {
			wantReason(t, app, submit(t, app, page.Path+"/pay", url.Values{"cardNumber": {number}}), code)
		}
		unknown := submit(t, app, page.Path+"/pay", url.Values{"cardNumber": {"4000000000000001"}})
		if shown := readIn(t, app, unknown, "en"); !strings.Contains(shown, "Use one of the test cards") {
			t.Errorf("a card that is no test card leads to %s:\n%s", unknown, shown)
		}
	})
}
