package browser

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"sundry/tests/harness"
	"sundry/tests/stripefake"
	"sundry/tests/testdb"
	"sundry/tests/testenv"
)

// stripeScript replaces Stripe's own: a form of one field, which takes the name of what the card does.
const stripeScript = `window.Stripe = (key, { locale }) => ({
  elements: (options) => {
    let field;
    return {
      create: () => ({
        on: (event, then) => event === "ready" && setTimeout(then),
        mount: (target) => {
          field = document.createElement("input");
          field.id = "stripe-card";
          field.setAttribute("aria-label", "Card " + key + " " + locale + " " + options.mode + " " + (options.amount ?? ""));
          target.append(field);
        },
        focus: () => field.focus(),
      }),
      submit: async () => (field.value ? {} : { error: { message: "Your card number is incomplete." } }),
      update: ({ amount }) => field.setAttribute("data-amount", amount),
      value: () => field.value,
    };
  },
  createConfirmationToken: async ({ elements, params }) => ({ confirmationToken: { id: "ctoken_" + elements.value() } }),
  handleNextAction: async ({ clientSecret }) => {
    document.title = clientSecret;
    return new Promise((resolve) => { window.leaveBank = resolve; });
  },
});`

// stripeFixture is a fixture whose cards are taken by Stripe.
func stripeFixture(t *testing.T) (*fixture, *stripefake.Server) {
	t.Helper()
	testenv.Need(t, testenv.Chromium)
	script := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/javascript")
		_, _ = io.WriteString(w, stripeScript)
	}))
	t.Cleanup(script.Close)
	fake := stripefake.New(t)
	site := httptest.NewServer(http.HandlerFunc(serveSite))
	t.Cleanup(site.Close)
	app := harness.New(t, testdb.SQLite, map[string]string{
		"STRIPE_SECRET_KEY": "sk_test_1", "STRIPE_PUBLISHABLE_KEY": "pk_test_1", "STRIPE_WEBHOOK_SECRET": "whsec_1",
		"STRIPE_API_BASE": fake.URL, "STRIPE_SCRIPT_URL": script.URL + "/v3/",
	})
	s := &fixture{Account: app.NewAccount(t), t: t, site: site.URL, customer: harness.Unique("user")}
	s.book = s.Published(t, harness.JSON{"title": "The Letterpress Handbook", "priceInCents": 2900})
	return s, fake
}

func fillStripe(b *tab, does string) {
	b.t.Helper()
	b.ready()
	b.wait(`document.getElementById("stripe-card")`)
	b.fill("#email", "ada@example.com")
	b.fill("#stripe-card", does)
	b.country("IE")
}

func TestABuyerPaysByStripesForm(t *testing.T) {
	t.Parallel()
	s, _ := stripeFixture(t)
	session := s.session(s.book, nil)
	b := newTab(t)
	b.open(session["checkoutUrl"].(string))
	fillStripe(b, "")
	if label := eval[string](
		b, `document.getElementById("stripe-card").getAttribute("aria-label")`,
	); label != "Card pk_test_1 en-US payment 2900" {
		t.Errorf("the form was made with %q", label)
	}
	if eval[bool](b, `Boolean(document.getElementById("cardNumber"))`) {
		t.Error("a card number can be typed into our page")
	}
	b.click("#submit")
	b.sees("Your card number is incomplete.")
	b.fill("#stripe-card", stripefake.Declines)
	b.click("#submit")
	b.sees("Your payment didn’t go through")
	b.fill("#stripe-card", stripefake.Succeeds)
	b.click("#submit")
	b.sees("Payment complete")
	b.sees("Visa •••• 4242")
}

// TestStripesFormGetsTheAmountInItsUnits: the form's amount and the payment's must be the same.
func TestStripesFormGetsTheAmountInItsUnits(t *testing.T) {
	t.Parallel()
	s, fake := stripeFixture(t)
	session := s.session(s.Published(t, harness.JSON{"title": "Kort", "priceInCents": 1250, "currency": "isk"}), nil)
	b := newTab(t)
	b.open(session["checkoutUrl"].(string))
	fillStripe(b, stripefake.Succeeds)
	if label := eval[string](b, `document.getElementById("stripe-card").getAttribute("aria-label")`); !strings.HasSuffix(label, " payment 125000") {
		t.Errorf("the form was made with %q", label)
	}
	b.click("#submit")
	b.sees("Payment complete")
	if intent := fake.Get("pi_", "subject_id", session["id"].(string)); intent["amount"] != 125_000.0 {
		t.Errorf("%v", intent)
	}
}

func TestTheBankIsMetThroughStripesScript(t *testing.T) {
	t.Parallel()
	s, fake := stripeFixture(t)
	session := s.session(s.book, nil)
	b := newTab(t)
	payAtBank(b, fake, session)
}

