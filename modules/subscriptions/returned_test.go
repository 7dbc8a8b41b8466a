package subscriptions_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"sundry/core/dispute"
	"sundry/core/fault"
	"sundry/core/ledger"
	"sundry/core/payment"
	"sundry/core/paymentmethod"
	"sundry/core/plan"
	"sundry/core/refund"
	"sundry/core/subscription"
	"sundry/core/tax"
	"sundry/modules/subscriptions"
	"sundry/ports"
	"sundry/tests/fakes"
)

// refunded notifies the module that an amount of the subscription's first payment went back; of a later one with its
// id.
func (w *fixture) refunded(s subscription.State, paymentID string, amount, taxed int64) {
	w.t.Helper()
	e := refund.Created{
		State: refund.State{
			CreatorID: creatorID,
			Return: ledger.Return{
				PaymentID: "pay_first", CheckoutID: s.CheckoutID, CustomerID: customerID,
				Share: ledger.Share{Amount: eur(amount), Tax: eur(taxed)},
			},
		},
	}
	if paymentID != "" {
		e.PaymentID, e.CheckoutID, e.SubscriptionID = paymentID, "", s.ID
	}
	w.do(func(ctx context.Context, r ports.Repos) error { return w.OnRefundCreated(ctx, r, e) })
}

// refundFailed notifies the module that an amount that went back of the subscription's first payment came back.
func (w *fixture) refundFailed(s subscription.State, amount int64) {
	w.t.Helper()
	w.do(func(ctx context.Context, r ports.Repos) error {
		return w.OnRefundFailed(ctx, r, refund.Failure{CameBack: true, State: refund.State{
			CreatorID: creatorID, Return: ledger.Return{
				PaymentID: "pay_first", CheckoutID: s.CheckoutID, CustomerID: customerID,
				Share: ledger.Share{Amount: eur(amount), Tax: eur(0)},
			},
		}})
	})
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

// TestARefundThatFailsAfterACheaperPlanIsCredit: 18 of 28 days are left of the 1000 that the cheaper plan is not worth.
func TestARefundThatFailsAfterACheaperPlanIsCredit(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		s := w.begin(studio)
		w.clock.Set(started.Add(10 * day))
		w.refunded(s, "", 1000, 0)
		got, err := w.ChangePlan(t.Context(), creatorID, s.ID, subscriptions.Change{
			Plan: "basic", Mode: subscription.ChargeNow,
		})
		if err != nil || got.Credit != eur(707) {
			t.Fatalf("credit %d, %v, want 707", got.Credit.Minor, err)
		}
		w.TakeNames()
		w.refundFailed(s, 1000)
		if got := w.get(s.ID); got.Credit != eur(1350) || got.PeriodValue != basic.Price {
			t.Errorf("credit %d beside a period worth %d, want 1350 and %d", got.Credit.Minor, got.PeriodValue.Minor,
				basic.Price.Minor)
		}
		w.wantEvents("subscription.money_moved", "subscription.updated")
	})
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
			CreatorID: creatorID,
			Return: ledger.Return{
				PaymentID: "pay_first", CheckoutID: s.CheckoutID, CustomerID: customerID,
				Share: ledger.Share{Amount: eur(3100), Tax: eur(0)},
			},
		}
		for _, status := range []dispute.Status{dispute.Won, dispute.Lost} {
			lost.Status = status
			before := w.get(s.ID).Credit
			w.do(func(ctx context.Context, r ports.Repos) error {
				return w.OnDisputeClosed(ctx, r, dispute.Closed{State: lost})
			})
			if got := w.get(s.ID); status == dispute.Won && got.Credit != before || status == dispute.Lost &&
				got.Credit != eur(0) {
				t.Errorf("%s: credit %+v after %+v", status, got.Credit, before)
			}
		}
		w.wantEvents("subscription.updated", "subscription.canceled")
		if got := w.get(s.ID); got.CancelReason != subscription.CancelDisputeLost {
			t.Errorf("canceled because %q", got.CancelReason)
		}
	})
}

