package browser

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"sundry/tests/harness"
)

// fillIn types the whole form.
func fillIn(b *tab, card string) {
	b.t.Helper()
	b.ready()
	b.fill("#email", "ada@example.com")
	fillCard(b, card)
	b.country("IE")
}

// country chooses the buyer's country, and ticks the box that asks for supply at once where the page shows it.
func (b *tab) country(code string) {
	b.t.Helper()
	b.do("choose "+code, chromedp.SetValue(chromedp.CSS("#country"), code))
	if eval[bool](b, `document.getElementById("country").dispatchEvent(new Event("change", {bubbles: true})) &&
		Boolean(document.querySelector("#immediateSupply:enabled:not(:checked)"))`) {
		b.click("#immediateSupply")
	}
}

func fillCard(b *tab, card string) {
	b.t.Helper()
	b.fill("#cardNumber", card)
	b.fill("#expiry", "1234")
	b.fill("#cvc", "123")
}

func TestABuyerPaysAndIsSentBackToTheShop(t *testing.T) {
	t.Parallel()
	s := sharedFixture(t)
	session := s.session(s.book, nil)
	b := newTab(t)
	b.open(session["checkoutUrl"].(string))
	b.sees("The Letterpress Handbook")
	b.sees("Sold by Sundry, merchant of record for Ada's Workshop")
	fillIn(b, harness.CardSucceeds)
	if got := eval[string](
		b, `document.getElementById("cardNumber").value + "|" + document.getElementById("expiry").value`,
	); got != "4242 4242 4242 4242|12 / 34" {
		t.Errorf("the card is shown as %q", got)
	}
	if n := b.cookies(); n != 0 {
		t.Errorf("the checkout page set %d cookies", n)
	}
	b.click("#submit")
	b.sees("Payment complete")
	b.sees("Visa •••• 4242")
	if eval[bool](b, `document.getElementById("stay").checkVisibility()`) {
		t.Error("a page with a download leaves by itself")
	}
	b.click("#continue")
	b.sees("Shop page /thanks")
	back, err := url.Parse(eval[string](b, "location.href"))
	if err != nil {
		t.Fatal(err)
	}
	id := session["id"].(string)
	if q := back.Query(); q.Get("order") != id || q.Get("checkout_id") != id || q.Get("return_token") == "" {
		t.Errorf("sent back to %s", back)
	}
	receipt := s.Ask(t, harness.Request{
		Method: http.MethodGet,
		Path: "/v1/checkout-sessions/" + id + "/receipt?returnToken=" + url.QueryEscape(
			back.Query().Get("return_token"),
		),
	})
	if got := receipt.Want(t, http.StatusOK).Map(t); got["status"] != "paid" {
		t.Errorf("receipt by the return token: %v", got)
	}
	if plans := s.plans(); len(plans) != 1 {
		t.Errorf("access after payment: %v", plans)
	}
}

func TestANameThatTheBuyerRemovesIsOnNoReceipt(t *testing.T) {
	t.Parallel()
	s := sharedFixture(t)
	b := newTab(t)
	b.open(s.session(s.book, harness.JSON{
		"customer": harness.JSON{"name": "Somebody Else", "postalCode": "D02", "country": "IE"},
	})["checkoutUrl"].(string))
	fillIn(b, harness.CardSucceeds)
	b.fill("#name", " ")
	b.fill("#postalCode", " ")
	b.click("#submit")
	b.sees("Payment complete")
	b.open(eval[string](b, `document.getElementById("receipt").href`))
	b.sees("ada@example.com")
	if got := eval[string](b, "document.body.textContent"); strings.Contains(got, "Somebody Else") ||
		strings.Contains(got, "D02") {
		t.Errorf("the receipt names what the buyer has removed: %s", got)
	}
}

