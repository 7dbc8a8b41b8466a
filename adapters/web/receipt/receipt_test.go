package receipt

import (
	"strings"
	"testing"

	"sundry/adapters/web/layout/layouttest"
	"sundry/adapters/web/order"
	"sundry/adapters/web/order/ordertest"
	"sundry/modules/invoicing"
)

func TestAReceiptRenders(t *testing.T) {
	t.Parallel()
	r, err := New(layouttest.New(t, true), Deps{})
	if err != nil {
		t.Fatal(err)
	}
	paid := page{
		Order: ordertest.Paid(ordertest.Subscription("paid")), Path: "/r/x",
		Credits: []invoicing.CreditLink{{Number: "ABC123-C-000001", URL: "https://pay.example/d/credit_note/x"}},
	}
	paid.ManageURL, paid.Receipt.Refunded = "/p/asks", 1000
	paid.Buyer = order.Buyer{Email: "ada@example.com", Country: "GB"}
	booked := page{Order: ordertest.Paid(ordertest.Lesson("paid", 2, 2, "in_person"))}
	booked.Booking.Times[0].Address = "7 Bridge Street"
	for name, c := range map[string]struct {
		page page
		want []string
	}{
		"receipt": {
			paid,
			[]string{
				"R-2026-000042", "€40.00", "Refunded", "ABC123-C-000001", "/r/x/pdf", `href="/p/asks"`,
				"United Kingdom", "March 8, 2026, 2:05 PM UTC",
			},
		},
		"booked": {
			booked,
			[]string{
				"Full refund if you cancel at least 24 hours before the start.", "Your appointments",
				"9:00 AM – 10:00 AM EST (UTC−5)", "10:00 AM – 11:00 AM EDT (UTC−4)", "7 Bridge Street",
			},
		},
	} {
		html, err := r.render(c.page)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range c.want {
			if !strings.Contains(string(html), w) {
				t.Errorf("%s: page lacks %q", name, w)
			}
		}
		layouttest.CheckMarkup(t, html)
	}
	if _, err := r.render(page{Order: ordertest.Once("pay")}); err == nil {
		t.Error("an unpaid session got a receipt page")
	}
}
