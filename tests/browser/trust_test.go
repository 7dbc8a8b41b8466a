package browser

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"sundry/tests/harness"
)

func TestThePageShowsWhoSells(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.AsCreator(t, http.MethodPatch, "/v1/creator", harness.JSON{
		"displayName": "Field Notes", "accentColor": "#7c3aed", "supportEmail": "help@fieldnotes.example",
		"refundPolicy": "Full refund within 14 days.\nJust write to us.",
	}).Want(t, http.StatusOK)
	session := s.session(s.book, nil)
	b := newTab(t)
	b.open(session["checkoutUrl"].(string))
	b.ready()
	for _, words := range []string{"Field Notes", "Refund policy", "help@fieldnotes.example",
		"merchant of record for Field Notes"} {
		b.sees(words)
	}
	b.click("#refund-policy .policy summary")
	b.sees("Full refund within 14 days.")
	b.wait(`getComputedStyle(document.getElementById("submit")).backgroundColor === "rgb(124, 58, 237)"`) // it fades in
	if cards := eval[int](b, `document.querySelectorAll(".schemes li").length`); cards < 3 {
		t.Errorf("%d cards are named before the first digit", cards)
	}
	if loaded := eval[bool](
		b, `performance.getEntriesByType("resource").some((r) => r.name.includes("/calendar."))`,
	); loaded {
		t.Error("the payment page loads the calendar")
	}
	b.accessible("a page in the creator's color")
}

func TestAtAPhonesWidthTheFormStartsInTheFirstThird(t *testing.T) {
	t.Parallel()
	s := sharedFixture(t)
	b := newTab(t)
	b.size(360, 800)
	b.open(s.session(s.book, nil)["checkoutUrl"].(string))
	b.ready()
	if top := eval[float64](b, `document.getElementById("email").getBoundingClientRect().top`); top > 800.0/3 {
		t.Errorf("the first field starts at %.0f of 800 pixels", top)
	}
}

func TestBackLeadsFromThePaymentToTheCalendar(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	session := s.sell(s.single, nil)
	b := newTab(t)
	b.open(s.site + "/pricing")
	b.open(session["checkoutUrl"].(string))
	b.wait(`document.querySelector("[role=option]")`)
	if past := eval[int](
		b,
		`[...document.querySelectorAll("#days tbody tr")].filter((row) => [...row.cells].every((c) => !c.dataset.day || c.dataset.day < document.querySelector("[aria-current]")?.dataset.day)).length`,
	); past != 0 {
		t.Errorf("%d weeks that are over are shown", past)
	}
	b.click("[role=option]")
	b.click("#confirm")
	b.wait(`document.getElementById("submit") && !document.getElementById("submit").disabled`)
	eval[string](b, `(history.back(), "")`)
	b.wait(`document.querySelector("[role=option][aria-selected=true]") && document.getElementById("keep")`)
	b.click("#keep")
	b.wait(`document.getElementById("submit") && !document.getElementById("submit").disabled`)
}

func TestTheChosenClockIsKeptOnEveryPage(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	session := s.sell(s.single, nil)
	b := newTab(t)
	b.open(session["checkoutUrl"].(string))
	b.wait(`document.querySelector("[role=option]")`)
	if first := eval[string](b, `document.querySelector("[role=option]").textContent`); !strings.Contains(first, "M") {
		t.Fatalf("an American reader sees %s", first)
	}
	b.click(`[data-hours="24"]`)
	b.wait(`!/[AP]M/.test(document.querySelector("[role=option]").textContent)`)
	b.click("[role=option]")
	b.wait(`!/[AP]M/.test(document.querySelector("#chosen .clock").textContent)`)
	b.click("#confirm")
	b.wait(`document.getElementById("submit") && !/[AP]M/.test(document.querySelector(".held .clock").textContent)`)
	b.payHere()
	b.wait(`!/[AP]M/.test(document.querySelector(".held .clock").textContent)`)
	for _, link := range []string{"calendar.google.com", "outlook.live.com", "calendar.ics"} {
		if !eval[bool](b, `Boolean(document.querySelector('.calendars a[href*="`+link+`"]'))`) {
			t.Errorf("there is no link to %s", link)
		}
	}
	b.open(eval[string](b, `document.getElementById("receipt").href`))
	b.wait(`!/[AP]M/.test(document.querySelector(".held .clock").textContent)`)
	b.open(eval[string](b, `document.querySelector(".manage").href`))
	b.wait(`!/[AP]M/.test(document.getElementById("when").textContent)`)
}

