package plan

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"sundry/core/fault"
	"sundry/core/id"
	"sundry/core/money"
	"sundry/core/period"
)

// DefaultKey names the plan that a listing without plans of its own is taken to have.
const DefaultKey = "default"

// maxPlans bounds the plans of one listing, retired ones included.
const maxPlans = 100

// State is a plan's data, as stores and views see it.
type State struct {
	ID        string // pln_…
	CreatorID string
	ListingID string
	Key       string
	Name      string
	IsDefault bool
	TrialDays int
	Prices    []Price // in the order in which the creator gave them
	Terms     Terms
	Retired   bool
	CreatedAt time.Time
	UpdatedAt time.Time
	Revision  int64
}

func (s State) recurring() bool {
	return slices.ContainsFunc(s.Prices, func(p Price) bool { return p.Interval != "" })
}

// Price chooses the price that a buyer pays. A cadence that was not named ("") means month where the plan has it, else
// that of the plan's first price; a plan that does not renew ignores the one named. An interval without a number that
// no price has means the first price of that interval. Among prices of the same cadence, the first of the given
// currencies that one is in wins, else the first price. NOT_FOUND when the plan has no such cadence.
func (s State) Price(every period.Cadence, currencies ...money.Currency) (Price, error) {
	prices := s.charged(s.Prices, every)
	if len(prices) == 0 {
		return Price{}, fault.Newf(fault.NotFoundCode, "No such interval in this plan. Its intervals: %s.", sold(s.Prices))
	}
	for _, currency := range currencies {
		if i := slices.IndexFunc(prices, func(p Price) bool { return p.Amount.Currency == currency }); i >= 0 {
			return prices[i], nil
		}
	}
	return prices[0], nil
}

// PriceIn is Price in one currency. NOT_FOUND when the plan has no such cadence in that currency.
func (s State) PriceIn(every period.Cadence, currency money.Currency) (Price, error) {
	prices := slices.DeleteFunc(slices.Clone(s.Prices), func(p Price) bool { return p.Amount.Currency != currency })
	if len(prices) == 0 {
		return Price{}, fault.Newf(
			fault.NotFoundCode, "This plan has no price in %s. Its currencies: %s.", currency, joined(s.Currencies()),
		)
	}
	if found := s.charged(prices, every); len(found) > 0 {
		return found[0], nil
	}
	return Price{}, fault.Newf(
		fault.NotFoundCode, "No such interval in this plan in %s. Its intervals in %[1]s: %s.", currency, sold(prices),
	)
}

// Currencies lists the currencies of the plan's prices, each once.
func (s State) Currencies() []money.Currency {
	var all []money.Currency
	for _, p := range s.Prices {
		if !slices.Contains(all, p.Amount.Currency) {
			all = append(all, p.Amount.Currency)
		}
	}
	return all
}

// charged returns the prices of a cadence, which is read as Price reads it.
func (s State) charged(prices []Price, every period.Cadence) []Price {
	switch {
	case !s.recurring():
		every = ""
	case every == "" && len(prices) > 0:
		every = prices[0].Every()
		if slices.ContainsFunc(prices, func(p Price) bool { return p.Interval == period.Month }) {
			every = period.Every(period.Month, 1)
		}
	}
	if i := chargedFirst(prices, every); i >= 0 {
		every = prices[i].Every()
	}
	return slices.DeleteFunc(slices.Clone(prices), func(p Price) bool { return p.Every() != every })
}

// chargedFirst is the index of the first price of a cadence or, where there is none and the cadence has no number, of
// its interval; -1 for none.
func chargedFirst(prices []Price, every period.Cadence) int {
	i := slices.IndexFunc(prices, func(p Price) bool { return p.Every() == every })
	if interval, count := every.Parts(); i < 0 && count == 1 {
		i = slices.IndexFunc(prices, func(p Price) bool { return p.Interval == interval })
	}
	return i
}

// sold lists the cadences of prices for a message: "month, 3 months".
func sold(prices []Price) string {
	var all []string
	for _, p := range prices {
		words := string(p.Interval)
		if p.IntervalCount > 1 {
			words = fmt.Sprintf("%d %ss", p.IntervalCount, p.Interval)
		}
		if !slices.Contains(all, words) {
			all = append(all, words)
		}
	}
	return joined(all)
}

