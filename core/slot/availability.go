package slot

import (
	"math"
	"time"

	"sundry/core/civil"
)

// Window is a stretch of a day on the creator's wall clock, in minutes since midnight, End excluded. An End at or
// before Start is past midnight, so equal ends are 24 hours. Start is 0 to 1439, End 0 to 1440.
type Window struct{ Start, End int }

// span is the window's reading on a day.
func (w Window) span(on civil.Date) (from, until civil.DateTime) {
	if w.End <= w.Start {
		return on.At(w.Start), (on + 1).At(w.End)
	}
	return on.At(w.Start), on.At(w.End)
}

// Availability contains a creator's working hours. It is made by Settings and immutable.
type Availability struct {
	// Zone is the creator's: the windows are on its clocks.
	Zone *time.Location
	// Weekly holds the windows of each day of the week in order, Sunday first.
	Weekly [7][]Window
	// Overrides replace the windows of single dates; none at all is a day off.
	Overrides map[civil.Date][]Window
}

// on is the windows that begin on a day.
func (a *Availability) on(day civil.Date) []Window {
	if windows, replaced := a.Overrides[day]; replaced {
		return windows
	}
	return a.Weekly[day.Weekday()]
}

// opening is a window on the time line, [from, until) in milliseconds since 1970 UTC. The creator goes on working
// until end: other windows may follow without a break.
type opening struct{ from, until, end int64 }

// openings are the windows that begin on the days from first to last, by their beginning. A day that is overridden has
// nothing but its override, so what spills into it from the night before ends at its midnight.
func (a *Availability) openings(zone *civil.Zone, first, last civil.Date) (all []opening, overlapping bool) {
	var group int // where the present run of windows without a break begins
	end := int64(math.MinInt64)
	settle := func() {
		for i := group; i < len(all); i++ {
			all[i].end = end
		}
		group = len(all)
	}
	for day := first; day <= last; day++ {
		_, clipped := a.Overrides[day+1]
		for _, w := range a.on(day) {
			begins, ends := w.span(day)
			if clipped {
				ends = min(ends, (day + 1).At(0))
			}
			o := opening{from: zone.Instant(begins), until: zone.Instant(ends)} // empty where the clocks skip it
			if o.from > end {
				settle()
			}
			overlapping = overlapping || o.from < end
			end = max(end, o.until)
			all = append(all, o)
		}
	}
	settle()
	return all, overlapping
}
