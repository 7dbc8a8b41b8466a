package plan

import (
	"slices"

	"sundry/core/fault"
	"sundry/core/intake"
	"sundry/core/period"
)

// Changes names the parts of an offer that the buyer may change at checkout.
type Changes struct {
	Interval bool `json:"interval,omitempty"`
	Quantity bool `json:"quantity,omitempty"`
}

// The names of changes in requests and responses.
const (
	changeInterval = "interval"
	changeQuantity = "quantity"
)

// ParseChanges reads the changes that a request names, and records names that are unknown or there twice.
func ParseChanges(f *fault.Violations, field string, names []string) Changes {
	for i, name := range names {
		at := f.Item(field, i)
		at.OneOf("", name, changeInterval, changeQuantity)
		at.Check(!slices.Contains(names[:i], name), "", fault.DetailDuplicate, "This change is already listed.")
	}
	return Changes{Interval: slices.Contains(names, changeInterval), Quantity: slices.Contains(names, changeQuantity)}
}

// Names lists the changes as ParseChanges reads them.
func (c Changes) Names() []string {
	names := []string{}
	if c.Interval {
		names = append(names, changeInterval)
	}
	if c.Quantity {
		names = append(names, changeQuantity)
	}
	return names
}

// Adjustable returns the offer with the changes that its buyer may make; prices are the plan's. VALIDATION_FAILED
// (buyerMayChange) for an offer that does not recur: it is bought once, and one of it.
func (o Offer) Adjustable(c Changes, prices []Price) (Offer, error) {
	if c == (Changes{}) {
		return o, nil
	}
	if !o.Recurring() {
		return Offer{}, fault.Invalid(fault.Detail{Field: "buyerMayChange", Code: fault.DetailNotAllowed,
			Message: "Only a plan that renews has an interval and a quantity to change."})
	}
	o.MayChange = c
	if c.Interval {
		o.Intervals = slices.DeleteFunc(slices.Clone(prices), func(p Price) bool {
			return p.Interval == "" || p.Amount.Currency != o.Price.Currency
		})
	}
	return o, nil
}

// Change returns the offer at another of its intervals, and in another quantity; "" and nil leave them as they are.
// VALIDATION_FAILED (interval, quantity) for what the buyer may not change.
func (o Offer) Change(every period.Cadence, quantity *int) (Offer, error) {
	var f fault.Violations
	to := chargedFirst(o.Intervals, every)
	f.Check(every == "" || to >= 0, "interval", fault.DetailNotAllowed, "This isn’t sold by that interval.")
	f.Check(quantity == nil || o.MayChange.Quantity, "quantity", fault.DetailNotAllowed,
		"The quantity of this can’t be changed.")
	if err := f.Err(); err != nil {
		return Offer{}, err
	}
	seats := o.Seats()
	if quantity != nil {
		seats = *quantity
	}
	if to >= 0 {
		price := o.Intervals[to]
		o.PriceID, o.Interval, o.IntervalCount = price.ID, price.Interval, price.IntervalCount
		o.Price, o.Quantity = price.Amount, 0
	}
	return o.WithSeats(seats)
}

// Saving returns the share, in whole percent rounded down, by which the i-th of the intervals is cheaper in a year than
// the dearest of them. It is for people to read; nothing is charged by it.
func (o Offer) Saving(i int) int64 {
	minor, years := o.Intervals[i].inYears()
	most, in := minor, years
	for _, p := range o.Intervals {
		if m, y := p.inYears(); m*in > most*y {
			most, in = m, y
		}
	}
	if most == 0 {
		return 0
	}
	return 100 * (most*years - minor*in) / (most * years)
}

// inYears returns the sum that a price charges in a number of years.
func (p Price) inYears() (minor, years int64) {
	return p.Amount.Minor * p.Interval.PerYear(), int64(max(p.IntervalCount, 1))
}

// Sold returns the offer as it was bought, without what could be changed before.
func (o Offer) Sold() Offer {
	o.MayChange, o.Intervals, o.Intake = Changes{}, nil, intake.Form{}
	return o
}
