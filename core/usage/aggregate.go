package usage

import "time"

// Sample is one accepted report, as far as aggregation needs it.
type Sample struct {
	ID       string // time-ordered: of two reports for one moment the later one is the last
	At       time.Time
	Quantity Quantity
}

// Total aggregates the samples of a period so far. The zero value is a period without any.
type Total struct {
	Quantity Quantity
	// LastAt and LastID name the sample that LAST took; zero for the other aggregations.
	LastAt time.Time
	LastID string
	Count  int64
}

// Take counts one more sample. ok is false when a sum has more digits than can be kept.
func (t Total) Take(a Aggregation, s Sample) (next Total, ok bool) {
	ok = true
	switch a {
	case Sum, Count, Unique:
		t.Quantity, ok = t.Quantity.Add(s.Quantity)
	case Max:
		if s.Quantity.Compare(t.Quantity) > 0 {
			t.Quantity = s.Quantity
		}
	case Last:
		if t.LastAt.Before(s.At) || t.LastAt.Equal(s.At) && t.LastID < s.ID {
			t.Quantity, t.LastAt, t.LastID = s.Quantity, s.At, s.ID
		}
	}
	t.Count++
	return t, ok
}

// Merge joins the totals of two disjoint sets of samples.
func (t Total) Merge(a Aggregation, other Total) (merged Total, ok bool) {
	merged, ok = t.Take(a, Sample{other.LastID, other.LastAt, other.Quantity})
	merged.Count = t.Count + other.Count
	return merged, ok
}
