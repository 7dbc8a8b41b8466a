package usage

import (
	"time"

	"sundry/core/fault"
	"sundry/core/period"
)

// Grace is the delay of an invoice after its period's end, in which late reports still arrive.
const Grace = 2 * time.Minute

// The window around now in which the time of a report may lie.
const (
	MaxAge   = 35 * 24 * time.Hour
	MaxAhead = 5 * time.Minute
)

// Period is half-open: a report exactly at End belongs to the next one.
type Period struct{ Start, End time.Time }

// Schedule cuts the use of a subscription's meter into periods. They are those of its anchor, but the first begins no
// earlier than StartsAt, and the last ends with EndsAt.
type Schedule struct {
	Anchor   time.Time
	Interval period.Interval
	Count    int
	StartsAt time.Time
	EndsAt   time.Time // zero while it runs
}

// Equal reports whether both have the same periods.
func (s Schedule) Equal(other Schedule) bool {
	return s.Anchor.Equal(other.Anchor) && s.Interval == other.Interval && s.Count == other.Count &&
		s.StartsAt.Equal(other.StartsAt) && s.EndsAt.Equal(other.EndsAt)
}

// At returns the period that t counts in. What was used before the first period counts in the first, so that nothing
// that was accepted goes unbilled. The end of the service cuts the last period, and whatever was reported for a later
// time before the end was known stays in it.
func (s Schedule) At(t time.Time) Period {
	t = later(t, s.StartsAt)
	if !s.EndsAt.IsZero() && !t.Before(s.EndsAt) {
		t = later(s.EndsAt.Add(-time.Millisecond), s.StartsAt)
	}
	_, start, end := period.Containing(s.Anchor, s.Interval, s.Count, t)
	p := Period{later(start, s.StartsAt), end}
	if !s.EndsAt.IsZero() && s.EndsAt.Before(end) {
		p.End = later(s.EndsAt, p.Start)
	}
	return p
}

// Next returns the period that follows one that At or Next returned.
func (s Schedule) Next(p Period) Period {
	_, start, end := period.Containing(s.Anchor, s.Interval, s.Count, p.End)
	return Period{start, end}
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// Takes refuses with PERIOD_CLOSED what is reported for a time at which the service has ended.
func (s Schedule) Takes(at time.Time) error {
	if !s.EndsAt.IsZero() && !at.Before(s.EndsAt) {
		return fault.New(fault.PeriodClosed, "The subscription or its billing plan had ended by the time of this report.")
	}
	return nil
}
