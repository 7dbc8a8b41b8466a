package civil

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"sundry/core/fault"
)

func TestDates(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"2026-03-08": true, "1970-01-01": true, "9999-12-31": true, "2028-02-29": true,
		"2026-02-29": false, "2026-2-9": false, "1969-12-31": false, "10000-01-01": false, "": false,
		"2026-03-08T00:00": false,
		" 2026-03-08":      false, "2026-13-01": false, "2026-00-10": false, "-026-01-01": false, "२०२६-०१-०१": false,
	} {
		d, ok := ParseDate(text)
		if ok != want || ok && d.String() != text || !ok && d != 0 {
			t.Errorf("ParseDate(%q) = %v, %v", text, d, ok)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		d := Date(rapid.Int32Range(-200_000, 200_000).Draw(t, "d"))
		day := time.Unix(int64(d)*86400, 0).UTC()
		if d.Weekday() != day.Weekday() || d.At(0).Date() != d || d.At(-1).Date() != d-1 || d.At(1440) != (d+1).At(0) ||
			d.At(1)-d.At(0) != 60_000 {
			t.Fatalf("%v: weekday %v", d, d.Weekday())
		}
		if m := d.Monday(); m.Weekday() != time.Monday || m > d || d-m > 6 {
			t.Fatalf("the week of %v begins on %v", d, m)
		}
	})
}

func TestOnlyNamesOfZonesAreZones(t *testing.T) {
	t.Parallel()
	for name, good := range map[string]bool{
		"Europe/Paris": true, "UTC": true, "Etc/GMT+5": true, "America/Argentina/ComodRivadavia": true, "GMT": true,
		"EST5EDT": true,
		"":        false, "Local": false, "localtime": false, "+02:00": false, "UTC+2": false, "GMT+02:00": false,
		"Europe/Atlantis": false,
		"Europe":          false, "../etc/passwd": false, "/etc/localtime": false, "posix/Europe/Paris": false,
		"right/Europe/Paris": false,
		"Factory":            false, "Europe/Paris ": false, "Europe/Paris\x00": false, "Europe//Paris": false,
		"Europe/": false, "zone.tab": false,
		"leapseconds": false, "posixrules": false, "tzdata.zi": false, "5": false,
	} {
		zone, err := ParseZone(name)
		if good && (err != nil || zone.String() != name) || !good && !fault.Is(err, fault.InvalidTimezone) {
			t.Errorf("ParseZone(%q) = %v, %v", name, zone, err)
		}
	}
}

func TestAWallClockNamesOneInstant(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ zone, wall, want string }{
		"an ordinary hour":                             {"Europe/Paris", "2026-06-15 09:00", "2026-06-15T07:00:00Z"},
		"the first pass of a repeated hour":            {"America/New_York", "2026-11-01 01:30", "2026-11-01T05:30:00Z"},
		"the end of a repeated hour comes once":        {"America/New_York", "2026-11-01 02:00", "2026-11-01T07:00:00Z"},
		"a skipped hour is the instant of the jump":    {"America/New_York", "2026-03-08 02:15", "2026-03-08T07:00:00Z"},
		"the end of a skipped hour is the jump too":    {"America/New_York", "2026-03-08 03:00", "2026-03-08T07:00:00Z"},
		"half an hour is skipped":                      {"Australia/Lord_Howe", "2026-10-04 02:10", "2026-10-03T15:30:00Z"},
		"half an hour is repeated":                     {"Australia/Lord_Howe", "2026-04-05 01:45", "2026-04-04T14:45:00Z"},
		"midnight is skipped":                          {"Africa/Cairo", "2026-04-24 00:00", "2026-04-23T22:00:00Z"},
		"clocks go back over midnight":                 {"Asia/Beirut", "2026-10-25 00:00", "2026-10-24T22:00:00Z"},
		"a whole day is skipped":                       {"Pacific/Apia", "2011-12-30 12:00", "2011-12-30T10:00:00Z"},
		"a quarter of an hour from UTC":                {"Asia/Kathmandu", "2026-06-15 09:00", "2026-06-15T03:15:00Z"},
		"the last day of a leap year without a table":  {"America/New_York", "2040-12-31 12:00", "2040-12-31T17:00:00Z"},
		"far in the future, where only rules are left": {"America/New_York", "2150-11-01 01:30", "2150-11-01T05:30:00Z"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			zone, err := ParseZone(c.zone)
			if err != nil {
				t.Fatal(err)
			}
			wall, err := time.Parse("2006-01-02 15:04", c.wall)
			if err != nil {
				t.Fatal(err)
			}
			if got := Instant(zone, DateTime(wall.UnixMilli())).Format(time.RFC3339); got != c.want {
				t.Errorf("%s in %s is %s, want %s", c.wall, c.zone, got, c.want)
			}
		})
	}
}

