package access

import (
	"cmp"
	"slices"
	"time"

	"sundry/core/plan"
)

// Snapshot is everything a customer may use: the sum of their running grants.
type Snapshot struct {
	ActivePlans  []ActivePlan
	Entitlements []Entitlement
	Credits      []Credit
	// NextEnd is the soonest ExpiresAt of the grants; zero when none has one. It is not part of the document.
	NextEnd time.Time
}

// ActivePlan is a plan and what gives it.
type ActivePlan struct {
	Plan
	Source    Source
	SourceID  string
	StartedAt time.Time
}

// Entitlement is one entitlement after several grants were combined.
type Entitlement struct {
	plan.Entitlement
	// Sources are the source ids of the grants that give this value, sorted.
	Sources []string
	// ExpiresAt is the end of the last of them; zero when one of them does not end.
	ExpiresAt time.Time
}

// Credit is the sum of all blocks of one key and unit. Used may be more than Granted after a change to a plan that
// grants less; what one grant is overdrawn takes nothing from another.
type Credit struct {
	Key, Unit     string
	Granted, Used int64
	// ExpiresAt is the soonest time at which some of the balance is lost; zero when none will be.
	ExpiresAt time.Time
}

// Balance returns the units left to use, never negative.
func (c Credit) Balance() int64 { return max(c.Granted-c.Used, 0) }

// Fold adds up the grants that count. The order of the grants does not matter.
func Fold(grants []*Grant) Snapshot {
	running := slices.DeleteFunc(slices.Clone(grants), func(g *Grant) bool { return !g.Active() })
	slices.SortFunc(running, older)
	s := Snapshot{Entitlements: foldEntitlements(running), Credits: foldCredits(running)}
	for _, g := range running {
		s.NextEnd = sooner(s.NextEnd, g.s.ExpiresAt)
		if g.s.Plan != nil {
			s.ActivePlans = append(s.ActivePlans, ActivePlan{*g.s.Plan, g.s.Source, g.s.SourceID, g.s.StartedAt})
		}
	}
	slices.SortFunc(s.ActivePlans, func(a, b ActivePlan) int {
		return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.SourceID, b.SourceID), cmp.Compare(a.Source, b.Source))
	})
	return s
}

// entitlementKey keeps two types of one key apart: there is no value that is both a limit and a text.
type entitlementKey struct {
	key  string
	kind plan.EntitlementType
}

func foldEntitlements(running []*Grant) []Entitlement {
	values := map[entitlementKey]plan.Entitlement{}
	for _, g := range running {
		for _, e := range g.s.Entitlements {
			k := entitlementKey{e.Key, e.Type}
			values[k] = combine(values[k], e)
		}
	}
	folded := make([]Entitlement, 0, len(values))
	for _, value := range values {
		folded = append(folded, sourced(value, running))
	}
	slices.SortFunc(folded, func(a, b Entitlement) int {
		return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Type, b.Type))
	})
	return folded
}

// combine is boolean OR, the larger limit, the later text of one type; b comes from the later grant. a may be the zero
// value.
func combine(a, b plan.Entitlement) plan.Entitlement {
	if a.Bool || a.Limit > b.Limit {
		return a
	}
	return b
}

// sourced names the grants that give exactly this value. One that gives less is no reason for it, and must not make it
// seem to last.
func sourced(value plan.Entitlement, running []*Grant) Entitlement {
	out := Entitlement{Entitlement: value}
	lasting := false
	for _, g := range running {
		if !slices.Contains(g.s.Entitlements, value) {
			continue
		}
		out.Sources = append(out.Sources, g.s.SourceID)
		expiry := g.expiry()
		lasting = lasting || expiry.IsZero()
		if expiry.After(out.ExpiresAt) {
			out.ExpiresAt = expiry
		}
	}
	if lasting {
		out.ExpiresAt = time.Time{}
	}
	slices.Sort(out.Sources)
	return out
}

func foldCredits(running []*Grant) []Credit {
	type creditKey struct{ key, unit string }
	sums, left := map[creditKey]Credit{}, map[creditKey]int64{}
	for _, g := range running {
		for _, l := range g.s.Credits {
			if l.Hidden() {
				continue
			}
			k := creditKey{l.Key, l.Unit}
			c := sums[k]
			c.Key, c.Unit = l.Key, l.Unit
			c.Granted += l.Granted
			c.Used += l.Used
			if l.Left() > 0 {
				left[k] += l.Left()
				c.ExpiresAt = sooner(c.ExpiresAt, g.CreditExpiry(l))
			}
			sums[k] = c
		}
	}
	folded := make([]Credit, 0, len(sums))
	for k, c := range sums {
		if left[k] > 0 {
			c.Used = c.Granted - left[k]
		}
		folded = append(folded, c)
	}
	slices.SortFunc(folded, func(a, b Credit) int {
		return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Unit, b.Unit))
	})
	return folded
}

// sooner is the earlier of two times of which zero means never.
func sooner(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