func TestAPromotionCodeIsAppliedAndRemoved(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	code := strings.ToUpper(strings.ReplaceAll(harness.Unique("SAVE"), "-", ""))
	s.AsCreator(t, http.MethodPost, "/v1/discounts",
		harness.JSON{"code": code, "percentOff": 50, "duration": "once"}).Want(t, http.StatusCreated)
	b := newTab(t)
	b.open(s.session(s.book, nil)["checkoutUrl"].(string) + "?refused_code=OLD") // as the link to it was followed
	b.ready()
	b.accessible("a refused code of a link")
	typed := map[string]string{
		"email": "ada@buyer.example", "name": "Ada", "cardNumber": harness.CardSucceeds, "postalCode": "10115",
	}
	for id, value := range typed {
		b.fill("#"+id, value)
	}
	b.wait(`document.getElementById("promoCode").checkVisibility() &&
		document.getElementById("promoCode").value === "OLD"`)
	b.expectConsole("400")
	b.fill("#promoCode", "NOPE")
	b.press(kb.Enter)
	b.wait(
		`document.getElementById("promoCode-error").textContent && document.getElementById("promoCode").getAttribute("aria-invalid") === "true"`,
	)
	b.accessible("a refused code")
	for status, problem := range map[int]string{429: "Too many attempts.", 503: "We can’t reach the checkout."} {
		eval[bool](b, fmt.Sprintf(`Boolean(window.real ??= fetch, window.fetch = async () => new Response("{}", {status: %d}))`,
			status))
		b.click("#promo-apply")
		b.wait(`document.getElementById("promoCode-error").textContent.startsWith("` + problem + `")`)
	}
	eval[bool](b, `Boolean(window.fetch = real)`)
	b.fill("#promoCode", code)
	b.click("#promo-apply")
	b.wait(`document.getElementById("promo-remove") && document.getElementById("submit").textContent.includes("14.50")`)
	b.accessible("an applied code")
	b.click("#promo-remove")
	b.wait(`document.getElementById("promo-more") && document.getElementById("submit").textContent.includes("29.00")`)
	b.wait(`!document.getElementById("promoCode-error").textContent`)
	for id, want := range typed {
		got := strings.ReplaceAll(eval[string](b, `document.getElementById("`+id+`").value`), " ", "")
		if got != want {
			t.Errorf("%s is %q once a code was applied and removed, want %q", id, got, want)
		}
	}
}

// A code for all of the price takes the card's fields away, so the server draws the form.
func TestACodeThatPaysAllKeepsWhatWasTyped(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	code := strings.ToUpper(strings.ReplaceAll(harness.Unique("FREE"), "-", ""))
	s.AsCreator(t, http.MethodPost, "/v1/discounts",
		harness.JSON{"code": code, "percentOff": 100, "duration": "once"}).Want(t, http.StatusCreated)
	b := newTab(t)
	b.open(s.checkout(s.book))
	b.ready()
	b.click("#business summary")
	typed := map[string]string{
		"email": "ada@buyer.example", "name": "Ada", "postalCode": "10115", "taxId": "IE1", "country": "DE",
	}
	b.country("DE")
	for _, id := range []string{"email", "name", "postalCode"} {
		b.fill("#"+id, typed[id])
	}
	b.fill("#taxId", "IE1") // refused, so no session has it
	typed["taxId"] = ""
	b.expectConsole("400")
	kept := func(when string) {
		t.Helper()
		for id, want := range typed {
			if got := eval[string](b, `document.getElementById("`+id+`").value`); got != want {
				t.Errorf("%s is %q once the code was %s, want %q", id, got, when, want)
			}
		}
	}
	b.press("\t") // leaves the field, so that it is checked: its fault moves what is below
	b.wait(`document.getElementById("taxId-error").textContent`)
	b.click("#promo-more summary")
	b.fill("#promoCode", code)
	b.click("#promo-apply")
	b.sees("No card needed")
	b.ready()
	kept("applied")
	b.click("#promo-remove")
	b.wait(`document.getElementById("cardNumber")`)
	b.ready()
	kept("removed")
}

func TestHostileWordsAreShownAsWords(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	attack := `"><script>window.hacked=1</script><img src=x onerror=window.hacked=1>`
	s.AsCreator(t, http.MethodPatch, "/v1/creator", harness.JSON{"displayName": attack, "refundPolicy": attack}).Want(t,
		http.StatusOK)
	lesson := s.Published(t, harness.JSON{
		"type": "APPOINTMENT", "title": attack, "description": attack, "priceInCents": 900,
		"metadata": harness.JSON{"deliveryMethod": "virtual"},
	})
	session := s.sell(lesson, harness.JSON{
		"metadata": harness.JSON{"note": attack}, "customer": harness.JSON{"name": attack}, "referenceId": "r",
	})
	b := newTab(t)
	harmless := func(where string) {
		t.Helper()
		if eval[bool](b, `"hacked" in window || [...document.querySelectorAll("img")].some((i) => i.getAttribute("src") === "x")`) {
			t.Errorf("%s runs what a title contains", where)
		}
	}
	b.open(session["checkoutUrl"].(string))
	b.wait(`document.querySelector("[role=option]")`)
	harmless("the calendar")
	b.click("[role=option]")
	b.click("#confirm")
	b.wait(`document.getElementById("submit")`)
	harmless("the payment form")
	b.payHere()
	b.wait(`document.getElementById("receipt")`)
	harmless("the success page")
	manage := eval[string](b, `document.querySelector(".manage").href`)
	b.open(eval[string](b, `document.getElementById("receipt").href`))
	harmless("the receipt")
	for _, path := range []string{"", "/reschedule", "/cancel"} {
		b.open(strings.SplitN(manage, "?", 2)[0] + path)
		harmless("the appointment page " + path)
	}
}
