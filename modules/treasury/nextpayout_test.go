package treasury_test

import (
	"testing"

	"sundry/core/payout"
)

// A refund on its way takes from the next payout what its sale has not released yet, and what it has.
func TestTheNextPayoutIsLessRefundsOnTheirWay(t *testing.T) {
	t.Parallel()
	forEachEngine(t, config, func(t *testing.T, w *fixture) {
		next := func() int64 {
			t.Helper()
			balances, err := w.Balance(t.Context(), creatorID)
			w.must(err)
			got, err := w.NextPayout(t.Context(), creatorID, payout.Monthly, balances)
			w.must(err)
			return got.Amounts["eur"]
		}
		want := func(what string, minor int64) {
			t.Helper()
			if got := next(); got != minor {
				t.Errorf("%s the next payout is %d, want %d", what, got, minor)
			}
		}
		sale := w.pay(12_000, 2000)
		want("of a sale", 9370)
		f, err := w.refund(sale, 6000)
		w.must(err)
		want("with a refund on its way", 9370-5000)
		w.clock.Advance(7 * day)
		w.work()
		want("after the release", 9370-5000)
		w.settleRefund(&f, true)
		want("after the refund", 9370-5000)
	})
}
