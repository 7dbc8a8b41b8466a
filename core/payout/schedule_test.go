package payout_test

import (
	"testing"
	"time"

	"sundry/core/fault"
	"sundry/core/payout"
)

func TestASchedulePaysOutAtTheBeginningOfItsNextDay(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		schedule  payout.Schedule
		now, want string // "" = never
	}{
		"daily":                    {payout.Daily, "2026-11-22T12:00:00Z", "2026-11-23T00:00:00Z"},
		"daily at its own instant": {payout.Daily, "2026-11-23T00:00:00Z", "2026-11-24T00:00:00Z"},
		"weekly from a Sunday":     {payout.Weekly, "2026-11-22T12:00:00Z", "2026-11-23T00:00:00Z"},
		"weekly from a Monday":     {payout.Weekly, "2026-11-23T00:00:00Z", "2026-11-30T00:00:00Z"},
		"weekly from a Tuesday":    {payout.Weekly, "2026-11-24T09:00:00Z", "2026-11-30T00:00:00Z"},
		"monthly":                  {payout.Monthly, "2026-11-22T12:00:00Z", "2026-12-01T00:00:00Z"},
		"monthly over a year":      {payout.Monthly, "2026-12-31T23:59:59Z", "2027-01-01T00:00:00Z"},
		"another zone":             {payout.Daily, "2026-11-22T23:30:00-05:00", "2026-11-24T00:00:00Z"},
		"manual":                   {payout.Manual, "2026-11-22T12:00:00Z", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			now, err := time.Parse(time.RFC3339, c.now)
			if err != nil {
				t.Fatal(err)
			}
			got, ok := c.schedule.Next(now)
			if ok != (c.want != "") || ok && got.Format(time.RFC3339Nano) != c.want {
				t.Errorf("%s, %v", got, ok)
			}
		})
	}
}

func TestAScheduleAsksOnceADayForEachCurrency(t *testing.T) {
	t.Parallel()
	morning := time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)
	night := time.Date(2026, 11, 23, 18, 59, 59, 0, time.FixedZone("", -5*60*60)) // the last second of the day in UTC
	for _, now := range []time.Time{morning, night} {
		if got := payout.KeyOn(now, "eur"); got != "schedule/2026-11-23/eur" {
			t.Errorf("on %s: %s", now, got)
		}
	}
}

func TestAnUnknownScheduleIsRefused(t *testing.T) {
	t.Parallel()
	for schedule, known := range map[payout.Schedule]bool{payout.Manual: true, payout.Daily: true, payout.Weekly: true,
		payout.Monthly: true, "": false, "yearly": false} {
		var f fault.Violations
		schedule.Check(&f, "payoutSchedule")
		if (f.Err() == nil) != known {
			t.Errorf("%q: %v", schedule, f.Err())
		}
	}
}
