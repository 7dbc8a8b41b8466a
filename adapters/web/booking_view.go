package web

import (
	"net/url"
	"slices"
	"time"

	"sundry/core/appointment"
	"sundry/core/checkout"
	"sundry/core/civil"
	"sundry/core/wire"
	"sundry/modules/booking"
	"sundry/modules/selling"
)

// Booking is what the pages of an appointment session show beside the price.
type Booking struct {
	ListingID, VariantID string
	Minutes, Sessions    int      // of each session; how many
	Modes                []string // virtual, in_person
	// Times are those chosen, once paid those booked.
	Times []Meeting
	// Calendar is set where times are chosen.
	Calendar *Calendar
}

// Meeting is one time of the buyer's.
type Meeting struct {
	StartsAt, EndsAt time.Time
	Zone             string // the buyer's, IANA
	Mode             string
	MeetingURL       string // once paid, of a virtual one
	Address          string // once paid, of one in person
	ManageURL        string // once paid: where the buyer moves or cancels it
	Canceled         bool
	TwelveHours      bool
}

// Calendar is what the script must know before it asks for open times. Nothing can be booked without a Zone.
type Calendar struct {
	Zone  string // the creator's
	Until string // last civil day that may have open times
	Gap   int    // minutes between two sessions
}

// bookingView is the appointment part of a session; nil for what is not booked. manage gives the address of an
// appointment's own page.
func bookingView(p selling.Page, manage func(appointmentID string) string) *Booking {
	offer := p.Session.Offer
	if !offer.ForAppointments() {
		return nil
	}
	view := &Booking{
		ListingID: offer.ListingID, VariantID: offer.VariantID, Minutes: offer.DurationMinutes, Sessions: max(1, offer.SessionCount),
		Modes: offer.DeliveryModes,
	}
	if p.Session.Status == checkout.StatusPaid {
		for _, a := range p.Appointments {
			view.Times = append(view.Times, Meeting{
				StartsAt: a.StartsAt, EndsAt: a.EndsAt, Zone: a.Timezone, Mode: string(a.DeliveryMode),
				MeetingURL: a.MeetingURL, Address: a.Address, ManageURL: manage(a.ID), Canceled: a.Status == appointment.StatusCanceled,
			})
		}
		return view
	}
	for _, s := range p.Session.Slots {
		view.Times = append(view.Times, Meeting{StartsAt: s.StartsAt, EndsAt: s.EndsAt, Zone: s.Timezone, Mode: s.DeliveryMode})
	}
	return view
}

// calendarView is the window of what can be booked, for the script.
func calendarView(w booking.Window, ok bool) *Calendar {
	if !ok {
		return &Calendar{}
	}
	return &Calendar{Zone: w.Timezone, Until: w.Until.String(), Gap: w.Gap}
}

// calendarData is what calendar.js reads.
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

// data is the booking for the script; nil where no times are chosen.
func (b *Booking) data() *calendarData {
	if b == nil || b.Calendar == nil {
		return nil
	}
	out := &calendarData{
		ListingID: b.ListingID, VariantID: b.VariantID, Minutes: b.Minutes, Sessions: b.Sessions, Modes: b.Modes,
		GapMinutes: b.Calendar.Gap, Zone: b.Calendar.Zone, Until: b.Calendar.Until, Held: []heldMoment{},
	}
	for _, m := range b.Times {
		out.Held = append(out.Held, heldMoment{wire.Instant(m.StartsAt), wire.Instant(m.EndsAt), m.Zone, m.Mode})
	}
	return out
}

// Hybrid tells whether the buyer chooses where to meet.
func (b *Booking) Hybrid() bool { return len(b.Modes) > 1 }

// Summary says what is booked: "60 minutes · Online", "3 sessions of 60 minutes".
func (b *Booking) Summary() string {
	length := formatMinutes(b.Minutes)
	if b.Sessions > 1 {
		length = text("booking.sessions", b.Sessions, length)
	}
	if len(b.Modes) == 1 {
		return length + " · " + text("mode."+b.Modes[0])
	}
	return length
}

