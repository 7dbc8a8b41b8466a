package usage

import (
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"sundry/core/fault"
	"sundry/core/metadata"
)

// MaxCombinations bounds the combinations of values of its dimensions that a stream tells apart. Use with more of them
// counts as use without values.
const MaxCombinations = 1_000

const (
	maxDimensions = 5
	maxRates      = 100
	maxRateValue  = 100
)

// Values are values of a meter's dimensions, by dimension. Two are equal by == if they have the same values.
type Values = metadata.Pairs

// Values returns the values that a report has of the meter's dimensions; those that it lacks are not there.
func (m Meter) Values(r Report) Values {
	if len(m.Dimensions) == 0 { // true of most meters, and there are many reports
		return Values{}
	}
	values := map[string]string{}
	for _, dimension := range m.Dimensions {
		if value := r.Properties[dimension]; value != "" {
			values[dimension] = value
		}
	}
	return metadata.New(values)
}

// Rate is the price of the use that has the values of When for the meter's dimensions. The mode and the size of
// packages are its price's.
type Rate struct {
	When  Values
	Tiers Tiers
}

// Combined is the quantity of a period with one combination of values.
type Combined struct {
	Values   Values
	Quantity Quantity
}

// Part is a part of a period that is billed by one rate, and what earlier invoices have asked for it.
type Part struct {
	Quantity    Quantity `json:"quantity"`
	BilledMinor int64    `json:"billedMinor"`
}

// Split adds up a period's quantities by rate: each by the first rate whose values it has, the last of them by the
// price's own tiers. ok is false when a sum has more digits than can be kept.
func (p Price) Split(all []Combined) (quantities []Quantity, ok bool) {
	whens := make([]map[string]string, len(p.Rates))
	for i, r := range p.Rates {
		whens[i] = r.When.Map()
	}
	quantities = make([]Quantity, len(p.Rates)+1)
	for _, one := range all {
		values := one.Values.Map()
		at := slices.IndexFunc(whens, func(when map[string]string) bool { return contains(values, when) })
		if at < 0 {
			at = len(p.Rates)
		}
		if quantities[at], ok = quantities[at].Add(one.Quantity); !ok {
			return nil, false
		}
	}
	return quantities, true
}

// contains reports whether all has each of the values of when.
func contains(all, when map[string]string) bool {
	for dimension, value := range when {
		if all[dimension] != value {
			return false
		}
	}
	return true
}

// SumOfQuantities adds up quantities. ok is false when the sum has more digits than can be kept.
func SumOfQuantities(all []Quantity) (sum Quantity, ok bool) {
	for _, q := range all {
		if sum, ok = sum.Add(q); !ok {
			return Quantity{}, false
		}
	}
	return sum, true
}

// rate returns the price of the rate with an index, without the minimum, which is that of all of them together.
func (p Price) rate(index int) Price {
	if index < len(p.Rates) {
		p.Tiers = p.Rates[index].Tiers
	}
	p.Rates, p.MinimumMinor = nil, 0
	return p
}

// CheckMeter refuses a price that has a rate by something else than the dimensions of a meter. VALIDATION_FAILED.
func (p Price) CheckMeter(m Meter) error {
	for _, r := range p.Rates {
		for _, dimension := range slices.Sorted(maps.Keys(r.When.Map())) {
			if !slices.Contains(m.Dimensions, dimension) {
				return fault.Invalid(fault.Detail{
					Field: "priceId", Code: fault.DetailNotAllowed, Message: "The price has a rate by " + dimension +
						", which is no dimension of the meter.",
				})
			}
		}
	}
	return nil
}

// Describe lists values with their dimensions: "model large, region eu".
func Describe(v Values) string { return describe(v.Map()) }

func describe(values map[string]string) string {
	var all []string
	for _, dimension := range slices.Sorted(maps.Keys(values)) {
		all = append(all, dimension+" "+values[dimension])
	}
	return strings.Join(all, ", ")
}

// When describes the use that the line's rate is for; "" for a line of a price without rates.
func (r Rated) When() string {
	if r.Rest {
		return "all other"
	}
	return describe(r.Values)
}

// byRate reports whether the line is that of a rate, beside which the period has others.
func (r Rated) byRate() bool { return r.Rest || len(r.Values) > 0 }

