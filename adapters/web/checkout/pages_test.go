package checkout

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"sundry/adapters/web/layout"
	"sundry/adapters/web/layout/layouttest"
	"sundry/adapters/web/order"
	"sundry/adapters/web/order/ordertest"
	"sundry/ports"
)

func newTestRoutes(t *testing.T, sandbox bool) *Routes {
	t.Helper()
	return newTestRoutesOf(t, layouttest.New(t, sandbox))
}

func newTestRoutesOf(t *testing.T, l *layout.Layout) *Routes {
	t.Helper()
	r, err := New(l, Deps{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestEveryPageStateRenders(t *testing.T) {
	t.Parallel()
	want := map[string][]string{
		"choose a mode": {
			"Where would you like to meet?", `value="in_person"`, `role="grid"`, `"state":"choose_mode"`,
			"needs JavaScript",
		},
		"choose a time": {
			"Choose a time", "Full refund if you cancel at least 24 hours before the start.", "60 minutes · Online",
			`"listingId":"lst_1"`, `"variantId":"var_1"`, `"gapMinutes":15`, `"zone":"Europe/Paris"`,
			`"until":"2026-04-30"`, `"held":[]`, `"expiresAt":1772368200000`, "Back to Field Notes Studio",
		},
		"choose a pack": {
			"Choose 3 times", "3 appointments of 60 minutes · Online", `"sessions":3`, `aria-multiselectable="true"`,
		},
		"choose again": {
			"Keep my current time", `href="/c/s3cr3t?embed=1"`, `"changing":true`,
			`"startsAt":"2026-03-07T14:00:00.000Z"`,
		},
		"pay a lesson": {
			"Full refund if you cancel at least 24 hours before the start.", "Saturday, March 7, 2026",
			"9:00 AM – 10:00 AM EST (UTC−5)", "In person", `href="?change=1"`, `id="hold"`, `"calendar":null`,
		},
		"pay a pack": {
			"9:00 AM – 10:00 AM EST (UTC−5)", "Sunday, March 8, 2026", "10:00 AM – 11:00 AM EDT (UTC−4)",
			"Your appointments",
		},
		"booked": {
			"Full refund if you cancel at least 24 hours before the start.",
			`href="https://meet.example/ada?room=1&amp;x=2"`, "7 Bridge Street", "Canceled",
			`href="https://pay.example/a/1"`, "the appointment on Saturday, March 7, 2026",
			"10:00 AM – 11:00 AM EDT (UTC−4)",
		},
		"too late": {
			"We hold times for 30 minutes", `href="https://pay.example/c/s3cr3t/again?embed=1"`, "Choose another time",
			"Close",
		},
		"time lost": {
			"no longer available", `href="https://pay.example/c/s3cr3t/again"`,
			"https://fieldnotes.example/books?from=checkout",
		},
		"pay once": {
			"Pay €29.00", "One-time payment.", `value="ada@example.com"`, `autocomplete="cc-number"`,
			"merchant of record for Field Notes Studio",
		},
		"details": {"Pay €29.00"},
		"pay subscription": {
			"Subscribe to Studio Pro", "Pay €40.00", "Then €49.00 per month", "Renews at €49.00 per month", "Discount",
			"−€9.00", "Tax included", "Team · Billed monthly",
		},
		"start trial": {
			"14 days free", "Start free trial", "From March 22, 2026 you’ll pay €49.00 per month",
			"Due on March 22, 2026", `autocomplete="cc-number"`,
		},
		"get free product": {"Get for free", "No card needed"},
		"declined":         {"insufficient funds", "Pay €29.00"},
		"authenticating":   {"Simulated", "Complete authentication", "Fail authentication"},
		"processing":       {"Confirming your payment", "charged at most once"},
		"paid": {
			"Payment complete", "R-2026-000042", "https://files.example/handbook.pdf", "Continue to fieldnotes.example",
		},
		"paid, no return": {"You can close this page."},
		"partly refunded": {"<h1>Payment complete</h1>", "<dt>Refunded</dt><dd>€9.00</dd>"},
		"refunded": {
			"<title>Refunded · The Letterpress Handbook", "<h1>Refunded</h1>",
			"€29.00 was refunded. It can take 5 to 10 days to arrive.", "<dt>Refunded</dt><dd>€29.00</dd>",
			`"stays":true`,
		},
		"trial started": {"Your trial has started"},
		"already paid":  {"already paid", "You were charged once"},
		"attempt cap":   {"We couldn’t complete this payment", "Your card was declined."},
		"expired": {
			"has expired", "Back to fieldnotes.example", "https://fieldnotes.example/books?from=checkout",
		},
		"embedded": {"embedded", `"https://fieldnotes.example"`},
	}
	pages := newTestRoutes(t, true)
	for name, checkout := range samples() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			html, err := pages.render(page{Order: checkout}, "abc")
			if err != nil {
				t.Fatal(err)
			}
			if len(want[name]) == 0 {
				t.Fatal("no expectation for this page")
			}
			for _, w := range want[name] {
				if !strings.Contains(string(html), w) {
					t.Errorf("page lacks %q", w)
				}
			}
			layouttest.CheckMarkup(t, html)
		})
	}
}

func TestAPaidPlanLeadsToWhereItIsCanceled(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		order order.Order
		want  string
	}{
		"on the page": {
			ordertest.Paid(ordertest.Subscription("paid")), `id="manage" href="/p/asks">Manage or cancel your plan`,
		},
		"in the overlay": {
			embedded(ordertest.Paid(ordertest.Trial("paid"))),
			`id="manage" href="/p/asks" target="_blank" rel="noopener">`,
		},
	} {
		html, err := newTestRoutes(t, true).render(page{Order: c.order, ManageURL: "/p/asks"}, "n")
		if err != nil || !bytes.Contains(html, []byte(c.want)) {
			t.Errorf("%s: the page lacks %q, %v", name, c.want, err)
		}
	}
}

