package checkout

import (
	"sundry/adapters/web/layout"
	"sundry/adapters/web/order"
	"sundry/core/apiformat"
	"sundry/modules/booking"
)

// newCalendar is the window of what can be booked.
func newCalendar(w booking.Window, ok bool) *order.Calendar {
	if !ok {
		return &order.Calendar{}
	}
	return &order.Calendar{Zone: w.Timezone, Until: w.Until.String(), Gap: w.Gap}
}

// Planner returns the calendar of the page.
func (p page) Planner() layout.Planner {
	return layout.Planner{
		Sessions: p.Booking.Sessions, Hour12: p.Reader.Hour12, Confirm: p.Reader.Text("choose.confirm"),
		Zones: layout.ZoneGroups(p.Reader, p.Now),
	}
}

// calendarData is the JSON that calendar.js reads.
type calendarData struct {
	ListingID  string       `json:"listingId"`
	VariantID  string       `json:"variantId"`
	Minutes    int          `json:"minutes"`
	Sessions   int          `json:"sessions"`
	Modes      []string     `json:"modes"`
	GapMinutes int          `json:"gapMinutes"`
	Zone       string       `json:"zone"`
	Until      string       `json:"until"`
	Held       []heldMoment `json:"held"` // chosen before, and kept while the buyer looks for others
}

type heldMoment struct {
	StartsAt string `json:"startsAt"`
	EndsAt   string `json:"endsAt"`
	Timezone string `json:"timezone"`
	Mode     string `json:"mode"`
}

// newCalendarData is the booking for the script; nil where no times are chosen.
func newCalendarData(b *order.Booking) *calendarData {
	if b == nil || b.Calendar == nil {
		return nil
	}
	out := &calendarData{
		ListingID: b.ListingID, VariantID: b.VariantID, Minutes: b.Minutes, Sessions: b.Sessions, Modes: b.Modes,
		GapMinutes: b.Calendar.Gap, Zone: b.Calendar.Zone, Until: b.Calendar.Until, Held: []heldMoment{},
	}
	for _, m := range b.Times {
		out.Held = append(out.Held, heldMoment{
			apiformat.Instant(m.StartsAt), apiformat.Instant(m.EndsAt), m.Zone, m.Mode,
		})
	}
	return out
}
