package web

import (
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"

	"sundry/core/checkout"
	"sundry/core/customer"
	"sundry/core/fault"
	"sundry/core/money"
	"sundry/core/payment"
	"sundry/core/period"
	"sundry/core/plan"
	"sundry/modules/selling"
)

func eur(minor int64) money.Amount { return money.Amount{Minor: minor, Currency: "eur"} }

func sessionPage(change func(*selling.Page)) selling.Page {
	p := selling.Page{
		State: checkout.PagePay, SellerName: "Ada", Now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
		Session: checkout.State{
			ID: "cs_1", Status: checkout.StatusProcessing, UIMode: checkout.Hosted,
			Offer:      plan.Offer{Title: "Book", ListingType: "DIGITAL", PlanKey: "default", PlanName: "Book", Price: eur(900), DownloadURL: "https://files.example/a"},
			Email:      "a@example.com",
			Buyer:      customer.Details{Country: "IE"},
			SuccessURL: "https://shop.example/thanks", CancelURL: "https://www.shop.example/back",
			Subtotal: eur(900), Discount: eur(0), Tax: eur(0), Total: eur(900),
		},
	}
	if change != nil {
		change(&p)
	}
	return p
}

// managed stands in for the appointments' own pages.
func managed(appointmentID string) string { return "https://pay.example/a/" + appointmentID }

func TestASessionBecomesItsView(t *testing.T) {
	t.Parallel()
	subscribe := func(p *selling.Page) {
		p.Session.Offer.Interval, p.Session.Offer.IntervalCount, p.Session.Offer.TrialDays = period.Month, 1, 14
		p.Session.Offer.PlanKey, p.Session.Offer.PlanName = "team", "Team"
		p.Session.Subtotal, p.Session.Total = eur(0), eur(0)
	}
	paid := func(p *selling.Page) {
		p.State, p.Session.Status = checkout.PagePaid, checkout.StatusPaid
		p.Session.PaidAt = time.Date(2026, 3, 5, 12, 0, 0, 0, time.UTC)
		p.Session.ReceiptNumber, p.CardBrand, p.CardLast4 = "R-1", "visa", "4242"
	}
	cases := map[string]struct {
		change func(*selling.Page)
		holds  func(Checkout) bool
	}{
		"a purchase asks for a card": {nil, func(c Checkout) bool {
			return c.NeedsCard && c.Total == 900 && c.Currency == "eur" && c.Recurring == nil
		}},
		"the implied plan has no name":         {nil, func(c Checkout) bool { return c.Item.Plan == "" }},
		"nothing is given away before payment": {nil, func(c Checkout) bool { return c.Receipt == nil }},
		"a hosted session is framed by nobody": {nil, func(c Checkout) bool { return c.Parents == nil }},
		"an embedded session by the shop's origins": {func(p *selling.Page) { p.Session.UIMode = checkout.Embedded }, func(c Checkout) bool {
			return strings.Join(c.Parents, " ") == "https://shop.example https://www.shop.example"
		}},
		"a trial asks for a card and charges nothing": {subscribe, func(c Checkout) bool { return c.NeedsCard && c.Total == 0 && c.Trial() && c.Item.Plan == "Team" }},
		"a trial counts from the account's now": {subscribe, func(c Checkout) bool {
			return c.Recurring.FirstChargeAt.Equal(time.Date(2026, 3, 15, 12, 0, 0, 0, time.UTC))
		}},
		"a started trial counts from its start": {func(p *selling.Page) { subscribe(p); paid(p) }, func(c Checkout) bool {
			return c.Recurring.FirstChargeAt.Equal(time.Date(2026, 3, 19, 12, 0, 0, 0, time.UTC))
		}},
		"a refusal is shown": {func(p *selling.Page) { p.Session.LastError = payment.Refusal{Code: "x", Message: "No."} }, func(c Checkout) bool { return c.Failure.Message == "No." }},
		"a paid session has its receipt": {paid, func(c Checkout) bool {
			return c.Receipt.Number == "R-1" && c.Receipt.Card == "Visa •••• 4242" && c.Receipt.DownloadURL == "https://files.example/a"
		}},
		"a free session paid without a card": {func(p *selling.Page) { paid(p); p.CardLast4 = "" }, func(c Checkout) bool { return c.Receipt.Card == "" }},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if view := checkoutView(sessionPage(c.change), "s", managed); !c.holds(view) {
				t.Errorf("view %+v", view)
			}
		})
	}
}

