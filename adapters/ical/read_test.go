package ical

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"sundry/core/civil"
	"sundry/core/slot"
	"sundry/ports"
)

var (
	berlin = func() *time.Location {
		zone, err := time.LoadLocation("Europe/Berlin")
		if err != nil {
			panic(err)
		}
		return zone
	}()
	june = slot.Interval{From: time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC), Until: time.Date(2026, 7, 1, 0, 0, 0, 0,
		time.UTC)}
)

func calendarOf(events ...string) []byte {
	var text strings.Builder
	text.WriteString("BEGIN:VCALENDAR\nVERSION:2.0\n")
	for _, e := range events {
		text.WriteString("BEGIN:VEVENT\n" + e + "\nEND:VEVENT\n")
	}
	text.WriteString("END:VCALENDAR\n")
	return []byte(strings.ReplaceAll(text.String(), "\n", "\r\n"))
}

func busyIn(t *testing.T, raw []byte) string {
	t.Helper()
	all, err := Calendars{}.Busy(raw, berlin, june, "pay.example.com")
	if err != nil {
		t.Fatal(err)
	}
	var words []string
	for _, i := range all {
		words = append(words, i.From.Format("02T15:04")+"-"+i.Until.Format("02T15:04"))
	}
	return strings.Join(words, " ")
}