// RateAll is Rate with a line for each rate of the price, the last of them of its own tiers. What is included is taken
// off the rates in this order. The minimum is that of the whole: what all of them lack is on the last line. All wait
// when one does, or when their sum is more than MaxAmount.
func (u Use) RateAll() []Rated {
	if len(u.Price.Rates) == 0 {
		return []Rated{u.Rate()}
	}
	lines, left := make([]Rated, len(u.Price.Rates)+1), Units(u.Included)
	var sum int64
	waits := false
	for i := range lines {
		one := u
		one.Price, one.Quantity, one.BilledMinor = u.Price.rate(i), Quantity{}, 0
		if i < len(u.Parts) {
			one.Quantity, one.BilledMinor = u.Parts[i].Quantity, u.Parts[i].BilledMinor
		}
		lines[i] = one.rate(left)
		left = left.minus(lines[i].Included)
		if lines[i].Rest = i == len(u.Price.Rates); !lines[i].Rest {
			lines[i].Values = u.Price.Rates[i].When.Map()
		}
		waits = waits || lines[i].Waits
		sum = min(sum+lines[i].RatedMinor, MaxAmount+1)
	}
	if waits || sum > MaxAmount {
		postpone(lines)
		return lines
	}
	if last := &lines[len(lines)-1]; !last.Free && u.Period.Start.Before(u.Period.End) {
		last.TopUpMinor = max(u.Price.MinimumMinor-sum, 0)
		last.RatedMinor += last.TopUpMinor
		last.AmountMinor += last.TopUpMinor
	}
	return lines
}

// postpone makes lines wait for another invoice.
func postpone(lines []Rated) {
	for i := range lines {
		l := &lines[i]
		l.Waits, l.AmountMinor, l.RatedMinor, l.TopUpMinor, l.Charges = true, 0, 0, 0, []Charge{}
	}
}

// Asked returns the lines that an invoice shows: without late ones of zero, and of the rates of a price those by which
// nothing is billed. One of the period itself always stays.
func Asked(lines []Rated) []Rated {
	kept := lines[:0:0]
	for _, l := range lines {
		empty := l.AmountMinor == 0 && (l.Late || l.byRate() && l.Quantity.IsZero())
		if l.Rest && !l.Late && empty && (len(kept) == 0 || kept[0].Late) {
			empty = false
		}
		if !empty {
			kept = append(kept, l)
		}
	}
	return kept
}

func checkDimensions(f *fault.Violations, dimensions []string) {
	const field = "dimensions"
	f.Check(len(dimensions) <= maxDimensions, field, fault.DetailTooLong, "A meter may have at most 5 dimensions.")
	for i, dimension := range dimensions {
		at := f.Item(field, i)
		at.Check(dimension != "", "", fault.DetailRequired, "Expected a property of reports, such as model.")
		metadata.CheckText("", dimension, metadata.MaxKey, at)
		at.Check(!slices.Contains(dimensions[:i], dimension), "", fault.DetailNotAllowed, "The dimension is named twice.")
	}
}

// RateDraft is a rate as a request writes it.
type RateDraft struct {
	// When has a value of one dimension at least.
	When  map[string]string `json:"when"`
	Tiers []TierDraft       `json:"tiers"`
}

// parseRates checks the rates of a price of a mode and records every fault.
func parseRates(f *fault.Violations, drafts []RateDraft, mode TiersMode) []Rate {
	const field = "rates"
	f.Check(len(drafts) <= maxRates, field, fault.DetailTooLong, "A price may have at most 100 rates.")
	var rates []Rate
	for i, d := range drafts {
		at := f.Item(field, i)
		rate := Rate{When: metadata.New(d.When), Tiers: ParseTiers(at, "tiers", d.Tiers)}
		checkOneTier(at, d.Tiers, mode)
		at.Check(len(d.When) > 0, "when", fault.DetailRequired,
			`Expected values of the meter's dimensions, such as {"model": "large"}.`)
		at.Check(len(d.When) <= maxDimensions, "when", fault.DetailTooLong, "A meter has at most 5 dimensions.")
		for dimension, value := range d.When {
			values := at.Nest("when")
			values.Check(dimension != "" && utf8.RuneCountInString(dimension) <= metadata.MaxKey, dimension,
				fault.DetailInvalid, "A dimension has 1 to 40 characters.")
			values.Check(value != "", dimension, fault.DetailRequired, "Expected a value of the dimension.")
			metadata.CheckText(dimension, value, maxRateValue, values)
		}
		at.Check(!slices.ContainsFunc(rates, func(r Rate) bool { return r.When == rate.When }), "when",
			fault.DetailNotAllowed, "Another rate is for the same values.")
		rates = append(rates, rate)
	}
	return rates
}
