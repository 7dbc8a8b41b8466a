package mailtemplate

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"sundry/core/checkout"
	"sundry/core/discount"
	"sundry/core/identity"
	"sundry/core/money"
	"sundry/core/plan"
	"sundry/core/tax"
	"sundry/core/webhook"
)

var noon = time.Date(2026, 3, 8, 12, 0, 0, 0, time.UTC)

func live() Site {
	return Site{Live: true, Seller: "Harbour Ltd", Statement: "HARBOUR", ReceiptURL: func(checkoutID string) string {
		return "https://pay.example.com/r/secret-of-" + checkoutID + "?a=1&b=2"
	}, PaymentReceiptURL: func(paymentID string) string {
		return "https://pay.example.com/d/receipt/secret-of-" + paymentID
	}, ManageURL: func(appointmentID string) string { return "https://pay.example.com/a/secret-of-" + appointmentID },
		DashboardURL: func(path string) string { return "https://pay.example.com/dashboard" + path }}
}

func write(t *testing.T, kind Kind, site Site, data any) Content {
	t.Helper()
	raw, err := json.Marshal(data)
	if err != nil {
		t.Fatal(err)
	}
	l, err := Render(kind, site, raw)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{l.Subject, l.Text, l.HTML} {
		for _, bad := range []string{"%!", "<no value>", "[receipt.", "[endpoint.", "[every.", "[apt."} {
			if strings.Contains(part, bad) {
				t.Errorf("%s in %s", bad, part)
			}
		}
	}
	return l
}

func euros(cents int64) money.Amount { return money.Amount{Minor: cents, Currency: "eur"} }

func paid() checkout.Paid {
	return checkout.Paid{
		CheckoutID: "cs_1", ReceiptNumber: "R-000042", Email: "grace@example.com", BuyerName: "Grace Hopper", At: noon,
		Offer: plan.Offer{
			Title: "Type specimens", PlanKey: "default", PlanName: "Type specimens", Price: euros(1200),
			DownloadURL: "https://cdn.example.com/specimens.pdf",
		},
		Subtotal: euros(1200), Discount: euros(0), Tax: euros(0), Total: euros(1200),
	}
}

func TestAReceiptSaysWhatWasBoughtInTextAndHTML(t *testing.T) {
	t.Parallel()
	l := write(t, KindReceipt, live(), ReceiptOf(paid(), "Ada's Workshop"))
	if l.Subject != "Your receipt from Ada's Workshop: R-000042" {
		t.Errorf("subject %q", l.Subject)
	}
	want := `Thanks for your order

€12.00

Hi Grace Hopper, here’s your receipt from Ada's Workshop.

Item            Type specimens
Amount paid     €12.00
Receipt number  R-000042
Date            March 8, 2026, 12:00 PM UTC

Download:
https://cdn.example.com/specimens.pdf

View receipt:
https://pay.example.com/r/secret-of-cs_1?a=1&b=2

Sold by Harbour Ltd, merchant of record for Ada's Workshop. Your statement will show HARBOUR.

--
You’re receiving this email because this address was used to place an order. Reply to reach Ada's Workshop.
`
	if l.Text != want {
		t.Errorf("text:\n%s\nwant:\n%s", l.Text, want)
	}
	for _, part := range []string{
		"Ada&#39;s Workshop", "Type specimens", "€12.00", "R-000042", "March 8, 2026, 12:00 PM UTC",
		`href="https://cdn.example.com/specimens.pdf"`,
		`href="https://pay.example.com/r/secret-of-cs_1?a=1&amp;b=2"`, "prefers-color-scheme: dark",
		"merchant of record",
	} {
		if !strings.Contains(l.HTML, part) {
			t.Errorf("the HTML lacks %s", part)
		}
	}
	for _, part := range []string{"<script", "<img", "<link", "Subtotal", "Discount", "Tax", "No money", "ZgotmplZ"} {
		if strings.Contains(l.HTML, part) {
			t.Errorf("the HTML has %s", part)
		}
	}
}