func TestTheCountryIsGuessedOnlyFromARegion(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ header, want string }{
		"a region":                   {"de-AT,de;q=0.9", "AT"},
		"the first region counts":    {"en;q=0.9, fr-CA;q=0.8, en-US", "CA"},
		"a script before the region": {"zh-Hant-TW", "TW"},
		"no region":                  {"de,en;q=0.5", ""},
		"a script alone":             {"zh-Hant", ""},
		"nothing":                    {"", ""},
		"nonsense":                   {"-,;;--x-ZZ", ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := countryOf(c.header); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// ask sends one request to the pages that need no session.
func ask(t *testing.T, path string, headers map[string]string) (*http.Response, string) {
	t.Helper()
	routes := NewRoutes(newTestPages(t, true), nil, nil, func(error) int { return 418 }, slog.New(slog.DiscardHandler))
	app := fiber.New()
	routes.Mount(app)
	app.Get("/broken", func(c *fiber.Ctx) error { return routes.fail(c, errors.New("secret words")) })
	app.Get("/unbookable", func(c *fiber.Ctx) error { return routes.fail(c, fault.New(fault.NotBookable, "no hours")) })
	request := httptest.NewRequest(http.MethodGet, path, nil)
	for name, value := range headers {
		request.Header.Set(name, value)
	}
	response, err := app.Test(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response, string(body)
}

func TestAssetsAreServedForEver(t *testing.T) {
	t.Parallel()
	path, err := newTestPages(t, true).assets.Path("checkout.js")
	if err != nil {
		t.Fatal(err)
	}
	response, body := ask(t, path, nil)
	if response.StatusCode != 200 || !strings.Contains(response.Header.Get("Cache-Control"), "immutable") || !strings.Contains(body, "startBridge") {
		t.Errorf("%d %v", response.StatusCode, response.Header)
	}
	if response, _ := ask(t, "/assets/checkout.0000000000.js", nil); response.StatusCode != 404 || response.Header.Get("Cache-Control") != "" {
		t.Errorf("an old hash answers %d %v", response.StatusCode, response.Header)
	}
	if response, _ := ask(t, path, map[string]string{"Accept-Encoding": "gzip"}); response.Header.Get("Content-Encoding") != "gzip" {
		t.Errorf("not compressed: %v", response.Header)
	}
}

func TestTheOverlayScriptIsForOtherOrigins(t *testing.T) {
	t.Parallel()
	response, body := ask(t, "/sundry.js", nil)
	if response.StatusCode != 200 || response.Header.Get("Cross-Origin-Resource-Policy") != "cross-origin" || !strings.Contains(body, "window.Sundry") {
		t.Errorf("%d %v", response.StatusCode, response.Header)
	}
	again, body := ask(t, "/sundry.js", map[string]string{"If-None-Match": response.Header.Get("ETag")})
	if again.StatusCode != 304 || body != "" {
		t.Errorf("unchanged script answers %d with %d bytes", again.StatusCode, len(body))
	}
}

func TestSitePagesCarryTheirPolicy(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/", "/docs"} {
		response, _ := ask(t, path, nil)
		policy := response.Header.Get("Content-Security-Policy")
		if response.StatusCode != 200 || !strings.Contains(policy, "frame-ancestors 'none'") || strings.Contains(policy, "unsafe") ||
			response.Header.Get("X-Frame-Options") != "DENY" || response.Header.Get("Referrer-Policy") != "no-referrer" || response.Header.Get("Set-Cookie") != "" {
			t.Errorf("%s: %d %v", path, response.StatusCode, response.Header)
		}
	}
}

func TestAFaultIsAPageThatSaysNothingOfItsCause(t *testing.T) {
	t.Parallel()
	response, body := ask(t, "/broken", nil)
	if response.StatusCode != 418 || !strings.Contains(body, "<h1>") || strings.Contains(body, "secret words") || response.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("%d %v %s", response.StatusCode, response.Header, body)
	}
}

func TestWhatCannotBeBookedAnyMoreIsNotCalledAWrongAddress(t *testing.T) {
	t.Parallel()
	response, body := ask(t, "/unbookable", nil)
	if response.StatusCode != 409 || !strings.Contains(body, "no longer active") || !strings.Contains(body, ">409<") {
		t.Errorf("%d %s", response.StatusCode, body)
	}
}