func joined[T ~string](values []T) string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = string(v)
	}
	return strings.Join(texts, ", ")
}

// Set is every plan of one listing, retired ones included. It keeps one of the live plans, and only one, the default.
type Set struct {
	creatorID, listingID string
	plans                []State
	changed              map[string]bool
}

// Restore rebuilds the set from the stored plans of a listing.
func Restore(creatorID, listingID string, plans []State) *Set {
	return &Set{creatorID: creatorID, listingID: listingID, plans: slices.Clone(plans), changed: map[string]bool{}}
}

// Live returns the plans that can be bought, by key.
func (s *Set) Live() []State {
	live := slices.DeleteFunc(slices.Clone(s.plans), func(p State) bool { return p.Retired })
	slices.SortFunc(live, func(a, b State) int { return strings.Compare(a.Key, b.Key) })
	return live
}

// Changed returns the plans that were altered since Restore, to be saved. A new plan has revision 1.
func (s *Set) Changed() []State {
	return slices.DeleteFunc(slices.Clone(s.plans), func(p State) bool { return !s.changed[p.Key] })
}

// Put makes the plan with the draft's key be as drafted, reviving it when it was retired. Prices that stay the same
// keep their ids, every other price is a new one. The first plan is the default whatever it specifies; taking the flag
// from the default passes it to the oldest other plan.
func (s *Set) Put(d Draft, newID func(id.Prefix) string, now time.Time) (State, error) {
	next, err := d.parse()
	if err != nil {
		return State{}, err
	}
	next.CreatorID, next.ListingID = s.creatorID, s.listingID
	after := slices.Clone(s.plans)
	i := s.index(d.Key)
	if i < 0 {
		if len(s.plans) >= maxPlans {
			return State{}, fault.Newf(fault.StateConflict, "A listing may have at most %d plans.", maxPlans)
		}
		next.ID, next.CreatedAt = newID(id.Plan), now
		i, after = len(after), append(after, next)
	} else {
		old := s.plans[i]
		keepIDs(next.Prices, old.Prices)
		next.ID, next.CreatedAt, next.UpdatedAt, next.Revision = old.ID, old.CreatedAt, old.UpdatedAt, old.Revision
		after[i] = next
	}
	nameNew(next.Prices, func() string { return newID(id.Price) })
	settleDefault(after, d.Key)
	s.become(after, now)
	return s.plans[i], nil
}

// Retire takes a plan out of sale; doing it again changes nothing. NOT_FOUND for an unknown key.
func (s *Set) Retire(key string, now time.Time) (State, error) {
	i := s.index(key)
	if i < 0 {
		return State{}, fault.NotFound("plan")
	}
	after := slices.Clone(s.plans)
	after[i].Retired = true
	settleDefault(after, "")
	s.become(after, now)
	return s.plans[i], nil
}

// settleDefault leaves one live default: the plan just put when it is to be, else the present one, else the
// oldest of the others.
func settleDefault(plans []State, put string) {
	chosen, highest := -1, 0
	for i, p := range plans {
		rank := 0
		switch {
		case p.Retired:
			continue
		case p.IsDefault && p.Key == put:
			rank = 4
		case p.IsDefault:
			rank = 3
		case p.Key != put:
			rank = 2
		default:
			rank = 1
		}
		if rank > highest || rank == highest && p.ID < plans[chosen].ID {
			chosen, highest = i, rank
		}
	}
	for i := range plans {
		plans[i].IsDefault = i == chosen
	}
}

// become takes over the plans that differ, raising the revision of each once.
func (s *Set) become(after []State, now time.Time) {
	for i := range after {
		if i < len(s.plans) && reflect.DeepEqual(s.plans[i], after[i]) {
			continue
		}
		after[i].UpdatedAt = now
		if key := after[i].Key; !s.changed[key] {
			s.changed[key] = true
			after[i].Revision++
		}
	}
	s.plans = after
}

func (s *Set) index(key string) int {
	return slices.IndexFunc(s.plans, func(p State) bool { return p.Key == key })
}
