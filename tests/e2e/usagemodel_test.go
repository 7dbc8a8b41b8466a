package e2e_test

import (
	"encoding/json"
	"math/big"
	"slices"
	"strings"
	"time"

	"sundry/tests/harness"
)

// modelTier is a tier of a modelPrice, up to a quantity; "" is without an end.
type modelTier struct{ upTo, unit string }

// modelPrice is a usage price, and what it makes of a quantity: written by hand, without the product's rating.
type modelPrice struct {
	id, mode      string
	size, minimum int64
	// large has the tiers of use with the model "large", which the others do not bill then.
	tiers, large []modelTier
}

func number(text string) *big.Rat {
	n, ok := new(big.Rat).SetString(text)
	if !ok {
		panic(text)
	}
	return n
}

func tierBodies(tiers []modelTier) (bodies []harness.JSON) {
	for _, t := range tiers {
		body := harness.JSON{"unitAmountDecimal": t.unit}
		if t.upTo != "" {
			body["upTo"] = json.Number(t.upTo)
		}
		bodies = append(bodies, body)
	}
	return bodies
}

func (p modelPrice) body(productID string) harness.JSON {
	body := harness.JSON{
		"productId": productID, "billingScheme": "usage_based", "currency": "eur", "tiersMode": p.mode,
		"recurring": harness.JSON{"interval": "month"}, "tiers": tierBodies(p.tiers),
	}
	if p.size > 0 {
		body["packageSize"] = p.size
	}
	if p.minimum > 0 {
		body["minimumAmountInCents"] = p.minimum
	}
	if p.large != nil {
		body["rates"] = []harness.JSON{{"when": harness.JSON{"model": "large"}, "tiers": tierBodies(p.large)}}
	}
	return body
}

// of returns the price of a quantity by tiers, rounded half up to cents.
func (p modelPrice) of(tiers []modelTier, quantity *big.Rat) int64 {
	sum, q := new(big.Rat), new(big.Rat).Set(quantity)
	if p.mode == "package" {
		begun := new(big.Rat).Quo(q, new(big.Rat).SetInt64(p.size))
		whole := new(big.Int).Quo(begun.Num(), begun.Denom())
		if !begun.IsInt() {
			whole.Add(whole, big.NewInt(1))
		}
		q.SetInt(whole)
	}
	from := new(big.Rat)
	for _, t := range tiers {
		to := new(big.Rat).Set(q)
		if t.upTo != "" && number(t.upTo).Cmp(q) < 0 {
			to = number(t.upTo)
		}
		if p.mode == "volume" {
			if to.Cmp(q) == 0 {
				sum.Mul(q, number(t.unit))
				break
			}
			continue
		}
		if part := new(big.Rat).Sub(to, from); part.Sign() > 0 {
			sum.Add(sum, part.Mul(part, number(t.unit)))
			from = to
		}
	}
	sum.Add(sum, big.NewRat(1, 2))
	return new(big.Int).Quo(sum.Num(), sum.Denom()).Int64()
}

// parts returns the price of a period's quantities: of what is large, where that has tiers of its own, and of the rest,
// which has what is lacking to the minimum.
func (p modelPrice) parts(large, rest *big.Rat, included int64, minimum bool) (amounts [2]int64) {
	left := new(big.Rat).SetInt64(included)
	beyond := func(q *big.Rat) *big.Rat {
		if q.Sign() < 0 {
			q = new(big.Rat)
		}
		taken := q
		if left.Cmp(q) < 0 {
			taken = left
		}
		q = new(big.Rat).Sub(q, taken)
		left = new(big.Rat).Sub(left, taken)
		return q
	}
	if p.large != nil {
		amounts[0] = p.of(p.large, beyond(large))
	} else {
		rest = new(big.Rat).Add(rest, large)
	}
	amounts[1] = p.of(p.tiers, beyond(rest))
	if minimum {
		amounts[1] += max(p.minimum-amounts[0]-amounts[1], 0)
	}
	return amounts
}

// modelMeter is a meter of a usageLife.
type modelMeter struct {
	id, event, aggregation string
	property               string // of its reports
	values, quantities     []string
	prices                 []modelPrice
}