// odd are the zones whose clocks have done the strangest things.
var odd = []string{
	"UTC", "America/New_York", "Europe/Berlin", "Australia/Lord_Howe", "Asia/Kathmandu", "Pacific/Apia",
	"Africa/Casablanca",
	"America/St_Johns", "Asia/Beirut", "Africa/Cairo", "America/Sao_Paulo", "America/Nuuk", "Antarctica/Troll",
	"Pacific/Chatham",
	"America/Havana", "Asia/Gaza", "Pacific/Kwajalein", "Asia/Pyongyang", "America/Caracas", "Europe/Dublin",
	"Pacific/Kiritimati",
}

// TestAnInstantIsTheFirstThatShowsTheReading holds the one function to its definition, whatever the survey.
func TestAnInstantIsTheFirstThatShowsTheReading(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		location, err := ParseZone(rapid.SampledFrom(odd).Draw(t, "zone"))
		if err != nil {
			t.Fatal(err)
		}
		about := nearATransition(t, location)
		r := DateTime(about + rapid.Int64Range(-30*60, 30*60).Draw(t, "minutes")*60_000)
		z := ZoneBetween(location, about-rapid.Int64Range(0, 400).Draw(t, "before")*dayMs, about+
			rapid.Int64Range(0, 400).Draw(t, "after")*dayMs)
		at := z.Instant(r)
		if other := Instant(location, r).UnixMilli(); other != at {
			t.Fatalf("%d by this survey, %d by another", at, other)
		}
		if shown := z.DateTime(at); shown < r {
			t.Fatalf("at %d the clocks show %d, which is before %d", at, shown, r)
		}
		for before := int64(1); before < 30*60; before++ {
			then := at - before*60_000
			if shown := then + offsetByTime(location, then); shown >= int64(r) {
				t.Fatalf("%d minutes earlier the clocks show %d already", before, shown)
			}
		}
		if got, want := int64(z.DateTime(at)), at+offsetByTime(location, at); got != want {
			t.Fatalf("reading %d, want %d", got, want)
		}
	})
}

func TestSurveyedDaysHoldEveryInstantThatShowsThem(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		location, err := ParseZone(rapid.SampledFrom(odd).Draw(t, "zone"))
		if err != nil {
			t.Fatal(err)
		}
		first := DateIn(location, time.UnixMilli(nearATransition(t, location)))
		last := first + Date(rapid.Int32Range(0, 2).Draw(t, "days"))
		z, from, until := ZoneForDays(location, first, last)
		for at := from - 30*hourMs; at < until+30*hourMs; at += 5 * 60_000 {
			day := z.DateTime(at).Date()
			if day >= first && day <= last && (at < from || at >= until) {
				t.Fatalf("%d shows %v and is not in [%d, %d)", at, day, from, until)
			}
		}
	})
}

// nearATransition draws an instant, mostly close to where the clocks change.
func nearATransition(t *rapid.T, location *time.Location) int64 {
	at := time.Date(rapid.IntRange(1971, 2060).Draw(t, "year"), 1, 1, 0, 0, 0, 0, time.UTC).
		AddDate(0, 0, rapid.IntRange(0, 365).Draw(t, "day"))
	if _, end := at.In(location).ZoneBounds(); !end.IsZero() && rapid.IntRange(0, 9).Draw(t, "near") > 0 {
		at = end
	}
	return at.UnixMilli()
}

func offsetByTime(location *time.Location, at int64) int64 {
	_, seconds := time.UnixMilli(at).In(location).Zone()
	return int64(seconds) * 1000
}

func TestAZoneThatIsUTCIsNamedOnce(t *testing.T) {
	t.Parallel()
	winter := time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC)
	for name, want := range map[string]string{
		"UTC": "UTC", "Etc/UTC": "UTC", "Europe/London": "Europe/London, UTC", "Asia/Kathmandu": "Asia/Kathmandu, UTC+5:45",
	} {
		zone, err := ParseZone(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := ZoneLabel(winter, zone); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestOffsetsAreSaidInWords(t *testing.T) {
	t.Parallel()
	if got := Offset(time.Unix(0, 0), time.FixedZone("", 30*60)); got != "UTC+0:30" {
		t.Errorf("half an hour: %s", got)
	}
	winter, summer := time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC), time.Date(2026, 7, 15, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		at   time.Time
		want string
	}{
		"UTC": {winter, "UTC"}, "Europe/London": {summer, "UTC+1"}, "Asia/Kathmandu": {winter, "UTC+5:45"},
		"America/St_Johns": {winter, "UTC−3:30"}, "America/New_York": {summer, "UTC−4"},
	} {
		zone, err := ParseZone(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := Offset(c.at, zone); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
