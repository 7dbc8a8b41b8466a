package slot

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"sundry/core/civil"
	"sundry/core/fault"
	"sundry/core/fault/faulttest"
)

// hours are the 24 of a day.
func hours() []Hours {
	all := make([]Hours, 24)
	for i := range all {
		all[i] = Hours{fmt.Sprintf("%02d:00", i), fmt.Sprintf("%02d:00", i+1)}
	}
	return all
}

// hourly are 168 windows.
func hourly() Settings {
	s := Settings{Timezone: "UTC"}
	for _, day := range weekdays {
		for _, h := range hours() {
			s.Weekly = append(s.Weekly, WeeklyHours{day, h})
		}
	}
	return s
}

// dates are so many days off.
func dates(n int) Settings {
	s := Settings{Timezone: "UTC"}
	for i := range n {
		s.Overrides = append(s.Overrides, Override{Date: (civil.Date(20_000) + civil.Date(i)).String()})
	}
	return s
}

func TestCleanSettingsHaveListsWhereThereAreNone(t *testing.T) {
	t.Parallel()
	given := Settings{Timezone: "UTC", Overrides: []Override{{Date: "2026-03-08"}, {Date: "2026-03-09", Windows: hours()},
		{Date: "2026-03-10"}}}
	got := given.Clean()
	want := Settings{Timezone: "UTC", Weekly: []WeeklyHours{}, Overrides: []Override{{"2026-03-08", []Hours{}},
		{"2026-03-09", hours()}, {"2026-03-10", []Hours{}}}}
	if !reflect.DeepEqual(got, want) || given.Overrides[0].Windows != nil {
		t.Errorf("%+v of %+v", got, given)
	}
	if full := hourly(); !reflect.DeepEqual(full.Clean().Weekly, full.Weekly) || full.Clean().Overrides == nil ||
		!reflect.DeepEqual((Settings{Timezone: "UTC"}).Clean(), NoSettings()) {
		t.Errorf("%+v", full.Clean())
	}
}

func TestAnOverlapNamesTheEarlierWindow(t *testing.T) {
	t.Parallel()
	s := Settings{Timezone: "UTC", Weekly: []WeeklyHours{
		{"tuesday", Hours{"09:00", "10:00"}}, {"monday", Hours{"11:00", "17:00"}}, {"monday", Hours{"09:00", "12:00"}},
	}}
	refused, ok := errors.AsType[*fault.Error](s.Check())
	if !ok || len(refused.Details) != 1 || refused.Details[0].Field != "weekly[2]" ||
		!strings.HasPrefix(refused.Details[0].Message, "Overlaps weekly[1].") {
		t.Errorf("%+v, want weekly[2], which overlaps weekly[1]", refused)
	}
}

func TestFaultsOfLaterDatesAreListed(t *testing.T) {
	t.Parallel()
	s := Settings{Timezone: "UTC", Overrides: []Override{
		{Date: "2026-03-08", Windows: append(hours(), Hours{"09:00", "10:00"})}, {Date: "2026-02-30"},
	}}
	if got := faulttest.Lines(t, s.Check()); !slices.Equal(got, []string{
		"overrides[0].windows TOO_LONG", "overrides[1].date INVALID",
	}) {
		t.Errorf("%q", got)
	}
}

