package browser

import (
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"sundry/tests/harness"
)

func TestEveryStateIsAccessibleAndFitsAPhone(t *testing.T) {
	t.Parallel()
	s := sharedFixture(t)
	cases := map[string]struct {
		arrange func(session harness.JSON)
		sees    string
	}{
		"payment form":   {func(harness.JSON) {}, "Card number"},
		"declined":       {func(c harness.JSON) { s.pay(c, harness.CardDeclined) }, "Your payment didn’t go through"},
		"authenticating": {func(c harness.JSON) { s.pay(c, harness.CardAsksOnce) }, "Confirm this payment"},
		"processing":     {func(c harness.JSON) { s.pay(c, harness.CardStaysPending) }, "Confirming your payment"},
		"paid":           {func(c harness.JSON) { s.pay(c, harness.CardSucceeds) }, "Payment complete"},
		"expired":        {func(c harness.JSON) { s.expire(c) }, "This checkout has expired"},
		"too many refusals": {func(c harness.JSON) {
			for range 10 {
				s.pay(c, harness.CardDeclined)
			}
		}, "We couldn’t complete this payment"},
		"already paid": {func(c harness.JSON) {
			s.pay(c, harness.CardSucceeds)
			c["checkoutUrl"] = c["checkoutUrl"].(string) + "?already=1"
		}, "already paid"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			session := s.session(s.book, nil)
			c.arrange(session)
			b := newTab(t)
			b.open(session["checkoutUrl"].(string))
			b.press(kb.Shift) // stay: a paid page would go on to the shop
			b.sees(c.sees)
			b.accessible(name)
		})
	}
}

func TestAnExpiredCheckoutLeadsBackToTheShop(t *testing.T) {
	t.Parallel()
	s := sharedFixture(t)
	session := s.session(s.book, nil)
	b := newTab(t)
	b.open(session["checkoutUrl"].(string))
	fillIn(b, harness.CardSucceeds)
	s.expire(session)
	b.click("#submit") // the form was open when the session ended
	b.sees("This checkout has expired")
	b.click("#back")
	b.sees("Shop page /pricing")
	if plans := s.plans(); len(plans) != 0 {
		t.Errorf("access: %v", plans)
	}
}

func TestTheReceiptCanBePrinted(t *testing.T) {
	t.Parallel()
	s := sharedFixture(t)
	receipt := s.pay(s.session(s.book, nil), harness.CardSucceeds).Want(t, http.StatusOK).Map(t)
	b := newTab(t)
	b.open(receipt["receiptUrl"].(string))
	b.sees(receipt["receiptNumber"].(string))
	b.sees("€29.00")
	b.sees("grace@example.com")
	b.accessible("receipt")
	b.do("watch printing", chromedp.Evaluate[chromedp.Void](`window.print = () => { window.printed = true }`))
	b.click("#print")
	b.wait("window.printed")
}

func TestAPaymentLinkLeadsToACheckoutThatEndsHere(t *testing.T) {
	t.Parallel()
	s := sharedFixture(t)
	link := s.AsCreator(t, http.MethodPost, "/v1/payment-links", harness.JSON{"listingId": s.book.ID}).Want(t,
		http.StatusCreated).Map(t)
	b := newTab(t)
	b.open(link["url"].(string) + "?customer_email=grace%40example.com&utm_source=test")
	b.ready()
	if got := eval[string](b, `document.getElementById("email").value`); got != "grace@example.com" {
		t.Errorf("prefilled with %q", got)
	}
	fillCard(b, harness.CardSucceeds)
	b.country("IE")
	b.click("#submit")
	b.sees("You can close this page")
	b.accessible("paid without a shop")
}

func TestAddressesThatLeadNowhereAreFriendly(t *testing.T) {
	t.Parallel()
	s := sharedFixture(t)
	for _, path := range []string{"/c/nothing", "/r/nothing", "/l/nothing"} {
		b := newTab(t)
		b.open(s.URL + path)
		b.sees("Page not found")
		b.accessible(path)
	}
}

func TestTheDocumentationCanBeSearched(t *testing.T) {
	t.Parallel()
	s := sharedFixture(t)
	b := newTab(t)
	b.open(s.URL + "/")
	b.accessible("landing page")
	if to := eval[string](b, `document.getElementById("open-dashboard").pathname`); to != "/dashboard" {
		t.Errorf("the first button leads to %s", to)
	}
	b.click(`.hero-links a[href="/docs"]`)
	b.sees("Level 1: a catalog checkout")
	b.accessible("guide")
	b.fill("#search", "/v1/checkout-sessions/ receipt")
	b.press(kb.Enter)
	b.sees("Search results")
	b.accessible("search results")
	if first := eval[string](b, `document.querySelector(".hits .call").textContent.trim()`); !strings.Contains(first,
		"/v1/checkout-sessions/{id}/receipt") {
		t.Errorf("the first result is %s", first)
	}
	b.click(".hits a")
	b.wait(`location.pathname === "/docs/checkout" && document.querySelector(":target")`)
	if heavy := eval[int](b, `document.querySelectorAll("*").length`); heavy > 6000 {
		t.Errorf("a page of the reference has %d elements", heavy)
	}
	b.open(s.URL + "/docs/reference")
	b.accessible("list of operations")
	b.open(s.URL + "/docs/catalog-as-a-file")
	b.accessible("page of a resource")
	b.open(s.URL + "/docs?q=xyzzy")
	b.sees("Nothing found")
}