func TestARefusedCardCanBeFollowedByAGoodOne(t *testing.T) {
	t.Parallel()
	s := sharedFixture(t)
	b := newTab(t)
	b.open(s.checkout(s.book))
	fillIn(b, harness.CardDeclined)
	b.click("#submit")
	b.sees("Your payment didn’t go through")
	b.sees("Your card was declined")
	if got := eval[string](
		b, `document.activeElement.id + "|" + document.getElementById("cvc").value`,
	); got != "problem|" {
		t.Errorf("focus and security code after a refusal: %q", got)
	}
	if plans := s.plans(); len(plans) != 0 {
		t.Errorf("access after a refusal: %v", plans)
	}
	b.do("reload", chromedp.Reload())
	b.sees("Your card was declined") // the reason survives a reload
	fillIn(b, harness.CardSucceeds)
	b.click("#submit")
	b.sees("Payment complete")
}

func TestTheBanksQuestionCanBeFailedAndThenPassed(t *testing.T) {
	t.Parallel()
	s := sharedFixture(t)
	b := newTab(t)
	b.open(s.checkout(s.book))
	fillIn(b, harness.CardAsksOnce)
	b.click("#submit")
	b.sees("Confirm this payment")
	b.sees("Simulated")
	b.do("reload", chromedp.Reload())
	b.sees("Confirm this payment")
	b.ready()
	b.click("#refuse")
	b.sees("Your payment didn’t go through")
	if plans := s.plans(); len(plans) != 0 {
		t.Errorf("access after a failed authentication: %v", plans)
	}
	fillIn(b, harness.CardAsksOnce)
	b.click("#submit")
	b.sees("Confirm this payment")
	b.ready()
	b.click("#approve")
	b.sees("Payment complete")
}

func TestACardThatAlwaysAsksIsPaidAfterTheBanksYes(t *testing.T) {
	t.Parallel()
	s := sharedFixture(t)
	b := newTab(t)
	b.open(s.checkout(s.book))
	fillIn(b, harness.CardAsksAlways)
	b.click("#submit")
	b.sees("Confirm this payment")
	b.ready()
	b.click("#approve")
	b.sees("Payment complete")
}

func TestAPaymentThatTakesLongIsFollowedUntilItIsDone(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	b := newTab(t)
	b.open(s.checkout(s.book))
	fillIn(b, harness.CardStaysPending)
	b.click("#submit")
	b.sees("Confirming your payment")
	b.do("reload", chromedp.Reload())
	b.sees("Confirming your payment")
	s.later()
	b.sees("Payment complete")
}

func TestALostResponseIsReconciledAndChargedOnce(t *testing.T) {
	t.Parallel()
	s := sharedFixture(t)
	b := newTab(t)
	b.open(s.checkout(s.book))
	fillIn(b, harness.CardTimesOut)
	b.click("#submit")
	b.sees("Confirming your payment")
	b.sees("Payment complete")
	if plans := s.plans(); len(plans) != 1 {
		t.Errorf("access after reconciliation: %v", plans)
	}
}

func TestADoubleClickSendsOnePayment(t *testing.T) {
	t.Parallel()
	s := sharedFixture(t)
	b := newTab(t)
	var sent atomic.Int64
	if err := chromedp.Listen(b.ctx, func(event any) {
		if request, ok := event.(*network.EventRequestWillBeSent); ok && strings.HasSuffix(request.Request.URL, "/pay") {
			sent.Add(1)
		}
	}); err != nil {
		t.Fatal(err)
	}
	b.open(s.checkout(s.book))
	fillIn(b, harness.CardSucceeds)
	b.do(
		"click three times",
		chromedp.Evaluate[chromedp.Void](`for (let i = 0; i < 3; i++) document.getElementById("submit").click()`),
	)
	b.sees("Payment complete")
	if sent.Load() != 1 {
		t.Errorf("the page sent %d payments", sent.Load())
	}
	if plans := s.plans(); len(plans) != 1 {
		t.Errorf("access: %v", plans)
	}
}

