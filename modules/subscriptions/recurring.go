package subscriptions

import (
	"context"
	"fmt"

	"sundry/core/money"
	"sundry/core/subscription"
)

// Recurring sums up the running subscriptions of all accounts.
type Recurring struct {
	// Monthly sums the monthly revenue, in minor units.
	Monthly map[money.Currency]int64
	// Counts has every status.
	Counts map[subscription.Status]int
}

// recurringPage bounds the subscriptions that Recurring has in memory.
const recurringPage = 500

// Recurring reads every subscription.
func (s *Service) Recurring(ctx context.Context) (Recurring, error) {
	all := Recurring{Monthly: map[money.Currency]int64{}, Counts: map[subscription.Status]int{}}
	for _, status := range subscription.Statuses() {
		all.Counts[status] = 0
	}
	subscriptions := s.deps.Store.Read(ctx).Subscriptions.Subscriptions
	for after := ""; ; {
		page, err := subscriptions.ListAfter(ctx, after, recurringPage)
		if err != nil {
			return Recurring{}, err
		}
		for _, one := range page {
			revenue, err := one.MonthlyRevenue()
			if err != nil {
				return Recurring{}, fmt.Errorf("monthly revenue of %s: %w", one.ID, err)
			}
			all.Counts[one.Status]++
			if revenue.Minor != 0 {
				all.Monthly[revenue.Currency] += revenue.Minor
			}
			after = one.ID
		}
		if len(page) < recurringPage {
			return all, nil
		}
	}
}
