package order

import (
	"testing"
	"time"

	"sundry/core/appointment"
	core "sundry/core/checkout"
	"sundry/core/locale"
	"sundry/modules/checkout"
)

func TestTimesAreShownInTheBuyersZone(t *testing.T) {
	t.Parallel()
	british := locale.Locale{Language: "en", Region: "GB"}
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
		"with abbreviation and offset": {
			Meeting{
				Reader: british, StartsAt: at("2026-06-01T14:30:00Z"), EndsAt: at("2026-06-01T15:00:00Z"),
				Zone: "Europe/Paris",
			},
			"Monday, 1 June 2026", "16:30 – 17:00 CEST (UTC+2)",
		},
		"the first of two equal hours": {
			Meeting{
				Reader: british, StartsAt: at("2026-11-01T05:30:00Z"), EndsAt: at("2026-11-01T05:45:00Z"),
				Zone: "America/New_York",
			},
			"Sunday, 1 November 2026", "01:30 – 01:45 EDT (UTC−4)",
		},
		"the second of two equal hours": {
			Meeting{
				Reader: british, StartsAt: at("2026-11-01T06:30:00Z"), EndsAt: at("2026-11-01T06:45:00Z"),
				Zone: "America/New_York",
			},
			"Sunday, 1 November 2026", "01:30 – 01:45 EST (UTC−5)",
		},
		"across a change of clocks": {
			Meeting{
				Reader: british, StartsAt: at("2026-03-29T00:30:00Z"), EndsAt: at("2026-03-29T01:30:00Z"),
				Zone: "Europe/Paris",
			},
			"Sunday, 29 March 2026", "01:30 CET (UTC+1) – 03:30 CEST (UTC+2)",
		},
		"across midnight": {
			Meeting{
				Reader: british, StartsAt: at("2026-06-01T21:30:00Z"), EndsAt: at("2026-06-01T22:30:00Z"),
				Zone: "Europe/Paris",
			},
			"Monday, 1 June 2026", "23:30 – Tuesday, 2 June 2026, 00:30 CEST (UTC+2)",
		},
		"a zone without abbreviation": {
			Meeting{
				Reader: british, StartsAt: at("2026-06-01T12:00:00Z"), EndsAt: at("2026-06-01T13:00:00Z"),
				Zone: "America/Sao_Paulo",
			},
			"Monday, 1 June 2026", "09:00 – 10:00 UTC−3",
		},
		"an offset with minutes": {
			Meeting{
				Reader: british, StartsAt: at("2026-06-01T12:00:00Z"), EndsAt: at("2026-06-01T13:00:00Z"),
				Zone: "Asia/Kolkata",
			},
			"Monday, 1 June 2026", "17:30 – 18:30 IST (UTC+5:30)",
		},
		"UTC": {
			Meeting{
				Reader: british, StartsAt: at("2026-06-01T12:00:00Z"), EndsAt: at("2026-06-01T13:00:00Z"), Zone: "UTC",
			},
			"Monday, 1 June 2026", "12:00 – 13:00 UTC",
		},
		"as a country of twelve hours writes it": {
			Meeting{
				Reader: locale.Default, StartsAt: at("2026-06-01T16:00:00Z"), EndsAt: at("2026-06-01T17:00:00Z"),
				Zone: "America/New_York",
			},
			"Monday, June 1, 2026", "12:00 PM – 1:00 PM EDT (UTC−4)",
		},
		"a zone that this program does not know yet": {
			Meeting{
				Reader: british, StartsAt: at("2026-06-01T12:00:00Z"), EndsAt: at("2026-06-01T13:00:00Z"),
				Zone: "Mars/Olympus",
			},
			"Monday, 1 June 2026", "12:00 – 13:00 UTC",
		},
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

func TestWhatCancelingReturnsIsPromised(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		language string
		hours    *int
		total    int64
		want     string
	}{
		"until a day before": {"en", new(24), 100, "Full refund if you cancel at least 24 hours before the start."},
		"until an hour":      {"en", new(1), 100, "Full refund if you cancel at least 1 hour before the start."},
		"until the start":    {"en", new(0), 100, "Full refund if you cancel before the start."},
		"in German": {
			"de", new(24), 100, "Volle Erstattung, wenn du mindestens 24 Stunden vor Beginn absagst.",
		},
		"in French": {
			"fr", new(24), 100, "Remboursement intégral si vous annulez au moins 24 heures avant le début.",
		},
		"nothing is promised": {"en", nil, 100, ""},
		"nothing is paid":     {"en", new(24), 0, ""},
	} {
		o := Order{Reader: locale.ParseTag(c.language), Total: c.total, Booking: &Booking{FullRefundHours: c.hours}}
		if got := o.RefundPromise(); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	now := time.Date(2026, 3, 8, 9, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		starts []time.Duration
		want   string
	}{
		"the day after": {[]time.Duration{24 * time.Hour},
			"Full refund if you cancel at least 24 hours before the start."},
		"in four hours": {[]time.Duration{4 * time.Hour}, "Not refundable: it starts in less than 24 hours."},
		"in four hours and later": {[]time.Duration{4 * time.Hour, 99 * time.Hour},
			"Full refund if you cancel at least 24 hours before the start."},
		"that has begun": {[]time.Duration{-time.Minute}, ""},
		"that has begun and another": {[]time.Duration{-time.Minute, time.Hour},
			"Not refundable: it starts in less than 24 hours."},
	} {
		o := Order{Reader: locale.ParseTag("en"), Total: 100, Now: now, Booking: &Booking{FullRefundHours: new(24)}}
		for _, after := range c.starts {
			o.Booking.Times = append(o.Booking.Times, Meeting{StartsAt: now.Add(after)})
		}
		if got := o.RefundPromise(); got != c.want {
			t.Errorf("a time %s: %q, want %q", name, got, c.want)
		}
	}
	begun := &Booking{FullRefundHours: new(0), Times: []Meeting{{StartsAt: now.Add(-time.Minute)}}}
	if got := (Order{Reader: locale.ParseTag("en"), Total: 100, Now: now, Booking: begun}).RefundPromise(); got != "" {
		t.Errorf("a time that could be canceled until its start, which has passed: %q", got)
	}
	if got := (Order{Total: 100}).RefundPromise(); got != "" {
		t.Errorf("a product: %q", got)
	}
}

// A move that keeps an earlier last moment of a full refund changes the hours of its appointment, not of the offer.
func TestAPaidOrderPromisesWhatItsAppointmentsDo(t *testing.T) {
	t.Parallel()
	until := func(hours int, status appointment.Status) appointment.State {
		return appointment.State{
			Status: status, StartsAt: time.Date(2027, 3, 8, 9, 0, 0, 0, time.UTC), Timezone: "Europe/Paris",
			RefundPolicy: appointment.RefundPolicy{Promised: true, FullHours: hours},
		}
	}
	const on, off = appointment.StatusConfirmed, appointment.StatusCanceled
	for name, c := range map[string]struct {
		booked []appointment.State
		want   string
	}{
		"not moved":    {[]appointment.State{until(48, on)}, "Full refund if you cancel at least 48 hours before the start."},
		"moved":        {[]appointment.State{until(72, on)}, "Full refund if you cancel at least 72 hours before the start."},
		"both":         {[]appointment.State{until(48, on), until(72, on)}, ""},
		"one canceled": {[]appointment.State{until(48, off), until(0, on)}, "Full refund if you cancel before the start."},
		"all canceled": {[]appointment.State{until(48, off)}, ""},
	} {
		page := bookedPage(func(p *checkout.Page) {
			p.State, p.Session.Status, p.Appointments = core.PagePaid, core.StatusPaid, c.booked
		})
		o := New(page, locale.ParseTag("en"), "", func(id string) string { return "/a/" + id })
		if got := o.RefundPromise(); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func bookedPage(change func(*checkout.Page)) checkout.Page {
	return sessionPage(func(p *checkout.Page) {
		offer := &p.Session.Offer
		offer.ListingType, offer.ListingID, offer.VariantID = "APPOINTMENT", "lst_1", "var_1"
		offer.DurationMinutes, offer.SessionCount, offer.DeliveryModes = 45, 1, []string{"virtual"}
		offer.FullRefundHours = new(48)
		p.Session.ExpiresAt = p.Now.Add(30 * time.Minute)
		p.Session.Slots = []core.AppointmentSlot{
			{StartsAt: p.Now, EndsAt: p.Now.Add(time.Hour), Timezone: "Asia/Tokyo", DeliveryMode: "virtual"},
		}
		change(p)
	})
}

func TestAnAppointmentSessionBecomesItsView(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		change func(*checkout.Page)
		holds  func(Order) bool
	}{
		"what is not booked has no times": {
			func(p *checkout.Page) { p.Session.Offer.VariantID = "" },
			func(c Order) bool { return c.Booking == nil && !c.CanChange() },
		},
		"before payment the chosen times": {func(*checkout.Page) {}, func(c Order) bool {
			return len(c.Booking.Times) == 1 && c.Booking.Times[0].Zone == "Asia/Tokyo" && c.Booking.Minutes == 45 &&
				c.CanChange() && c.LineNote() == "45 minutes · Online" &&
				c.RefundPromise() == "Not refundable: it starts in less than 48 hours."
		}},
		"while a payment is under way nothing can be changed": {
			func(p *checkout.Page) { p.State = core.PageProcessing }, func(c Order) bool { return !c.CanChange() },
		},
		"once paid the appointments, which may have moved": {func(p *checkout.Page) {
			p.State, p.Session.Status = core.PagePaid, core.StatusPaid
			p.Appointments = []appointment.State{
				{
					ID: "apt_1", Status: appointment.StatusConfirmed, StartsAt: p.Now.Add(time.Hour),
					Timezone: "Europe/Paris", DeliveryMode: appointment.InPerson, Address: "7 Bridge Street",
				},
				{MeetingURL: "https://meet.example/a", Status: appointment.StatusCanceled},
			}
		}, func(c Order) bool {
			a, b := c.Booking.Times[0], c.Booking.Times[1]
			return len(c.Booking.Times) == 2 && a.Zone == "Europe/Paris" && a.Address == "7 Bridge Street" && !a.Canceled &&
				a.ManageURL == "https://pay.example/a/apt_1" && b.Canceled && b.MeetingURL != ""
		}},
		"a session that is over leads to a fresh one": {func(p *checkout.Page) {
			p.State, p.AgainURL = core.PageExpired,
				"https://pay.example/c/s/again"
		}, func(c Order) bool {
			c.Embedded = true
			return c.AgainHref() == "https://pay.example/c/s/again?embed=1"
		}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if view := New(bookedPage(c.change), locale.Default, "s", managed); !c.holds(view) {
				t.Errorf("view %+v, booking %+v", view, view.Booking)
			}
		})
	}
}
