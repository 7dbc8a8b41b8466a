package usage

import "sundry/core/civil"

// DayUse is the use of a meter on a day, UTC: of all subscriptions, what was counted of the reports of the day. Of MAX
// it is the sum of the highest value of each subscription, of LAST that of the last ones.
type DayUse struct {
	Day      civil.Date
	Quantity Quantity
	Reports  int64
}

// Over returns the use of several days in their order: the sum of a meter that adds up, the highest day of MAX, and the
// last day of LAST. ok is false when a sum has more digits than can be kept.
func (a Aggregation) Over(days []DayUse) (total DayUse, ok bool) {
	ok = true
	for _, d := range days {
		switch a {
		case Sum, Count, Unique:
			var fits bool
			total.Quantity, fits = total.Quantity.Add(d.Quantity)
			ok = ok && fits
		case Max:
			if d.Quantity.Compare(total.Quantity) > 0 {
				total.Quantity = d.Quantity
			}
		case Last:
			total.Quantity = d.Quantity
		}
		total.Reports += d.Reports
	}
	return total, ok
}
