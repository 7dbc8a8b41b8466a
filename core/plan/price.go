package plan

import (
	"sundry/core/fault"
	"sundry/core/money"
	"sundry/core/period"
)

// MaxAmount is the largest price in minor units, and MaxTrialDays the longest trial.
const (
	MaxAmount    = 99_999_999_999
	MaxTrialDays = 730
)

const maxPrices = 50

// maxCount bounds the periods to three years of each interval: a longer one is a typing error, and card processors
// refuse it.
var maxCount = map[period.Interval]int{period.Day: 1095, period.Week: 156, period.Month: 36, period.Year: 3}

// Price is the price of a plan. It is immutable: a different price has another id, so that a subscription sold at it
// can always show the agreed one.
type Price struct {
	ID string `json:"id"` // pri_…
	// Interval is empty, and IntervalCount zero, for a one-time price.
	Interval      period.Interval `json:"interval,omitempty"`
	IntervalCount int             `json:"intervalCount,omitempty"`
	Amount        money.Amount    `json:"amount"`
}

// Every returns how often the price is charged; "" for once.
func (p Price) Every() period.Cadence { return period.Every(p.Interval, p.IntervalCount) }

// sameTerms reports whether two prices ask for the same, whatever they are called.
func (p Price) sameTerms(other Price) bool {
	p.ID = other.ID
	return p == other
}

// PriceDraft is a price as a request writes it.
type PriceDraft struct {
	Interval      *string `json:"interval"`
	IntervalCount *int    `json:"intervalCount"`
	Currency      string  `json:"currency"`
	AmountInCents *int64  `json:"amountInCents"`
}

// CheckAmount records what is wrong with an amount; nil is one that was not given.
func CheckAmount(f *fault.Violations, field string, amount *int64) {
	if f.Check(amount != nil, field, fault.DetailRequired, "Expected an integer of minor units.") {
		f.Check(*amount >= 0 && *amount <= MaxAmount, field, fault.DetailOutOfRange, "Expected 0 to 99999999999 minor units.")
	}
}

// CheckCount records a number of intervals that no period may have.
func CheckCount(f *fault.Violations, field string, interval period.Interval, count int) {
	if limit, ok := maxCount[interval]; ok && (count < 1 || count > limit) {
		f.Addf(field, fault.DetailOutOfRange, "Expected 1 to %d for the interval %s.", limit, interval)
	}
}

// checkTrialDays records a trial that is too long or negative.
func checkTrialDays(f *fault.Violations, field string, days int) {
	f.Check(days >= 0 && days <= MaxTrialDays, field, fault.DetailOutOfRange, "Expected 0 to 730 days.")
}

// parse checks one price; the id is still missing.
func (d PriceDraft) parse(f *fault.Violations) Price {
	var p Price
	if d.Interval == nil {
		f.Check(d.IntervalCount == nil, "intervalCount", fault.DetailNotAllowed, "A one-time price (interval null) has no "+
			"interval count.")
	} else {
		interval, err := period.ParseInterval(*d.Interval)
		_ = f.Nest("interval").Merge(err) // its only error is a fault of the request
		p.Interval, p.IntervalCount = interval, 1
		if d.IntervalCount != nil {
			p.IntervalCount = *d.IntervalCount
			CheckCount(f, "intervalCount", interval, p.IntervalCount)
		}
	}
	currency, err := money.ParseCurrency(d.Currency)
	_ = f.Nest("currency").Merge(err)
	CheckAmount(f, "amountInCents", d.AmountInCents)
	if d.AmountInCents != nil {
		p.Amount = money.Amount{Minor: *d.AmountInCents, Currency: currency}
		currency.CheckStep(f, "amountInCents", p.Amount.Minor)
	}
	return p
}

// parsePrices checks a plan's prices: at least one, and one per cadence and currency at most, because a buyer names
// nothing else to distinguish them.
func parsePrices(f *fault.Violations, drafts []PriceDraft) []Price {
	f.Check(len(drafts) > 0, "prices", fault.DetailRequired, "Expected at least one price.")
	f.Check(len(drafts) <= maxPrices, "prices", fault.DetailTooLong, "A plan may have at most 50 prices.")
	type key struct {
		every    period.Cadence
		currency money.Currency
	}
	seen := map[key]bool{}
	prices := make([]Price, 0, len(drafts))
	for i, d := range drafts {
		at := f.Item("prices", i)
		p := d.parse(at)
		k := key{p.Every(), p.Amount.Currency}
		valid := p.Amount.Currency != "" && (d.Interval == nil) == (p.Interval == "")
		at.Check(!valid || !seen[k], "", fault.DetailDuplicate, "The plan has another price of this interval, interval count and currency.")
		seen[k] = true
		prices = append(prices, p)
	}
	return prices
}

// keepIDs gives each price the id of the current one with the same terms.
func keepIDs(prices, current []Price) {
	for i := range prices {
		for _, c := range current {
			if c.sameTerms(prices[i]) {
				prices[i].ID = c.ID
			}
		}
	}
}

// nameNew gives the prices that are new their ids.
func nameNew(prices []Price, newID func() string) {
	for i := range prices {
		if prices[i].ID == "" {
			prices[i].ID = newID()
		}
	}
}