func TestWhatDiffersBetweenReceipts(t *testing.T) {
	t.Parallel()
	subscribe := func(days int) func(*checkout.Paid) {
		return func(e *checkout.Paid) {
			e.Offer = plan.Offer{
				Title: "Studio", PlanKey: "pro", PlanName: "Pro", Interval: "month", IntervalCount: 3, TrialDays: days,
				Price: euros(4900),
			}
			e.Subtotal, e.Total = e.Offer.DueNow(), e.Offer.DueNow()
		}
	}
	for name, c := range map[string]struct {
		change   func(*checkout.Paid)
		has, not []string
	}{
		"a discount and tax on top": {
			func(e *checkout.Paid) { e.Discount, e.Tax, e.Total = euros(200), euros(190), euros(1190) },
			[]string{"Subtotal        €12.00", "Discount        −€2.00", "Tax             €1.90", "Amount paid     €11.90"},
			[]string{"Tax included"},
		},
		"tax in the price": {
			func(e *checkout.Paid) { e.Tax = euros(192) }, []string{"Tax included    €1.92", "Amount paid     €12.00"},
			[]string{"Discount"},
		},
		"a reverse charge": {
			func(e *checkout.Paid) { e.TaxDetails = tax.Details{Treatment: tax.ReverseCharge, TaxID: "DE136695976"} },
			[]string{"VAT (reverse charge)", "€0.00"}, []string{"Tax included"},
		},
		"a currency without decimals": {
			func(e *checkout.Paid) {
				e.Subtotal, e.Total = money.Amount{Minor: 1200, Currency: "jpy"}, money.Amount{Minor: 1200, Currency: "jpy"}
			},
			[]string{"¥1,200"}, []string{"12.00"},
		},
		"a subscription": {
			subscribe(0),
			[]string{"Studio\n                Pro\n", "until you cancel. Harbour Ltd will charge your card.",
				"Amount paid     €49.00"}, []string{"Download", "trial"},
		},
		"a discount of further months": {
			func(e *checkout.Paid) {
				subscribe(0)(e)
				e.DiscountTerms = &discount.Terms{
					Code: "SPRING", PercentOff: 20, Duration: discount.Repeating, DurationInMonths: 3,
				}
				e.Discount, e.Total = euros(980), euros(3920)
			},
			[]string{
				"Discount        −€9.80\n                Off every payment of the first 3 months\n",
				"Amount paid     €39.20",
			}, []string{"trial"},
		},
		"a trial": {
			subscribe(14),
			[]string{
				"Your trial has started",
				"From March 22, 2026, Harbour Ltd will charge your card €49.00 every 3 months until you cancel.",
				"€0.00",
			},
			[]string{"Renews", "Thanks"},
		},
		"a gift": {
			func(e *checkout.Paid) { e.Subtotal, e.Total = euros(0), euros(0) }, []string{"It’s yours", "€0.00"},
			[]string{"Renews", "until you cancel"},
		},
		"nobody's name": {
			func(e *checkout.Paid) { e.BuyerName = "" }, []string{"\nHere’s your receipt from Ada's Workshop."},
			[]string{"Hi "},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := paid()
			c.change(&e)
			l := write(t, KindReceipt, live(), ReceiptOf(e, "Ada's Workshop"))
			for _, part := range c.has {
				if !strings.Contains(l.Text, part) {
					t.Errorf("%q is missing from\n%s", part, l.Text)
				}
			}
			for _, part := range c.not {
				if strings.Contains(l.Text, part) {
					t.Errorf("%q is in\n%s", part, l.Text)
				}
			}
		})
	}
}

func TestWhatPeopleWroteStaysText(t *testing.T) {
	t.Parallel()
	e := paid()
	e.BuyerName = "Grace</p><script>alert(1)</script>\n\nPS: pay me\u2028"
	e.Offer.Title, e.Offer.PlanKey, e.Offer.PlanName = `<img src=x onerror="x">`+"\nAmount paid  €0.00", "p", "{{.}}"
	e.Offer.DownloadURL = "javascript:alert(1)"
	l := write(t, KindReceipt, live(), ReceiptOf(e, "Ada\r\n<b>Workshop</b>"))
	for _, bad := range []string{"<script", "<img", "<b>", `href="javascript`} {
		if strings.Contains(l.HTML, bad) {
			t.Errorf("%s is in the HTML", bad)
		}
	}
	if !strings.Contains(l.HTML, "&lt;script&gt;") || !strings.Contains(l.Text, "{{.}}") {
		t.Error("what was written is gone")
	}
	for line := range strings.Lines(l.Text) {
		if strings.HasPrefix(line, "PS:") || strings.HasPrefix(line, "Amount paid  €0.00") || strings.HasPrefix(line, "<b>") {
			t.Errorf("the line %q is not ours", line)
		}
	}
}

