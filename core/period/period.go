// Package period cuts time into billing periods. Period n starts at the original anchor plus n intervals,
// clamped to the month's end, so a subscription begun on 31 January renews on 28 February and then on 31 March
// again. Periods are half-open, reckoned in UTC, without gap or overlap, and reach both ways from the anchor.
package period

import (
	"fmt"
	"time"

	"sundry/core/fault"
)

// Interval is the unit of a period.
type Interval string

// The units. A day is 24 hours of UTC, a week is seven days.
const (
	Day   Interval = "day"
	Week  Interval = "week"
	Month Interval = "month"
	Year  Interval = "year"
)

// step is the length of one interval: days, or civil months. perYear counts them in a year of 365 days or 52 weeks.
type step struct {
	days, months int
	perYear      int64
}

var steps = map[Interval]step{
	Day: {days: 1, perYear: 365}, Week: {days: 7, perYear: 52}, Month: {months: 1, perYear: 12},
	Year: {months: 12, perYear: 1},
}

// PerYear returns how many of the interval make a year, by which prices of different intervals are compared: 365 days,
// 52 weeks, 12 months; 0 for no interval.
func (i Interval) PerYear() int64 { return steps[i].perYear }

const daySeconds = 24 * 60 * 60

// ParseInterval accepts day, week, month and year. Its error is a VALIDATION_FAILED fault without a field, made
// for Violations.Merge.
func ParseInterval(s string) (Interval, error) {
	if _, ok := steps[Interval(s)]; ok {
		return Interval(s), nil
	}
	return "", fault.Invalid(fault.Detail{Code: fault.DetailNotAllowed, Message: fault.ExpectedOneOf(s, string(Day),
		string(Week), string(Month), string(Year))})
}

// Nth returns the start of period n, which is the end of period n-1: anchor plus n times count intervals, in
// UTC. It panics unless interval is one ParseInterval returns and count is at least 1, because a period without
// length would bill without end.
func Nth(anchor time.Time, interval Interval, count, n int) time.Time {
	step := stepOf(interval, count)
	anchor = anchor.UTC()
	if step.days > 0 {
		return anchor.AddDate(0, 0, n*count*step.days)
	}
	return addMonths(anchor, n*count*step.months)
}

// stepOf returns the length of one interval. It panics on a period without length.
func stepOf(interval Interval, count int) step {
	s, ok := steps[interval]
	if !ok || count < 1 {
		panic(fmt.Sprintf("period: %d of interval %q", count, interval))
	}
	return s
}

// Containing returns the period that t lies in: its number (negative before the anchor) and its bounds, start
// included and end not. It panics as Nth does.
func Containing(anchor time.Time, interval Interval, count int, t time.Time) (n int, start, end time.Time) {
	anchor, t = anchor.UTC(), t.UTC()
	step := stepOf(interval, count)
	if step.days > 0 {
		n = int(t.Unix()-anchor.Unix()) / (daySeconds * step.days * count)
	} else {
		months := (t.Year()-anchor.Year())*12 + int(t.Month()) - int(anchor.Month())
		n = months / (step.months * count)
	}
	// The quotient knows whole seconds or months only, and a negative one is cut towards zero: never both.
	if t.Before(Nth(anchor, interval, count, n)) {
		n--
	}
	return n, Nth(anchor, interval, count, n), Nth(anchor, interval, count, n+1)
}

// addMonths moves t by civil months and keeps its day, or takes the last day of a month that is too short.
func addMonths(t time.Time, months int) time.Time {
	first := time.Date(t.Year(), t.Month()+time.Month(months), 1, t.Hour(), t.Minute(), t.Second(), t.Nanosecond(),
		time.UTC)
	last := first.AddDate(0, 1, -1).Day()
	return first.AddDate(0, 0, min(t.Day(), last)-1)
}
