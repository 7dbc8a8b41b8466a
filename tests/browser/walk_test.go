package browser

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"sundry/tests/harness"
)

// walker is a tab whose person counts what they do.
type walker struct {
	*tab
	clicks, fields *int
}

// click waits until the page is complete: a click misses what moves while the page comes.
func (w walker) click(sel string) {
	w.t.Helper()
	w.wait(`document.readyState === "complete"`)
	w.tab.click(sel)
	*w.clicks++
}

func (w walker) fill(sel, words string) { w.t.Helper(); w.tab.fill(sel, words); *w.fields++ }

// choose picks an option of a select.
func (w walker) choose(sel, value string) {
	w.t.Helper()
	w.do("choose "+value, chromedp.SetValue(chromedp.CSS(sel), value))
	*w.fields++
}

// walk counts the clicks and the fields of each step.
type walk struct {
	t              *testing.T
	clicks, fields int
}

func (w *walk) person() walker { return walker{tabIn(w.t, newYork), &w.clicks, &w.fields} }

// step logs what a step took beside the time in which the pages came.
func (w *walk) step(what string, do func()) {
	w.t.Helper()
	clicks, fields := w.clicks, w.fields
	do()
	w.t.Logf("%-40s %2d clicks, %2d fields", what, w.clicks-clicks, w.fields-fields)
}

// buys pays by a link as a buyer in Ireland does.
func (w *walk) buys(link, email string, before func(buyer walker)) walker {
	w.t.Helper()
	buyer := w.person()
	buyer.open(link)
	if before != nil {
		before(buyer)
	}
	buyer.ready()
	buyer.fill("#email", email)
	fillCard(buyer.tab, harness.CardSucceeds)
	buyer.country("IE")
	*buyer.fields += 4
	buyer.tab.click("#submit")
	*buyer.clicks++
	buyer.sees("Payment complete")
	return buyer
}

// address returns the address of the payment link that the page shows.
func (w walker) address() string {
	w.t.Helper()
	w.sees("link is ready to share.")
	return eval[string](w.tab, `document.getElementById("address").textContent`)
}