func TestTheSandboxSaysSo(t *testing.T) {
	t.Parallel()
	site := live()
	site.Live = false
	l := write(t, KindReceipt, site, ReceiptOf(paid(), "Ada"))
	if !strings.HasPrefix(l.Subject, "[Test] ") ||
		!strings.HasPrefix(l.Text, "*** This is a test from the sandbox. No money moved. ***\n") ||
		!strings.Contains(l.HTML, "No money moved.") {
		t.Errorf("%s\n%s", l.Subject, l.Text)
	}
}

func TestADisabledEndpointIsNamedWithItsReason(t *testing.T) {
	t.Parallel()
	for reason, sentence := range map[string]string{webhook.DisabledByGone: "It responded with 410 Gone.",
		webhook.DisabledByFailing: "Every attempt in the last five days failed."} {
		l := write(t, KindEndpointDisabled, live(), EndpointDisabledOf(webhook.Disabled{
			EndpointState: webhook.EndpointState{ID: "we_1", URL: "https://hooks.example.com/in?a=1&b=2", DisabledReason: reason,
				Secret: []byte("encrypted")}, At: noon,
		}, "Ada Lovelace"))
		for _, part := range []string{"Hi Ada Lovelace,", "https://hooks.example.com/in?a=1&b=2", "we_1", sentence,
			"March 8, 2026, 12:00 PM UTC", "https://pay.example.com/dashboard/webhooks/we_1", `{"enabled": true}`} {
			if !strings.Contains(l.Text, part) {
				t.Errorf("%s is missing from\n%s", part, l.Text)
			}
		}
		if strings.Contains(l.Text+l.HTML, "encrypted") {
			t.Error("the secret is revealed")
		}
	}
}

func TestAnUnknownKindOrDataIsAnError(t *testing.T) {
	t.Parallel()
	if _, err := Render("surprise", live(), []byte("{}")); err == nil {
		t.Error("an unknown kind was written")
	}
	if _, err := Render(KindReceipt, live(), []byte("[]")); err == nil {
		t.Error("a list was written")
	}
}

func TestOnlyMailsAboutPaymentsMentionMoneyInTheSandbox(t *testing.T) {
	t.Parallel()
	site := live()
	site.Live = false
	site.PortalURL = func(string) string { return "https://pay.example/p/1" }
	site.PasswordResetURL = func(identity.ResetLink) string { return "https://pay.example/dashboard/reset/1" }
	site.EmailConfirmationURL = func(identity.ConfirmationLink) string { return "https://pay.example/dashboard/confirm/1" }
	site.MemberInvitationURL = func(identity.MemberLink) string { return "https://pay.example/dashboard/join/1" }
	for kind, c := range map[Kind]struct {
		data  any
		money bool
	}{
		KindMemberInvitation: {MemberInvitation{By: "Ada", Role: identity.RoleAdmin}, false},
		KindSecondStep:       {SecondStep{Change: identity.AppAdded}, false},
		KindPasswordReset:    {PasswordReset{}, false}, KindEmailConfirmation: {EmailConfirmation{}, false},
		KindEndpointDisabled: {EndpointDisabled{Reason: webhook.DisabledByFailing}, false},
		KindPortalLink:       {Plan{}, false}, KindRenewalDue: {Plan{}, true}, KindChargeFailed: {Plan{}, true},
		KindRenewed: {Plan{}, true},
	} {
		l := write(t, kind, site, c.data)
		if !strings.Contains(l.Text, "This is a test from the sandbox.") ||
			strings.Contains(l.Text, "No money moved") != c.money {
			t.Errorf("%s:\n%s", kind, l.Text)
		}
	}
}