func TestConsent_ItsFaultStandsBelowIt(t *testing.T) {
	t.Parallel()
	s := sharedFixture(t)
	b := newTab(t)
	b.open(s.checkout(s.book))
	fillIn(b, harness.CardSucceeds)
	b.click("#immediateSupply") // not wanted after all
	b.click("#submit")
	b.sees("Confirm this to get access right away.")
	if below := eval[bool](b, `document.getElementById("immediateSupply-error").getBoundingClientRect().top >=
		document.querySelector("#supply label").getBoundingClientRect().bottom`); !below {
		t.Error("the fault stands beside the box, in a column of its own")
	}
}

// Only consumers have a right of withdrawal.
func TestConsent_BusinessesAreNotAsked(t *testing.T) {
	t.Parallel()
	s := sharedFixture(t)
	b := newTab(t)
	b.open(s.checkout(s.book))
	fillIn(b, harness.CardSucceeds)
	b.click("#business summary")
	b.fill("#taxId", "IE6433435F")
	eval[bool](b, `document.getElementById("taxId").dispatchEvent(new Event("change", {bubbles: true}))`)
	b.wait(`document.querySelector("#supply[hidden] #immediateSupply:disabled") !== null`)
	b.click("#submit")
	b.sees("Payment complete")
}

func TestTwoTabsPayOnce(t *testing.T) {
	t.Parallel()
	s := sharedFixture(t)
	address := s.checkout(s.book)
	tabs := []*tab{newTab(t), newTab(t), newTab(t)}
	for _, b := range tabs {
		b.open(address)
		fillIn(b, harness.CardSucceeds)
	}
	for _, b := range tabs[:2] {
		b.do("submit without waiting", chromedp.Evaluate[chromedp.Void](`document.getElementById("submit").click()`))
	}
	for _, b := range tabs[:2] {
		b.wait(`/Payment complete|already paid|Shop page/.test(document.body.innerText)`)
	}
	// The third still shows the form and submits after everything is over.
	tabs[2].click("#submit")
	tabs[2].sees("This order is already paid")
	tabs[2].sees("You were charged once")
	if plans := s.plans(); len(plans) != 1 {
		t.Errorf("access: %v", plans)
	}
	if got := eval[string](tabs[2], `document.getElementById("status").textContent`); got != "" {
		t.Errorf("a tab that did not pay leaves by itself: %q", got)
	}
}

func TestALostConnectionIsCheckedAndNeverCalledAFailure(t *testing.T) {
	t.Parallel()
	s := sharedFixture(t)
	b := newTab(t)
	b.open(s.checkout(s.book))
	fillIn(b, harness.CardSucceeds)
	b.do("lose the connection", chromedp.Evaluate[chromedp.Void](
		`window.connected = window.fetch; window.fetch = () => Promise.reject(new TypeError("no connection"))`))
	b.click("#submit")
	b.sees("Checking your payment")
	if eval[bool](b, `document.body.innerText.includes("didn’t go through")`) {
		t.Error("a payment of unknown outcome is called a failure")
	}
	b.accessible("checking a payment")
	b.do("find it again", chromedp.Evaluate[chromedp.Void](`window.fetch = window.connected`))
	b.sees("You haven’t been charged")
	b.click("#submit")
	b.sees("Payment complete")
}

func TestAPurchaseNeedsNoMouse(t *testing.T) {
	t.Parallel()
	s := sharedFixture(t)
	b := newTab(t)
	b.open(s.checkout(s.book))
	b.ready()
	reach := func(id string) {
		t.Helper()
		for range 30 {
			b.press(kb.Tab)
			if eval[string](b, "document.activeElement.id") == id {
				ring := eval[string](
					b,
					`(() => { const s = getComputedStyle(document.activeElement); return s.outlineStyle + " " + s.outlineWidth })()`,
				)
				if !strings.HasPrefix(ring, "solid") || strings.HasSuffix(ring, " 0px") {
					t.Errorf("no focus ring on %s: %s", id, ring)
				}
				return
			}
		}
		t.Fatalf("the Tab key does not reach %s", id)
	}
	for _, step := range [][2]string{{"email", "ada@example.com"}, {"cardNumber", harness.CardSucceeds},
		{"expiry", "1234"}, {"cvc", "123"}, {"country", "Irel"}} {
		reach(step[0])
		b.press(step[1])
	}
	reach("immediateSupply")
	b.press(" ")
	reach("submit")
	b.press(kb.Enter)
	b.sees("Payment complete")
	b.press(kb.Tab) // any key keeps the buyer here
	reach("continue")
	b.press(kb.Enter)
	b.sees("Shop page /thanks")
}

