package subscription

import (
	"sundry/core/money"
	"sundry/core/period"
)

// MonthlyRevenue returns the price of the current period after the discount, as a share of a month: a year has twelve
// of them, 52 weeks or 365 days. It is zero unless the subscription is active or past due.
func (s State) MonthlyRevenue() (money.Amount, error) {
	none := money.Amount{Currency: s.PeriodValue.Currency}
	if s.Status != StatusActive && s.Status != StatusPastDue || s.Offer.IntervalCount < 1 {
		return none, nil
	}
	perYear := map[period.Interval]int64{period.Day: 365, period.Week: 52, period.Month: 12, period.Year: 1}
	return s.PeriodValue.RatioHalfUp(perYear[s.Offer.Interval], 12*int64(s.Offer.IntervalCount))
}