// A refund that fails before the change to the cheaper plan leaves 1350 of credit and nothing to pay, so 257 paid
// beside it leave 1607.
func TestARefundMovesWhileAChangeIsCharged(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		from           plan.Offer
		to             string
		before, during int64 // what went back until the change, and meanwhile
		due            int64
		credit         int64
		funds          []subscription.Fund // of the first payment, and of the change
	}{
		// 18 of 28 days are left: 1993 of 3100, 643 of 1000, 386 of 600.
		"one fails during a change to a cheaper plan": {
			studio, "basic", 2500, -2500, 257, 1993 - 386, []subscription.Fund{
				{PaymentID: "pay_first", Value: 600, Credit: 1607, Paid: 3100}, {Value: 400, Paid: 257},
			},
		},
		"one fails during a change to a dearer plan": {
			basic, "studio", 400, -400, 1607, 643 - 386, []subscription.Fund{
				{PaymentID: "pay_first", Value: 600, Credit: 257, Paid: 1000}, {Value: 2500, Paid: 1607},
			},
		},
		"one is made during a change to a dearer plan": {
			basic, "studio", 0, 400, 1350, 0, []subscription.Fund{
				{PaymentID: "pay_first", Value: 600, Paid: 1000}, {Value: 2100, Paid: 1350},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			forEachEngine(t, func(t *testing.T, w *fixture) {
				s := w.begin(c.from)
				w.clock.Set(started.Add(10 * day))
				w.refunded(s, "", c.before, 0)
				w.charges.Response = payment.Outcome{Status: payment.Processing}
				_, err := w.ChangePlan(t.Context(), creatorID, s.ID, subscriptions.Change{
					Plan: c.to, Mode: subscription.ChargeNow,
				})
				if err != nil {
					t.Fatal(err)
				}
				if c.during > 0 {
					w.refunded(s, "", c.during, 0)
				} else {
					w.refundFailed(s, -c.during)
				}
				change := w.decide(payment.Outcome{Status: payment.Succeeded})
				funds := slices.Clone(c.funds)
				funds[1].PaymentID = change.ID
				got := w.get(s.ID)
				if change.Amount != eur(c.due) || got.Credit != eur(c.credit) || !slices.Equal(got.Funds, funds) {
					t.Errorf("paid %d, credit %d, funds %+v, want %d, %d, %+v", change.Amount.Minor, got.Credit.Minor,
						got.Funds, c.due, c.credit, funds)
				}
				w.refunded(s, change.ID, c.due, 0)
				if got := w.get(s.ID).Funds; !slices.Equal(got, funds[:1]) {
					t.Errorf("once the change went back: funds %+v, want %+v", got, funds[:1])
				}
				wrong, err := w.store.Read(t.Context()).Subscriptions.Audit.Misstated(t.Context(), 1)
				if err != nil || len(wrong) > 0 {
					t.Errorf("misstated %v, %v", wrong, err)
				}
			})
		})
	}
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

func (w *fixture) disputed(s subscription.State, paymentID string, status dispute.Status) {
	w.t.Helper()
	d := dispute.State{
		ID: "dsp_" + paymentID, CreatorID: creatorID,
		Return: ledger.Return{
			PaymentID: paymentID, SubscriptionID: s.ID, CustomerID: customerID,
			Share: ledger.Share{Amount: eur(1000), Tax: eur(0)},
		},
		Status: status,
	}
	if paymentID == "pay_first" {
		d.SubscriptionID, d.CheckoutID = "", s.CheckoutID
	}
	w.do(func(ctx context.Context, r ports.Repos) error {
		if status.Closed() {
			return w.OnDisputeClosed(ctx, r, dispute.Closed{State: d})
		}
		return w.OnDisputeOpened(ctx, r, dispute.Opened{State: d})
	})
}