func TestEveryFaultOfTheFormIsNamedBesideItsField(t *testing.T) {
	t.Parallel()
	s := sharedFixture(t)
	b := newTab(t)
	b.open(s.checkout(s.book))
	b.ready()
	b.do("choose no country", chromedp.SetValue(chromedp.CSS("#country"), ""))
	b.click("#submit")
	b.sees("Check your details")
	faults := eval[[]string](
		b,
		`[...document.querySelectorAll("[aria-invalid=true]")].map(i => i.id + " " + document.getElementById(i.getAttribute("aria-describedby")).textContent.length)`,
	)
	if len(faults) != 5 || strings.Contains(strings.Join(faults, ","), " 0") {
		t.Errorf("fields with faults and the length of their messages: %v", faults)
	}
	if links := eval[int](b, `document.querySelectorAll("#problem-list a").length`); links != 5 {
		t.Errorf("the summary names %d faults", links)
	}
	b.click("#problem-list li:nth-child(2) a")
	if got := eval[string](b, "document.activeElement.id"); got != "cardNumber" {
		t.Errorf("the summary's second link leads to %q", got)
	}
	b.accessible("form with faults")

	// A real card number is refused by the server, beside the field.
	fillIn(b, "5555555555554444")
	b.click("#submit")
	b.wait(`document.getElementById("cardNumber-error").textContent.includes("test cards")`)
	b.fill("#cardNumber", harness.CardSucceeds)
	b.wait(`!document.getElementById("cardNumber").hasAttribute("aria-invalid")`)
	b.click("#submit")
	b.sees("Payment complete")
}

func TestATestCardFillsTheForm(t *testing.T) {
	t.Parallel()
	s := sharedFixture(t)
	b := newTab(t)
	b.open(s.checkout(s.book))
	b.ready()
	b.click("details.cards summary")
	b.accessible("list of test cards")
	b.click(`[data-card="4000 0000 0000 9995"]`)
	b.fill("#email", "ada@example.com")
	b.country("IE")
	b.click("#submit")
	b.sees("insufficient funds")
}

// The script explains a refusal without a new page, from the code alone: the API's message is English.
func TestARefusedCardIsExplainedInTheBuyersLanguage(t *testing.T) {
	t.Parallel()
	s := sharedFixture(t)
	for language, want := range map[string]string{
		"de": "Deine Karte ist nicht ausreichend gedeckt.", "fr": "Le solde de votre carte est insuffisant.",
	} {
		b := newTab(t)
		b.reads(language)
		b.open(s.checkout(s.book))
		fillIn(b, "4000000000009995")
		b.click("#submit")
		b.sees(want)
		if eval[bool](b, `document.body.innerText.includes("insufficient")`) {
			t.Errorf("%s: the page is partly English", language)
		}
		b.fill("#cardNumber", "4111111111111111") // no test card, which only the API knows
		b.fill("#cvc", "123")
		b.click("#submit")
		b.wait(`document.getElementById("cardNumber-error").textContent`)
		if got := eval[string](b, `document.getElementById("cardNumber-error").textContent`); strings.Contains(got,
			"sandbox") {
			t.Errorf("%s: the fault of the number is English: %s", language, got)
		}
	}
}

