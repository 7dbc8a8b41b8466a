package checkout

import (
	"context"
	"slices"
	"time"

	"sundry/adapters/web/layout"
	"sundry/adapters/web/order"
	"sundry/core/apiformat"
	core "sundry/core/checkout"
	"sundry/core/civil"
	"sundry/modules/booking"
)

// daysAround covers the days, in any zone, that the buffers of a time and the weekly cap reach.
const daysAround = 9

// calendar returns what can be booked for a session, with what its present times leave to its buyer alone.
func (r *Routes) calendar(ctx context.Context, session core.State) (*order.Calendar, error) {
	offer := session.Offer
	window, ok, err := r.Booking.Window(ctx, offer.ListingID, offer.VariantID)
	calendar := newCalendar(window, ok)
	if err != nil || !ok || len(session.Slots) == 0 {
		return calendar, err
	}
	byStart := func(a, b core.AppointmentSlot) int { return a.StartsAt.Compare(b.StartsAt) }
	first := civil.DateIn(time.UTC, slices.MinFunc(session.Slots, byStart).StartsAt) - daysAround
	last := civil.DateIn(time.UTC, slices.MaxFunc(session.Slots, byStart).StartsAt) + daysAround
	freed, err := r.Booking.OpenToHolder(ctx, booking.CalendarQuery{
		ListingID: offer.ListingID, VariantID: offer.VariantID, DurationMinutes: offer.DurationMinutes,
		From: first, To: last, MostDays: int(last-first) + 1, CheckoutID: session.ID,
	})
	calendar.Freed = freed.Slots
	return calendar, err
}

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
	// Freed are open to this buyer alone.
	Freed []openMoment `json:"freed"`
}

type openMoment struct {
	StartsAt string `json:"startsAt"`
	EndsAt   string `json:"endsAt"`
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
		GapMinutes: b.Calendar.Gap, Zone: b.Calendar.Zone, Until: b.Calendar.Until,
		Held: []heldMoment{}, Freed: []openMoment{},
	}
	for _, s := range b.Calendar.Freed {
		out.Freed = append(out.Freed, openMoment{apiformat.Instant(s.StartsAt()), apiformat.Instant(s.EndsAt())})
	}
	for _, m := range b.Times {
		out.Held = append(out.Held, heldMoment{
			apiformat.Instant(m.StartsAt), apiformat.Instant(m.EndsAt), m.Zone, m.Mode,
		})
	}
	return out
}
