package web

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io/fs"
	"regexp"
	"strings"
	"testing"
)

func TestEveryPageStateRenders(t *testing.T) {
	t.Parallel()
	want := map[string][]string{
		"choose a mode":    {"Where would you like to meet?", `value="in_person"`, `role="grid"`, `"state":"choose_mode"`, "needs JavaScript"},
		"choose a time":    {"Choose a time", "60 minutes · Online", `"listingId":"lst_1"`, `"variantId":"var_1"`, `"gapMinutes":15`, `"zone":"Europe/Paris"`, `"until":"2026-04-30"`, `"held":[]`, `"expiresAt":1772368200000`, "Back to Field Notes Studio"},
		"choose a pack":    {"Choose 3 times", "3 sessions of 60 minutes · Online", `"sessions":3`, `aria-multiselectable="true"`},
		"choose anew":      {"Keep what I have chosen", `href="/c/s3cr3t?embed=1"`, `"changing":true`, `"startsAt":"2026-03-07T14:00:00.000Z"`},
		"pay a lesson":     {"Saturday, 7 March 2026", "09:00 – 10:00 EST (UTC−5)", "In person", `href="?change=1"`, `id="hold"`, `"calendar":null`},
		"pay a pack":       {"09:00 – 10:00 EST (UTC−5)", "Sunday, 8 March 2026", "10:00 – 11:00 EDT (UTC−4)", "Your appointments"},
		"booked":           {`href="https://meet.example/ada?room=1&amp;x=2"`, "7 Bridge Street", "Canceled", `href="https://pay.example/a/1"`, "the appointment on Saturday, 7 March 2026", "10:00 – 11:00 EDT (UTC−4)"},
		"too late":         {"Times are kept for 30 minutes", `href="https://pay.example/c/s3cr3t/again?embed=1"`, "Choose another time", "Close"},
		"time lost":        {"no longer available", `href="https://pay.example/c/s3cr3t/again"`, "https://fieldnotes.example/books?from=checkout"},
		"pay once":         {"Pay €29.00", "One payment, nothing recurring.", `value="ada@example.com"`, `autocomplete="cc-number"`, "merchant of record for Field Notes Studio"},
		"details":          {"Pay €29.00"},
		"pay subscription": {"Subscribe to Studio Pro", "Pay €40.00", "Then €49.00 per month", "Renews at €49.00 per month", "Discount", "−€9.00", "Tax included", "Team · Billed monthly"},
		"start trial":      {"14 days free", "Start free trial", "From 22 March 2026 you pay €49.00 per month", "Due on 22 March 2026", `autocomplete="cc-number"`},
		"get free product": {"Get it", "No card is needed"},
		"declined":         {"insufficient funds", "Pay €29.00"},
		"authenticating":   {"Simulated", "Complete authentication", "Fail authentication"},
		"processing":       {"Confirming your payment", "charged at most once"},
		"paid":             {"Payment complete", "R-2026-000042", "https://files.example/handbook.pdf", "Continue to fieldnotes.example"},
		"paid, no return":  {"You can close this page."},
		"trial started":    {"Your trial has started"},
		"already paid":     {"already paid", "You were charged once"},
		"attempt cap":      {"could not be completed", "Your card was declined."},
		"expired":          {"has expired", "Back to fieldnotes.example", "https://fieldnotes.example/books?from=checkout"},
		"embedded":         {"embedded", `"https://fieldnotes.example"`},
	}
	pages := newTestPages(t, true)
	for name, checkout := range sampleCheckouts() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			html, err := pages.CheckoutHTML(checkout, "abc")
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
			checkMarkup(t, html)
		})
	}
}

// checkMarkup finds what a browser would forgive and a policy or a reader would not.
func checkMarkup(t *testing.T, html []byte) {
	t.Helper()
	for _, bad := range []string{"ZgotmplZ", "<no value>", "%!", " style=", " onclick=", "<style"} {
		if bytes.Contains(html, []byte(bad)) {
			t.Errorf("page contains %q", bad)
		}
	}
	seen := map[string]bool{}
	for _, m := range regexp.MustCompile(` id="([^"]+)"`).FindAllSubmatch(html, -1) {
		if seen[string(m[1])] {
			t.Errorf("id %q occurs twice", m[1])
		}
		seen[string(m[1])] = true
	}
	for _, m := range regexp.MustCompile(`(?:aria-describedby|aria-labelledby|for)="([^"]+)"`).FindAllSubmatch(html, -1) {
		if !seen[string(m[1])] {
			t.Errorf("nothing has the id %q that is referred to", m[1])
		}
	}
}

func TestAFreePageAsksForNoCard(t *testing.T) {
	t.Parallel()
	html, err := newTestPages(t, true).CheckoutHTML(freeCheckout("pay"), "n")
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(html, []byte("cardNumber")) || bytes.Contains(html, []byte("cc-number")) {
		t.Error("a free page asks for a card")
	}
}

func TestAnUnknownStateIsAnErrorNotAnEmptyPage(t *testing.T) {
	t.Parallel()
	if html, err := newTestPages(t, true).CheckoutHTML(onceCheckout("dancing"), "n"); err == nil || html != nil {
		t.Errorf("got %d bytes, %v; want an error", len(html), err)
	}
}