func TestTheDocumentationMarksItsSectionAndCopies(t *testing.T) {
	t.Parallel()
	s := sharedFixture(t)
	b := newTab(t)
	b.open(s.URL + "/docs#appointments")
	b.wait(`document.querySelector("nav a[aria-current=true]")?.hash === "#appointments"`)
	b.do(
		"keep what is copied",
		chromedp.Evaluate[chromedp.Void](`navigator.clipboard.writeText = async (text) => { window.copied = text }`),
	)
	b.click("#level-1 .copyable button")
	b.wait(`document.querySelector("#level-1 .copyable button").textContent === "Copied"`)
	if same := eval[bool](
		b, `copied === document.querySelector("#level-1 pre").textContent && copied.startsWith("curl ")`,
	); !same {
		t.Error("another text was copied than is shown")
	}
	b.size(360, 800)
	b.fits("guide")
	const goIsShown = `[...document.querySelectorAll("article [data-in]")].every((sample) => sample.checkVisibility() === (sample.dataset.in === "go"))`
	b.open(s.URL + "/docs/checkout")
	b.fits("page of a resource")
	b.click(`article label[for$="-go"]`)
	b.wait(goIsShown)
	b.open(s.URL + "/docs/payments")
	b.wait(`document.readyState === "complete"`)
	b.wait(goIsShown)
}

// A page weighs at most 60 kB as it is sent, and the payment form leaves out what only the calendar needs.
func TestAPaymentPageLoadsNoCalendar(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	loaded := func(b *tab) (calendar bool, weight int) {
		t.Helper()
		calendar = eval[bool](
			b,
			`performance.getEntriesByType("resource").some((r) => /\/(calendar|choose|openings)\b[^/]*\.js$/.test(r.name))`,
		)
		weight = eval[int](
			b,
			`[...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")].reduce((sum, r) => sum + r.encodedBodySize, 0)`,
		)
		return calendar, weight
	}
	b := newTab(t)
	b.open(s.checkout(s.book))
	b.ready()
	if calendar, weight := loaded(b); calendar || weight == 0 || weight > 60_000 {
		t.Errorf("the payment page loads the calendar: %v, and weighs %d bytes", calendar, weight)
	}
	b.open(s.sell(s.single, nil)["checkoutUrl"].(string))
	b.shown()
	if calendar, weight := loaded(b); !calendar || weight > 60_000 {
		t.Errorf("the calendar page loads the calendar: %v, and weighs %d bytes", calendar, weight)
	}
}

func TestPagesAreServedWithTheirHeaders(t *testing.T) {
	t.Parallel()
	s := sharedFixture(t)
	hosted := s.checkout(s.book)
	embedded := s.session(s.book, harness.JSON{"uiMode": "embedded"})["embedUrl"].(string)
	get := func(address string) (http.Header, string) {
		t.Helper()
		response, err := http.Get(address)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = response.Body.Close() }() // read to its end below
		body, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return response.Header, string(body)
	}
	header, body := get(hosted)
	for name, want := range map[string]string{
		"Cache-Control": "no-store", "Referrer-Policy": "no-referrer", "X-Frame-Options": "DENY",
		"X-Content-Type-Options": "nosniff", "Set-Cookie": "", "Content-Type": "text/html; charset=utf-8",
	} {
		if got := header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	policy := header.Get("Content-Security-Policy")
	nonce := regexp.MustCompile(`script-src 'nonce-([^']{20,})'`).FindStringSubmatch(policy)
	if len(nonce) == 0 || !strings.Contains(body, `nonce="`+nonce[1]+`"`) ||
		!strings.Contains(policy, "frame-ancestors 'none'") || strings.Contains(policy, "unsafe") {
		t.Errorf("policy %q", policy)
	}
	again, _ := get(hosted)
	if again.Get("Content-Security-Policy") == policy {
		t.Error("the nonce repeats")
	}
	framed, _ := get(embedded)
	if policy := framed.Get("Content-Security-Policy"); !strings.HasSuffix(policy, "frame-ancestors "+s.site) ||
		framed.Get("X-Frame-Options") != "" {
		t.Errorf("embedded: %q, X-Frame-Options %q", policy, framed.Get("X-Frame-Options"))
	}
}

// TestLongNamesFitSmallScreens has names without a place to break them, as German compounds and addresses are.
func TestLongNamesFitSmallScreens(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	word := strings.Repeat("Typographie", 8)
	s.AsCreator(t, http.MethodPatch, "/v1/creator", harness.JSON{"displayName": word}).Want(t, http.StatusOK)
	book := s.Published(t, harness.JSON{"title": word, "priceInCents": 99999999})
	session := s.session(book, nil)
	b := newTab(t)
	b.size(360, 800)
	b.open(session["checkoutUrl"].(string))
	b.sees("Card number")
	b.fits("a checkout")
	s.pay(session, harness.CardSucceeds).Want(t, http.StatusOK)
	receipt := s.Receipt(t, harness.Session{ID: session["id"].(string)})
	b.open(receipt["receiptUrl"].(string))
	b.sees("Amount paid")
	b.fits("a receipt")
	b.open(s.portal(receipt["customerId"].(string)))
	b.sees(word)
	b.fits("a portal")
}
