package payout

import (
	"time"

	"sundry/core/fault"
)

// Schedule is the schedule of automatic payouts of the available balance.
type Schedule string

// The schedules. Manual pays out on request only.
const (
	Manual  Schedule = "manual"
	Daily   Schedule = "daily"
	Weekly  Schedule = "weekly"
	Monthly Schedule = "monthly"
)

// Check adds a violation for an unknown schedule.
func (s Schedule) Check(f *fault.Violations, field string) {
	f.OneOf(field, string(s), string(Manual), string(Daily), string(Weekly), string(Monthly))
}

// Next returns the first instant after now at which the schedule pays out: the beginning of a day, of a Monday or of a
// month, in UTC. ok is false for Manual.
func (s Schedule) Next(now time.Time) (next time.Time, ok bool) {
	year, month, day := now.UTC().Date()
	today := time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
	switch s {
	case Daily:
		return today.AddDate(0, 0, 1), true
	case Weekly:
		ahead := (int(time.Monday) - int(today.Weekday()) + 7) % 7
		if ahead == 0 {
			ahead = 7
		}
		return today.AddDate(0, 0, ahead), true
	case Monthly:
		return time.Date(year, month+1, 1, 0, 0, 0, 0, time.UTC), true
	case Manual:
	}
	return time.Time{}, false
}

// KeyOn returns the request key of the payout that a schedule makes on a day in one currency: there is at most one.
func KeyOn(day time.Time, currency string) string {
	return "schedule/" + day.UTC().Format(time.DateOnly) + "/" + currency
}