func TestALivePageShowsNothingOfTheSandbox(t *testing.T) {
	t.Parallel()
	html, err := newTestPages(t, false).CheckoutHTML(onceCheckout("pay"), "n")
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
	c := onceCheckout("pay")
	attack := `"><script>alert(1)</script>`
	c.Seller, c.Item.Title, c.Item.Description, c.Buyer.Name, c.Buyer.Email, c.Secret = attack, attack, attack, attack, attack, "</script>"+attack
	c.CancelURL = "javascript:alert(1)"
	html, err := newTestPages(t, true).CheckoutHTML(c, "n")
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
	pages := newTestPages(t, true)
	total := 0
	for _, largest := range []Checkout{trialCheckout("pay"), lesson("pay", 3, 3, "virtual"), lesson("choose_mode", 3, 0, "virtual", "in_person")} {
		html, err := pages.CheckoutHTML(largest, newNonce())
		if err != nil {
			t.Fatal(err)
		}
		total = max(total, gzipped(t, html))
	}
	for name, asset := range pages.assets.byName {
		if name != "docs.js" && name != overlayScript {
			total += gzipped(t, asset.Body)
		}
	}
	if total > 60_000 {
		t.Errorf("page weighs %d bytes compressed, at most 60000", total)
	}
	t.Logf("a page weighs %d bytes compressed", total)
	if size := gzipped(t, pages.assets.byName[overlayScript].Body); size > 4_000 {
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

func TestReceiptErrorAndSitePagesRender(t *testing.T) {
	t.Parallel()
	pages := newTestPages(t, true)
	receipt := ReceiptView{Checkout: paidCheckout(subscriptionCheckout("paid")), Refunded: 1000}
	receipt.Buyer = Buyer{Email: "ada@example.com", Country: "GB"}
	booked := ReceiptView{Checkout: paidCheckout(lesson("paid", 2, 2, "in_person"))}
	booked.Booking.Times[0].Address = "7 Bridge Street"
	cases := map[string]struct {
		render func() ([]byte, error)
		want   []string
	}{
		"receipt":       {func() ([]byte, error) { return pages.ReceiptHTML(receipt) }, []string{"R-2026-000042", "€40.00", "Refunded", "United Kingdom", "8 March 2026, 14:05 UTC"}},
		"booked":        {func() ([]byte, error) { return pages.ReceiptHTML(booked) }, []string{"Your appointments", "09:00 – 10:00 EST (UTC−5)", "10:00 – 11:00 EDT (UTC−4)", "7 Bridge Street"}},
		"not found":     {func() ([]byte, error) { return pages.ErrorHTML(404, "req_1") }, []string{"Page not found", "req_1"}},
		"gone":          {func() ([]byte, error) { return pages.ErrorHTML(410, "req_1") }, []string{"no longer active"}},
		"broken":        {func() ([]byte, error) { return pages.ErrorHTML(503, "req_1") }, []string{"our side"}},
		"not valid":     {func() ([]byte, error) { return pages.ErrorHTML(400, "req_1") }, []string{"address is not valid"}},
		"not sold now":  {func() ([]byte, error) { return pages.ErrorHTML(409, "req_1") }, []string{"no longer active"}},
		"other refusal": {func() ([]byte, error) { return pages.ErrorHTML(405, "req_1") }, []string{"Page not found"}},
		"landing":       {pages.LandingHTML, []string{"https://pay.example/v1/checkout-sessions", "You are on a sandbox"}},
		"docs":          {pages.DocsHTML, []string{"Create a checkout session", "Level 1"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			html, err := c.render()
			if err != nil {
				t.Fatal(err)
			}
			for _, w := range c.want {
				if !strings.Contains(string(html), w) {
					t.Errorf("page lacks %q", w)
				}
			}
			checkMarkup(t, html)
		})
	}
	if _, err := pages.ReceiptHTML(ReceiptView{Checkout: onceCheckout("pay")}); err == nil {
		t.Error("an unpaid session got a receipt page")
	}
}

// Every message is used and every used message exists, so a translation is complete when
// it has the same keys.
func TestMessagesAndTheirUsesAgree(t *testing.T) {
	t.Parallel()
	var source strings.Builder
	for _, files := range []struct {
		fs      fs.FS
		pattern string
	}{{templateFiles, "templates/*.html"}, {staticFiles, "static/js/*.js"}} {
		names, err := fs.Glob(files.fs, files.pattern)
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: %d files, %v", files.pattern, len(names), err)
		}
		for _, name := range names {
			body, err := fs.ReadFile(files.fs, name)
			if err != nil {
				t.Fatal(err)
			}
			source.Write(body)
		}
	}
	for _, m := range regexp.MustCompile(`\bt "([^"]+)"`).FindAllStringSubmatch(source.String(), -1) {
		if _, known := messages[m[1]]; !known {
			t.Errorf("template uses unknown message %q", m[1])
		}
	}
	for _, m := range regexp.MustCompile(`words\.([a-z_]+)`).FindAllStringSubmatch(source.String(), -1) {
		if _, known := messages["js."+m[1]]; !known {
			t.Errorf("script uses unknown message %q", m[1])
		}
	}
	fromGo := goStrings(t)
	for key := range messages {
		name, isScript := strings.CutPrefix(key, "js.")
		switch {
		case isScript && (strings.Contains(source.String(), "words."+name) || strings.Contains(source.String(), `"`+name+`"`)):
		case strings.Contains(source.String(), `"`+key+`"`), fromGo[key]:
		case regexp.MustCompile(`^(interval|billed|title|error|mode)\.`).MatchString(key): // built from a state, unit or status
		default:
			t.Errorf("message %q is never used", key)
		}
	}
}