func TestACreatorRunsAShopByTheDashboardAlone(t *testing.T) {
	t.Parallel()
	s := newFixture(t) // for its program: the creator has nothing of it
	w := &walk{t: t}
	b := w.person()
	name := harness.Unique("edith")
	var book, lesson, club, invitation string
	w.step("sign up", func() {
		b.open(s.URL + "/dashboard")
		b.click(`a[href*="/dashboard/sign-up"]`)
		b.fill("#sign-up-displayName", "Edith’s Prints")
		b.fill("#sign-up-email", name+"@example.com")
		b.fill("#sign-up-password", harness.Password)
		b.click("#sign-up .primary")
		b.sees("Four steps to your first sale")
	})
	w.step("upload a file and publish it", func() {
		b.click(`a[href="/dashboard/listings/new"]`)
		b.click(`a[href$="type=DIGITAL"]`)
		b.fill("#listing-title", "Linocut pack")
		b.fill("#listing-price", "12.50")
		b.click("#listing .primary")
		b.sees("Saved as a draft")
		b.do("choose a file", chromedp.SetUploadFiles(chromedp.CSS("#file-file"), []string{largeFile(t)}))
		*b.clicks++
		b.click("#file .primary")
		b.sees("For buyers")
		b.click(`form[action$="/publish"] button`)
		book = b.address()
	})
	w.step("a buyer pays and downloads", func() {
		buyer := w.buys(book, "grace.hopper@example.org", nil)
		buyer.sees("linocut.zip")
		const download = `fetch(document.querySelector("#files a").href).then((r) => r.blob()).then((all) => all.size)`
		if got := eval[int](buyer.tab, download); got != 2_500_000 {
			t.Errorf("downloaded %d bytes", got)
		}
		*buyer.clicks++
	})
	w.step("offer an appointment and set hours", func() {
		b.click(`nav a[href="/dashboard/listings"]`)
		b.click(`.title a[href="/dashboard/listings/new"]`)
		b.click(`a[href$="type=APPOINTMENT"]`)
		b.fill("#listing-title", "Print lesson")
		b.fill("#listing-price", "80")
		b.click("#listing .primary")
		b.sees("once the steps below are done")
		b.accessible("the walk: not bookable")
		b.click(`a[href$="/bookings/settings#hours"]`)
		b.sees("Hours and meetings")
		b.click("#hours .primary")
		b.sees("Now choose where you meet buyers.")
		b.choose("#meetings-provider", "jitsi")
		b.click("#meetings .primary")
		b.sees("Your meetings are saved.")
		b.click(`nav a[href="/dashboard/listings"]`)
		b.click("tbody tr:first-child a")
		b.sees("Buyers can book this")
		b.accessible("the walk: bookable")
		b.click(`a[href^="/dashboard/links/new?listing="]`)
		b.click("#link .primary")
		lesson = b.address()
	})
	w.step("a buyer books a time and pays", func() {
		buyer := w.buys(lesson, "katherine.johnson@example.org", func(buyer walker) {
			buyer.shown()
			buyer.click("#next") // what is left of this month may be little
			buyer.wait(`document.querySelector("#days").getAttribute("aria-busy") === "false"`)
			buyer.click("#days [data-open]")
			buyer.wait(`document.querySelector("#times [role=option]")`)
			buyer.click("#times [role=option]")
			buyer.click("#confirm")
		})
		buyer.sees("Print lesson")
	})
	w.step("offer a subscription, which a buyer takes", func() {
		b.click(`nav a[href="/dashboard/listings"]`)
		b.click(`.title a[href="/dashboard/listings/new"]`)
		b.click(`a[href$="type=SUBSCRIPTION"]`)
		b.fill("#listing-title", "Print club")
		b.fill("#listing-price", "9")
		b.click("#listing .primary")
		club = b.address()
		w.buys(club, "mary.jackson@example.org", nil)
	})
	w.step("read this month's MRR", func() {
		b.click(`nav a[href="/dashboard/subscriptions"]`)
		b.click(`a[href="/dashboard/subscriptions/revenue"]`)
		b.sees("Monthly recurring revenue")
		b.sees("€9.00")
	})
	w.step("find an order by half an address", func() {
		b.fill("#find", "hopper@exam")
		b.press(kb.Enter)
		*b.clicks++
		b.sees("Results for")
		b.click(`a[href^="/dashboard/orders/pay_"]`)
		b.sees("grace.hopper@example.org")
		b.sees("€12.50")
	})
	w.step("invite a colleague", func() {
		b.click(`nav a[href="/dashboard/team"]`)
		b.fill("#invite-email", name+"-helper@example.com")
		b.click("#invite .primary")
		b.sees("An invitation is on its way")
		b.click(`tbody a[href^="/dashboard/team/"]`)
		b.sees("In the sandbox, where mails may go nowhere")
		invitation = eval[string](b.tab, `document.getElementById("invitation").textContent`)
		b.accessible("the walk: invitation")
	})
	helper := w.person()
	w.step("the colleague joins and refunds", func() {
		helper.open(invitation)
		helper.fill("#join-name", "Dorothy")
		helper.fill("#join-password", harness.Password)
		helper.click("#join .primary")
		helper.sees("How Edith’s Prints is doing.")
		helper.accessible("the walk: home of support")
		helper.click(`nav a[href="/dashboard/orders"]`)
		helper.click("tbody tr:last-child a")
		helper.click(`a[href$="/refund"]`)
		helper.click("#refund .primary")
		helper.sees("This goes back to the buyer")
		helper.click("#confirm .danger")
		helper.sees("Refunded €12.50.")
	})
	if eval[bool](helper.tab, `Boolean(document.querySelector('a[href*="/balance"]'))`) {
		t.Error("support is led to the balance")
	}
	helper.open(s.URL + "/dashboard/balance/payout")
	helper.sees("You can’t do this")
	helper.accessible("the walk: refused")
	w.step("download the audit log", func() {
		b.click(`nav a[href="/dashboard/security"]`)
		b.click(`a[href="/dashboard/security/log"]`)
		b.accessible("the walk: log")
		log := eval[string](b.tab, `fetch(document.querySelector("a.csv").href).then((r) => r.text())`)
		*b.clicks++
		for _, want := range []string{"Dorothy (" + name + "-helper@example.com)", "refund"} {
			if !strings.Contains(strings.ToLower(log), strings.ToLower(want)) {
				t.Errorf("the log has no %s:\n%s", want, log)
			}
		}
	})
	t.Logf("%-40s %2d clicks, %2d fields", "altogether", w.clicks, w.fields)
}
