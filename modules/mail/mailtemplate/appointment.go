package mailtemplate

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"sundry/core/appointment"
	"sundry/core/civil"
	"sundry/core/intake"
	"sundry/core/locale"
	"sundry/core/money"
)

// side is the reader of a mail about an appointment.
type side int

const (
	toBuyer side = iota
	toCreator
	toGuest
)

// The mails about an appointment, to its buyer, to its creator and to the guests of the buyer.
var (
	KindAppointmentBooked      = define("appointment.booked", aboutAppointment("booked", toBuyer))
	KindAppointmentRescheduled = define("appointment.rescheduled", aboutAppointment("rescheduled", toBuyer))
	KindAppointmentCanceled    = define("appointment.canceled", aboutAppointment("canceled", toBuyer))
	KindAppointmentReminder    = define("appointment.reminder", aboutAppointment("reminder", toBuyer))
	KindCreatorBooked          = define("creator.appointment.booked", aboutAppointment("creator.booked", toCreator))
	KindCreatorRescheduled     = define(
		"creator.appointment.rescheduled", aboutAppointment("creator.rescheduled", toCreator),
	)
	KindCreatorCanceled  = define("creator.appointment.canceled", aboutAppointment("creator.canceled", toCreator))
	KindGuestBooked      = define("guest.appointment.booked", aboutAppointment("guest.booked", toGuest))
	KindGuestRescheduled = define("guest.appointment.rescheduled", aboutAppointment("guest.rescheduled", toGuest))
	KindGuestCanceled    = define("guest.appointment.canceled", aboutAppointment("guest.canceled", toGuest))
)

// Appointment holds the data of such a mail, frozen when its cause happened.
type Appointment struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	// Reader is the recipient and Other the person they meet. Either may be empty.
	Reader string `json:"reader,omitempty"`
	Other  string `json:"other,omitempty"`
	// Host is the buyer, in mails to their guests.
	Host     string    `json:"host,omitempty"`
	StartsAt time.Time `json:"startsAt"`
	EndsAt   time.Time `json:"endsAt"`
	// Timezone is the reader's, IANA.
	Timezone         string    `json:"timezone"`
	PreviousStartsAt time.Time `json:"previousStartsAt,omitzero"`
	MeetingURL       string    `json:"meetingUrl,omitempty"`
	Address          string    `json:"address,omitempty"`
	Reason           string    `json:"reason,omitempty"`  // why it was canceled
	ByBuyer          bool      `json:"byBuyer,omitempty"` // the buyer canceled it
	Locale           string    `json:"locale,omitempty"`  // the reader's
	// Intake holds the buyer's answers, note and guests. Mails to guests leave it out.
	Intake intake.Response `json:"intake,omitzero"`
	// Money is the effect of a cancellation on the payment.
	Money CanceledMoney `json:"money,omitzero"`
	// More are the further times of a pack, which one mail confirms together.
	More    []Appointment `json:"more,omitempty"`
	ReplyTo Party         `json:"replyTo,omitzero"` // the seller, in mails to the buyer
	Look    Look          `json:"look,omitzero"`    // theirs
	File    File          `json:"file,omitzero"`
}

// CanceledMoney describes what a cancellation did to the payment of an appointment.
type CanceledMoney struct {
	Decision appointment.RefundDecision `json:"decision"`
	Refunded money.Amount               `json:"refunded,omitzero"`
	// FullHours is the number of hours before the start up to which the buyer could cancel for a full refund.
	FullHours int `json:"fullHours,omitempty"`
}

// words are the sentence about it for the buyer or the creator; "" where nothing was paid.
func (m CanceledMoney) words(to reader, key, other string) string {
	switch m.Decision {
	case "", appointment.NothingPaid:
		return ""
	case appointment.RefundDue:
		return to.words(key+string(m.Decision), to.Money(m.Refunded))
	case appointment.TooLateToRefund:
		return to.words(key+string(m.Decision), to.Count("hours", m.FullHours))
	case appointment.NoRefundPolicy, appointment.RefundDeclined:
		return to.words(key+string(m.Decision), other)
	case appointment.PaymentDisputed, appointment.NothingLeft:
	}
	return to.words(key + string(m.Decision))
}

// File is a calendar that comes with a mail.
type File struct {
	Method  string `json:"method"` // iTIP's: REQUEST, CANCEL
	Content string `json:"content"`
}