func embedded(o order.Order) order.Order {
	o.Embedded = true
	return o
}

func TestAFreePageAsksForNoCard(t *testing.T) {
	t.Parallel()
	html, err := newTestRoutes(t, true).render(page{Order: ordertest.Free("pay")}, "n")
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(html, []byte("cardNumber")) || bytes.Contains(html, []byte("cc-number")) {
		t.Error("a free page asks for a card")
	}
}

// TestAPaymentWithoutAFormPromisesNoSeconds: a bank transfer takes days.
func TestAPaymentWithoutAFormPromisesNoSeconds(t *testing.T) {
	t.Parallel()
	const text = "You transfer the money to our account."
	pages := newTestRoutesOf(t, layouttest.NewWithForm(t, ports.PaymentForm{Text: text}))
	for name, c := range map[string]struct {
		order order.Order
		want  string
	}{
		"a payment":    {ordertest.Once("processing"), text},
		"a free order": {ordertest.Free("processing"), "This usually takes a few seconds."},
	} {
		html, err := pages.render(page{Order: c.order}, "n")
		promises := strings.Contains(string(html), "a few seconds")
		if err != nil || !strings.Contains(string(html), c.want) || promises != (c.want != text) {
			t.Errorf("%s: the page does not say %q alone, %v", name, c.want, err)
		}
	}
}

func TestAnUnknownStateIsAnErrorNotAnEmptyPage(t *testing.T) {
	t.Parallel()
	if html, err := newTestRoutes(t, true).render(
		page{Order: ordertest.Once("dancing")}, "n",
	); err == nil || html != nil {
		t.Errorf("got %d bytes, %v; want an error", len(html), err)
	}
}

func TestALivePageShowsNothingOfTheSandbox(t *testing.T) {
	t.Parallel()
	html, err := newTestRoutes(t, false).render(page{Order: ordertest.Once("pay")}, "n")
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"4242", "Sandbox", "test card"} {
		if bytes.Contains(html, []byte(bad)) {
			t.Errorf("live page contains %q", bad)
		}
	}
}

func TestWordsOfASellerAndABuyerCannotBecomeMarkup(t *testing.T) {
	t.Parallel()
	c := ordertest.Once("pay")
	attack := `"><script>alert(1)</script>`
	c.Seller, c.Item.Title, c.Item.Description, c.Buyer.Name, c.Buyer.Email, c.Secret = attack, attack, attack, attack,
		attack, "</script>"+attack
	c.CancelURL = "javascript:alert(1)"
	html, err := newTestRoutes(t, true).render(page{Order: c}, "n")
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(html, []byte("<script>alert")) || bytes.Contains(html, []byte("javascript:")) {
		t.Error("foreign words came through unescaped")
	}
	data := regexp.MustCompile(`(?s)id="page-data">(.*?)</script>`).FindSubmatch(html)
	var decoded pageData
	if err := json.Unmarshal(data[1], &decoded); err != nil || decoded.Secret != c.Secret {
		t.Errorf("page data %s: %v", data[1], err)
	}
}

func TestACheckoutPageStaysSmall(t *testing.T) {
	t.Parallel()
	pages := newTestRoutes(t, true)
	total := 0
	for _, largest := range []order.Order{ordertest.Trial("pay"), ordertest.Lesson("pay", 3, 3, "virtual"),
		ordertest.Lesson("choose_mode", 3, 0, "virtual", "in_person")} {
		html, err := pages.render(page{Order: largest}, layout.NewNonce())
		if err != nil {
			t.Fatal(err)
		}
		total = max(total, gzipped(t, html))
	}
	for asset := range pages.layout.Assets().All() {
		if asset.Name != overlayScript {
			total += gzipped(t, asset.Body)
		}
	}
	if total > 60_000 {
		t.Errorf("page weighs %d bytes compressed, at most 60000", total)
	}
	t.Logf("a page weighs %d bytes compressed", total)
	if size := gzipped(t, pages.layout.Assets().Named(overlayScript).Body); size > 4_000 {
		t.Errorf("overlay script weighs %d bytes compressed, at most 4000", size)
	}
}

func gzipped(t *testing.T, body []byte) int {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(body); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Len()
}

func TestAPreviewShowsThePageAndDoesNothing(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]order.Order{
		"once": ordertest.Once("pay"), "a plan": ordertest.Trial("pay"), "free": ordertest.Free("pay"),
		"a lesson": ordertest.Lesson("pay", 1, 0, "virtual"),
	} {
		o.Secret = ""
		html, err := newTestRoutes(t, true).render(page{Order: o, Preview: true}, "")
		if err != nil {
			t.Fatal(err)
		}
		layouttest.CheckMarkup(t, html)
		text := string(html)
		for _, want := range []string{
			"<title>Preview · ", "Nothing can be bought here.", o.Item.Title, o.PayLabel(),
		} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: the page lacks %q", name, want)
			}
		}
		for _, absent := range []string{"<script", "<noscript", "4242 4242", `action="`} {
			if strings.Contains(text, absent) {
				t.Errorf("%s: the page has %q", name, absent)
			}
		}
		for _, button := range regexp.MustCompile(`<button[^>]*type="submit"[^>]*>`).FindAllString(text, -1) {
			if !strings.Contains(button, " disabled") {
				t.Errorf("%s: %s can be pressed", name, button)
			}
		}
		if got := strings.Contains(text, "choose a time before"); got != (o.Booking != nil) {
			t.Errorf("%s: speaks of times: %v", name, got)
		}
	}
}