func TestEveryFaultOfTheSettingsIsListed(t *testing.T) {
	t.Parallel()
	week := func(windows ...string) Settings { // "monday 09:00-17:00"
		s := Settings{Timezone: "Europe/Paris"}
		for _, w := range windows {
			day, hours, _ := strings.Cut(w, " ")
			start, end, _ := strings.Cut(hours, "-")
			s.Weekly = append(s.Weekly, WeeklyHours{day, Hours{start, end}})
		}
		return s
	}
	zone := func(name string) Settings { s := week("monday 09:00-17:00"); s.Timezone = name; return s }
	override := func(date string, windows ...Hours) Settings {
		return Settings{Timezone: "UTC", Overrides: []Override{{Date: date, Windows: windows}}}
	}
	for name, c := range map[string]struct {
		settings Settings
		code     fault.Code
		want     string // field:code of each fault, in order
	}{
		"none at all": {NoSettings(), "", ""},
		"ordinary hours": {week("monday 09:00-12:00", "monday 13:00-17:00", "friday 22:00-02:00"),
			"", ""},
		"windows that touch": {week("monday 09:00-12:00", "monday 12:00-17:00", "sunday 17:00-09:00",
			"monday 17:00-24:00"), "", ""},
		"a whole week":                  {everyDay("UTC", "06:00-06:00"), "", ""},
		"midnight as an end, both ways": {week("monday 09:00-24:00", "tuesday 09:00-00:00"), "", ""},
		"a day that nobody has": {week("Monday 09:00-17:00", " 09:00-17:00"), fault.ValidationFailed,
			"weekly[0].weekday:NOT_ALLOWED weekly[1].weekday:NOT_ALLOWED"},
		"times that nobody has": {week("monday 24:00-9:00", "monday 09:60-25:00", "monday -"),
			fault.ValidationFailed, "weekly[0].start:INVALID weekly[0].end:INVALID weekly[1].start:INVALID " +
				"weekly[1].end:INVALID weekly[2].start:INVALID weekly[2].end:INVALID"},
		"windows that overlap": {week("monday 09:00-12:00", "monday 11:59-17:00"),
			fault.ValidationFailed, "weekly[1]:INVALID"},
		"windows that overlap, in another order": {week("monday 11:59-17:00", "monday 09:00-12:00"),
			fault.ValidationFailed, "weekly[1]:INVALID"},
		"the same window twice": {week("monday 09:00-12:00", "monday 09:00-12:00"),
			fault.ValidationFailed, "weekly[1]:INVALID"},
		"a long window over two others": {week("monday 09:00-18:00", "monday 10:00-11:00", "monday 12:00-13:00"),
			fault.ValidationFailed, "weekly[1]:INVALID weekly[2]:INVALID"},
		"a night that runs into the next day": {week("monday 22:00-02:00", "tuesday 01:00-03:00"),
			fault.ValidationFailed, "weekly[1]:INVALID"},
		"the last night runs into the first day": {week("sunday 22:00-02:00", "saturday 22:00-09:00",
			"sunday 08:00-09:00"), fault.ValidationFailed, "weekly[2]:INVALID"},
		"the night to Sunday": {week("sunday 00:00-01:00", "saturday 22:00-00:30"),
			fault.ValidationFailed, "weekly[1]:INVALID"},
		"a whole day over another window": {week("monday 09:00-09:00", "monday 10:00-11:00"),
			fault.ValidationFailed, "weekly[1]:INVALID"},
		"what has no start overlaps nothing": {week("monday x-12:00", "monday 09:00-10:00"), fault.ValidationFailed,
			"weekly[0].start:INVALID"},
		"nor what starts at the end": {week("monday 24:00-12:00", "tuesday 09:00-10:00"),
			fault.ValidationFailed, "weekly[0].start:INVALID"},
		"nor what has no end": {week("monday 09:00-x", "monday 10:00-11:00"), fault.ValidationFailed,
			"weekly[0].end:INVALID"},
		"nor on a date": {override("2026-03-08", Hours{"10:00", "x"}, Hours{"11:00", "12:00"}),
			fault.ValidationFailed, "overrides[0].windows[0].end:INVALID"},
		"two dates that nobody has": {Settings{Timezone: "UTC", Overrides: []Override{{Date: "2026-02-30"},
			{Date: "x"}}}, fault.ValidationFailed, "overrides[0].date:INVALID overrides[1].date:INVALID"},
		"as many windows as there may be": {hourly(), "", ""},
		"as many dates as there may be":   {dates(1000), "", ""},
		"as many windows of a date":       {override("2026-03-08", hours()...), "", ""},
		"too many windows": {Settings{Timezone: "UTC", Weekly: make([]WeeklyHours, 169)},
			fault.ValidationFailed, "weekly:TOO_LONG"},
		"too many dates": {Settings{Timezone: "UTC", Overrides: make([]Override, 1001)},
			fault.ValidationFailed, "overrides:TOO_LONG"},
		"too many windows of a date": {override("2026-03-08", make([]Hours, 25)...), fault.ValidationFailed,
			"overrides[0].windows:TOO_LONG"},
		"a day off": {override("2026-03-08"), "", ""},
		"a date that nobody has": {override("2026-02-30", Hours{"09:00", "x"}), fault.ValidationFailed,
			"overrides[0].date:INVALID overrides[0].windows[0].end:INVALID"},
		"windows of a date that overlap": {override("2026-03-08", Hours{"22:00", "02:00"}, Hours{"00:00", "03:00"},
			Hours{"02:59", "04:00"}), fault.ValidationFailed, "overrides[0].windows[2]:INVALID"},
		"a date twice": {Settings{Timezone: "UTC", Overrides: []Override{{Date: "2026-03-08"}, {Date: "2026-03-08"}}},
			fault.ValidationFailed, "overrides[1].date:DUPLICATE"},
		"no zone":             {zone(""), fault.ValidationFailed, "timezone:REQUIRED"},
		"this machine's zone": {zone("Local"), fault.InvalidTimezone, "timezone:INVALID"},
		"an offset":           {zone("+02:00"), fault.InvalidTimezone, "timezone:INVALID"},
		"an unknown zone":     {zone("Europe/Atlantis"), fault.InvalidTimezone, "timezone:INVALID"},
		"an unknown zone and an unknown day as well": {Settings{Timezone: "x",
			Weekly: []WeeklyHours{{"someday", Hours{"09:00", "10:00"}}}}, fault.ValidationFailed,
			"timezone:INVALID weekly[0].weekday:NOT_ALLOWED"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := c.settings.Availability()
			if fault.CodeOf(err) != c.code {
				t.Fatalf("%v, want %q", err, c.code)
			}
			if checked := c.settings.Check(); (checked != nil) != (err != nil) || checked != nil &&
				!fault.Is(checked, fault.ValidationFailed) {
				t.Errorf("checked: %v", checked)
			}
			var got []string
			if refused, ok := errors.AsType[*fault.Error](err); ok {
				for _, d := range refused.Details {
					got = append(got, d.Field+":"+d.Code)
				}
			}
			if text := strings.Join(got, " "); text != c.want {
				t.Errorf("faults %s\n  want %s", text, c.want)
			}
		})
	}
}
