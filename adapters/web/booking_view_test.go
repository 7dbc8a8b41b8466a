package web

import (
	"testing"
	"time"

	"sundry/core/appointment"
	"sundry/core/checkout"
	"sundry/core/civil"
	"sundry/modules/booking"
	"sundry/modules/selling"
)

func TestTimesAreToldInTheBuyersZone(t *testing.T) {
	t.Parallel()
	at := func(text string) time.Time {
		parsed, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		return parsed
	}
	cases := map[string]struct {
		m          Meeting
		day, hours string
	}{
		"with abbreviation and offset":               {Meeting{StartsAt: at("2026-06-01T14:30:00Z"), EndsAt: at("2026-06-01T15:00:00Z"), Zone: "Europe/Paris"}, "Monday, 1 June 2026", "16:30 – 17:00 CEST (UTC+2)"},
		"the first of two equal hours":               {Meeting{StartsAt: at("2026-11-01T05:30:00Z"), EndsAt: at("2026-11-01T05:45:00Z"), Zone: "America/New_York"}, "Sunday, 1 November 2026", "01:30 – 01:45 EDT (UTC−4)"},
		"the second of two equal hours":              {Meeting{StartsAt: at("2026-11-01T06:30:00Z"), EndsAt: at("2026-11-01T06:45:00Z"), Zone: "America/New_York"}, "Sunday, 1 November 2026", "01:30 – 01:45 EST (UTC−5)"},
		"across a change of clocks":                  {Meeting{StartsAt: at("2026-03-29T00:30:00Z"), EndsAt: at("2026-03-29T01:30:00Z"), Zone: "Europe/Paris"}, "Sunday, 29 March 2026", "01:30 CET (UTC+1) – 03:30 CEST (UTC+2)"},
		"across midnight":                            {Meeting{StartsAt: at("2026-06-01T21:30:00Z"), EndsAt: at("2026-06-01T22:30:00Z"), Zone: "Europe/Paris"}, "Monday, 1 June 2026", "23:30 – Tue 2 June, 00:30 CEST (UTC+2)"},
		"a zone without abbreviation":                {Meeting{StartsAt: at("2026-06-01T12:00:00Z"), EndsAt: at("2026-06-01T13:00:00Z"), Zone: "America/Sao_Paulo"}, "Monday, 1 June 2026", "09:00 – 10:00 UTC−3"},
		"an offset with minutes":                     {Meeting{StartsAt: at("2026-06-01T12:00:00Z"), EndsAt: at("2026-06-01T13:00:00Z"), Zone: "Asia/Kolkata"}, "Monday, 1 June 2026", "17:30 – 18:30 IST (UTC+5:30)"},
		"UTC":                                        {Meeting{StartsAt: at("2026-06-01T12:00:00Z"), EndsAt: at("2026-06-01T13:00:00Z"), Zone: "UTC"}, "Monday, 1 June 2026", "12:00 – 13:00 UTC"},
		"as a country of twelve hours writes it":     {Meeting{StartsAt: at("2026-06-01T16:00:00Z"), EndsAt: at("2026-06-01T17:00:00Z"), Zone: "America/New_York", TwelveHours: true}, "Monday, 1 June 2026", "12:00 pm – 1:00 pm EDT (UTC−4)"},
		"a zone that this program does not know yet": {Meeting{StartsAt: at("2026-06-01T12:00:00Z"), EndsAt: at("2026-06-01T13:00:00Z"), Zone: "Mars/Olympus"}, "Monday, 1 June 2026", "12:00 – 13:00 UTC"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.m.Day() != c.day || c.m.Hours() != c.hours {
				t.Errorf("%s, %s; want %s, %s", c.m.Day(), c.m.Hours(), c.day, c.hours)
			}
		})
	}
}