// ModeName says where they meet, in a word or two.
func (m Meeting) ModeName() string { return text("mode." + m.Mode) }

// Day is the date in the buyer's zone.
func (m Meeting) Day() string { return formatDay(m.StartsAt.In(zoneOf(m.Zone))) }

// Hours are the times of day with their zone and its offset from UTC, which alone tells the two apart that an hour
// repeated by a change of clocks has. Where the clocks change in between, both ends say theirs.
func (m Meeting) Hours() string {
	zone := zoneOf(m.Zone)
	from, to := m.StartsAt.In(zone), m.EndsAt.In(zone)
	start, end := m.clock(from), m.clock(to)
	if civil.DateIn(zone, from) != civil.DateIn(zone, to) {
		end = to.Format("Mon 2 January, ") + end
	}
	if zoneWords(from) != zoneWords(to) {
		start += " " + zoneWords(from)
	}
	return start + " – " + end + " " + zoneWords(to)
}

func (m Meeting) clock(t time.Time) string {
	if m.TwelveHours {
		return t.Format("3:04 pm")
	}
	return formatClock(t)
}

// zoneOf finds a zone that was accepted before; a newer program's name falls back to UTC, which the words then say.
func zoneOf(name string) *time.Location {
	zone, err := civil.ParseZone(name)
	if err != nil {
		return time.UTC
	}
	return zone
}

// zoneWords is the zone's abbreviation, where it has one, and its offset: "EDT (UTC−4)", "UTC−3".
func zoneWords(t time.Time) string {
	name, _ := t.Zone()
	offset := civil.Offset(t, t.Location())
	if name == "UTC" || name == "" || name[0] == '+' || name[0] == '-' {
		return offset
	}
	return name + " (" + offset + ")"
}

// twelveHourCountries write half past two in the afternoon as 2:30 pm.
var twelveHourCountries = []string{"US", "CA", "AU", "NZ", "IN", "PK", "BD", "PH", "MY", "EG", "SA", "AE", "CO"}

// tellTime fits the times to the habits of the buyer's country, guessed from the browser's first language with one.
func (c *Checkout) tellTime(country string) {
	c.TwelveHours = slices.Contains(twelveHourCountries, country)
	if c.Booking == nil {
		return
	}
	for i := range c.Booking.Times {
		c.Booking.Times[i].TwelveHours = c.TwelveHours
	}
}

// Choosing tells whether the buyer is to choose times.
func (c Checkout) Choosing() bool { return checkoutTemplates[c.State] == "choose.html" }

// CanChange tells whether the times may still be chosen anew: not while a payment is under way, and not after it.
func (c Checkout) CanChange() bool {
	return c.Booking != nil && checkoutTemplates[c.State] == "pay.html"
}

// ChooseHeading says what the buyer is to do.
func (c Checkout) ChooseHeading() string {
	if c.Booking.Sessions > 1 {
		return text("choose.heading_pack", c.Booking.Sessions)
	}
	return text("choose.heading")
}

// HeldHeading names the times chosen.
func (c Checkout) HeldHeading() string {
	if len(c.Booking.Times) > 1 {
		return text("booking.yours_pack")
	}
	return text("booking.yours")
}

// ChangeHref leads from the payment back to the calendar, PayHref from there to the payment, both in the same frame.
func (c Checkout) ChangeHref() string {
	query := url.Values{"change": {"1"}}
	if c.Embedded {
		query.Set("embed", "1")
	}
	return "?" + query.Encode()
}

// PayHref leads back from the calendar.
func (c Checkout) PayHref() string { return inFrame("/c/"+url.PathEscape(c.Secret), c.Embedded) }

// AgainHref opens a fresh session in the place of one that is over.
func (c Checkout) AgainHref() string { return inFrame(c.AgainURL, c.Embedded) }

// inFrame keeps a page inside the overlay when the one before it was.
func inFrame(address string, embedded bool) string {
	if embedded {
		return address + "?embed=1"
	}
	return address
}