func TestNoRenewalDuringADispute(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		s := w.begin(basic)
		w.disputed(s, "pay_first", dispute.NeedsResponse)
		w.disputed(s, "pay_first", dispute.NeedsResponse) // the report is repeated
		w.wantEvents("subscription.money_moved")
		_, err := w.ChangePlan(t.Context(), creatorID, s.ID, upgrade)
		refused(t, err, fault.StateConflict)
		_, err = w.Preview(t.Context(), creatorID, s.ID, upgrade)
		refused(t, err, fault.StateConflict)
		later := subscriptions.Change{Plan: "studio", Mode: subscription.NextPeriod}
		if _, err = w.Preview(t.Context(), creatorID, s.ID, later); err != nil {
			t.Errorf("a change that costs nothing now is not quoted: %v", err)
		}
		late := s.CurrentPeriodEnd.AddDate(0, 2, 3)
		w.at(late)
		if live := w.live(); len(live) != 0 {
			t.Fatalf("charged during the dispute: %+v", live)
		}
		if lines, err := w.Verify(t.Context()); err != nil || len(lines) != 0 {
			t.Errorf("%v, %v: a subscription that waits is no violation", lines, err)
		}
		w.disputed(s, "pay_first", dispute.Won)
		w.at(late)
		w.decide(payment.Outcome{Status: payment.Succeeded})
		w.wantEvents("subscription.money_moved", "subscription.charge_paid", "subscription.renewed")
		if got := w.get(s.ID); got.CurrentPeriodStart.After(late) || !got.CurrentPeriodEnd.After(late) {
			t.Errorf("%s to %s was charged on %s", got.CurrentPeriodStart, got.CurrentPeriodEnd, late)
		}
	})
}

// A renewal that waited for a dispute is announced while it is still to come, and not on the day of its charge.
func TestARenewalAfterADisputeIsAnnounced(t *testing.T) {
	t.Parallel()
	for before, want := range map[time.Duration][]string{
		3 * day: {"subscription.money_moved", "subscription.money_moved", "subscription.renewal_due"},
		-day:    {"subscription.money_moved", "subscription.money_moved"},
	} {
		forEachEngine(t, func(t *testing.T, w *fixture) {
			s := w.begin(yearly)
			w.disputed(s, "pay_first", dispute.NeedsResponse)
			at := s.CurrentPeriodEnd.Add(-before)
			w.at(at)
			w.disputed(s, "pay_first", dispute.Won)
			w.at(at)
			w.wantEvents(want...)
		})
	}
}

func TestALostDisputeOfAnyPaymentCancels(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		s := w.begin(basic)
		w.at(s.CurrentPeriodEnd)
		w.decide(payment.Outcome{Status: payment.Succeeded})
		w.TakeNames()
		w.disputed(s, "pay_first", dispute.NeedsResponse)
		if got := w.get(s.ID); got.Suspended() || !got.GivesAccess(w.clock.Real()) {
			t.Errorf("the dispute of an earlier payment suspends a period that another has bought: %+v", got)
		}
		w.disputed(s, "pay_first", dispute.Lost)
		w.wantEvents("subscription.money_moved", "subscription.canceled")
		got := w.get(s.ID)
		if got.Status != subscription.StatusCanceled || got.CancelReason != subscription.CancelDisputeLost ||
			len(got.Disputes) != 0 {
			t.Errorf("%+v", got)
		}
		if w.at(s.CurrentPeriodEnd.AddDate(1, 0, 0)); len(w.live()) != 0 {
			t.Error("it is charged again")
		}
	})
}

