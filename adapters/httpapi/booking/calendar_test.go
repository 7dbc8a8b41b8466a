package booking_test

import (
	"testing"
	"time"

	"sundry/adapters/httpapi/booking"
	"sundry/core/apiformat"
	"sundry/core/appointment"
	"sundry/core/civil"
	"sundry/core/slot"
	module "sundry/modules/booking"
)

// The responses as they are documented.
type (
	openTime struct {
		StartsAt string `json:"startsAt"`
		EndsAt   string `json:"endsAt"`
	}
	openDay struct {
		Date  string     `json:"date"`
		Slots []openTime `json:"slots"`
	}
	head struct {
		ListingID       string  `json:"listingId"`
		VariantID       *string `json:"variantId"`
		Timezone        string  `json:"timezone"`
		DurationMinutes *int    `json:"durationMinutes"`
	}
	oneDay struct {
		head
		Date          string                     `json:"date"`
		DeliveryModes []appointment.DeliveryMode `json:"deliveryModes"`
		Slots         []openTime                 `json:"slots"`
	}
	someDays struct {
		head
		From          string                     `json:"from"`
		To            string                     `json:"to"`
		DeliveryModes []appointment.DeliveryMode `json:"deliveryModes"`
		Days          []openDay                  `json:"days"`
	}
)

// openTimes are a creator's, in New York, as a buyer in another zone sees them.
func openTimes(t *testing.T, zone string, first, last civil.Date) []slot.Slot {
	t.Helper()
	hours := slot.Settings{Timezone: "America/New_York", Weekly: []slot.WeeklyHours{
		{Weekday: "monday", Hours: slot.Hours{Start: "09:00", End: "17:00"}},
		{Weekday: "saturday", Hours: slot.Hours{Start: "00:00", End: "24:00"}},
	}}
	availability, err := hours.Clean().Availability()
	if err != nil {
		t.Fatal(err)
	}
	viewer, err := civil.ParseZone(zone)
	if err != nil {
		t.Fatal(err)
	}
	return slot.Open(slot.Query{
		Availability: availability, Now: time.Date(2026, 2, 20, 12, 0, 0, 0, time.UTC),
		Policy: slot.Policy{Duration: 45, Step: 15, HorizonDays: 300},
	}, first, last, viewer)
}

func dateOf(t *testing.T, text string) civil.Date {
	t.Helper()
	date, ok := civil.ParseDate(text)
	if !ok {
		t.Fatal(text)
	}
	return date
}

func timesOf(slots []slot.Slot) []openTime {
	times := make([]openTime, len(slots))
	for i, s := range slots {
		times[i] = openTime{apiformat.Instant(s.StartsAt()), apiformat.Instant(s.EndsAt())}
	}
	return times
}

func TestCalendarsMatchEncodingJSON(t *testing.T) {
	t.Parallel()
	first, last := dateOf(t, "2026-03-01"), dateOf(t, "2026-03-31")
	open, variant, minutes := openTimes(t, "Europe/Paris", first, last), "var_1", 45
	october := dateOf(t, "2026-10-24") // in Beirut its end comes twice
	twice := openTimes(t, "Asia/Beirut", october, october+1)
	if len(open) < 400 || len(twice) < 90 {
		t.Fatalf("%d and %d open times", len(open), len(twice))
	}
	for name, c := range map[string]module.Calendar{
		"a month": {
			CalendarQuery: module.CalendarQuery{
				ListingID: "lst_1", VariantID: variant, Timezone: "Europe/Paris", DurationMinutes: minutes, From: first,
				To: last,
			},
			Modes: []appointment.DeliveryMode{appointment.Virtual, appointment.InPerson}, Slots: open,
		},
		"a day": {
			CalendarQuery: module.CalendarQuery{
				ListingID: "lst_1", VariantID: variant, Timezone: "Europe/Paris", DurationMinutes: minutes,
				From: open[0].Date, To: open[0].Date,
			},
			Modes: []appointment.DeliveryMode{appointment.Virtual},
			Slots: openTimes(t, "Europe/Paris", open[0].Date, open[0].Date),
		},
		"clocks that go back over midnight": {
			CalendarQuery: module.CalendarQuery{ListingID: "lst_1", VariantID: variant, DurationMinutes: minutes, From: october,
				To: october + 1}, Slots: twice,
		},
		"nothing open": {
			CalendarQuery: module.CalendarQuery{
				ListingID: "lst_1", VariantID: variant, DurationMinutes: minutes, From: first, To: first + 2,
			},
		},
		"not for appointments": {
			CalendarQuery: module.CalendarQuery{ListingID: "<lst & co>", From: first, To: first},
			Modes:         []appointment.DeliveryMode{},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			top := head{ListingID: c.ListingID, Timezone: c.Timezone}
			if c.VariantID != "" {
				top.VariantID, top.DurationMinutes = &variant, &minutes
			}
			wanted := someDays{top, c.From.String(), c.To.String(), c.Modes, []openDay{}}
			for day := c.From; day <= c.To; day++ {
				slots := []slot.Slot{}
				for _, s := range c.Slots {
					if s.Date == day {
						slots = append(slots, s)
					}
				}
				wanted.Days = append(wanted.Days, openDay{day.String(), timesOf(slots)})
			}
			written(t, booking.SlotsRangeBody, c, wanted)
			written(t, booking.SlotsBody, c, oneDay{top, c.From.String(), c.Modes, timesOf(c.Slots)})
		})
	}
}

// written holds a response to what encoding/json makes of its documented shape.
func written(t *testing.T, body func(module.Calendar) ([]byte, error), of module.Calendar, as any) {
	t.Helper()
	want, err := apiformat.JSON(as)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := body(of); err != nil || string(got) != string(want) {
		t.Errorf("%v\n got %s\nwant %s", err, got, want)
	}
}
