package mailtemplate

import (
	"strings"
	"testing"
	"time"

	"sundry/core/money"
)

func TestMailsAboutPlansLeadToThePortal(t *testing.T) {
	t.Parallel()
	site := live()
	site.PortalURL = func(customerID string) string { return "https://pay.example/p/" + customerID }
	data := Plan{
		CustomerID: "cus_1", Seller: "Ada's Workshop", Item: "App – pro", Amount: money.Amount{Minor: 1900, Currency: "eur"},
		At: time.Date(2026, 3, 8, 12, 0, 0, 0, time.UTC), GraceEndsAt: time.Date(2026, 3, 15, 12, 0, 0, 0, time.UTC), Number: "ABCDEF-R-000002",
	}
	for kind, wants := range map[Kind][]string{
		KindPortalLink:   {"Ada's Workshop"},
		KindRenewalDue:   {"App – pro", "€19.00", "2026"},
		KindChargeFailed: {"App – pro", "try your card again"},
		KindRenewed:      {"App – pro", "€19.00", "ABCDEF-R-000002"},
	} {
		l := write(t, kind, site, data)
		for _, want := range append(wants, "https://pay.example/p/cus_1") {
			if !strings.Contains(l.Text, want) {
				t.Errorf("%s does not contain %q:\n%s", kind, want, l.Text)
			}
		}
	}
	data.Trial = true
	if l := write(t, KindRenewalDue, site, data); !strings.Contains(l.Subject, "trial") || !strings.Contains(l.Text, "March 8, 2026") {
		t.Errorf("a trial is announced as %q:\n%s", l.Subject, l.Text)
	}
	data.At = time.Time{}
	if l := write(t, KindChargeFailed, site, data); strings.Contains(l.Text, "try your card again") {
		t.Errorf("it promises another attempt:\n%s", l.Text)
	}
}
