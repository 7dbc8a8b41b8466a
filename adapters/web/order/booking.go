package order

import (
	"net/url"
	"slices"
	"strings"
	"time"

	"sundry/adapters/web/layout"
	"sundry/core/appointment"
	core "sundry/core/checkout"
	"sundry/core/civil"
	"sundry/core/locale"
	"sundry/core/slot"
	"sundry/modules/checkout"
)

// Booking holds what the pages of an appointment session show beside the price.
type Booking struct {
	Reader               locale.Locale
	ListingID, VariantID string
	Minutes, Sessions    int      // of each session; how many
	Modes                []string // virtual, in_person
	// FullRefundHours is the number of hours before the start up to which a cancellation is refunded in full; nil if
	// that is not promised.
	FullRefundHours *int
	// Times are the chosen times, or the booked ones once paid.
	Times []Meeting
	// Asked holds the questions beside the time, with the buyer's answers.
	Asked Asked
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
	Title            string // what is booked
	Reader           locale.Locale
}

// Calendar tells the script which times it may query. Nothing can be booked without a Zone.
type Calendar struct {
	Zone  string // the creator's
	Until string // last civil day that may have open times
	Gap   int    // minutes between two sessions
	// Freed are open to this buyer alone, because the times that they choose again are theirs.
	Freed []slot.Slot
}

// newBooking returns the appointment part of a session; nil for other listings. manage returns the address of an
// appointment's own page.
func newBooking(p checkout.Page, reader locale.Locale, manage func(appointmentID string) string) *Booking {
	offer := p.Session.Offer
	if !offer.ForAppointments() {
		return nil
	}
	view := &Booking{
		Reader:    reader,
		ListingID: offer.ListingID, VariantID: offer.VariantID, Minutes: offer.DurationMinutes,
		Sessions: max(1, offer.SessionCount),
		Modes:    offer.DeliveryModes, FullRefundHours: offer.FullRefundHours,
		Asked: newAsked(offer.Intake, p.Session.Intake),
	}
	if p.Session.Status == core.StatusPaid {
		view.FullRefundHours = refundHours(p.Appointments)
		for _, a := range p.Appointments {
			view.Times = append(view.Times, Meeting{
				Reader: reader, Title: offer.Title, StartsAt: a.StartsAt, EndsAt: a.EndsAt, Zone: a.Timezone,
				Mode:       string(a.DeliveryMode),
				MeetingURL: a.MeetingURL, Address: a.Address, ManageURL: layout.WithHours(manage(a.ID), reader),
				Canceled: a.Status == appointment.StatusCanceled,
			})
		}
		return view
	}
	for _, s := range p.Session.Slots {
		view.Times = append(view.Times, Meeting{
			Reader: reader, StartsAt: s.StartsAt, EndsAt: s.EndsAt, Zone: s.Timezone, Mode: s.DeliveryMode,
		})
	}
	return view
}

// refundHours returns the FullRefundHours of the appointments that take place; nil where a move made them differ: the
// page of each names its own.
func refundHours(booked []appointment.State) *int {
	booked = slices.DeleteFunc(slices.Clone(booked), func(a appointment.State) bool {
		return a.Status == appointment.StatusCanceled
	})
	if len(booked) == 0 || slices.ContainsFunc(booked, func(a appointment.State) bool {
		return a.RefundPolicy != booked[0].RefundPolicy
	}) {
		return nil
	}
	return booked[0].RefundPolicy.Hours()
}

// KeptUntil returns the time up to which the session holds its times: its end, or the start of the first of them.
func (o Order) KeptUntil() time.Time {
	until := o.ExpiresAt
	for _, m := range o.Booking.Times {
		if m.StartsAt.Before(until) {
			until = m.StartsAt
		}
	}
	return until
}

// Hybrid reports whether the buyer chooses where to meet.
func (b *Booking) Hybrid() bool { return len(b.Modes) > 1 }

// Summary describes what is booked: "60 minutes · Online", "3 sessions of 60 minutes".
func (b *Booking) Summary() string {
	length := b.Reader.Minutes(b.Minutes)
	if b.Sessions > 1 {
		length = b.Reader.Text("booking.sessions", b.Sessions, length)
	}
	if len(b.Modes) == 1 {
		return length + " · " + b.Reader.Text("mode."+b.Modes[0])
	}
	return length
}

