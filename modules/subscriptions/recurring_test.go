package subscriptions_test

import (
	"maps"
	"testing"

	"sundry/core/money"
	"sundry/core/subscription"
)

func TestRecurring(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		w.begin(basic)
		w.begin(yearly)
		w.begin(trial)
		all, err := w.Recurring(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if want := map[money.Currency]int64{"eur": 1000 + 2500}; !maps.Equal(all.Monthly, want) {
			t.Errorf("monthly revenue is %v, want %v", all.Monthly, want)
		}
		want := map[subscription.Status]int{"active": 2, "trialing": 1}
		for _, status := range subscription.Statuses() {
			if all.Counts[status] != want[status] {
				t.Errorf("%d subscriptions are %s, want %d", all.Counts[status], status, want[status])
			}
		}
	})
}
