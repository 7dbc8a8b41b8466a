package browser

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"sundry/tests/harness"
)

func TestAnAppointmentCheckoutExpiresAndStartsAgain(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	session := s.sell(s.single, nil)
	b := tabIn(t, newYork)
	b.open(session["checkoutUrl"].(string))
	b.shown()
	b.pickDay(s.fullDay()) // a time that does not begin before it is paid for
	b.pickTime(eval[string](b, `document.querySelector("[role=option]").dataset.start`))
	b.click("#confirm")
	b.ready()
	ends := parse(t, session["expiresAt"].(string))
	spoken := func(before time.Duration, words string) {
		t.Helper()
		s.advanceTo(ends.Add(-before - 2*time.Second))
		b.do("reload", chromedp.Reload())
		b.wait(`document.getElementById("hold-status")?.textContent.includes("for ` + words + `.")`)
	}
	spoken(5*time.Minute, "5 minutes")
	spoken(time.Minute, "1 minute")
	s.advanceTo(ends.Add(-2 * time.Second))
	b.do("reload", chromedp.Reload())
	b.sees("This checkout has expired")
	b.accessible("expired appointment")
	harness.Eventually(t, "the session expires, which is a worker's task", func() bool {
		return s.Receipt(t, harness.Session{ID: session["id"].(string)})["status"] == "expired"
	})
	b.click("#again")
	b.shown()
	if now := eval[string](b, "location.href"); now == session["checkoutUrl"] {
		t.Error("the same session again")
	}
	// The account's clock passes the end while the buyer views the calendar.
	b.pickTime(eval[string](b, `document.querySelector("[role=option]").dataset.start`))
	s.later()
	b.click("#confirm")
	b.sees("This checkout has expired")
	b.click("#back")
	b.sees("Shop page /pricing")
}

func TestASessionThatLostItsTimeIsNotCharged(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	session := s.sell(s.single, nil)
	b := tabIn(t, newYork)
	b.open(session["checkoutUrl"].(string))
	b.shown()
	b.click("[role=option]")
	b.click("#confirm")
	fillIn(b, harness.CardSucceeds)
	s.lose(session)
	b.click("#submit")
	b.sees("This time is no longer available")
	b.accessible("time lost")
	if got := s.Receipt(
		t, harness.Session{ID: session["id"].(string)},
	); got["status"] != "processing" || got["paymentId"] != nil {
		t.Errorf("receipt %v", got)
	}
	b.click("#again")
	b.shown()
	b.click("[role=option]")
	b.click("#confirm")
	b.payHere()
}

func TestMonthsWithoutOpenTimesLeadToTheNextOpenOne(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	l := s.Published(t, harness.JSON{"type": "APPOINTMENT", "title": "Far ahead", "metadata": harness.JSON{
		"deliveryMethod": "virtual", "minimumNoticeMinutes": 100 * 1440, "horizonDays": 110,
	}})
	b := tabIn(t, newYork)
	b.open(s.sell(l, nil)["checkoutUrl"].(string))
	b.shown()
	b.sees("No available times until ")
	b.accessible("first open times far ahead")
	first := eval[string](b, `document.querySelector("#days [data-open]").dataset.day`)
	b.click("#previous")
	b.wait(`document.querySelector("#jump:not([hidden])")`)
	b.sees("No available times until ")
	b.accessible("month without open times")
	b.click("#jump")
	b.wait(`document.activeElement.dataset.day === "` + first + `"`)
	for range 6 { // to the end of what can be booked, and no further
		b.do("turn the page", chromedp.Evaluate[chromedp.Void](`document.getElementById("next").click()`))
	}
	b.wait(`document.getElementById("next").getAttribute("aria-disabled") === "true"`)
	last := parse(t, first+"T00:00:00Z").AddDate(0, 0, 11)
	if shown := eval[string](b, `document.getElementById("month").textContent`); shown != last.Format("January 2006") &&
		shown != last.AddDate(0, 0, 1).Format("January 2006") && shown != last.AddDate(0, 0, -1).Format("January 2006") {
		t.Errorf("the calendar ends in %s, what can be booked on %s", shown, last)
	}
	s.AsCreator(t, http.MethodDelete, "/v1/listings/"+l.ID, nil)
	b.do("reload", chromedp.Reload())
	b.sees("This can’t be booked right now")
	b.accessible("nothing to book")
}

func TestAPaymentLinkOpensTheCalendar(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	link := s.AsCreator(t, http.MethodPost, "/v1/payment-links", harness.JSON{"listingId": s.single.ID}).Want(t,
		http.StatusCreated).Map(t)
	b := tabIn(t, newYork)
	b.open(link["url"].(string))
	b.shown()
	b.click("[role=option]")
	b.click("#confirm")
	b.payHere()
	b.sees("You can close this page")
}

func TestAnAppointmentIsBookedInTheOverlay(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	session := s.sell(s.single, harness.JSON{"uiMode": "embedded"})
	b := overlayOver(t, s.fixture, session, "1", s.site)
	choose := func() {
		t.Helper()
		b.waitInside(`document.body.classList.contains("embedded") && document.querySelector("[role=option]")`)
		b.waitInside(
			`(document.querySelector("[role=option]").click(), document.getElementById("confirm").click(), true)`,
		)
	}
	choose()
	b.waitInside(`document.getElementById("submit") && !document.getElementById("submit").disabled`)
	s.lose(session)
	submitInside(b, harness.CardSucceeds)
	b.waitInside(`document.body.innerText.includes("no longer available")`)
	b.waitInside(`(document.getElementById("again").click(), true)`)
	choose()
	submitInside(b, harness.CardSucceeds)
	b.wait(`heard[0]?.startsWith("complete cs_") && heard[0] !== "complete ` + session["id"].(string) + `"`)
	fresh, _ := strings.CutPrefix(eval[string](b, "heard[0]"), "complete ")
	if booked := s.booked(harness.JSON{"id": fresh}); len(booked) != 1 {
		t.Errorf("booked %v", booked)
	}
	b.click(closeButton)
	b.wait(`heard[1] === "close"`)
}