func TestARefundEndsTheSubscriptionAsItSpecifies(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		amount int64
		keep   bool // the access
		ends   refund.End
		status subscription.Status
		atEnd  bool
		taken  bool
	}{
		"all, by default":                   {1000, false, refund.EndByDefault, subscription.StatusCanceled, false, true},
		"all, keeping access":               {1000, true, refund.EndByDefault, subscription.StatusActive, false, false},
		"all, keeping the subscription":     {1000, false, refund.KeepSubscription, subscription.StatusActive, false, true},
		"all, at the period's end":          {1000, false, refund.CancelAtPeriodEnd, subscription.StatusActive, true, true},
		"all, at the end with its access":   {1000, true, refund.CancelAtPeriodEnd, subscription.StatusActive, true, false},
		"a part, by default":                {400, false, refund.EndByDefault, subscription.StatusActive, false, false},
		"a part that cancels":               {400, false, refund.CancelNow, subscription.StatusCanceled, false, false},
		"a part that cancels at the end":    {400, false, refund.CancelAtPeriodEnd, subscription.StatusActive, true, false},
		"a part, keeping what is there now": {400, false, refund.KeepSubscription, subscription.StatusActive, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			forEachEngine(t, func(t *testing.T, w *fixture) {
				s := w.begin(basic)
				w.clock.Set(started.Add(day))
				made := refund.State{
					ID: "ref_1", CreatorID: creatorID,
					Return: ledger.Return{
						PaymentID: "pay_first", CheckoutID: s.CheckoutID, CustomerID: customerID,
						Share: ledger.Share{Amount: eur(c.amount), Tax: eur(0)},
					},
					KeepAccess: c.keep, Subscription: c.ends, Full: c.amount == 1000,
				}
				w.do(func(ctx context.Context, r ports.Repos) error {
					return w.OnRefundCreated(ctx, r, refund.Created{State: made})
				})
				got := w.get(s.ID)
				if got.Status != c.status || got.CancelAtPeriodEnd != c.atEnd || got.Withdrawn != c.taken {
					t.Errorf("%s, at the end %v, access taken %v", got.Status, got.CancelAtPeriodEnd, got.Withdrawn)
				}
				if ends := c.atEnd || c.status.Terminal(); ends != (got.CancelReason == subscription.CancelRefunded) {
					t.Errorf("canceled because %q", got.CancelReason)
				}
				wasFull := made.Full
				made.Full = false // any part may come back, not the last one alone
				for _, cameBack := range []bool{false, true} {
					w.do(func(ctx context.Context, r ports.Repos) error {
						return w.OnRefundFailed(ctx, r, refund.Failure{
							State: made, CameBack: cameBack, WasFull: cameBack && wasFull,
						})
					})
				}
				after := w.get(s.ID)
				if after.Status != c.status || after.CancelAtPeriodEnd != c.atEnd ||
					!c.status.Terminal() && (after.Withdrawn || after.PeriodValue != eur(1000)) {
					t.Errorf("after it came back: %s, taken %v, worth %d", after.Status, after.Withdrawn, after.PeriodValue.Minor)
				}
			})
		})
	}
}

func TestCancelingBesideARenewalPaysNoMore(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		s := w.begin(basic)
		w.at(s.CurrentPeriodEnd)
		if got, err := w.Cancel(t.Context(), creatorID, s.ID, true); err != nil || got.Status != subscription.StatusCanceled {
			t.Fatalf("%+v, %v", got, err)
		}
		paid := w.decide(payment.Outcome{Status: payment.Succeeded})
		if got := w.charges.Refunded(); len(got) != 1 || got[0] != paid.ID {
			t.Errorf("refunded %v, want %s", got, paid.ID)
		}
		w.wantEvents("subscription.canceled")
	})
}

func TestACardSavedDuringADisputePaysOnceItIsWon(t *testing.T) {
	t.Parallel()
	for _, declined := range []string{"stolen_card", "insufficient_funds"} { // the first is not tried again by itself
		t.Run(declined, func(t *testing.T) {
			t.Parallel()
			forEachEngine(t, func(t *testing.T, w *fixture) {
				s := w.begin(basic)
				w.at(s.CurrentPeriodEnd)
				w.decide(fakes.Declined(declined))
				w.disputed(s, "pay_first", dispute.NeedsResponse)
				w.TakeNames()
				w.at(s.CurrentPeriodEnd.Add(day))
				w.do(func(ctx context.Context, r ports.Repos) error {
					return w.OnCardSaved(ctx, r, paymentmethod.Saved{State: paymentmethod.State{
						ID: "pm_2", CreatorID: creatorID, CustomerID: customerID, CreatedAt: w.clock.Real(),
					}})
				})
				w.wantEvents("subscription.updated", "subscription.updated")
				late := s.CurrentPeriodEnd.AddDate(0, 1, 1)
				w.at(late)
				if got := w.get(s.ID); got.Status != subscription.StatusPastDue || got.Charge != nil || len(w.live()) != 0 {
					t.Errorf("it is charged or ends during the dispute: %+v", got)
				}
				w.disputed(s, "pay_first", dispute.Won)
				w.at(late)
				if paid := w.decide(payment.Outcome{Status: payment.Succeeded}); paid.PaymentMethodID != "pm_2" {
					t.Errorf("charged to %s", paid.PaymentMethodID)
				}
				w.wantEvents("subscription.money_moved", "subscription.charge_paid", "subscription.renewed")
			})
		})
	}
}