// RefundPromise says until when canceling an appointment is refunded, or that it is too late for the times that were
// chosen; "" where nothing is promised or paid, and once all of them have begun.
func (o Order) RefundPromise() string {
	if o.Booking == nil || o.Booking.FullRefundHours == nil || o.Total == 0 {
		return ""
	}
	switch hours := *o.Booking.FullRefundHours; {
	case o.startWithin(0):
		return "" // nothing can be canceled any more
	case hours == 0:
		return o.Reader.Text("refund.until_start")
	case o.startWithin(hours):
		return o.Reader.Text("refund.too_late", o.Reader.Count("hours", hours))
	default:
		return o.Reader.Text("refund.until", o.Reader.Count("hours", hours))
	}
}

// startWithin reports whether every time of the order starts within so many hours.
func (o Order) startWithin(hours int) bool {
	last := o.Now.Add(time.Duration(hours) * time.Hour)
	return len(o.Booking.Times) > 0 &&
		!slices.ContainsFunc(o.Booking.Times, func(m Meeting) bool { return !m.Canceled && !m.StartsAt.Before(last) })
}

// ModeName names the place of the meeting in a word or two.
func (m Meeting) ModeName() string { return m.Reader.Text("mode." + m.Mode) }

// Day returns the date in the buyer's zone.
func (m Meeting) Day() string { return m.Reader.Day(m.StartsAt.In(zoneOf(m.Zone))) }

// Hours returns the times of day with their zone.
func (m Meeting) Hours() string {
	zone := zoneOf(m.Zone)
	return m.Reader.Hours(m.StartsAt.In(zone), m.EndsAt.In(zone))
}

// Links add the appointment to a calendar.
func (m Meeting) Links() appointment.CalendarLinks {
	where := m.MeetingURL
	if where == "" {
		where = m.Address
	}
	file, _, _ := strings.Cut(m.ManageURL, "?")
	return appointment.NewCalendarLinks(m.Title, where, m.StartsAt, m.EndsAt, file+"/calendar.ics")
}

// OtherClock links to the same page with the other clock.
func (o Order) OtherClock() string {
	query := url.Values{"hours": {"12"}}
	if o.Reader.Hour12 {
		query.Set("hours", "24")
	}
	if o.Embedded {
		query.Set("embed", "1")
	}
	return "?" + query.Encode()
}

// zoneOf finds a zone that was accepted before; a newer program's name falls back to UTC, which the page then names.
func zoneOf(name string) *time.Location {
	zone, err := civil.ParseZone(name)
	if err != nil {
		return time.UTC
	}
	return zone
}

// CanChange reports whether the times may still be changed: not while a payment is under way, and not after it.
func (o Order) CanChange() bool {
	return o.Booking != nil && o.Payable()
}

// ChooseHeading asks the buyer to choose times.
func (o Order) ChooseHeading() string {
	if o.Booking.Sessions > 1 {
		return o.Reader.Text("choose.heading_pack", o.Booking.Sessions)
	}
	return o.Reader.Text("choose.heading")
}

// HeldHeading names the times chosen.
func (o Order) HeldHeading() string {
	if len(o.Booking.Times) > 1 {
		return o.Reader.Text("booking.yours_pack")
	}
	return o.Reader.Text("booking.yours")
}

// ChangeHref leads from the payment back to the calendar, PayHref from there to the payment, both in the same frame.
func (o Order) ChangeHref() string {
	query := url.Values{"change": {"1"}}
	if o.Embedded {
		query.Set("embed", "1")
	}
	return "?" + query.Encode()
}

// PayHref leads back from the calendar.
func (o Order) PayHref() string { return InFrame("/c/"+url.PathEscape(o.Secret), o.Embedded) }

// AgainHref opens a fresh session in place of an expired one.
func (o Order) AgainHref() string { return InFrame(o.AgainURL, o.Embedded) }

// InFrame keeps a page inside the overlay when the one before it was.
func InFrame(address string, embedded bool) string {
	switch {
	case !embedded:
		return address
	case strings.Contains(address, "?"):
		return address + "&embed=1"
	}
	return address + "?embed=1"
}