func bookedPage(change func(*selling.Page)) selling.Page {
	return sessionPage(func(p *selling.Page) {
		offer := &p.Session.Offer
		offer.ListingType, offer.ListingID, offer.VariantID = "APPOINTMENT", "lst_1", "var_1"
		offer.DurationMinutes, offer.SessionCount, offer.DeliveryModes = 45, 1, []string{"virtual"}
		p.Session.ExpiresAt = p.Now.Add(30 * time.Minute)
		p.Session.Slots = []checkout.AppointmentSlot{{StartsAt: p.Now, EndsAt: p.Now.Add(time.Hour), Timezone: "Asia/Tokyo", DeliveryMode: "virtual"}}
		change(p)
	})
}

func TestAnAppointmentSessionBecomesItsView(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		change func(*selling.Page)
		holds  func(Checkout) bool
	}{
		"what is not booked has no times": {func(p *selling.Page) { p.Session.Offer.VariantID = "" }, func(c Checkout) bool { return c.Booking == nil && !c.CanChange() }},
		"before payment the chosen times": {func(*selling.Page) {}, func(c Checkout) bool {
			return len(c.Booking.Times) == 1 && c.Booking.Times[0].Zone == "Asia/Tokyo" && c.Booking.Minutes == 45 && c.CanChange() && c.LineNote() == "45 minutes · Online"
		}},
		"while a payment is under way nothing can be changed": {func(p *selling.Page) { p.State = checkout.PageProcessing }, func(c Checkout) bool { return !c.CanChange() }},
		"once paid the appointments, which may have moved": {func(p *selling.Page) {
			p.State, p.Session.Status = checkout.PagePaid, checkout.StatusPaid
			p.Appointments = []appointment.State{
				{ID: "apt_1", Status: appointment.StatusConfirmed, StartsAt: p.Now.Add(time.Hour), Timezone: "Europe/Paris", DeliveryMode: appointment.InPerson, Address: "7 Bridge Street"},
				{MeetingURL: "https://meet.example/a", Status: appointment.StatusCanceled},
			}
		}, func(c Checkout) bool {
			a, b := c.Booking.Times[0], c.Booking.Times[1]
			return len(c.Booking.Times) == 2 && a.Zone == "Europe/Paris" && a.Address == "7 Bridge Street" && !a.Canceled && a.ManageURL == "https://pay.example/a/apt_1" && b.Canceled && b.MeetingURL != ""
		}},
		"a session that is over leads to a fresh one": {func(p *selling.Page) { p.State, p.AgainURL = checkout.PageExpired, "https://pay.example/c/s/again" }, func(c Checkout) bool {
			c.Embedded = true
			return c.AgainHref() == "https://pay.example/c/s/again?embed=1"
		}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if view := checkoutView(bookedPage(c.change), "s", managed); !c.holds(view) {
				t.Errorf("view %+v, booking %+v", view, view.Booking)
			}
		})
	}
}

func TestTheCalendarIsToldItsBounds(t *testing.T) {
	t.Parallel()
	last, _ := civil.ParseDate("2026-04-30")
	got := calendarView(booking.Window{Timezone: "Europe/Paris", Until: last, Gap: 20}, true)
	if *got != (Calendar{Zone: "Europe/Paris", Until: "2026-04-30", Gap: 20}) {
		t.Errorf("%+v", got)
	}
	if none := calendarView(booking.Window{}, false); none.Zone != "" {
		t.Errorf("what cannot be booked: %+v", none)
	}
}

func TestTheTimeOfDayFollowsTheBuyersCountry(t *testing.T) {
	t.Parallel()
	for country, want := range map[string]bool{"US": true, "IE": false, "": false} {
		c := lesson("pay", 1, 1, "virtual")
		c.tellTime(country)
		if c.TwelveHours != want || c.Booking.Times[0].TwelveHours != want {
			t.Errorf("%q: %v", country, c.TwelveHours)
		}
	}
	plain := onceCheckout("pay")
	plain.tellTime("US") // nothing to tell
}
