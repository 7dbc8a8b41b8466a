package browser

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"sundry/tests/harness"
)

// reach moves the focus with the Tab key alone until it is on the element.
func (b *tab) reach(sel string) {
	b.t.Helper()
	for range 60 {
		if eval[bool](b, fmt.Sprintf("document.activeElement.matches(%q)", sel)) {
			return
		}
		b.press(kb.Tab)
	}
	b.t.Fatalf("%s can't be reached with the keyboard\n%s", sel, b.describe())
}

// follow reaches a link or a button and presses it, and waits for the words of the page that it leads to.
func (b *tab) follow(sel, words string) {
	b.t.Helper()
	b.reach(sel)
	b.press(kb.Enter)
	b.sees(words)
}

// openPressTime opens a checkout of the cheaper one of two plans.
func (s *fixture) openPressTime() harness.JSON {
	draft := s.NewListing(s.t, harness.JSON{
		"type": "SUBSCRIPTION", "slug": harness.Unique("press"), "title": "Press time", "priceInCents": 1000,
		"metadata": harness.JSON{"interval": "month", "intervalCount": 1},
	})
	for _, plan := range []struct {
		key, name string
		cents     int64
	}{{"basic", "Basic", 1000}, {"studio", "Studio", 3100}} {
		s.AsCreator(s.t, http.MethodPut, "/v1/listings/"+draft.ID+"/plans/"+plan.key, harness.JSON{
			"name": plan.name, "isDefault": plan.key == "basic", "trialDays": 0, "entitlements": []harness.JSON{},
			"credits": []harness.JSON{},
			"meters":  []harness.JSON{},
			"prices": []harness.JSON{
				{"interval": "month", "intervalCount": 1, "currency": "eur", "amountInCents": plan.cents},
			},
		}).Want(s.t, http.StatusOK)
	}
	return s.session(s.Publish(s.t, draft), harness.JSON{
		"catalog": harness.JSON{"listing": draft.CatalogKey, "plan": "basic"},
	})
}

// subscriber is a fixture whose customer has a plan of two, an invoice and a receipt.
func subscriber(t *testing.T) (s *fixture, customerID string) {
	t.Helper()
	s = newFixture(t)
	customerID = s.pay(s.openPressTime(), harness.CardSucceeds).Want(t, http.StatusOK).Map(t)["customerId"].(string)
	s.AsBackend(t, http.MethodPost, "/v1/invoices", harness.JSON{
		"customerId": customerID, "currency": "eur", "idempotencyKey": harness.Unique("march"),
		"lineItems": []harness.JSON{{"description": "Paper", "amountInCents": 450}}, "periodStart": "2026-03-01",
		"periodEnd": "2026-03-31",
	}).Want(t, http.StatusCreated)
	return s, customerID
}

func (s *fixture) portal(customerID string) string {
	s.t.Helper()
	return s.AsBackend(s.t, http.MethodPost, "/v1/customer-portal-sessions",
		harness.JSON{"customerId": customerID, "returnUrl": s.site + "/account"}).Want(s.t,
		http.StatusCreated).Map(s.t)["url"].(string)
}

func TestThePortalIsUsedWithTheKeyboardAlone(t *testing.T) {
	t.Parallel()
	s, customerID := subscriber(t)
	b := newTab(t)
	b.open(s.portal(customerID))
	b.sees("Your purchases from")
	b.sees("-I-000001")
	b.sees("-R-000001")
	b.accessible("portal")

	b.follow(`a[href$="/cancel"]`, "Cancel Press time?")
	b.accessible("portal, cancel")
	b.follow("#confirm", "Your plan is canceled.")
	b.accessible("portal, canceled")
	b.follow(`form[action$="/resume"] button`, "Your plan goes on.")

	b.follow(`a[href$="/change"]`, "Change Press time")
	b.accessible("portal, plans to change to")
	b.follow(`a[href*="plan=studio"]`, "due today")
	b.accessible("portal, change")
	b.follow("#confirm", "Your plan has changed.")
	b.sees("€31.00")

	b.follow(`form[action$="/cards"] button`, "You authorize")
	b.accessible("card setup")
	b.reach(`input[name="card"]`)
	b.press(kb.ArrowDown) // a card that is declined
	b.follow("#save", "declined")
	b.accessible("card setup, declined")
	b.follow("#save", "Card saved")
	b.accessible("card saved")
	b.follow("#continue", "Your cards are up to date.")
	b.follow(`form[action$="/remove"] button`, "The card was removed.")

	b.follow(`a[href*="/receipts/"]`, "Period")
	b.accessible("receipt of a renewal")
	b.open(s.URL + "/find/" + s.ID)
	b.sees("Find your purchases from")
	b.accessible("find purchases")
	b.size(360, 800)
	b.fits("find purchases")
}

func TestAPaymentIsConfirmedInThePortal(t *testing.T) {
	t.Parallel()
	s, customerID := subscriber(t)
	s.AsBackend(t, http.MethodPost, "/v1/sandbox/customers/"+customerID+"/cards",
		harness.JSON{"cardNumber": harness.CardAsksAlways}).Want(t, http.StatusCreated)
	s.AsBackend(t, http.MethodPost, "/v1/sandbox/clock/advance", harness.JSON{"seconds": 32 * 24 * 3600}).Want(t,
		http.StatusOK)
	b := newTab(t)
	b.open(s.portal(customerID))
	b.sees("Your last payment failed")
	b.accessible("portal, past due")
	b.follow(`form[action$="/pay"] button`, "Confirm with your bank")
	b.accessible("portal, confirm")
	b.follow("#confirm", "Your payment was received")
}
