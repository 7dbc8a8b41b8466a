package slot

import (
	"cmp"
	"slices"
	"time"
)

// Interval is the time from From up to, and without, Until.
type Interval struct{ From, Until time.Time }

// Overlaps reports whether the two share a moment. One that is empty shares none.
func (i Interval) Overlaps(other Interval) bool {
	return i.From.Before(other.Until) && other.From.Before(i.Until) && i.From.Before(i.Until) &&
		other.From.Before(other.Until)
}

// Busy lists the intervals in which a creator is taken, in any order; intervals may overlap.
type Busy []Interval

// stretch is an Interval in milliseconds since 1970 UTC.
type stretch struct{ from, until int64 }

// sorted is the same time as stretches in order, neither overlapping nor empty.
func (b Busy) sorted() []stretch {
	all := make([]stretch, 0, len(b))
	for _, i := range b {
		s := stretch{i.From.UnixMilli(), i.Until.UnixMilli()}
		if s.from >= s.until {
			continue
		}
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b stretch) int { return cmp.Compare(a.from, b.from) })
	merged := all[:0]
	for _, s := range all {
		if last := len(merged) - 1; last >= 0 && s.from <= merged[last].until {
			merged[last].until = max(merged[last].until, s.until)
		} else {
			merged = append(merged, s)
		}
	}
	return merged
}
