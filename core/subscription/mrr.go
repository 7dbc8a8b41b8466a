package subscription

import (
	"time"
)

// MovementKind is the effect of a change on the monthly recurring revenue (MRR) or on a trial.
type MovementKind string

// The kinds of movements. NewRevenue is the first revenue of a subscription and Reactivation revenue that it brings
// again; Churn is revenue that ended, by a pause too. A trial that ends is converted or lost.
const (
	NewRevenue     MovementKind = "new"
	Expansion      MovementKind = "expansion"
	Contraction    MovementKind = "contraction"
	Churn          MovementKind = "churn"
	Reactivation   MovementKind = "reactivation"
	TrialStarted   MovementKind = "trial_started"
	TrialConverted MovementKind = "trial_converted"
	TrialLost      MovementKind = "trial_lost"
)

// Movement is one change of the MRR, or of a trial, which changes it by nothing.
type Movement struct {
	// N counts the movements of a subscription, from 1.
	N    int64        `json:"n"`
	At   time.Time    `json:"at"`
	Kind MovementKind `json:"kind"`
	// Minor is the change of the MRR: negative for Contraction and Churn.
	Minor int64 `json:"minor"`
}

// Counted is the part of a subscription that its last movement has left it with.
type Counted struct {
	MRR   int64 `json:"mrr"`
	Ever  bool  `json:"ever"` // it has brought revenue
	Trial bool  `json:"trial"`
}

// maxMovements bounds the movements that a subscription remembers: far more than are made before they are added up.
const maxMovements = 100

// MRR returns the subscription's monthly recurring revenue in minor units, tax included where the price includes it:
// the price of a period after the discount, converted to a month and rounded half up. It is 0 while the subscription is
// on trial, paused or over. A failed renewal changes it only once the retries have ended.
func (s State) MRR() int64 {
	if s.Status != StatusActive && s.Status != StatusPastDue || s.onTrial() {
		return 0
	}
	value, _ := s.net(s.Offer, s.CurrentPeriodStart) // what cannot be counted is nothing
	month, _ := value.RatioHalfUp(s.Offer.Interval.PerYear(), 12*int64(s.Offer.IntervalCount))
	return month.Minor
}

// onTrial reports whether the trial's period is the current one: it runs, is paused, or waits for its first charge.
func (s State) onTrial() bool {
	return s.CurrentPeriodEnd.Equal(s.TrialEndsAt) && s.Status != StatusIncomplete && !s.Status.Terminal()
}

// NewCounted returns the figures of a subscription that has never been counted.
func NewCounted(s State) Counted {
	return Counted{MRR: s.MRR(), Ever: s.MRR() > 0, Trial: s.onTrial()}
}

// Moved reports whether the revenue or the trial differ from the figures of the last movement.
func (sub *Subscription) Moved() bool {
	return sub.s.MRR() != sub.s.Counted.MRR || sub.s.onTrial() != sub.s.Counted.Trial
}

// Move records the movements since the last one.
func (sub *Subscription) Move(now time.Time) {
	s := &sub.s
	add := func(kind MovementKind, minor int64) {
		s.LastMovement++
		s.Movements = append(s.Movements[max(0, len(s.Movements)+1-maxMovements):len(s.Movements):len(s.Movements)],
			Movement{N: s.LastMovement, At: now, Kind: kind, Minor: minor})
	}
	before, after, trial := s.Counted.MRR, s.MRR(), s.onTrial()
	switch {
	case trial == s.Counted.Trial:
	case trial:
		add(TrialStarted, 0)
	case s.Status.Terminal():
		add(TrialLost, 0)
	default:
		add(TrialConverted, 0)
	}
	switch {
	case before == 0 && after > 0 && s.Counted.Ever:
		add(Reactivation, after)
	case before == 0 && after > 0:
		add(NewRevenue, after)
	case after == 0 && before > 0:
		add(Churn, -before)
	case after > before:
		add(Expansion, after-before)
	case after < before:
		add(Contraction, after-before)
	}
	s.Counted = Counted{MRR: after, Ever: s.Counted.Ever || after > 0, Trial: trial}
}

// Unrolled returns the movements after the one of a number; after -1 also what the subscription counted for before its
// first movement: it may be older than movements are.
func (s State) Unrolled(rolled int64) (unrolled []Movement) {
	opening, started, tried := s.Counted.MRR, false, s.Counted.Trial
	for _, m := range s.Movements {
		opening -= m.Minor
		started = started || m.Kind == TrialStarted
		tried = tried || m.Kind == TrialConverted || m.Kind == TrialLost
		if m.N > rolled {
			unrolled = append(unrolled, m)
		}
	}
	if rolled >= 0 || len(s.Movements) == maxMovements {
		return unrolled
	}
	if opening > 0 {
		unrolled = append(unrolled, Movement{At: s.StartedAt, Kind: NewRevenue, Minor: opening})
	}
	if tried && !started {
		unrolled = append(unrolled, Movement{At: s.StartedAt, Kind: TrialStarted})
	}
	return unrolled
}
