package ical

import (
	"bytes"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	ics "github.com/arran4/golang-ical"

	"sundry/ports"
)

var starts = time.Date(2026, 6, 15, 8, 30, 0, 0, time.UTC)

func entry() ports.CalendarEntry {
	return ports.CalendarEntry{
		UID: "apt_1@pay.example.com", Sequence: 3, StartsAt: starts.In(time.FixedZone("", 7200)),
		EndsAt: starts.Add(time.Hour), StampedAt: starts.Add(-time.Hour),
		Summary:     "Coaching; with Ada, \\ slowly",
		Description: "Bring:\n- paper, pens; maxWait\n" + strings.Repeat("Grüße 💩 ", 40),
		Location:    "1 Rue de Rivoli\n75001 Paris, France",
		URL:         "https://meet.example.com/ada?x=1,2;y#z",
		Organizer:   ports.CalendarParty{Name: `Ada's "own" Workshop: Ltd., Dublin; x`, Email: "mail@pay.example.com"},
		Attendee:    ports.CalendarParty{Email: "grace@example.com"},
	}
}

func TestAnInvitationReadsBackAsItWasWritten(t *testing.T) {
	t.Parallel()
	canceled := entry()
	canceled.Canceled, canceled.UID = true, "apt_2@pay.example.com"
	raw := Calendars{}.Write(ports.CalendarFile{Method: ports.CalendarRequest, Name: "Ada, the; creator",
		Entries: []ports.CalendarEntry{entry(), canceled}})
	cal, err := ics.ParseCalendar(bytes.NewReader(raw))
	if err != nil {
		t.Fatalf("%v\n%s", err, raw)
	}
	of := map[string]ics.CalendarProperty{}
	for _, p := range cal.CalendarProperties {
		of[p.IANAToken] = p
	}
	if of["METHOD"].Value != "REQUEST" || of["VERSION"].Value != "2.0" || of["PRODID"].Value != product ||
		of["X-WR-CALNAME"].Value != "Ada, the; creator" {
		t.Errorf("%v", cal.CalendarProperties)
	}
	if got := of["REFRESH-INTERVAL"]; got.Value != "PT15M" ||
		strings.Join(got.ICalParameters["VALUE"], " ") != "DURATION" {
		t.Errorf("refreshed %v", got)
	}
	events := cal.Events()
	if len(events) != 2 {
		t.Fatalf("%d events", len(events))
	}
	for i, want := range []ports.CalendarEntry{entry(), canceled} {
		for name, value := range map[string]string{
			"UID": want.UID, "SUMMARY": want.Summary, "DESCRIPTION": want.Description, "LOCATION": want.Location,
			"STATUS": map[bool]string{true: "CANCELLED", false: "CONFIRMED"}[want.Canceled], "TRANSP": "OPAQUE",
			"DTSTART": "20260615T083000Z", "DTEND": "20260615T093000Z", "DTSTAMP": "20260615T073000Z", "SEQUENCE": "3",
			"URL":       want.URL,
			"ORGANIZER": "mailto:mail@pay.example.com", "ATTENDEE": "mailto:grace@example.com",
		} {
			if got := events[i].GetProperties(ics.ComponentProperty(name)); len(got) != 1 || got[0].Value != value {
				t.Errorf("%s: %v, want %q", name, got, value)
			}
		}
		if got := events[i].GetProperty(ics.ComponentPropertyOrganizer).ICalParameters["CN"]; strings.Join(got,
			"|") != "Ada’s own Workshop Ltd. Dublin x" {
			t.Errorf("organizer %q", got)
		}
	}
}

// TestLinesAreAsTheFormatWantsThem checks what parsers forgive: CRLF, at most 75 octets, no broken character.
func TestLinesAreAsTheFormatWantsThem(t *testing.T) {
	t.Parallel()
	raw := string(Calendars{}.Write(ports.CalendarFile{Method: ports.CalendarCancel,
		Entries: []ports.CalendarEntry{entry()}}))
	if !strings.HasSuffix(raw, "END:VCALENDAR\r\n") {
		t.Errorf("ends %q", raw[len(raw)-20:])
	}
	folded := 0
	for line := range strings.SplitSeq(strings.TrimSuffix(raw, "\r\n"), "\r\n") {
		if strings.ContainsAny(line, "\r\n") || len(line) > 75 || line == "" || !utf8.ValidString(line) {
			t.Errorf("%d octets: %q", len(line), line)
		}
		if line[0] == ' ' {
			folded++
		}
	}
	if folded < 5 {
		t.Errorf("%d lines are folded", folded)
	}
	for _, want := range []string{"SUMMARY:Coaching\\; with Ada\\, \\\\ slowly\r\n", "LOCATION:1 Rue de Rivoli\\n75001 " +
		"Paris\\, France\r\n", "METHOD:CANCEL\r\n"} {
		if !strings.Contains(raw, want) {
			t.Errorf("no %q in\n%s", want, raw)
		}
	}
}

func TestNothingCanBeSmuggledIntoACalendar(t *testing.T) {
	t.Parallel()
	bad := entry()
	bad.Summary, bad.Location = "a\r\nATTACH:https://evil.example\rb\x00c", "x\r\nEND:VEVENT"
	bad.URL, bad.Organizer.Name = "https://a.example/\r\nATTACH:x", "a\r\nATTACH:x"
	bad.Description = "\u2028\x85END:VCALENDAR"
	cal, err := ics.ParseCalendar(bytes.NewReader(Calendars{}.Write(ports.CalendarFile{Method: ports.CalendarRequest,
		Entries: []ports.CalendarEntry{bad}})))
	if err != nil || len(cal.Events()) != 1 {
		t.Fatal(err)
	}
	for _, p := range cal.Events()[0].Properties {
		if p.IANAToken == "ATTACH" {
			t.Error("a line was smuggled in")
		}
	}
}