// AppointmentOf takes a mail's words from an appointment, for a reader in a zone.
func AppointmentOf(a appointment.State, reader, other, timezone string) Appointment {
	return Appointment{
		ID: a.ID, Title: a.Title, Reader: reader, Other: other, StartsAt: a.StartsAt, EndsAt: a.EndsAt,
		Timezone:   timezone,
		MeetingURL: a.MeetingURL, Address: a.Address, Reason: a.CancelReason,
		ByBuyer: a.CanceledBy == appointment.ByBuyer,
	}
}

// hostOf is the buyer's name as guests read it. A name that is long, or could be an address, was not written to be a
// name: strangers read this mail.
func (a Appointment) hostOf(to reader) string {
	const longest = 60
	name := oneLine(a.Host)
	if name == "" || utf8.RuneCountInString(name) > longest || strings.ContainsAny(name, "/:@") ||
		strings.Contains(strings.ToLower(name), "www.") {
		return to.words("apt.guest.somebody")
	}
	return name
}

// aboutAppointment writes the mail with the texts of a key. Only buyers get the link to the page that changes it.
func aboutAppointment(key string, side side) func(Site, reader, Appointment) draft {
	return func(site Site, to reader, a Appointment) draft {
		zone, err := civil.ParseZone(a.Timezone)
		if err != nil {
			zone = time.UTC // a zone that was good once and is no longer known
		}
		day, clock := to.Day(a.StartsAt.In(zone)), to.Clock(a.StartsAt.In(zone))
		other := cmp.Or(oneLine(a.Other), to.words("apt.somebody"))
		subject := other // begins a sentence
		if side == toCreator {
			subject = cmp.Or(oneLine(a.Other), to.words("apt.buyer"))
		}
		d := draft{
			Subject: to.words("apt."+key+".subject", oneLine(a.Title), day, clock),
			Preview: to.words("apt.preview", day, clock),
			Heading: to.words("apt." + key + ".heading"),
			Figure:  day + ", " + clock + " " + locale.ZoneName(a.StartsAt.In(zone)),
			Lead:    []string{to.words("apt."+key+a.leadOf(key), other)},
			Rows:    a.rows(to, zone, other),
			Footer:  to.words("apt.footer.creator"),
		}
		if side == toGuest {
			return a.toGuest(d, to, key, other)
		}
		if len(a.More) > 0 {
			pack, count := "apt.creator.pack.", len(a.More)+1
			d.Lead = []string{to.words(pack+"lead", count, other)}
			if side == toBuyer {
				pack = "apt.pack."
				d.Lead = []string{to.words(pack+"lead", other)}
			}
			d.Subject, d.Heading = to.words(pack+"subject", count, oneLine(a.Title)), to.words(pack+"heading", count)
			first := a.first().In(zone)
			d.Preview, d.Figure = to.words("apt.pack.preview", to.Day(first), to.Clock(first)), ""
		}
		over, manage := key == "canceled" || key == "creator.canceled", "apt.manage"
		if over {
			manage = "apt.see" // nothing is left to move or cancel
			d.Rows = a.rowsOfCanceled(to, zone, other)
			if a.ByBuyer && side == toCreator {
				d.Lead = []string{to.words("apt."+key+".lead_buyer", subject)}
			}
		}
		moneyKey := "apt.creator.money."
		if side == toBuyer {
			moneyKey = "apt.money."
		}
		if text := a.Money.words(to, moneyKey, subject); text != "" {
			d.Money = true
			d.Lead = append(d.Lead, text)
		}
		if a.MeetingURL != "" && !over {
			d.Links = append(d.Links, link{to.words("apt.join"), a.MeetingURL})
		}
		if side == toBuyer {
			d.Footer = to.words("apt.footer.buyer", other)
			d.Links = append(d.Links, link{to.words(manage), site.ManageURL(a.ID)})
			d.Links = append(d.Links, a.calendarLinks(to, key)...)
			for i, one := range a.More {
				d.Links = append(d.Links, link{to.words("apt.manage_nth", i+2), site.ManageURL(one.ID)})
			}
			return d
		}
		page := "/bookings/" + a.ID
		if len(a.More) > 0 {
			page = "/bookings"
		}
		d.Links = append(d.Links, link{to.words("apt.see"), site.DashboardURL(page)})
		return d
	}
}