func TestAddedPeriodsAreBusyForTheirOwnLength(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ event, want string }{
		"with an end": {"DTSTART:20260615T080000Z\nDURATION:PT1H\nRDATE;VALUE=PERIOD:20260616T080000Z/20260616T110000Z",
			"15T08:00-15T09:00 16T08:00-16T11:00"},
		"with a length": {"DTSTART:20260615T080000Z\nDURATION:PT1H\nRDATE;VALUE=PERIOD:20260616T080000Z/PT30M," +
			"20260617T080000Z/P1D", "15T08:00-15T09:00 16T08:00-16T08:30 17T08:00-18T08:00"},
		"in a zone": {"DTSTART:20260615T080000Z\nDURATION:PT1H\n" +
			"RDATE;VALUE=PERIOD;TZID=America/New_York:20260616T080000/20260616T083000",
			"15T08:00-15T09:00 16T12:00-16T12:30"},
		"that is none": {"DTSTART:20260615T080000Z\nDURATION:PT1H\nRDATE;VALUE=PERIOD:x/PT1H,20260616T080000Z/x",
			"15T08:00-15T09:00"},
	} {
		if got := busyIn(t, calendarOf(c.event)); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestACalendarsOwnZonesCount(t *testing.T) {
	t.Parallel()
	const outlook = `BEGIN:VTIMEZONE
TZID:Customized Time Zone
BEGIN:STANDARD
DTSTART:16010101T020000
TZOFFSETFROM:-0400
TZOFFSETTO:-0500
RRULE:FREQ=YEARLY;BYDAY=1SU;BYMONTH=11
END:STANDARD
BEGIN:DAYLIGHT
DTSTART:16010101T020000
TZOFFSETFROM:-0500
TZOFFSETTO:-0400
RRULE:FREQ=YEARLY;BYDAY=2SU;BYMONTH=3
END:DAYLIGHT
END:VTIMEZONE
`
	const fixed = "BEGIN:VTIMEZONE\nTZID:Plus\nBEGIN:STANDARD\nDTSTART:19700101T000000\nTZOFFSETFROM:+0330\n" +
		"TZOFFSETTO:+033015\nEND:STANDARD\nEND:VTIMEZONE\n"
	const named = "BEGIN:VTIMEZONE\nTZID:Team\nX-LIC-LOCATION:Asia/Tokyo\nEND:VTIMEZONE\n"
	for name, c := range map[string]struct{ zone, event, want string }{
		"in summer": {outlook, "DTSTART;TZID=Customized Time Zone:20260615T080000\nDURATION:PT1H", "15T12:00-15T13:00"},
		"repeated since winter": {outlook, "DTSTART;TZID=Customized Time Zone:20260216T080000\nDURATION:PT1H\n" +
			"RRULE:FREQ=MONTHLY;BYMONTHDAY=16", "16T12:00-16T13:00"},
		"of one offset":            {fixed, "DTSTART;TZID=Plus:20260615T080000\nDURATION:PT1H", "15T04:29-15T05:29"},
		"by the name that it says": {named, "DTSTART;TZID=Team:20260615T080000\nDURATION:PT1H", "14T23:00-15T00:00"},
		"of a known name": {strings.ReplaceAll(fixed, "Plus", "Asia/Tokyo"),
			"DTSTART;TZID=Asia/Tokyo:20260615T090000\nDURATION:PT1H", "15T00:00-15T01:00"},
		"without a rule": {"BEGIN:VTIMEZONE\nTZID:None\nBEGIN:STANDARD\nDTSTART:x\nEND:STANDARD\nEND:VTIMEZONE\n",
			"DTSTART;TZID=None:20260615T080000\nDURATION:PT1H", "15T06:00-15T07:00"},
	} {
		raw := strings.ReplaceAll(string(calendarOf(c.event)), "VERSION:2.0\r\n",
			"VERSION:2.0\r\n"+strings.ReplaceAll(c.zone, "\n", "\r\n"))
		if got := busyIn(t, []byte(raw)); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestAChangeOfThisAndAllFutureTimes(t *testing.T) {
	t.Parallel()
	const daily = "UID:a\nDTSTART:20260615T080000Z\nDURATION:PT1H\nRRULE:FREQ=DAILY;COUNT=5"
	for name, c := range map[string]struct{ change, want string }{
		"later and longer": {"DTSTART:20260617T100000Z\nDURATION:PT2H",
			"15T08:00-15T09:00 16T08:00-16T09:00 17T10:00-17T12:00 18T10:00-18T12:00 19T10:00-19T12:00"},
		"canceled": {"DTSTART:20260617T080000Z\nSTATUS:CANCELLED", "15T08:00-15T09:00 16T08:00-16T09:00"},
	} {
		change := "UID:a\nRECURRENCE-ID;RANGE=THISANDFUTURE:20260617T080000Z\n" + c.change
		for _, raw := range [][]byte{calendarOf(daily, change), calendarOf(change, daily)} {
			if got := busyIn(t, raw); got != c.want {
				t.Errorf("%s: %s, want %s", name, got, c.want)
			}
		}
	}
	single := "UID:a\nRECURRENCE-ID:20260618T080000Z\nDTSTART:20260618T200000Z\nDURATION:PT1H"
	change := "UID:a\nRECURRENCE-ID;RANGE=THISANDFUTURE:20260617T080000Z\nDTSTART:20260617T100000Z\nDURATION:PT1H"
	const want = "15T08:00-15T09:00 16T08:00-16T09:00 17T10:00-17T11:00 18T20:00-18T21:00 19T10:00-19T11:00"
	if got := busyIn(t, calendarOf(daily, single, change)); got != want {
		t.Errorf("with one time elsewhere: %s, want %s", got, want)
	}
}

func TestEventsTakeTheTimeThatTheySay(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ event, want string }{
		"in UTC": {"DTSTART:20260615T080000Z\nDTEND:20260615T093000Z", "15T08:00-15T09:30"},
		"in a zone": {"DTSTART;TZID=America/New_York:20260615T080000\nDTEND;TZID=America/New_York:20260615T090000",
			"15T12:00-15T13:00"},
		"in a zone of Outlook": {"DTSTART;TZID=\"Pacific Standard Time\":20260615T080000\nDTEND;TZID=\"Pacific " +
			"Standard Time\":20260615T090000", "15T15:00-15T16:00"},
		"in a zone of Mozilla": {"DTSTART;TZID=/mozilla.org/20050126_1/Asia/Tokyo:20260615T090000\nDURATION:PT30M",
			"15T00:00-15T00:30"},
		"in a zone that nobody has": {"DTSTART;TZID=Mars/Olympus:20260615T080000\nDURATION:PT1H", "15T06:00-15T07:00"},
		"floating":                  {"DTSTART:20260615T080000\nDTEND:20260615T090000", "15T06:00-15T07:00"},
		"a whole day":               {"DTSTART;VALUE=DATE:20260615", "14T22:00-15T22:00"},
		"two whole days":            {"DTSTART;VALUE=DATE:20260615\nDTEND;VALUE=DATE:20260617", "14T22:00-16T22:00"},
		"a duration":                {"DTSTART:20260615T080000Z\nDURATION:P1DT1H30M", "15T08:00-16T09:30"},
		"weeks":                     {"DTSTART:20260615T080000Z\nDURATION:P1W", "15T08:00-22T08:00"},
		"no time at all":            {"DTSTART:20260615T080000Z", ""},
		"ends before it begins":     {"DTSTART:20260615T080000Z\nDTEND:20260614T080000Z", ""},
		"longer than is asked for":  {"DTSTART:20200101T000000Z\nDTEND:20300101T000000Z", "01T00:00-01T00:00"},
		"transparent":               {"DTSTART:20260615T080000Z\nDURATION:PT1H\nTRANSP:TRANSPARENT", ""},
		"canceled":                  {"DTSTART:20260615T080000Z\nDURATION:PT1H\nSTATUS:CANCELLED", ""},
		"tentative":                 {"DTSTART:20260615T080000Z\nDURATION:PT1H\nSTATUS:TENTATIVE", "15T08:00-15T09:00"},
		"our own":                   {"UID:apt_1@pay.example.com\nDTSTART:20260615T080000Z\nDURATION:PT1H", ""},
		"a group of our own":        {"UID:clm_1@pay.example.com\nDTSTART:20260615T080000Z\nDURATION:PT1H", ""},
		"of another Sundry": {"UID:apt_1@other.example.com\nDTSTART:20260615T080000Z\nDURATION:PT1H",
			"15T08:00-15T09:00"},
		"with an alarm": {"DTSTART:20260615T080000Z\nDURATION:PT1H\nBEGIN:VALARM\nDURATION:PT9H\nTRANSP:TRANSPARENT\nEND:VALARM", "15T08:00-15T09:00"},
		"folded":        {"DTSTART:202606\n 15T080\n\t000Z\nDURATION:PT1H", "15T08:00-15T09:00"},
		"every week": {"DTSTART:20260501T080000Z\nDURATION:PT1H\nRRULE:FREQ=WEEKLY;BYDAY=MO;COUNT=6",
			"01T08:00-01T09:00 08T08:00-08T09:00"},
		"every day but one":          {"DTSTART:20260627T080000Z\nDURATION:PT1H\nRRULE:FREQ=DAILY\nEXDATE:20260628T080000Z,20260630T080000Z", "27T08:00-27T09:00 29T08:00-29T09:00"},
		"through a change of clocks": {"DTSTART;TZID=Europe/Berlin:20260325T090000\nDURATION:PT1H\nRRULE:FREQ=MONTHLY;UNTIL=20260625T235959Z", "25T07:00-25T08:00"},
		"until a date, that day included": {"DTSTART;TZID=Europe/Berlin:20260601T090000\nDURATION:PT1H\n" +
			"RRULE:FREQ=WEEKLY;UNTIL=20260615", "01T07:00-01T08:00 08T07:00-08T08:00 15T07:00-15T08:00"},
		"whole days until a date": {"DTSTART;VALUE=DATE:20260608\nRRULE:FREQ=WEEKLY;UNTIL=20260615",
			"07T22:00-08T22:00 14T22:00-15T22:00"},
		"by a rule that ends with a semicolon": {"DTSTART:20260615T080000Z\nDURATION:PT1H\nRRULE:FREQ=WEEKLY;COUNT=2;",
			"15T08:00-15T09:00 22T08:00-22T09:00"},
		"by a rule in lower case": {"DTSTART:20260615T080000Z\nDURATION:PT1H\nRRULE:freq=weekly;byday=mo;count=2",
			"15T08:00-15T09:00 22T08:00-22T09:00"},
		"and another time": {"DTSTART:20260615T080000Z\nDURATION:PT1H\nRDATE:20260616T080000Z",
			"15T08:00-15T09:00 16T08:00-16T09:00"},
		"every second":     {"DTSTART:20260615T080000Z\nDURATION:PT1H\nRRULE:FREQ=SECONDLY", "15T08:00-15T09:00"},
		"by a broken rule": {"DTSTART:20260615T080000Z\nDURATION:PT1H\nRRULE:FREQ=OFTEN", "15T08:00-15T09:00"},
		"no beginning":     {"DTEND:20260615T080000Z", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := busyIn(t, calendarOf(c.event)); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestOutlooksZonesAreKnown(t *testing.T) {
	t.Parallel()
	for name, zone := range windowsZones {
		if _, err := civil.ParseZone(zone); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, want := range map[string]string{
		"Alaskan Standard Time": "15T16:00-15T17:00", "Central Standard Time (Mexico)": "15T14:00-15T15:00",
		"Cen. Australia Standard Time": "14T22:30-14T23:30", "Sri Lanka Standard Time": "15T02:30-15T03:30",
		"Middle East Standard Time": "15T05:00-15T06:00", "SA Western Standard Time": "15T12:00-15T13:00",
		"Belarus Standard Time": "15T05:00-15T06:00", "tzone://Microsoft/Utc": "15T08:00-15T09:00",
	} {
		if got := busyIn(t, calendarOf("DTSTART;TZID=\""+name+"\":20260615T080000\nDURATION:PT1H")); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

func TestRulesThatMakeNoSenseAreNotFollowed(t *testing.T) {
	t.Parallel()
	for _, rule := range []string{
		"FREQ=MONTHLY;BYDAY=9MO", "FREQ=WEEKLY;INTERVAL=-2", "FREQ=YEARLY;BYYEARDAY=0", "FREQ=YEARLY;BYEASTER=1000",
		"FREQ=MONTHLY;BYMONTHDAY=99",
		"FREQ=DAILY;INTERVAL=999999999999999999", "FREQ=DAILY;BYMONTH=13", "FREQ=HOURLY", "FREQ=DAILY;COUNT=-1;UNTIL=x", "",
		"=;=;", strings.Repeat("FREQ=DAILY;", 100),
	} {
		if got := busyIn(t, calendarOf("DTSTART:20260615T080000Z\nDURATION:PT1H\nRRULE:"+rule)); !strings.HasPrefix(got,
			"15T08:00-15T09:00") {
			t.Errorf("%q: %s", rule, got)
		}
	}
}

func TestOneTimeOfARepeatingEventCanBeElsewhere(t *testing.T) {
	t.Parallel()
	daily := "UID:a\nDTSTART:20260628T080000Z\nDURATION:PT1H\nRRULE:FREQ=DAILY"
	moved := "UID:a\nRECURRENCE-ID:20260629T080000Z\nDTSTART:20260629T120000Z\nDURATION:PT1H"
	canceled := "UID:a\nRECURRENCE-ID:20260630T080000Z\nDTSTART:20260630T080000Z\nDURATION:PT1H\nSTATUS:CANCELLED"
	if got, want := busyIn(t, calendarOf(moved, daily, canceled)), "28T08:00-28T09:00 29T12:00-29T13:00"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestOverlappingEventsAreOneBusyTime(t *testing.T) {
	t.Parallel()
	got := busyIn(t, calendarOf("DTSTART:20260615T090000Z\nDURATION:PT1H", "DTSTART:20260615T080000Z\nDURATION:PT1H",
		"DTSTART:20260615T083000Z\nDURATION:PT10M"))
	if got != "15T08:00-15T10:00" {
		t.Error(got)
	}
}

func TestOurOwnFilesAreRead(t *testing.T) {
	t.Parallel()
	raw := Calendars{}.Write(ports.CalendarFile{Method: ports.CalendarPublish, Entries: []ports.CalendarEntry{entry()}})
	all, err := Calendars{}.Busy(raw, berlin, june, "elsewhere.example")
	if err != nil || len(all) != 1 || !all[0].From.Equal(starts) || !all[0].Until.Equal(starts.Add(time.Hour)) {
		t.Errorf("%v, %v", all, err)
	}
}

// TestHostileCalendarsStayBounded reads what was made to cost much. The bounds are generous: machines differ.
func TestHostileCalendarsStayBounded(t *testing.T) {
	t.Parallel()
	many := func(n int, event string) []byte {
		all := make([]string, n)
		for i := range all {
			all[i] = event
		}
		return calendarOf(all...)
	}
	for name, raw := range map[string][]byte{
		"rules that never come true": many(20_000,
			"DTSTART:19000101T000000Z\nDURATION:PT1H\nRRULE:FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30"),
		"rules that never end": many(20_000, "DTSTART:19000101T000000Z\nDURATION:PT1H\nRRULE:FREQ=DAILY"),
		"many times a day": many(5000, "DTSTART:20260601T000000Z\nDURATION:PT1S\nRRULE:FREQ=DAILY;BYHOUR="+numbers(24)+
			";BYMINUTE="+numbers(60)+
			";BYSECOND="+numbers(60)),
		"sets and positions": many(5000,
			"DTSTART:19000101T000000Z\nRRULE:FREQ=YEARLY;BYDAY=MO,TU,WE,TH,FR,SA,SU;BYSETPOS=-366"),
		"more events than anybody has": many(60_000, "DTSTART:20260615T080000Z\nDURATION:PT1H"),
		"one endless line": []byte("BEGIN:VCALENDAR\r\nX-A;B=" + strings.Repeat("c,", 2<<20) +
			":d\r\nEND:VCALENDAR\r\n"),
		"a line folded for ever": []byte("BEGIN:VCALENDAR\r\nDTSTART:2026" + strings.Repeat("\r\n 0", 1<<20) +
			"\r\nEND:VCALENDAR\r\n"),
		"components without end": []byte("BEGIN:VCALENDAR\r\n" + strings.Repeat("BEGIN:VEVENT\r\n", 300_000)),
		"a long list of exceptions": calendarOf("DTSTART:20260615T080000Z\nDURATION:PT1H\n" +
			strings.Repeat("EXDATE:"+strings.Repeat("20260615T080000Z,", 400)+"\n", 500)),
	} {
		begun := time.Now()
		all, err := Calendars{}.Busy(raw, berlin, june, "pay.example.com")
		took := time.Since(begun)
		t.Logf("%s: %d times, %v, %v", name, len(all), err, took)
		if took > 15*time.Second || len(all) > mostTimes || err != nil && !errors.Is(err, errTooMuch) {
			t.Errorf("%s: %d times after %v, %v", name, len(all), took, err)
		}
	}
	for _, garbage := range []string{"", "<!doctype html><html>", "\x00\xff", "VERSION:2.0", strings.Repeat("x", 1<<20)} {
		if _, err := (Calendars{}).Busy([]byte(garbage), berlin, june, ""); !errors.Is(err, errNoCalendar) {
			t.Errorf("%.20q: %v", garbage, err)
		}
	}
}

func numbers(n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprint(i)
	}
	return strings.Join(all, ",")
}

func FuzzBusy(f *testing.F) {
	f.Add(calendarOf("UID:a\nDTSTART;TZID=\"Europe/Berlin\":20260628T080000\nDURATION:P1DT1H\nRRULE:FREQ=WEEKLY;BYDAY=MO;INTERVAL=2\nEXDATE:20260628T080000Z"))
	f.Add(calendarOf("DTSTART;VALUE=DATE:20260628\nRRULE:FREQ=YEARLY;BYMONTHDAY=-1;BYSETPOS=1"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		all, err := Calendars{}.Busy(raw, berlin, june, "")
		if err != nil && len(all) > 0 {
			t.Error("times with an error")
		}
		for i, one := range all {
			if !one.From.Before(one.Until) || one.From.Before(june.From) || one.Until.After(june.Until) || i > 0 &&
				!one.From.After(all[i-1].Until) {
				t.Errorf("%d: %v", i, one)
			}
		}
	})
}
