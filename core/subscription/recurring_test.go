package subscription_test

import (
	"testing"

	"sundry/core/money"
	"sundry/core/period"
	"sundry/core/plan"
	"sundry/core/subscription"
)

func TestMonthlyRevenue(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status   subscription.Status
		interval period.Interval
		count    int
		value    int64
		want     int64
	}{
		"a month":            {subscription.StatusActive, period.Month, 1, 1000, 1000},
		"three months":       {subscription.StatusActive, period.Month, 3, 1000, 333},
		"a year":             {subscription.StatusActive, period.Year, 1, 30000, 2500},
		"a week":             {subscription.StatusActive, period.Week, 1, 300, 1300},
		"a day":              {subscription.StatusActive, period.Day, 1, 12, 365},
		"a past due month":   {subscription.StatusPastDue, period.Month, 1, 1000, 1000},
		"a trial":            {subscription.StatusTrialing, period.Month, 1, 1000, 0},
		"a pause":            {subscription.StatusPaused, period.Month, 1, 1000, 0},
		"a canceled one":     {subscription.StatusCanceled, period.Month, 1, 1000, 0},
		"one without length": {subscription.StatusActive, period.Month, 0, 1000, 0},
	} {
		state := subscription.State{
			Status: c.status, Offer: plan.Offer{Interval: c.interval, IntervalCount: c.count},
			PeriodValue: money.Amount{Minor: c.value, Currency: "eur"},
		}
		got, err := state.MonthlyRevenue()
		if want := (money.Amount{Minor: c.want, Currency: "eur"}); err != nil || got != want {
			t.Errorf("%s: got %v, %v, want %v", name, got, err, want)
		}
	}
}
