package order

import (
	"sundry/adapters/web/layout"
	"sundry/core/locale"
	"sundry/core/plan"
)

// newChoice lists what the buyer may change of an offer; nil for nothing.
func newChoice(o plan.Offer, reader locale.Locale) *Choice {
	var choice Choice
	if o.MayChange.Quantity {
		choice.Quantity = o.Seats()
	}
	if len(o.Intervals) > 1 {
		for i, p := range o.Intervals {
			one := IntervalChoice{
				Interval: string(p.Every()), Chosen: p.ID == o.PriceID,
				Price: reader.Money(layout.Amount(p.Amount.Minor, string(p.Amount.Currency))) + " " +
					reader.Interval(string(p.Interval), p.IntervalCount),
			}
			if percent := o.Saving(i); percent > 0 {
				one.Saving = reader.Text("choice.saving", percent)
			}
			choice.Intervals = append(choice.Intervals, one)
		}
	}
	if choice.Quantity == 0 && choice.Intervals == nil {
		return nil
	}
	return &choice
}
