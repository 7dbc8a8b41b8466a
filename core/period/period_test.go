package period_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"sundry/core/fault"
	"sundry/core/period"
)

func at(t testing.TB, s string) time.Time {
	t.Helper()
	parsed, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

func TestParseInterval(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"day", "week", "month", "year"} {
		if got, err := period.ParseInterval(s); err != nil || string(got) != s {
			t.Errorf("%s -> %q, %v", s, got, err)
		}
	}
	for _, s := range []string{"", "Month", "months", "quarter", "month ", "hour"} {
		if got, err := period.ParseInterval(s); got != "" || !fault.Is(err, fault.ValidationFailed) {
			t.Errorf("%q -> %q, %v", s, got, err)
		}
	}
}

func TestNth(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		anchor   string
		interval period.Interval
		count, n int
		want     string
	}{
		"31 January plus a month is the end of February": {"2026-01-31T00:00:00Z", period.Month, 1, 1,
			"2026-02-28T00:00:00Z"},
		"in a leap year that is the 29th":           {"2028-01-31T00:00:00Z", period.Month, 1, 1, "2028-02-29T00:00:00Z"},
		"the next month has the anchor's day again": {"2026-01-31T00:00:00Z", period.Month, 1, 2, "2026-03-31T00:00:00Z"},
		"and the one after ends on the 30th":        {"2026-01-31T00:00:00Z", period.Month, 1, 3, "2026-04-30T00:00:00Z"},
		"29 February yearly falls on the 28th":      {"2028-02-29T12:00:00Z", period.Year, 1, 1, "2029-02-28T12:00:00Z"},
		"and comes back in the next leap year":      {"2028-02-29T12:00:00Z", period.Year, 1, 4, "2032-02-29T12:00:00Z"},
		"quarters cross the year": {"2025-11-30T23:59:59.999Z", period.Month, 3, 1,
			"2026-02-28T23:59:59.999Z"},
		"period zero starts at the anchor": {"2026-05-05T05:05:05.005Z", period.Month, 1, 0,
			"2026-05-05T05:05:05.005Z"},
		"before the anchor months are clamped too":  {"2026-03-31T00:00:00Z", period.Month, 1, -1, "2026-02-28T00:00:00Z"},
		"two weeks are fourteen days":               {"2026-03-25T08:00:00Z", period.Week, 2, 1, "2026-04-08T08:00:00Z"},
		"a day is 24 hours over a change of clocks": {"2026-03-28T23:30:00+01:00", period.Day, 1, 1, "2026-03-29T22:30:00Z"},
		"the anchor's day is the one of UTC": {"2026-02-01T00:30:00+01:00", period.Month, 1, 1,
			"2026-02-28T23:30:00Z"},
		"centuries of days do not overflow": {"2000-01-01T00:00:00Z", period.Day, 1, 146097, "2400-01-01T00:00:00Z"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := period.Nth(at(t, c.anchor), c.interval, c.count, c.n)
			if !got.Equal(at(t, c.want)) || got.Location() != time.UTC {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestContaining(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		anchor     string
		interval   period.Interval
		t          string
		n          int
		start, end string
	}{
		"seven months on, by the time of day": {"2025-01-31T15:00:00Z", period.Month, "2025-08-13T20:00:00Z", 6,
			"2025-07-31T15:00:00Z", "2025-08-31T15:00:00Z"},
		"the start belongs to its period": {"2025-01-31T15:00:00Z", period.Month, "2025-02-28T15:00:00Z", 1,
			"2025-02-28T15:00:00Z", "2025-03-31T15:00:00Z"},
		"a moment earlier belongs to the former": {"2025-01-31T15:00:00Z", period.Month, "2025-02-28T14:59:59.999999999Z", 0,
			"2025-01-31T15:00:00Z", "2025-02-28T15:00:00Z"},
		"before the anchor numbers are negative": {"2025-01-31T15:00:00Z", period.Month, "2025-01-31T14:59:59Z", -1,
			"2024-12-31T15:00:00Z", "2025-01-31T15:00:00Z"},
		"t's month is the one of UTC": {"2025-01-01T00:00:00Z", period.Month, "2025-01-31T23:30:00-02:00", 1,
			"2025-02-01T00:00:00Z", "2025-03-01T00:00:00Z"},
		"so is the anchor's": {"2025-01-31T23:30:00-02:00", period.Month, "2025-01-15T00:00:00Z", -1,
			"2025-01-01T01:30:00Z", "2025-02-01T01:30:00Z"},
		"t in another zone is the same instant": {"2025-01-31T15:00:00Z", period.Day, "2025-02-01T16:00:00+01:00", 1,
			"2025-02-01T15:00:00Z", "2025-02-02T15:00:00Z"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n, start, end := period.Containing(at(t, c.anchor), c.interval, 1, at(t, c.t))
			if n != c.n || !start.Equal(at(t, c.start)) || !end.Equal(at(t, c.end)) {
				t.Errorf("period %d [%s, %s), want %d [%s, %s)", n, start, end, c.n, c.start, c.end)
			}
		})
	}
}

func TestPeriodsTileTime(t *testing.T) {
	t.Parallel()
	instant := rapid.Custom(func(t *rapid.T) time.Time {
		return time.Unix(rapid.Int64Range(0, 4102444800).Draw(t, "s"), rapid.Int64Range(0, 999999999).Draw(t, "ns"))
	})
	monthEnd := rapid.Custom(func(t *rapid.T) time.Time {
		return time.Date(rapid.IntRange(1990, 2090).Draw(t, "y"), time.Month(rapid.IntRange(1, 12).Draw(t, "m")),
			rapid.IntRange(28, 31).Draw(t, "d"), rapid.IntRange(0, 23).Draw(t, "h"), 0, 0, 0, time.UTC)
	})
	rapid.Check(t, func(t *rapid.T) {
		anchor := rapid.OneOf(instant, monthEnd).Draw(t, "anchor")
		at := rapid.OneOf(instant, monthEnd).Draw(t, "t")
		interval := rapid.SampledFrom([]period.Interval{period.Day, period.Week, period.Month, period.Year}).Draw(t,
			"interval")
		count := rapid.IntRange(1, 24).Draw(t, "count")

		n, start, end := period.Containing(anchor, interval, count, at)
		if at.Before(start) || !at.Before(end) {
			t.Fatalf("%s is outside [%s, %s)", at, start, end)
		}
		if !start.Equal(period.Nth(anchor, interval, count, n)) || !end.Equal(period.Nth(anchor, interval, count, n+1)) {
			t.Fatalf("period %d is not [%s, %s)", n, start, end)
		}
		if m, next, _ := period.Containing(anchor, interval, count, end); m != n+1 || !next.Equal(end) {
			t.Fatalf("the end of period %d lies in period %d from %s", n, m, next)
		}
		if m, _, last := period.Containing(anchor, interval, count, start.Add(-1)); m != n-1 || !last.Equal(start) {
			t.Fatalf("just before period %d lies period %d to %s", n, m, last)
		}
	})
}

func TestPeriodsWithoutLengthPanic(t *testing.T) {
	t.Parallel()
	for name, call := range map[string]func(){
		"count zero":       func() { period.Nth(time.Time{}, period.Month, 0, 1) },
		"negative count":   func() { period.Containing(time.Time{}, period.Day, -1, time.Time{}) },
		"no interval":      func() { period.Nth(time.Time{}, "hour", 1, 1) },
		"unknown interval": func() { period.Containing(time.Time{}, "hour", 1, time.Time{}) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			call()
		})
	}
}
