package treasury_test

import (
	"context"
	"testing"

	"sundry/core/ledger"
	"sundry/core/payout"
	"sundry/core/refund"
	"sundry/ports"
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

// TestAnAutomaticRefundOnItsWayIsNotPaidOut: its sale is released while the processor has not decided about the refund.
func TestAnAutomaticRefundOnItsWayIsNotPaidOut(t *testing.T) {
	t.Parallel()
	forEachEngine(t, config, func(t *testing.T, w *fixture) {
		kept, sale := w.pay(12_000, 2000), w.pay(12_000, 2000)
		w.insertAutomatic(sale)
		wantNext := func(want int64) {
			t.Helper()
			balances, err := w.Balance(t.Context(), creatorID)
			w.must(err)
			next, err := w.NextPayout(t.Context(), creatorID, payout.Monthly, balances)
			if w.must(err); next.Amounts["eur"] != want {
				t.Errorf("the next payout is %d, want %d", next.Amounts["eur"], want)
			}
		}
		wantNext(9370)
		w.clock.Advance(7 * day)
		w.work()
		wantNext(9370)
		w.wantBalance(0, 9370, 9370, 0)
		_, err := w.dispute(sale, 12_000) // which holds the money in the place of the refund
		w.must(err)
		w.wantBalance(0, 9370-630, 10_000, 0)
		wantNext(9370 - 630)
		if got := w.sale(kept).Returned; got.Minor != 0 {
			t.Errorf("%d of the other sale went back", got.Minor)
		}
	})
}

// insertAutomatic writes the automatic refund of a payment, as modules/payments does.
func (w *fixture) insertAutomatic(paymentID string) {
	w.t.Helper()
	sold := w.sale(paymentID)
	w.must(w.do(func(ctx context.Context, r ports.Repos) error {
		return r.Payments.Refunds.Insert(ctx, refund.NewPending(refund.State{
			ID: refund.AutomaticID(paymentID), CreatorID: creatorID, Reason: refund.NoLongerDue, Automatic: true,
			Return: ledger.Return{PaymentID: paymentID, Share: ledger.Share{Amount: sold.Total, Tax: sold.Tax}},
		}, w.clock.Real()).State())
	}))
}
