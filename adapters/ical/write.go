// Package ical speaks iCalendar (RFC 5545): it writes invitations and feeds, and reads when somebody is busy from
// calendars that untrusted parties wrote.
package ical

import (
	"strings"
	"unicode"

	ics "github.com/arran4/golang-ical"

	"sundry/ports"
)

// Calendars implements ports.CalendarWriter.
type Calendars struct{}

var _ ports.CalendarWriter = Calendars{}

const (
	product = "-//Sundry//Appointments//EN"
	// refresh is the suggested interval between two reads of a feed.
	refresh = "PT15M"
	// alarmBefore is the lead of the reminder in an invitation.
	alarmBefore = "-PT1H"
)

// Write implements ports.CalendarWriter. Times are UTC, so that no reader needs to know a zone's rules.
func (Calendars) Write(file ports.CalendarFile) []byte {
	cal := ics.NewCalendar()
	cal.SetProductId(product)
	cal.SetCalscale("GREGORIAN")
	cal.SetMethod(ics.Method(file.Method))
	if file.Name != "" {
		cal.SetName(plain(file.Name))
		cal.SetXWRCalName(plain(file.Name))
		cal.SetRefreshInterval(refresh)
		cal.SetXPublishedTTL(refresh)
	}
	for _, e := range file.Entries {
		cal.AddVEvent(written(e, file.Method))
	}
	return []byte(cal.Serialize(ics.WithNewLine("\r\n")))
}

func written(e ports.CalendarEntry, method ports.CalendarMethod) *ics.VEvent {
	v := ics.NewEvent(e.UID)
	v.SetDtStampTime(e.StampedAt)
	v.SetSequence(e.Sequence)
	v.SetStartAt(e.StartsAt)
	v.SetEndAt(e.EndsAt)
	v.SetSummary(plain(e.Summary))
	setText(v.SetDescription, e.Description)
	setText(v.SetLocation, e.Location)
	setText(v.SetURL, strings.ReplaceAll(e.URL, "\n", "")) // an address is written as it is
	status := ics.ObjectStatusConfirmed
	if e.Canceled {
		status = ics.ObjectStatusCancelled
	}
	v.SetStatus(status)
	v.SetTimeTransparency(ics.TransparencyOpaque)
	if e.Organizer.Email != "" {
		v.SetOrganizer(e.Organizer.Email, named(e.Organizer)...)
	}
	if e.Attendee.Email != "" {
		parameters := append(named(e.Attendee), ics.ParticipationRoleReqParticipant)
		if method == ports.CalendarRequest {
			// booked by the buyer: there is nothing to answer
			parameters = append(parameters, ics.ParticipationStatusAccepted, ics.WithRSVP(false))
		}
		v.AddAttendee(e.Attendee.Email, parameters...)
	}
	if method == ports.CalendarRequest && !e.Canceled {
		alarm := v.AddAlarm()
		alarm.SetAction(ics.ActionDisplay)
		alarm.SetTrigger(alarmBefore)
		alarm.SetProperty(ics.ComponentPropertyDescription, plain(e.Summary))
	}
	return v
}

func setText(set func(string, ...ics.PropertyParameter), text string) {
	if text != "" {
		set(plain(text))
	}
}

// named is the party's name. The library escapes parameters with backslashes, which the format does not know, so what
// it would escape is left out or written as what looks alike.
func named(p ports.CalendarParty) []ics.PropertyParameter {
	name := strings.Map(func(r rune) rune {
		switch {
		case r == '\'':
			return '’'
		case unicode.IsControl(r), strings.ContainsRune(`",;:\`, r):
			return ' '
		}
		return r
	}, p.Name)
	if name = strings.Join(strings.Fields(name), " "); name == "" {
		return nil
	}
	return []ics.PropertyParameter{ics.WithCN(name)}
}

// plain leaves of the control characters line feeds only: the format has no place for others.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' {
			return -1
		}
		return r
	}, text)
}
