package mailtemplate

import (
	"strings"
	"testing"
	"time"

	"sundry/core/money"
	"sundry/core/tax"
)

func TestMailsAboutPlansLeadToThePortal(t *testing.T) {
	t.Parallel()
	site := live()
	site.PortalURL = func(customerID string) string { return "https://pay.example/p/" + customerID }
	data := Plan{
		CustomerID: "cus_1", Seller: "Ada's Workshop", Item: "App – pro",
		Amount:      money.Amount{Minor: 1900, Currency: "eur"},
		At:          time.Date(2026, 3, 8, 12, 0, 0, 0, time.UTC),
		GraceEndsAt: time.Date(2026, 3, 15, 12, 0, 0, 0, time.UTC), Number: "ABCDEF-R-000002",
		Brand: "visa", Last4: "0341", DeclineCode: "insufficient_funds",
		PaymentID: "pay_1", Subtotal: money.Amount{Minor: 2000, Currency: "eur"},
		Discount: money.Amount{Minor: 60, Currency: "eur"}, Credit: money.Amount{Minor: 40, Currency: "eur"}, Tax: money.Amount{Minor: 303, Currency: "eur"},
	}
	for kind, wants := range map[Kind][]string{
		KindPortalLink: {"Ada's Workshop"},
		KindRenewalDue: {"App – pro renews on", "2026: Harbour Ltd will charge your card €19.00."},
		KindChargeFailed: {
			"App – pro", "€19.00", "Visa •••• 0341", "insufficient funds", "by March 15, 2026 to keep your plan",
			"Harbour Ltd will try your card again on March 8, 2026",
		},
		KindRenewed: {
			"App – pro", "€19.00", "ABCDEF-R-000002", "€20.00", "Discount  ", "−€0.60",
			"Credit from an earlier payment  −€0.40", "Tax included", "€3.03",
			"https://pay.example.com/d/receipt/secret-of-pay_1",
		},
	} {
		l := write(t, kind, site, data)
		for _, want := range append(wants, "https://pay.example/p/cus_1") {
			if !strings.Contains(l.Text, want) {
				t.Errorf("%s does not contain %q:\n%s", kind, want, l.Text)
			}
		}
	}
	reversed := data
	reversed.Tax.Minor, reversed.TaxDetails.Treatment = 0, tax.ReverseCharge
	if l := write(t, KindRenewed, site, reversed); !strings.Contains(l.Text, "VAT (reverse charge)") {
		t.Errorf("a renewal does not name its reverse charge:\n%s", l.Text)
	}
	data.Trial = true
	if l := write(t, KindRenewalDue, site, data); !strings.Contains(l.Subject, "trial") ||
		!strings.Contains(l.Text, "March 8, 2026") {
		t.Errorf("a trial is announced as %q:\n%s", l.Subject, l.Text)
	}
	data.At = time.Time{}
	if l := write(t, KindChargeFailed, site, data); strings.Contains(l.Text, "try your card again") {
		t.Errorf("it promises another attempt:\n%s", l.Text)
	}
	data.GraceOver, data.At = true, time.Date(2026, 3, 22, 12, 0, 0, 0, time.UTC)
	if l := write(t, KindChargeFailed, site, data); !strings.Contains(l.Text, "can’t use your plan right now") ||
		strings.Contains(l.Text, "March 15") {
		t.Errorf("after the grace it reads:\n%s", l.Text)
	}
	data.At, data.Last4, data.DeclineCode = time.Time{}, "", "payment_method_required"
	if l := write(t, KindChargeFailed, site, data); !strings.Contains(l.Text, "your plan has ended") ||
		strings.Contains(l.Text, "declined") ||
		!strings.Contains(l.Text, "We have no card to charge") {
		t.Errorf("the last one without a card reads:\n%s", l.Text)
	}
}
