package subscription

import "sundry/core/money"

// MonthlyRevenue returns the price of the current period after the discount, as a share of a month: a year has twelve
// of them, 52 weeks or 365 days. It is zero unless the subscription is active or past due.
func (s State) MonthlyRevenue() (money.Amount, error) {
	none := money.Amount{Currency: s.PeriodValue.Currency}
	if s.Status != StatusActive && s.Status != StatusPastDue || s.Offer.IntervalCount < 1 {
		return none, nil
	}
	return s.PeriodValue.RatioHalfUp(s.Offer.Interval.PerYear(), 12*int64(s.Offer.IntervalCount))
}
