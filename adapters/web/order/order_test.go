package order

import (
	"strings"
	"testing"
	"time"

	core "sundry/core/checkout"
	"sundry/core/customer"
	"sundry/core/identity"
	"sundry/core/locale"
	"sundry/core/money"
	"sundry/core/payment"
	"sundry/core/period"
	"sundry/core/plan"
	"sundry/modules/checkout"
)

func eur(minor int64) money.Amount { return money.Amount{Minor: minor, Currency: "eur"} }

func sessionPage(change func(*checkout.Page)) checkout.Page {
	p := checkout.Page{
		State: core.PagePay, Seller: identity.Storefront{Name: "Ada"},
		Now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
		Session: core.State{
			ID: "cs_1", Status: core.StatusProcessing, UIMode: core.Hosted,
			Offer: plan.Offer{
				Title: "Book", ListingType: "DIGITAL", PlanKey: "default", PlanName: "Book", Price: eur(900),
				DownloadURL: "https://files.example/a",
			},
			Email:      "a@example.com",
			Buyer:      customer.Details{Address: customer.Address{Country: "IE"}},
			SuccessURL: "https://shop.example/thanks", CancelURL: "https://www.shop.example/back",
			Subtotal: eur(900), Discount: eur(0), Tax: eur(0), Total: eur(900),
		},
	}
	if change != nil {
		change(&p)
	}
	return p
}

// managed replaces the appointments' own pages.
func managed(appointmentID string) string { return "https://pay.example/a/" + appointmentID }

func TestASessionBecomesItsView(t *testing.T) {
	t.Parallel()
	subscribe := func(p *checkout.Page) {
		p.Session.Offer.Interval, p.Session.Offer.IntervalCount, p.Session.Offer.TrialDays = period.Month, 1, 14
		p.Session.Offer.PlanKey, p.Session.Offer.PlanName = "team", "Team"
		p.Session.Subtotal, p.Session.Total = eur(0), eur(0)
	}
	paid := func(p *checkout.Page) {
		p.State, p.Session.Status = core.PagePaid, core.StatusPaid
		p.Session.PaidAt = time.Date(2026, 3, 5, 12, 0, 0, 0, time.UTC)
		p.Session.ReceiptNumber, p.CardBrand, p.CardLast4 = "R-1", "visa", "4242"
	}
	cases := map[string]struct {
		change func(*checkout.Page)
		holds  func(Order) bool
	}{
		"a purchase asks for a card": {nil, func(c Order) bool {
			return c.NeedsCard && c.Total == 900 && c.Currency == "eur" && c.Recurring == nil
		}},
		"the implied plan has no name":         {nil, func(c Order) bool { return c.Item.Plan == "" }},
		"nothing is given away before payment": {nil, func(c Order) bool { return c.Receipt == nil }},
		"a hosted session is framed by nobody": {nil, func(c Order) bool { return c.Parents == nil }},
		"an embedded session by the shop's origins": {func(p *checkout.Page) { p.Session.UIMode = core.Embedded },
			func(c Order) bool {
				return strings.Join(c.Parents, " ") == "https://shop.example https://www.shop.example"
			}},
		"the way back names the session": {
			func(p *checkout.Page) { p.Session.CancelURL = "https://shop.example/?s={CHECKOUT_SESSION_ID}" },
			func(c Order) bool { return c.CancelURL == "https://shop.example/?s=cs_1" },
		},
		"an origin as browsers write it": {func(p *checkout.Page) {
			p.Session.UIMode = core.Embedded
			p.Session.SuccessURL, p.Session.CancelURL = "HTTPS://Shop.Example:443/ok", "http://[0:0:0:0:0:0:0:1]:3000/"
		}, func(c Order) bool { return strings.Join(c.Parents, " ") == "https://shop.example http://[::1]:3000" }},
		"an embedded session by the account's sites, too": {func(p *checkout.Page) {
			p.Session.UIMode, p.Seller.EmbedOrigins = core.Embedded, "https://blog.example https://shop.example"
		}, func(c Order) bool {
			return strings.Join(c.Parents, " ") == "https://shop.example https://www.shop.example https://blog.example"
		}},
		"a trial asks for a card and charges nothing": {
			subscribe, func(c Order) bool { return c.NeedsCard && c.Total == 0 && c.Trial() && c.Item.Plan == "Team" },
		},
		"a trial counts from the account's now": {subscribe, func(c Order) bool {
			return c.Recurring.FirstChargeAt.Equal(time.Date(2026, 3, 15, 12, 0, 0, 0, time.UTC))
		}},
		"a started trial counts from its start": {func(p *checkout.Page) { subscribe(p); paid(p) }, func(c Order) bool {
			return c.Recurring.FirstChargeAt.Equal(time.Date(2026, 3, 19, 12, 0, 0, 0, time.UTC))
		}},
		"a refusal is explained to the reader": {func(p *checkout.Page) {
			p.Session.LastError = payment.DeclineReason{Code: "expired_card", Message: "No."}
		}, func(c Order) bool {
			return c.Failure.Message == "Your card has expired. Try another card."
		}},
		"a paid session has its receipt": {paid, func(c Order) bool {
			return c.Receipt.Number == "R-1" && c.Receipt.Card == "Visa •••• 4242" &&
				c.Receipt.DownloadURL == "https://files.example/a"
		}},
		"a free session paid without a card": {
			func(p *checkout.Page) { paid(p); p.CardLast4 = "" }, func(c Order) bool { return c.Receipt.Card == "" },
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if view := New(sessionPage(c.change), locale.Default, "s", managed); !c.holds(view) {
				t.Errorf("view %+v", view)
			}
		})
	}
}
