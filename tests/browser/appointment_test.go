package browser

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"sundry/tests/harness"
)

// appointment is a paid appointment of the shop's and the address that its buyer has.
func (s *fixture) appointment() (id, address string) {
	s.t.Helper()
	weekly := []harness.JSON{}
	for _, day := range []string{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"} {
		weekly = append(weekly, harness.JSON{"weekday": day, "start": "09:00", "end": "17:00"})
	}
	s.AsCreator(s.t, http.MethodPut, "/v1/scheduling/availability",
		harness.JSON{"timezone": "Europe/Paris", "weekly": weekly}).Want(s.t, http.StatusOK)
	s.AsCreator(s.t, http.MethodPut, "/v1/scheduling/meeting-settings",
		harness.JSON{"virtual": harness.JSON{"provider": "jitsi"}}).Want(s.t, http.StatusOK)
	l := s.Published(s.t, harness.JSON{
		"type": "APPOINTMENT", "title": "Portfolio review", "metadata": harness.JSON{"deliveryMethod": "virtual"},
	})
	var day struct{ Slots []struct{ StartsAt string } }
	s.Ask(s.t, harness.Request{Method: http.MethodGet, Path: "/v1/listings/" + l.ID + "/slots", Query: url.Values{
		"date": {time.Now().AddDate(0, 0, 3).Format(time.DateOnly)},
	}}).Want(s.t, http.StatusOK).Into(s.t, &day)
	var session harness.Session
	s.AsBackend(s.t, http.MethodPost, "/v1/checkout-sessions", harness.JSON{
		"listingId": l.ID, "successUrl": s.site + "/thanks",
		"appointmentSlot": harness.JSON{"startsAt": day.Slots[2].StartsAt, "timezone": "Asia/Kathmandu"},
	}).Want(s.t, http.StatusCreated).Into(s.t, &session)
	var receipt struct{ Appointments []struct{ ID string } }
	s.Pay(s.t, session, harness.CardSucceeds).Want(s.t, http.StatusOK).Into(s.t, &receipt)
	found := s.AsBackend(s.t, http.MethodGet, "/v1/appointments/"+receipt.Appointments[0].ID, nil).Want(s.t,
		http.StatusOK).Map(s.t)
	return receipt.Appointments[0].ID, found["manageUrl"].(string)
}

// scripts allows or forbids the scripts of pages.
func (b *tab) scripts(allowed bool) {
	b.t.Helper()
	_, err := chromedp.Call(
		b.ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: !allowed},
	)
	if err != nil {
		b.t.Fatal(err)
	}
}

// TestABuyerMovesAndCancelsAnAppointment walks through every page of it. The only one with a script is walked without.
func TestABuyerMovesAndCancelsAnAppointment(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	id, address := s.appointment()
	read := func() harness.JSON {
		return s.AsBackend(t, http.MethodGet, "/v1/appointments/"+id, nil).Want(t, http.StatusOK).Map(t)
	}
	before := read()
	b := newTab(t)
	b.open(address)
	b.sees("Portfolio review")
	b.sees("Asia/Kathmandu, UTC+5:45")
	b.accessible("appointment")
	b.scripts(false)
	b.click("#reschedule")
	// the list that the page leads to
	b.wait(`document.querySelector(".open-day a") && document.readyState === "complete"`)
	b.sees("Choose another time")
	b.fits("open times as a list")
	b.click(".open-day a")
	b.sees("Move your appointment?")
	b.scripts(true)
	b.accessible("confirm a move")
	b.click("#confirm")
	b.sees("Your appointment was moved")
	b.accessible("moved")
	moved := read()
	if moved["startsAt"] == before["startsAt"] || moved["status"] != "confirmed" {
		t.Errorf("before %v, moved %v", before, moved)
	}
	if file := eval[string](b, `document.getElementById("add-to-calendar").href`); file != address+"/calendar.ics" {
		t.Errorf("calendar at %s", file)
	}
	b.click("#cancel")
	b.sees("Cancel this appointment?")
	b.fill("#reason", "A cold")
	b.accessible("cancel")
	b.click("#confirm")
	b.sees("You canceled this appointment")
	b.accessible("canceled")
	if canceled := read(); canceled["status"] != "canceled" || canceled["cancelReason"] != "A cold" {
		t.Errorf("%v", canceled)
	}
	b.open(address + "x")
	b.sees("Page not found")
}

func TestAnAppointmentIsMovedInTheCalendarByKeyboard(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	id, address := s.appointment()
	read := func() time.Time {
		at, err := time.Parse(
			time.RFC3339,
			s.AsBackend(t, http.MethodGet, "/v1/appointments/"+id, nil).Want(t, http.StatusOK).Map(t)["startsAt"].(string),
		)
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	before := read()
	b := newTab(t)
	b.open(address + "/reschedule")
	b.sees("Choose another time")
	b.wait(`document.querySelector("#times [role=option]")`)
	b.accessible("calendar of another time")
	b.wait(`document.querySelector("#days").getAttribute("aria-busy") === "false"`)
	b.reach("#days td")
	b.press(kb.ArrowDown) // a week later, maybe in the next month, which is loaded: every day is open
	b.wait(`document.querySelector("#days").getAttribute("aria-busy") === "false" &&
		"open" in document.activeElement.dataset`)
	b.press(kb.Enter)
	b.wait(
		`document.querySelector("#days [aria-selected=true][data-open]") === document.activeElement && document.querySelector("#times [role=option]")`,
	)
	b.reach("#times [role=option]")
	b.press(kb.End)
	b.press(kb.Enter)
	wanted := eval[string](b, `document.querySelector("#times [aria-selected=true]").dataset.start`)
	b.reach("#confirm")
	b.press(kb.Enter)
	b.sees("Move your appointment?")
	b.reach("#confirm")
	b.press(kb.Enter)
	b.sees("Your appointment was moved")
	if after := read(); after.Equal(before) || after.Format("2006-01-02T15:04:05.000Z") != wanted {
		t.Errorf("moved from %s to %s, chosen was %s", before, after, wanted)
	}
	b.follow("#cancel", "Cancel this appointment?")
	b.follow("#confirm", "You canceled this appointment")
}

// TestAMeetingThatIsBeingSetUp opens a buyer's link before the provider has made the meeting, and again once it has.
func TestAMeetingThatIsBeingSetUp(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	id, address := s.appointment()
	room := harness.Unique("room")
	s.Exec(t, "UPDATE appointments SET meeting_url = $1 WHERE id = $2", s.URL+"/m/"+room, id)
	s.Exec(t, `INSERT INTO hosted_meetings (id, creator_id, provider, appointment_id, group_id, provider_id, url, title,
		created_at, revision) VALUES ($1, $2, 'zoom', $3, '', '', '', '', 1, 1)`, room, s.ID, id)
	b := newTab(t)
	b.open(s.URL + "/m/" + room)
	b.sees("The meeting is being set up")
	b.sees("Portfolio review")
	b.accessible("a meeting that is being set up")
	b.fits("a meeting that is being set up")
	s.Exec(t, "UPDATE hosted_meetings SET url = $1 WHERE id = $2", address, room)
	b.click("#reload")
	b.sees("Add to calendar")
}
