package slot

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"sundry/core/civil"
	"sundry/core/fault"
)

// everyDay are settings with the same window every day, "09:00-17:00".
func everyDay(zone, window string) Settings {
	s := Settings{Timezone: zone}
	start, end, _ := strings.Cut(window, "-")
	for _, day := range weekdays {
		s.Weekly = append(s.Weekly, WeeklyHours{day, Hours{start, end}})
	}
	return s
}

func availability(t testing.TB, s Settings) Availability {
	t.Helper()
	a, err := s.Availability()
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func instant(t testing.TB, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func date(t testing.TB, text string) civil.Date {
	t.Helper()
	d, ok := civil.ParseDate(text)
	if !ok {
		t.Fatalf("%q is no date", text)
	}
	return d
}

func location(t testing.TB, name string) *time.Location {
	t.Helper()
	zone, err := civil.ParseZone(name)
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

// plain is a policy that leaves everything else out of the way.
func plain(duration int) Policy { return Policy{Duration: duration, HorizonDays: 700} }

// starts renders the open times of days in UTC, as the cases are written.
func starts(slots []Slot) string {
	all := make([]string, len(slots))
	for i, s := range slots {
		all[i] = s.StartsAt().Format("01-02T15:04")
	}
	return strings.Join(all, " ")
}

// TestKnownResults holds the function to cases whose results were found without it.
func TestKnownResults(t *testing.T) {
	t.Parallel()
	dayOff := everyDay("Europe/Paris", "22:00-02:00")
	dayOff.Overrides = []Override{{Date: "2026-06-16"}}
	notice := plain(60)
	notice.Step, notice.Notice = 30, 120
	buffers := plain(30)
	buffers.BufferBefore, buffers.BufferAfter = 10, 15
	forty := plain(40)
	forty.Step = 30
	spilling := Settings{Timezone: "UTC", Weekly: []WeeklyHours{{"sunday", Hours{"00:00", "03:00"}},
		{"monday", Hours{"09:00", "10:00"}}}, Overrides: []Override{{Date: "2026-06-13",
		Windows: []Hours{{"22:15", "02:30"}}}}}
	twice := Settings{Timezone: "UTC", Weekly: spilling.Weekly,
		Overrides: []Override{{Date: "2026-06-13", Windows: []Hours{{"22:00", "02:30"}}}}}
	minute := plain(1)
	minute.Step = 30
	replaced := everyDay("UTC", "09:00-17:00")
	replaced.Overrides = []Override{{Date: "2026-06-15", Windows: []Hours{{"14:00", "16:00"}, {"10:00", "11:00"}}}}
	unsorted := Settings{Timezone: "UTC", Weekly: []WeeklyHours{{"monday", Hours{"13:00", "14:00"}},
		{"monday", Hours{"09:00", "10:00"}}}}
	halfHours := plain(50)
	halfHours.Step = 30
	for name, c := range map[string]struct {
		settings  Settings
		policy    Policy
		viewer    string // "" = the creator's
		day, last string
		now       string
		busy      [2]string
		want      string
	}{
		"New York skips an hour": {
			settings: everyDay("America/New_York", "00:00-06:00"), policy: plain(60), day: "2026-03-08",
			want: "03-08T05:00 03-08T06:00 03-08T07:00 03-08T08:00 03-08T09:00"},
		"a window in the skipped hour": {
			settings: everyDay("America/New_York", "02:15-02:45"), policy: plain(15), day: "2026-03-08", want: ""},
		"New York repeats an hour": {
			settings: everyDay("America/New_York", "00:00-04:00"), policy: plain(60), day: "2026-11-01",
			want: "11-01T04:00 11-01T05:00 11-01T06:00 11-01T07:00 11-01T08:00"},
		"a window that ends in the repeated hour": {
			settings: everyDay("America/New_York", "00:30-01:30"), policy: plain(30), day: "2026-11-01",
			want: "11-01T04:30 11-01T05:00"},
		"Berlin skips an hour": {
			settings: everyDay("Europe/Berlin", "01:00-05:00"), policy: plain(60), day: "2026-03-29",
			want: "03-29T00:00 03-29T01:00 03-29T02:00"},
		"Lord Howe repeats half an hour": {
			settings: everyDay("Australia/Lord_Howe", "00:00-04:00"), policy: plain(60), day: "2026-04-05",
			want: "04-04T13:00 04-04T14:00 04-04T15:00 04-04T16:00"},
		"Kathmandu": {
			settings: everyDay("Asia/Kathmandu", "09:00-12:00"), policy: plain(60), day: "2026-06-15",
			want: "06-15T03:15 06-15T04:15 06-15T05:15"},
		"Kathmandu seen from Los Angeles": {
			settings: everyDay("Asia/Kathmandu", "09:00-12:00"), policy: plain(60), viewer: "America/Los_Angeles",
			day:  "2026-06-14",
			want: "06-15T03:15 06-15T04:15 06-15T05:15"},
		"past midnight": {
			settings: everyDay("Europe/Paris", "22:00-02:00"), policy: plain(60), day: "2026-06-15",
			want: "06-14T22:00 06-14T23:00 06-15T20:00 06-15T21:00"},
		"the evening before a day off": {
			settings: dayOff, policy: plain(60), day: "2026-06-15", want: "06-14T22:00 06-14T23:00 06-15T20:00 06-15T21:00"},
		"a day off clips the night before": {settings: dayOff, policy: plain(60), day: "2026-06-16", want: ""},
		"not by a minute more":             {settings: dayOff, policy: minute, day: "2026-06-16", want: ""},
		"a date with hours of its own": {settings: replaced, policy: forty, day: "2026-06-15",
			want: "06-15T10:00 06-15T14:00 06-15T14:30 06-15T15:00"},
		"windows in another order": {settings: unsorted, policy: forty, day: "2026-06-15",
			want: "06-15T09:00 06-15T13:00"},
		"a night over a weekday's hours": {settings: spilling, policy: plain(60), day: "2026-06-14",
			want: "06-14T00:00 06-14T00:15 06-14T01:00 06-14T01:15 06-14T02:00"},
		"on one grid": {settings: twice, policy: plain(60), day: "2026-06-14",
			want: "06-14T00:00 06-14T01:00 06-14T02:00"},
		"sessions of a minute": {settings: everyDay("UTC", "09:00-09:02"), policy: plain(1), day: "2026-06-15",
			want: "06-15T09:00 06-15T09:01"},
		"sessions of a day run into the next": {
			settings: everyDay("UTC", "00:00-24:00"), policy: Policy{Duration: 1440, Step: 720, HorizonDays: 700},
			day:  "2026-06-15",
			want: "06-15T00:00 06-15T12:00"},
		"midnight is the end of 24:00": {settings: everyDay("UTC", "23:30-24:00"), policy: plain(15), day: "2026-06-15",
			want: "06-15T23:30 06-15T23:45"},
		"St. John's goes back over midnight": {
			settings: everyDay("America/St_Johns", "00:00-00:30"), policy: plain(30), day: "2010-11-07",
			now: "2010-11-01T00:00:00Z", want: "11-07T02:30 11-07T03:30"},
		"the day that is shown twice, seen from St. John's": {
			settings: everyDay("UTC", "02:00-04:00"), policy: plain(30), viewer: "America/St_Johns", day: "2010-11-06",
			now:  "2010-11-01T00:00:00Z",
			want: "11-06T02:30 11-06T03:00 11-06T03:30 11-07T02:00 11-07T03:00"},
		"and the day after": {
			settings: everyDay("UTC", "02:00-04:00"), policy: plain(30), viewer: "America/St_Johns", day: "2010-11-07",
			now:  "2010-11-01T00:00:00Z",
			want: "11-07T02:30 11-07T03:30 11-08T02:00 11-08T02:30 11-08T03:00"},
		"a time after one that is booked": {
			settings: everyDay("UTC", "08:00-13:00"), policy: plain(60), day: "2026-06-15",
			busy: [2]string{"2026-06-15T10:00:00Z", "2026-06-15T11:00:00Z"}, want: "06-15T08:00 06-15T09:00 06-15T11:00 " +
				"06-15T12:00"},
		"a time in a millisecond": {
			settings: everyDay("UTC", "09:00-12:00"), policy: plain(60), day: "2026-06-15", now: "2026-06-15T09:59:59.999Z",
			want: "06-15T10:00 06-15T11:00"},
		"days in the wrong order": {settings: everyDay("UTC", "09:00-12:00"), policy: plain(60), day: "2026-06-15",
			last: "2026-06-14", want: ""},
		"sessions without length": {settings: everyDay("UTC", "09:00-12:00"), policy: plain(0), day: "2026-06-15",
			want: ""},
		"the night after a day off": {settings: dayOff, policy: plain(60), day: "2026-06-17",
			want: "06-17T20:00 06-17T21:00"},
		"a step of its own": {
			settings: everyDay("UTC", "09:00-12:00"), policy: halfHours, day: "2026-06-15",
			want: "06-15T09:00 06-15T09:30 06-15T10:00 06-15T10:30 06-15T11:00"},
		"buffers around what is booked": {
			settings: everyDay("UTC", "08:00-13:00"), policy: buffers, day: "2026-06-15",
			busy: [2]string{"2026-06-15T10:00:00Z", "2026-06-15T11:00:00Z"},
			want: "06-15T08:00 06-15T08:30 06-15T09:00 06-15T11:30 06-15T12:00 06-15T12:30"},
		"notice": {
			settings: everyDay("UTC", "09:00-13:00"), policy: notice, day: "2026-06-15", now: "2026-06-15T09:20:00Z",
			want: "06-15T11:30 06-15T12:00"},
		"a time that is now is over": {
			settings: everyDay("UTC", "09:00-12:00"), policy: plain(60), day: "2026-06-15", now: "2026-06-15T10:00:00Z",
			want: "06-15T11:00"},
		"equal ends are a whole day": {
			settings: everyDay("UTC", "18:00-18:00"), policy: plain(720), day: "2026-06-15", want: "06-15T06:00 06-15T18:00"},
		"a session runs on into the next window": {
			settings: everyDay("UTC", "00:00-24:00"), policy: Policy{Duration: 90, Step: 690, HorizonDays: 700},
			day:  "2026-06-15",
			want: "06-15T00:00 06-15T11:30 06-15T23:00"},
		"a session does not outlast the hours": {
			settings: everyDay("UTC", "12:30-24:00"), policy: Policy{Duration: 90, Step: 630, HorizonDays: 700},
			day:  "2026-06-15",
			want: "06-15T12:30"},
		"the horizon's last day is one of it": {
			settings: everyDay("Asia/Tokyo", "09:00-10:00"), policy: Policy{Duration: 60, HorizonDays: 2}, day: "2026-06-15",
			last: "2026-06-30",
			now:  "2026-06-15T14:59:00Z", want: "06-16T00:00 06-17T00:00"},
		"today is the creator's": {
			settings: everyDay("Asia/Tokyo", "09:00-10:00"), policy: Policy{Duration: 60, HorizonDays: 2}, day: "2026-06-15",
			last: "2026-06-30",
			now:  "2026-06-15T15:00:00Z", want: "06-16T00:00 06-17T00:00 06-18T00:00"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.now == "" {
				c.now = "2026-01-01T00:00:00Z"
			}
			if c.last == "" {
				c.last = c.day
			}
			q := Query{Availability: availability(t, c.settings), Policy: c.policy, Now: instant(t, c.now)}
			if c.busy[0] != "" {
				q.Busy = Busy{{instant(t, c.busy[0]), instant(t, c.busy[1])}}
			}
			viewer := q.Availability.Zone
			if c.viewer != "" {
				viewer = location(t, c.viewer)
			}
			open := Open(q, date(t, c.day), date(t, c.last), viewer)
			if got := starts(open); got != c.want {
				t.Errorf("\n got %s\nwant %s", got, c.want)
			}
			for _, s := range open {
				if err := Check(q, s.StartsAt()); err != nil {
					t.Errorf("%v is offered and refused: %v", s.StartsAt(), err)
				}
			}
		})
	}
}

func TestAlwaysOpenDayHasTheViewersHours(t *testing.T) {
	t.Parallel()
	q := Query{Availability: availability(t, everyDay("UTC", "00:00-24:00")), Policy: plain(60),
		Now: instant(t, "2026-01-01T00:00:00Z")}
	for day, hours := range map[string]int{"2026-03-08": 23, "2026-06-15": 24, "2026-11-01": 25} {
		if open := Open(q, date(t, day), date(t, day), location(t, "America/New_York")); len(open) != hours {
			t.Errorf("%s: %d slots, want %d: %s", day, len(open), hours, starts(open))
		}
	}
}

func TestCapsCountTheCreatorsDaysAndWeeks(t *testing.T) {
	t.Parallel()
	q := Query{
		Availability: availability(t, everyDay("Asia/Tokyo", "23:00-01:00")), Policy: plain(60),
		Now: instant(t, "2026-01-01T00:00:00Z"),
		// In Tokyo a Wednesday and a Thursday, 23:00 and 00:00.
		Booked: []time.Time{instant(t, "2026-06-17T14:00:00Z"), instant(t, "2026-06-17T15:00:00Z")},
	}
	count := func(policy Policy) string {
		q.Policy = policy
		counts := map[civil.Date]int{}
		for _, s := range Open(q, date(t, "2026-06-14"), date(t, "2026-06-23"), q.Availability.Zone) {
			counts[s.Date]++
		}
		text := ""
		for d := date(t, "2026-06-14"); d <= date(t, "2026-06-23"); d++ {
			text += fmt.Sprint(counts[d])
		}
		return text // from Sunday the 14th to Tuesday the 23rd
	}
	for name, c := range map[string]struct {
		policy Policy
		want   string
	}{
		"no cap":                      {Policy{Duration: 60, HorizonDays: 700}, "2222222222"},
		"one a day":                   {Policy{Duration: 60, HorizonDays: 700, DailyCap: 1}, "2220022222"},
		"two a day":                   {Policy{Duration: 60, HorizonDays: 700, DailyCap: 2}, "2222222222"},
		"one a week":                  {Policy{Duration: 60, HorizonDays: 700, WeeklyCap: 1}, "2000000022"},
		"two a week, from Monday":     {Policy{Duration: 60, HorizonDays: 700, WeeklyCap: 2}, "2000000022"},
		"three a week, and one a day": {Policy{Duration: 60, HorizonDays: 700, DailyCap: 1, WeeklyCap: 3}, "2220022222"},
	} {
		if got := count(c.policy); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestWhatIsNotOfferedIsRefused(t *testing.T) {
	t.Parallel()
	now := instant(t, "2026-06-15T09:20:00Z")
	policy := plain(60)
	policy.DailyCap = 1
	q := Query{
		Availability: availability(t, everyDay("UTC", "09:00-12:00")), Policy: policy, Now: now,
		Busy:   Busy{{instant(t, "2026-06-15T11:30:00Z"), instant(t, "2026-06-15T13:00:00Z")}},
		Booked: []time.Time{instant(t, "2026-06-16T09:00:00Z")},
	}
	for text, want := range map[string]fault.Code{
		"2026-06-15T10:00:00Z":        "",
		"2026-06-15T09:20:00Z":        fault.SlotInPast,
		"2026-06-15T09:00:00Z":        fault.SlotInPast,
		"1970-01-01T00:00:00Z":        fault.SlotInPast,
		"2026-06-15T10:30:00Z":        fault.SlotNotOffered, // not on the grid
		"2026-06-15T10:00:00.000001Z": fault.SlotNotOffered,
		"2026-06-15T09:59:59.999Z":    fault.SlotNotOffered,
		"2026-06-15T10:59:59.999Z":    fault.SlotNotOffered, // before one that is busy
		"2026-06-15T12:00:00Z":        fault.SlotNotOffered, // after hours
		"9999-12-31T23:00:00Z":        fault.SlotNotOffered,
		"2026-06-15T12:00:00+02:00":   "",
		"2026-06-15T11:00:00Z":        fault.SlotTaken,      // busy
		"2026-06-16T10:00:00Z":        fault.SlotTaken,      // the day is full
		"2026-06-15T11:30:00Z":        fault.SlotNotOffered, // busy, and not on the grid either
		"2028-06-15T10:00:00Z":        fault.SlotNotOffered, // beyond the horizon
	} {
		if err := Check(q, instant(t, text)); fault.CodeOf(err) != want {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

func TestASlotIsPrintedWithItsViewersDay(t *testing.T) {
	t.Parallel()
	s := Slot{start: instant(t, "2026-06-15T22:30:00Z").UnixMilli(), duration: 45, Date: date(t, "2026-06-16")}
	if s.String() != "2026-06-15T22:30:00Z (2026-06-16)" || !s.EndsAt().Equal(instant(t, "2026-06-15T23:15:00Z")) {
		t.Errorf("%v until %v", s, s.EndsAt())
	}
}

func TestBusyIsSortedAndMerged(t *testing.T) {
	t.Parallel()
	at := func(minute int64) time.Time { return time.UnixMilli(minute) }
	b := Busy{{at(50), at(60)}, {at(10), at(20)}, {at(15), at(18)}, {at(20), at(30)}, {at(40), at(40)}, {at(45), at(41)}}
	if got, want := b.sorted(), []stretch{{10, 30}, {50, 60}}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if (Interval{at(1), at(2)}).Overlaps(Interval{at(2), at(3)}) ||
		!(Interval{at(1), at(3)}).Overlaps(Interval{at(2), at(4)}) ||
		(Interval{at(2), at(2)}).Overlaps(Interval{at(1), at(3)}) {
		t.Error("intervals are half-open")
	}
}
