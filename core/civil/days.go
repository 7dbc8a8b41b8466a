package civil

import (
	"fmt"
	"time"

	"sundry/core/fault"
)

const (
	// MaxDays bounds the days of one answer: two years, so that a year can be compared with the one before.
	MaxDays = 731
	// defaultDays are the latest days, today included.
	defaultDays = 30
)

// Days asks for the days from one to another, both included, UTC. Zero is the last of 30 days, today included.
type Days struct{ From, To Date }

// CompleteAt fills in the ends that are zero as of an instant. VALIDATION_FAILED (from).
func (d Days) CompleteAt(now time.Time) (Days, error) {
	if d.To == 0 {
		d.To = max(DateIn(time.UTC, now), d.From) // which may be a day that is still to come
	}
	if d.From == 0 {
		d.From = d.To + 1 - defaultDays
	}
	var f fault.Violations
	f.Check(d.From <= d.To, "from", fault.DetailInvalid, "The first day must not be after the last.")
	f.Check(d.To-d.From < MaxDays, "from", fault.DetailInvalid, fmt.Sprintf("At most %d days at once.", MaxDays))
	return d, f.Err()
}
