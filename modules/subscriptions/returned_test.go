package subscriptions_test

import (
	"context"
	"testing"
	"time"

	"sundry/core/dispute"
	"sundry/core/ledger"
	"sundry/core/payment"
	"sundry/core/refund"
	"sundry/core/subscription"
	"sundry/core/tax"
	"sundry/modules/subscriptions"
	"sundry/ports"
)

// refunded notifies the module that an amount of the subscription's first payment went back; of a later one with its
// id.
func (w *fixture) refunded(s subscription.State, paymentID string, amount, taxed int64) {
	w.t.Helper()
	e := refund.Created{
		State: refund.State{
			CreatorID: creatorID, PaymentID: "pay_first", CheckoutID: s.CheckoutID,
			Share: ledger.Share{Amount: eur(amount), Tax: eur(taxed)},
		},
	}
	if paymentID != "" {
		e.PaymentID, e.CheckoutID, e.SubscriptionID = paymentID, "", s.ID
	}
	w.do(func(ctx context.Context, r ports.Repos) error { return w.OnRefundCreated(ctx, r, e) })
}

// changed changes the plan and returns the payment that it took.
func (w *fixture) changed(s subscription.State, c subscriptions.Change) (paymentID string) {
	w.t.Helper()
	w.charges.Response = payment.Outcome{Status: payment.Processing}
	if _, err := w.ChangePlan(w.t.Context(), creatorID, s.ID, c); err != nil {
		w.t.Fatal(err)
	}
	w.charges.Response = payment.Outcome{Status: payment.Succeeded}
	return w.decide(w.charges.Response).ID
}

func TestMoneyThatWentBackIsNotCreditedAgain(t *testing.T) {
	t.Parallel()
	downgrade := subscriptions.Change{Plan: "basic", Mode: subscription.ChargeNow}
	for name, test := range map[string]struct {
		returned, tax int64
		behavior      tax.Behavior
		credit        int64 // 18 of 28 days are left: 1992.857… of 3100 less 642.857… of 1000
	}{
		"nothing":                              {0, 0, tax.Inclusive, 1350},
		"all of it":                            {3100, 0, tax.Inclusive, 0},
		"a part":                               {1000, 0, tax.Inclusive, 707},
		"a part that leaves less than is due":  {2500, 0, tax.Inclusive, 0},
		"a part with the tax that was on top":  {1230, 230, tax.Exclusive, 707},
		"a part with the tax that it contains": {1000, 187, tax.Inclusive, 707},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			forEachEngine(t, func(t *testing.T, w *fixture) {
				sold := studio
				sold.TaxBehavior = test.behavior
				s := w.begin(sold)
				w.clock.Set(started.Add(10 * day))
				w.refunded(s, "", test.returned, test.tax)
				w.wantEvents()
				if got, err := w.ChangePlan(t.Context(), creatorID, s.ID, downgrade); err != nil || got.Credit != eur(test.credit) {
					t.Errorf("credit %+v, %v, want %d", got.Credit, err, test.credit)
				}
			})
		})
	}
}

func TestARefundedUpgradeIsNotCreditedAgain(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		s := w.begin(basic)
		w.clock.Set(started.Add(10 * day))
		w.refunded(s, w.changed(s, upgrade), 1350, 0)
		got, err := w.ChangePlan(t.Context(), creatorID, s.ID, subscriptions.Change{
			Plan: "basic", Mode: subscription.ChargeNow,
		})
		if err != nil || got.Credit != eur(0) || got.PeriodValue != basic.Price {
			t.Errorf("credit %+v of a period worth %+v, %v", got.Credit, got.PeriodValue, err)
		}
	})
}

func TestCreditGoesWithTheMoneyThatItCameFrom(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		s := w.begin(studio)
		w.clock.Set(started.Add(10 * day))
		if _, err := w.ChangePlan(
			t.Context(), creatorID, s.ID, subscriptions.Change{Plan: "basic", Mode: subscription.ChargeNow},
		); err != nil {
			t.Fatal(err)
		}
		w.TakeNames()
		lost := dispute.State{
			CreatorID: creatorID, PaymentID: "pay_first", CheckoutID: s.CheckoutID,
			Share: ledger.Share{Amount: eur(3100), Tax: eur(0)},
		}
		for _, status := range []dispute.Status{dispute.Won, dispute.Lost} {
			lost.Status = status
			before := w.get(s.ID).Credit
			w.do(func(ctx context.Context, r ports.Repos) error {
				return w.OnDisputeClosed(ctx, r, dispute.Closed{State: lost})
			})
			if got := w.get(s.ID); status == dispute.Won && got.Credit != before || status == dispute.Lost && got.Credit != eur(0) {
				t.Errorf("%s: credit %+v after %+v", status, got.Credit, before)
			}
		}
		w.wantEvents("subscription.updated")
	})
}

func TestARefundOfAnEarlierPeriodKeepsTheCurrentOne(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		s := w.begin(basic)
		w.at(s.CurrentPeriodEnd.Add(time.Hour))
		w.decide(payment.Outcome{Status: payment.Succeeded})
		before := w.get(s.ID)
		w.refunded(s, "", 1000, 0)
		if got := w.get(s.ID); got.PeriodValue != before.PeriodValue || got.Revision != before.Revision {
			t.Errorf("%+v after %+v", got, before)
		}
	})
}
