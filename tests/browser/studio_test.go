package browser

import (
	"maps"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"sundry/tests/harness"
)

// studio is a creator who meets buyers, in New York from nine to five on every day, and what they sell.
type studio struct {
	*fixture
	single, hybrid harness.Listing
	pack           string // a variant of single: three sessions
}

// newStudio is a studio of the test's own: its times are taken by nobody else.
func newStudio(t *testing.T) *studio {
	t.Helper()
	s := &studio{fixture: newFixture(t)}
	s.opens("09:00", "17:00")
	s.AsCreator(t, http.MethodPut, "/v1/scheduling/meeting-settings", harness.JSON{
		"virtual":  harness.JSON{"provider": "static", "url": "https://meet.example/ada"},
		"inPerson": harness.JSON{"address": "7 Bridge Street, Brooklyn"},
	}).Want(t, http.StatusOK)
	s.single = s.Published(t, harness.JSON{
		"type": "APPOINTMENT", "title": "Portfolio review", "priceInCents": 9000,
		"metadata": harness.JSON{"deliveryMethod": "virtual"},
	})
	s.hybrid = s.Published(t, harness.JSON{
		"type": "APPOINTMENT", "title": "Press lesson", "priceInCents": 12000,
		"metadata": harness.JSON{"deliveryMethod": "hybrid"},
	})
	s.pack = s.packOf(s.single)
	return s
}

// packOf gives a listing a variant of three sessions.
func (s *studio) packOf(l harness.Listing) (variantID string) {
	s.t.Helper()
	var made struct{ VariantID string }
	s.AsCreator(s.t, http.MethodPost, "/v1/listings/"+l.ID+"/variants",
		harness.JSON{"durationMinutes": 60, "sessionCount": 3, "priceInCents": 24000}).
		Want(s.t, http.StatusCreated).Into(s.t, &made)
	return made.VariantID
}

// opens sets when the creator meets buyers, every day.
func (s *studio) opens(start, end string) {
	s.t.Helper()
	weekly := []harness.JSON{}
	for _, day := range []string{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"} {
		weekly = append(weekly, harness.JSON{"weekday": day, "start": start, "end": end})
	}
	s.AsCreator(s.t, http.MethodPut, "/v1/scheduling/availability",
		harness.JSON{"timezone": newYork, "weekly": weekly}).Want(s.t, http.StatusOK)
}

const newYork = "America/New_York"

// sell opens a session for an appointment listing; over replaces members of the request.
func (s *studio) sell(l harness.Listing, over harness.JSON) harness.JSON {
	s.t.Helper()
	body := harness.JSON{
		"listingId": l.ID, "externalCustomerId": s.customer, "successUrl": s.site + "/thanks",
		"cancelUrl": s.site + "/pricing",
	}
	maps.Copy(body, over)
	return s.AsBackend(s.t, http.MethodPost, "/v1/checkout-sessions", body).Want(s.t, http.StatusCreated).Map(s.t)
}

// open are the starts that the public calendar shows on a day of New York's.
func (s *studio) open(l harness.Listing, day string) (starts []string) {
	s.t.Helper()
	var response struct{ Slots []struct{ StartsAt string } }
	s.Ask(s.t, harness.Request{Method: http.MethodGet, Path: "/v1/listings/" + l.ID + "/slots",
		Query: url.Values{"date": {day}, "timezone": {newYork}}}).
		Want(s.t, http.StatusOK).Into(s.t, &response)
	for _, slot := range response.Slots {
		starts = append(starts, slot.StartsAt)
	}
	return starts
}

// take books times as another buyer does.
func (s *studio) take(l harness.Listing, starts ...string) {
	s.t.Helper()
	for _, at := range starts {
		s.sell(l, harness.JSON{
			"externalCustomerId": harness.Unique("user"),
			"appointmentSlot":    harness.JSON{"startsAt": at, "timezone": "Asia/Tokyo"},
		})
	}
}

// now is the account's time.
func (s *studio) now() time.Time {
	s.t.Helper()
	var clock struct{ Now time.Time }
	s.AsBackend(s.t, http.MethodGet, "/v1/sandbox/clock", nil).Want(s.t, http.StatusOK).Into(s.t, &clock)
	return clock.Now
}

// fullDay is a day of New York's of which nothing is over yet.
func (s *studio) fullDay() string {
	s.t.Helper()
	return s.now().In(mustZone(s.t)).AddDate(0, 0, 3).Format(time.DateOnly)
}

// advanceTo moves the account's clock.
func (s *studio) advanceTo(at time.Time) {
	s.t.Helper()
	s.AsBackend(s.t, http.MethodPost, "/v1/sandbox/clock/advance", harness.JSON{"to": stamp(at)}).Want(s.t, http.StatusOK)
}

// booked are the appointments on the session's receipt.
func (s *studio) booked(session harness.JSON) (all []map[string]any) {
	s.t.Helper()
	list, _ := s.Receipt(s.t, harness.Session{ID: session["id"].(string)})["appointments"].([]any)
	for _, a := range list {
		all = append(all, a.(map[string]any))
	}
	return all
}

// lose takes a session's times away from it, which nothing that a buyer can do brings about.
func (s *studio) lose(session harness.JSON) {
	s.t.Helper()
	s.Exec(s.t, "UPDATE reservations SET status = 'released' WHERE checkout_id = $1", session["id"])
}

// Session reads a checkout session.
func (s *studio) Session(t *testing.T, session harness.JSON) harness.JSON {
	t.Helper()
	return s.AsBackend(t, http.MethodGet, "/v1/checkout-sessions/"+session["id"].(string), nil).Want(t,
		http.StatusOK).Map(t)
}

func stamp(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05.000Z") }

func parse(t *testing.T, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func mustZone(t testing.TB) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation(newYork)
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

// tabIn is a tab of a browser that lives in a time zone.
func tabIn(t *testing.T, zone string) *tab {
	t.Helper()
	b := newTab(t)
	if _, err := chromedp.Call(
		b.ctx, emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: zone},
	); err != nil {
		t.Fatal(err)
	}
	return b
}

// shown waits for the calendar and the times of its first day.
func (b *tab) shown() {
	b.t.Helper()
	b.wait(`document.querySelector("#times [role=option]") && document.querySelector("#days [data-open]")`)
}

// pickDay goes to a day's month, as a person would by the buttons, and chooses the day.
func (b *tab) pickDay(day string) {
	b.t.Helper()
	for range 14 {
		b.wait(`document.querySelector("#days").getAttribute("aria-busy") === "false"`)
		if eval[bool](b, `Boolean(document.querySelector('#days [data-day="`+day+`"]'))`) {
			break
		}
		b.click("#next")
	}
	b.wait(`document.querySelector('#days [data-day="` + day + `"][data-open]')`)
	b.click(`#days [data-day="` + day + `"]`)
	b.wait(
		`document.querySelector('#days [data-day="` + day +
			`"][aria-selected=true]') && document.querySelector("#times [role=option]")`,
	)
}

// pickTime chooses a time of the day shown by its instant.
func (b *tab) pickTime(start string) {
	b.t.Helper()
	b.wait(`document.querySelector('[role=option][data-start="` + start + `"]')`)
	b.click(`[role=option][data-start="` + start + `"]`)
}

// payHere fills in the payment form and sends it.
func (b *tab) payHere() {
	b.t.Helper()
	fillIn(b, harness.CardSucceeds)
	b.click("#submit")
	b.sees("Payment complete")
}
