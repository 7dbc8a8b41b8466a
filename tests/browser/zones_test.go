package browser

import (
	"net/http"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// weekdayHeads are the heads of the calendar's columns.
const weekdayHeads = `[...document.querySelectorAll("#days th")].map((th) => th.textContent.trim())`

func TestZonesHaveTheirCurrentNames(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	b := tabIn(t, "Asia/Calcutta")
	b.open(s.sell(s.single, nil)["checkoutUrl"].(string))
	b.shown()
	if got := eval[string](b, `document.getElementById("zone").value`); got != "Kolkata, India · UTC+5:30 (your time zone)" {
		t.Errorf("the reader's zone is %q", got)
	}
	for query, want := range map[string]string{
		"india": "Kolkata, India · UTC+5:30", "saigon": "Ho Chi Minh, Vietnam · UTC+7",
		"nepal": "Kathmandu, Nepal · UTC+5:45", "+8:45": "Eucla, Australia",
	} {
		b.do("search for a zone", chromedp.Focus(chromedp.CSS("#zone")))
		b.press(query)
		b.wait(`document.querySelector("#zone-options .active")?.textContent.startsWith("` + want + `")`)
		b.press(kb.Escape)
		b.wait(`document.getElementById("zone-options").hidden`)
	}
	b.do("search for a zone", chromedp.Focus(chromedp.CSS("#zone")))
	b.press("atlantis")
	b.sees("No time zone matches.")
	b.press(kb.Escape)
	b.fits("zones")
	b.do("search for a zone", chromedp.Focus(chromedp.CSS("#zone")))
	b.press("Kyiv")
	b.press(kb.Enter)
	b.wait(`document.getElementById("day-zone").textContent.startsWith("Kyiv, ")`)
	b.pickDay(s.fullDay())
	b.pickTime(eval[string](b, `document.querySelector("#times [role=option]").dataset.start`))
	b.click("#confirm")
	b.ready()
	b.payHere()
	booked := s.AsBackend(t, http.MethodGet, "/v1/appointments", nil).Want(t, http.StatusOK).Map(t)["data"].([]any)
	if zone := booked[0].(map[string]any)["timezone"]; zone != "Europe/Kyiv" {
		t.Errorf("booked in %v", zone)
	}
}

func TestWeeksBeginAsThePageReads(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	address := s.sell(s.single, nil)["checkoutUrl"].(string)
	for language, want := range map[string]string{"de": "Mo", "en-US": "S", "en-GB": "M", "fr-CA": "d"} {
		b := tabIn(t, newYork)
		b.reads(language)
		b.open(address)
		b.shown()
		if got := eval[[]string](b, weekdayHeads)[0]; got[:len(want)] != want {
			t.Errorf("in %s the week begins with %q", language, got)
		}
	}
}

func TestCreatorsSearchTheirZone(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	b := newTab(t)
	s.signIn(b)
	for _, width := range []int64{1280, 360} {
		b.size(width, 800)
		b.open(s.URL + "/dashboard/bookings/settings")
		b.wait(`document.getElementById("hours-timezone").value.startsWith("New York, United States · UTC−")`)
		b.do("search for a zone", chromedp.Focus(chromedp.CSS("#hours-timezone")))
		b.press("calcutta")
		b.wait(`document.querySelectorAll("#hours-timezone-options [role=option]").length === 1`)
		b.accessible("zones of the dashboard")
		b.fits("zones of the dashboard")
		b.press(kb.Escape)
	}
	b.press("calcutta")
	b.press(kb.Enter)
	b.wait(`document.getElementById("hours-timezone").value.startsWith("Kolkata, India")`)
	b.click("#hours .form-end .primary")
	b.sees("Your hours are saved.")
	saved := s.AsCreator(t, http.MethodGet, "/v1/scheduling/availability", nil).Want(t, http.StatusOK).Map(t)
	if saved["timezone"] != "Asia/Kolkata" {
		t.Errorf("saved %v", saved["timezone"])
	}
}

func TestHoursAreEditedByRow(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	b := tabIn(t, newYork)
	s.signIn(b)
	b.open(s.URL + "/dashboard/bookings/settings")
	b.wait(`document.getElementById("hours-timezone").value.startsWith("New York, United States · UTC−")`)
	b.accessible("no hours yet")
	b.click("#hours-monday-open")
	b.click(`#hours-monday [name="add"]`)
	b.wait(`document.querySelectorAll('#hours-monday select').length === 4`)
	b.accessible("two ranges on a day")
	b.size(360, 800)
	b.fits("two ranges on a day")
	b.size(1280, 860)
	b.do("begin earlier", chromedp.SetValue(chromedp.CSS(`#hours-monday .range:first-child [name="monday.from"]`), "08:30"))
	b.click(`#hours-monday [name="copy"]`)
	b.wait(`document.readyState !== "loading" &&
		document.querySelectorAll('.field.day input[type="checkbox"]:checked').length === 7`)
	b.do("choose a date", chromedp.SetValue(chromedp.CSS(`#hours-exceptions-0 [type="date"]`), "2026-12-24"))
	b.click("#hours .form-end .primary")
	b.sees("Your hours are saved.")
	saved := s.AsCreator(t, http.MethodGet, "/v1/scheduling/availability", nil).Want(t, http.StatusOK).Map(t)
	weekly, overrides := saved["weekly"].([]any), saved["overrides"].([]any)
	if saved["timezone"] != newYork || len(weekly) != 14 || len(overrides) != 1 {
		t.Errorf("saved %v", saved)
	}
}

func TestSendingOneFormAsksAboutTheOther(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	b := s.atDashboard()
	b.open(s.URL + "/dashboard/bookings/settings")
	asks := func(sent string) bool {
		return eval[bool](b, `(() => {
			document.getElementById("`+sent+`").dispatchEvent(new Event("submit", { bubbles: true }));
			return !dispatchEvent(new Event("beforeunload", { cancelable: true }));
		})()`)
	}
	if asks("hours") {
		t.Error("the browser asks although nothing was typed")
	}
	b.fill("#meetings-address", "Main Street 1")
	for form, want := range map[string]bool{"hours": true, "meetings": false} {
		if got := asks(form); got != want {
			t.Errorf("sending %s asks: %v, want %v", form, got, want)
		}
	}
}
