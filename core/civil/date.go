// Package civil is time as a wall shows it: days, time zones, and the one way from a wall clock to an instant. Code
// that has a date or a time of day without an offset turns it into an instant here and nowhere else.
package civil

import "time"

// Date is a civil day, counted from 1970-01-01, whatever the zone. Dates are compared and added to like numbers.
type Date int32

const (
	hourMs = int64(time.Hour / time.Millisecond)
	dayMs  = 24 * hourMs
	// layout is the format of every date.
	layout = "2006-01-02"
)

// ParseDate reads YYYY-MM-DD of the years 1970 to 9999. ok is false for anything else, 30 February included.
func ParseDate(s string) (d Date, ok bool) {
	t, err := time.Parse(layout, s)
	if err != nil || t.Year() < 1970 {
		return 0, false
	}
	return Date(t.UnixMilli() / dayMs), true //nolint:gosec // the year has four digits
}

// DateIn returns the day on which t falls in a zone.
func DateIn(zone *time.Location, t time.Time) Date {
	return dateTimeIn(zone, t.UnixMilli()).Date()
}

// String renders YYYY-MM-DD.
func (d Date) String() string { return time.UnixMilli(int64(d) * dayMs).UTC().Format(layout) }

// Weekday returns the day of the week.
func (d Date) Weekday() time.Weekday {
	const epoch = Date(time.Thursday) // of 1970-01-01
	return time.Weekday(((d+epoch)%7 + 7) % 7)
}

// Monday returns the first day of the week that d is in.
func (d Date) Monday() Date { return d - (Date(d.Weekday())+6)%7 } //nolint:gosec // 0 to 6

// At returns the wall clock's reading so many minutes after the day's midnight; 1440 is the next day's midnight.
func (d Date) At(minutes int) DateTime {
	return DateTime(int64(d)*dayMs + int64(minutes)*60_000)
}

// DateTime is a reading of a wall clock, in milliseconds since it showed 1970-01-01 00:00.
type DateTime int64

// Date returns the day that the clock shows.
func (r DateTime) Date() Date {
	day := int64(r) / dayMs
	if int64(r)%dayMs < 0 {
		day--
	}
	return Date(day) //nolint:gosec // five million years either way
}
