package letter

import (
	"cmp"
	"time"

	"sundry/core/appointment"
	"sundry/core/civil"
)

// The mails about an appointment: to its buyer, and to the creator whom it is with.
const (
	KindAppointmentBooked      Kind = "appointment.booked"
	KindAppointmentRescheduled Kind = "appointment.rescheduled"
	KindAppointmentCanceled    Kind = "appointment.canceled"
	KindAppointmentReminder    Kind = "appointment.reminder"
	KindCreatorBooked          Kind = "creator.appointment.booked"
	KindCreatorRescheduled     Kind = "creator.appointment.rescheduled"
	KindCreatorCanceled        Kind = "creator.appointment.canceled"
)

// Appointment is what such a mail says, frozen when its cause happened.
type Appointment struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	// Reader is whom the mail is for and Other whom they meet; either may be empty.
	Reader   string    `json:"reader,omitempty"`
	Other    string    `json:"other,omitempty"`
	StartsAt time.Time `json:"startsAt"`
	EndsAt   time.Time `json:"endsAt"`
	// Timezone is the reader's, IANA.
	Timezone         string    `json:"timezone"`
	PreviousStartsAt time.Time `json:"previousStartsAt,omitzero"`
	MeetingURL       string    `json:"meetingUrl,omitempty"`
	Address          string    `json:"address,omitempty"`
	Reason           string    `json:"reason,omitempty"` // why it was canceled
	File             File      `json:"file,omitzero"`
}

// File is a calendar that comes with a mail.
type File struct {
	Method  string `json:"method"` // iTIP's: REQUEST, CANCEL
	Content string `json:"content"`
}

// AppointmentOf takes a mail's words from an appointment, for a reader in a zone.
func AppointmentOf(a appointment.State, reader, other, timezone string) Appointment {
	return Appointment{
		ID: a.ID, Title: a.Title, Reader: reader, Other: other, StartsAt: a.StartsAt, EndsAt: a.EndsAt, Timezone: timezone,
		MeetingURL: a.MeetingURL, Address: a.Address, Reason: a.CancelReason,
	}
}

// aboutAppointment writes the mail whose words stand under a key; buyers get the link to their page.
func aboutAppointment(key string, toBuyer bool) func(Site, Appointment) draft {
	return func(site Site, a Appointment) draft {
		zone, err := civil.ParseZone(a.Timezone)
		if err != nil {
			zone = time.UTC // a zone that was good once and is no longer known
		}
		day, clock := a.StartsAt.In(zone).Format("Monday, 2 January 2006"), a.StartsAt.In(zone).Format("15:04")
		other := cmp.Or(oneLine(a.Other), words("apt.somebody"))
		d := draft{
			Subject: words("apt."+key+".subject", oneLine(a.Title), day, clock), Preview: words("apt.preview", day, clock),
			Heading: words("apt." + key + ".heading"), Figure: clock,
			Lead:   []string{words("apt."+key+".lead", other)},
			Rows:   a.rows(zone, other),
			Footer: words("apt.footer.creator"),
		}
		over, manage := key == "canceled" || key == "creator.canceled", "apt.manage"
		if over {
			manage = "apt.see" // nothing is left to move or cancel
		}
		if a.MeetingURL != "" && !over {
			d.Links = append(d.Links, link{words("apt.join"), a.MeetingURL})
		}
		if toBuyer {
			d.Footer = words("apt.footer.buyer")
			d.Links = append(d.Links, link{words(manage), site.ManageURL(a.ID)})
		}
		return d
	}
}

func (a Appointment) rows(zone *time.Location, other string) []row {
	rows := []row{{Label: words("apt.what"), Value: a.Title}, {Label: words("apt.with"), Value: other}}
	if !a.PreviousStartsAt.IsZero() {
		rows = append(rows, row{Label: words("apt.before"), Value: a.PreviousStartsAt.In(zone).Format("Monday, 2 January 2006, 15:04")})
	}
	rows = append(rows, row{
		Label: words("apt.when"), Strong: true,
		Value: a.StartsAt.In(zone).Format("Monday, 2 January 2006, 15:04") + "–" + a.EndsAt.In(zone).Format("15:04"),
		Note:  zone.String() + ", " + civil.Offset(a.StartsAt, zone),
	}, row{Label: words("apt.where"), Value: cmp.Or(a.MeetingURL, a.Address, words("apt.unsaid"))})
	if a.Reason != "" {
		rows = append(rows, row{Label: words("apt.reason"), Value: a.Reason})
	}
	return rows
}