func modelMeters() []*modelMeter {
	return []*modelMeter{{
		aggregation: "SUM", event: "calls", quantities: []string{"0", "1", "2.5", "7", "-3", "0.000000000001", "12"},
		prices: []modelPrice{
			{mode: "graduated", tiers: []modelTier{{"10", "10.5"}, {"", "0.5"}}},
			{mode: "volume", minimum: 150, tiers: []modelTier{{"5", "20.5"}, {"20", "7.25"}, {"", "3"}}},
		},
	}, {
		aggregation: "MAX", event: "peak", quantities: []string{"0", "3", "12.5", "40"},
		prices: []modelPrice{
			{mode: "package", size: 10, tiers: []modelTier{{"", "99.5"}}},
			{mode: "graduated", tiers: []modelTier{{"2.5", "33.3"}, {"30", "10"}, {"", "0"}}},
		},
	}, {
		aggregation: "LAST", event: "level", quantities: []string{"0", "1", "4.4", "90"},
		prices: []modelPrice{
			{mode: "volume", tiers: []modelTier{{"1", "99.5"}, {"50", "25"}, {"", "12.345678901234"}}},
			{mode: "graduated", minimum: 70, tiers: []modelTier{{"", "20.5"}}},
		},
	}, {
		aggregation: "UNIQUE", event: "users", quantities: []string{"1"}, property: "user",
		values: []string{"ada", "bob", "eve"},
		prices: []modelPrice{
			{mode: "graduated", tiers: []modelTier{{"1", "0"}, {"", "250.5"}}},
			{mode: "graduated", minimum: 300, tiers: []modelTier{{"", "120.5"}}},
		},
	}, {
		aggregation: "SUM", event: "tokens", quantities: []string{"1", "3.5", "-2", "20"}, property: "model",
		values: []string{"large", "small", ""},
		prices: []modelPrice{
			{
				mode: "graduated", minimum: 200, large: []modelTier{{"2", "100"}, {"", "12.5"}},
				tiers: []modelTier{{"10", "10.5"}, {"", "0.5"}},
			},
			{mode: "package", size: 3, large: []modelTier{{"", "17"}}, tiers: []modelTier{{"", "4"}}},
			{mode: "graduated", tiers: []modelTier{{"", "9.99"}}},
		},
	}}
}

// modelReport is a report that was accepted.
type modelReport struct {
	id, key, subscription string
	meter                 *modelMeter
	body                  harness.JSON
	at                    time.Time
	quantity              *big.Rat
	counts                *big.Rat // as it is listed: of a unique value that counts already nothing
	value                 string
	voided                bool
	kept                  bool // it could not be voided any more
	// early means that it was there before the billing plan was, and its use before the plan's first period.
	early bool
	// periodStart is that of the list.
	periodStart time.Time
}

// count returns what a meter counts of reports.
func (m *modelMeter) count(reports []*modelReport) *big.Rat {
	total, values := new(big.Rat), map[string]bool{}
	var last *modelReport
	for _, r := range reports {
		switch {
		case r.voided:
			continue
		case m.aggregation == "SUM":
			total.Add(total, r.quantity)
		case m.aggregation == "MAX" && r.quantity.Cmp(total) > 0:
			total.Set(r.quantity)
		case m.aggregation == "UNIQUE":
			values[r.value] = true
			total.SetInt64(int64(len(values)))
		case m.aggregation == "LAST" && (last == nil || last.at.Before(r.at) || last.at.Equal(r.at) && last.id < r.id):
			last = r
			total.Set(r.quantity)
		}
	}
	return total
}

// split returns what is large of reports, and the rest.
func split(reports []*modelReport) (large, rest []*modelReport) {
	for _, r := range reports {
		if r.meter.property == "model" && r.value == "large" {
			large = append(large, r)
		} else {
			rest = append(rest, r)
		}
	}
	return large, rest
}

// modelPlan is a billing plan, with the prices that its periods have from instants on.
type modelPlan struct {
	id             string
	start, anchor  time.Time // of its first period, and of the grid that it is in
	every          time.Duration
	prices         []priceSince
	endsAt         *time.Time
	current, until time.Time   // the bounds of its running period
	freeUntil      time.Time   // the end of the subscription's trial
	before         []time.Time // periods of a trial that ended early
	ended          bool
}

type priceSince struct {
	since time.Time
	price modelPrice
}

func (p *modelPlan) price(start time.Time) (price modelPrice) {
	for _, one := range p.prices {
		if !start.Before(one.since) {
			price = one.price
		}
	}
	return price
}

// period returns the start of the period that an instant is in.
func (p *modelPlan) period(at time.Time) time.Time {
	if p.endsAt != nil && !at.Before(*p.endsAt) {
		at = p.endsAt.Add(-time.Millisecond)
	}
	if at.Before(p.start) {
		return p.start
	}
	if start := p.anchor.Add(at.Sub(p.anchor).Truncate(p.every)); start.After(p.start) {
		return start
	}
	return p.start
}

// end returns the end of the period that begins at an instant.
func (p *modelPlan) end(start time.Time) time.Time {
	end := p.anchor.Add(start.Sub(p.anchor).Truncate(p.every)).Add(p.every)
	if p.endsAt != nil && p.endsAt.Before(end) {
		return *p.endsAt
	}
	return end
}

// starts lists the periods of which an invoice is made.
func (p *modelPlan) starts() (starts []time.Time) {
	for at := p.start; at.Before(p.current); at = p.end(at) {
		starts = append(starts, at)
	}
	if p.ended {
		starts = append(starts, p.current)
	}
	return starts
}

// partOf names the part of a period that a line bills: what is large, or the rest.
func partOf(description string) int {
	if strings.Contains(description, "(model large)") {
		return 0
	}
	return 1
}

// capped are the amounts that an invoice can ask for: their sum is not below zero.
func capped(amounts []int64) []int64 {
	amounts = slices.Clone(amounts)
	var sum int64
	for _, a := range amounts {
		sum += max(a, 0)
	}
	for i, a := range amounts {
		if a < 0 {
			amounts[i] = -min(-a, sum)
			sum += amounts[i]
		}
	}
	return amounts
}