func TestATrialAsksForACardAndChargesNothing(t *testing.T) {
	t.Parallel()
	s := sharedFixture(t)
	b := newTab(t)
	b.open(s.checkout(s.club))
	b.sees("14 days free")
	b.sees("Then €9.00 per month")
	b.sees("You won’t be charged today")
	b.accessible("start of a trial")
	fillIn(b, harness.CardSucceeds)
	b.click("#submit")
	b.sees("Your trial has started")
	plans := s.plans()
	if len(plans) != 1 || plans[0].(map[string]any)["status"] != "trialing" {
		t.Errorf("access: %v", plans)
	}
}

func TestAFreeProductIsHadWithoutACard(t *testing.T) {
	t.Parallel()
	s := sharedFixture(t)
	b := newTab(t)
	b.open(s.checkout(s.free))
	b.ready()
	b.sees("No card needed")
	b.accessible("free product")
	b.fill("#email", "ada@example.com")
	b.country("IE")
	b.click("#submit")
	b.sees("It’s yours")
}

func TestALongWordStaysOnThePage(t *testing.T) {
	t.Parallel()
	s := sharedFixture(t)
	long := s.Published(t, harness.JSON{
		"type": "DIGITAL", "slug": harness.Unique("long"), "title": strings.Repeat("Donaudampfschifffahrt", 6),
		"priceInCents": 1200, "currency": "eur",
	})
	b := newTab(t)
	b.open(s.session(long, nil)["checkoutUrl"].(string))
	for _, width := range []int64{1440, 360} {
		b.size(width, 900)
		b.fits(fmt.Sprintf("%d px", width))
		if over := eval[bool](b, `(() => {
			const item = document.querySelector(".lines .item dt span:last-child").getBoundingClientRect();
			const price = document.querySelector(".lines .item dd").getBoundingClientRect();
			return item.width > 0 && item.right > price.left;
		})()`); over {
			t.Errorf("at %d px the title runs over its price", width)
		}
	}
}

func TestABuyerChoosesTheYearAndSeats(t *testing.T) {
	t.Parallel()
	s := sharedFixture(t)
	listing := s.NewListing(t, harness.JSON{"type": "SUBSCRIPTION", "title": "Press Club", "priceInCents": 1000,
		"metadata": harness.JSON{"interval": "month", "intervalCount": 1}})
	s.AsCreator(t, http.MethodPut, "/v1/listings/"+listing.ID+"/plans/team", harness.JSON{
		"name": "Team", "isDefault": true, "prices": []harness.JSON{
			{"interval": "month", "intervalCount": 1, "currency": "eur", "amountInCents": 1000},
			{"interval": "year", "intervalCount": 1, "currency": "eur", "amountInCents": 10000},
		},
	}).Want(t, http.StatusOK)
	session := s.NewSession(t, s.Publish(t, listing), "team", s.customer,
		harness.JSON{"buyerMayChange": []string{"interval", "quantity"}})
	b := newTab(t)
	b.open(session.CheckoutURL)
	fillIn(b, harness.CardSucceeds)
	b.sees("Save 16%")
	b.do("focus the interval", chromedp.Focus(chromedp.CSS("#choice input:checked")))
	b.press(kb.ArrowDown)
	b.wait(`document.getElementById("submit").getAttribute("aria-label").includes("100.00")`)
	b.fill("#quantity", "0")
	b.press(kb.Tab)
	b.sees("Enter a whole number from 1 to 10,000.")
	b.fill("#quantity", "3")
	b.press(kb.Tab)
	b.wait(`document.getElementById("submit").getAttribute("aria-label").includes("300.00")`)
	if got := eval[string](b, `document.getElementById("email").value`); got != "ada@example.com" {
		t.Errorf("after the change the address is %q", got)
	}
	b.accessible("a plan with a choice")
	b.size(360, 800)
	b.fits("a plan with a choice")
	b.click("#submit")
	b.sees("Payment complete")
	receipt := s.Receipt(t, session)
	if got := fmt.Sprint(receipt["totalInCents"]); got != "30000" {
		t.Errorf("paid %s", got)
	}
}
