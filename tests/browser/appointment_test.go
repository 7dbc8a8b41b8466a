package browser

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"sundry/tests/harness"
)

// appointment is a paid appointment of the shop's and the address that its buyer has.
func (s *shop) appointment() (id, address string) {
	s.t.Helper()
	weekly := []harness.JSON{}
	for _, day := range []string{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"} {
		weekly = append(weekly, harness.JSON{"weekday": day, "start": "09:00", "end": "17:00"})
	}
	s.AsCreator(s.t, http.MethodPut, "/v1/scheduling/availability", harness.JSON{"timezone": "Europe/Paris", "weekly": weekly}).Want(s.t, http.StatusOK)
	s.AsCreator(s.t, http.MethodPut, "/v1/scheduling/meeting-settings", harness.JSON{"virtual": harness.JSON{"provider": "jitsi"}}).Want(s.t, http.StatusOK)
	l := s.Published(s.t, harness.JSON{"type": "APPOINTMENT", "title": "Portfolio review", "metadata": harness.JSON{"deliveryMethod": "virtual"}})
	var day struct{ Slots []struct{ StartsAt string } }
	s.Ask(s.t, harness.Request{Method: http.MethodGet, Path: "/v1/listings/" + l.ID + "/slots", Query: url.Values{
		"date": {time.Now().AddDate(0, 0, 3).Format(time.DateOnly)},
	}}).Want(s.t, http.StatusOK).Into(s.t, &day)
	var session harness.Session
	s.AsBackend(s.t, http.MethodPost, "/v1/checkout-sessions", harness.JSON{
		"listingId": l.ID, "successUrl": s.site + "/thanks", "appointmentSlot": harness.JSON{"startsAt": day.Slots[2].StartsAt, "timezone": "Asia/Kathmandu"},
	}).Want(s.t, http.StatusCreated).Into(s.t, &session)
	var receipt struct{ Appointments []struct{ ID string } }
	s.Pay(s.t, session, harness.CardSucceeds).Want(s.t, http.StatusOK).Into(s.t, &receipt)
	found := s.AsBackend(s.t, http.MethodGet, "/v1/appointments/"+receipt.Appointments[0].ID, nil).Want(s.t, http.StatusOK).Map(s.t)
	return receipt.Appointments[0].ID, found["manageUrl"].(string)
}

// TestABuyerMovesAndCancelsAnAppointment walks through every page of it. Its policy forbids scripts, so this is also
// the walk of a browser without them.
func TestABuyerMovesAndCancelsAnAppointment(t *testing.T) {
	t.Parallel()
	s := newShop(t)
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
	b.click("#reschedule")
	b.sees("Choose another time")
	b.accessible("open times")
	b.click(".open-day a")
	b.sees("Move your appointment?")
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