// first is the earliest time of a pack, which is in the buyer's order.
func (a Appointment) first() time.Time {
	at := a.StartsAt
	for _, one := range a.More {
		if one.StartsAt.Before(at) {
			at = one.StartsAt
		}
	}
	return at
}

// toGuest completes the mail to a guest of the buyer, in which nothing leads to a change.
func (a Appointment) toGuest(d draft, to reader, key, other string) draft {
	host := a.hostOf(to)
	d.Lead = []string{to.words("apt."+key+".lead", host, other)}
	d.Footer = to.words("apt.footer.guest", host, other)
	if len(a.More) > 0 {
		d.Figure = ""
	}
	if a.MeetingURL != "" && key != "guest.canceled" {
		d.Links = append(d.Links, link{to.words("apt.join"), a.MeetingURL})
	}
	d.Links = append(d.Links, a.calendarLinks(to, strings.TrimPrefix(key, "guest."))...)
	return d
}

// calendarLinks add the one time of a booking to calendars whose readers cannot open the attached file. A time that
// moved is not added again: the file moves it.
func (a Appointment) calendarLinks(to reader, key string) []link {
	if key != "booked" || len(a.More) > 0 {
		return nil
	}
	links := appointment.NewCalendarLinks(
		a.Title, cmp.Or(a.MeetingURL, a.Address), a.StartsAt, a.EndsAt, "")
	return []link{{to.words("apt.google"), links.Google}, {to.words("apt.outlook"), links.Outlook}}
}

// leadOf is the sentence for the buyer, who may have acted.
func (a Appointment) leadOf(key string) string {
	if a.ByBuyer && key == "canceled" {
		return ".lead_own"
	}
	return ".lead"
}

// rowsOfCanceled are the rows without the place: there is nothing to join.
func (a Appointment) rowsOfCanceled(to reader, zone *time.Location, other string) []row {
	where := to.words("apt.where")
	return slices.DeleteFunc(a.rows(to, zone, other), func(r row) bool { return r.Label == where })
}

// when is a time with its zone.
func (a Appointment) when(to reader, zone *time.Location) row {
	starts, ends := a.StartsAt.In(zone), a.EndsAt.In(zone)
	return row{
		Label: to.words("apt.when"), Strong: true,
		Value: to.Day(starts) + ", " + whole(to.Clock(starts)) + "–" +
			strings.Replace(to.ClockAfter(starts, ends), to.Clock(ends), whole(to.Clock(ends)), 1),
		Note: civil.ZoneLabel(a.StartsAt, zone),
	}
}

// whole keeps a time such as "9:00 AM" on one line.
func whole(clock string) string { return strings.ReplaceAll(clock, " ", "\u00a0") }

func (a Appointment) rows(to reader, zone *time.Location, other string) []row {
	rows := []row{{Label: to.words("apt.what"), Value: a.Title}, {Label: to.words("apt.with"), Value: other}}
	if !a.PreviousStartsAt.IsZero() {
		rows = append(rows, row{
			Label: to.words("apt.before"),
			Value: to.Day(a.PreviousStartsAt.In(zone)) + ", " + to.Clock(a.PreviousStartsAt.In(zone)),
		})
	}
	rows = append(rows, a.when(to, zone))
	for _, one := range a.More {
		rows = append(rows, one.when(to, zone))
	}
	rows = append(rows, row{
		Label: to.words("apt.where"), Value: cmp.Or(a.MeetingURL, a.Address, to.words("apt.unsaid")), Lines: true,
	})
	for _, answer := range a.Intake.Answers {
		value := answer.Value
		if answer.Type == intake.Checkbox {
			value = to.words("apt." + answer.Value)
		}
		rows = append(rows, row{Label: answer.Label, Asked: true, Value: value, Lines: true})
	}
	if a.Intake.Notes != "" {
		rows = append(rows, row{Label: to.words("apt.notes"), Value: a.Intake.Notes, Lines: true})
	}
	if len(a.Intake.Guests) > 0 {
		rows = append(rows, row{Label: to.words("apt.guests"), Value: strings.Join(a.Intake.Guests, "\n"), Lines: true})
	}
	if a.Reason != "" {
		rows = append(rows, row{Label: to.words("apt.reason"), Value: a.Reason})
	}
	return rows
}