// payAtBank pays a session with a card whose bank asks the buyer, who agrees.
func payAtBank(b *tab, fake *stripefake.Server, session harness.JSON) {
	b.t.Helper()
	b.open(session["checkoutUrl"].(string))
	fillStripe(b, stripefake.Challenges)
	b.click("#submit")
	b.sees("Your bank asks you to confirm this payment.")
	b.click("#approve")
	confirmAtBank(b, fake, session["id"].(string))
	b.sees("Payment complete")
}

// confirmAtBank confirms the right payment at Stripe, as a buyer does whom its script has sent to their bank.
func confirmAtBank(b *tab, fake *stripefake.Server, subjectID string) {
	b.t.Helper()
	b.wait("window.leaveBank")
	intent := fake.Get("pi_", "subject_id", subjectID)
	if intent == nil {
		b.t.Fatalf("Stripe knows no payment of %s", subjectID)
	}
	if secret := eval[string](b, "document.title"); secret != intent["client_secret"] {
		b.t.Errorf("the bank was asked with %q", secret)
	}
	fake.Challenge(b.t, intent["metadata"].(map[string]any)["payment_id"].(string), true)
	eval[bool](b, "(window.leaveBank({}), true)")
}

func TestACardIsSavedAndAnInvoicePaidByStripesForm(t *testing.T) {
	t.Parallel()
	s, fake := stripeFixture(t)
	customer := s.AsBackend(t, http.MethodPost, "/v1/customers",
		harness.JSON{"email": "ada@example.com", "displayName": "Ada"}).Want(t, http.StatusCreated).Map(t)
	setup := s.AsBackend(t, http.MethodPost, "/v1/card-setup-sessions",
		harness.JSON{"customerId": customer["id"], "returnUrl": s.site + "/thanks"}).Want(t, http.StatusCreated).Map(t)
	b := newTab(t)
	b.open(setup["hostedUrl"].(string))
	b.wait(`document.getElementById("stripe-card")`)
	b.fill("#stripe-card", stripefake.PresentOnly)
	b.click("#save")
	b.sees("Card saved")

	// The saved card is declined off session, so the customer opens the page and pays with another.
	s.AsBackend(t, http.MethodPost, "/v1/invoices", harness.JSON{
		"customerId": customer["id"], "currency": "eur",
		"lineItems":      []any{harness.JSON{"description": "Seats", "amountInCents": 1500}},
		"idempotencyKey": "one", "periodStart": "2026-01-01", "periodEnd": "2026-02-01",
	}).Want(t, http.StatusPaymentRequired)
	invoice := s.AsBackend(t, http.MethodGet, "/v1/invoices", nil).Want(t,
		http.StatusOK).Map(t)["data"].([]any)[0].(map[string]any)
	b.open(invoice["hostedUrl"].(string))
	b.wait(`document.getElementById("stripe-card")`)
	b.fill("#stripe-card", stripefake.Challenges)
	b.click("#pay-card")
	b.sees("Your bank asks you to confirm this payment.")
	b.click("#confirm")
	confirmAtBank(b, fake, invoice["id"].(string))
	b.sees("Paid")
	invoice = s.AsBackend(t, http.MethodGet, "/v1/invoices/"+invoice["id"].(string), nil).Want(t, http.StatusOK).Map(t)
	if invoice["status"] != "paid" {
		t.Errorf("%v", invoice)
	}
	cards := s.AsBackend(t, http.MethodGet, "/v1/customers/"+customer["id"].(string)+"/payment-methods", nil).Want(t,
		http.StatusOK).Map(t)["data"].([]any)
	if len(cards) != 2 {
		t.Errorf("%d cards are saved, want the one of before and the one that has paid", len(cards))
	}
}

// TestAChangeOfPlanIsConfirmedAtTheBank has a bank ask about the first payment and about the change's.
func TestAChangeOfPlanIsConfirmedAtTheBank(t *testing.T) {
	t.Parallel()
	s, fake := stripeFixture(t)
	session := s.openPressTime()
	b := newTab(t)
	payAtBank(b, fake, session)
	subscriptions := s.AsBackend(t, http.MethodGet, "/v1/subscriptions", nil).Want(t, http.StatusOK).Map(t)["data"].([]any)
	sub := subscriptions[0].(map[string]any)

	b.open(s.portal(sub["customerId"].(string)))
	b.click(`a[href$="/change"]`)
	b.sees("Change Press time")
	b.click(`a[href*="plan=studio"]`)
	b.sees("due today")
	b.click("#confirm")
	b.sees("Your bank asks you to confirm this payment.")
	b.accessible("portal, confirm at the bank")
	b.click("#confirm")
	confirmAtBank(b, fake, sub["id"].(string))
	b.sees("Your payment was received")
	b.sees("€31.00")
}
