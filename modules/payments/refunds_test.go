package payments_test

import (
	"context"
	"testing"

	"sundry/adapters/system"
	"sundry/core/fault"
	"sundry/core/ledger"
	"sundry/core/payment"
	"sundry/core/refund"
	"sundry/modules/payments"
	"sundry/ports"
	"sundry/tests/fakes"
)

// bottomless is a ledger in which every payment can be refunded.
type bottomless struct{ ports.SaleLedger }

// ReserveRefund implements ports.SaleLedger.
func (bottomless) ReserveRefund(context.Context, ports.Repos, string, *int64) (ledger.Share, error) {
	return ledger.Share{Amount: eur(1000), Tax: eur(0)}, nil
}

// Somebody sends the money back at the processor while the automatic refund waits.
func TestMoneyThatWentBackElsewhereIsNotRefundedAgain(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		paid := w.mustStart(wish(subscriptionID, w.saved(cardSucceeds)))
		w.work()
		err := w.store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
			elsewhere := payment.Restore(w.payment(paid.ID))
			if err := elsewhere.Refund(eur(1000)); err != nil {
				return err
			}
			if err := r.Payments.Payments.Update(ctx, elsewhere.State()); err != nil {
				return err
			}
			return w.Refund(ctx, r, elsewhere.State(), refund.NoLongerDue)
		})
		if err != nil {
			t.Fatal(err)
		}
		w.work()
		if f := w.automaticRefund(paid); f.Status != refund.Failed || f.FailureReason != "already_refunded" {
			t.Errorf("%+v", f)
		}
		if task, ok := w.next(); ok {
			t.Errorf("left: %+v", task)
		}
	})
}

// Somebody has sent a part of the money back at the processor before the automatic refund is made.
func TestAnAutomaticRefundReturnsWhatIsLeft(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		paid := w.mustStart(wish(subscriptionID, w.saved(cardSucceeds)))
		w.work()
		err := w.store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
			elsewhere := payment.Restore(w.payment(paid.ID))
			if err := elsewhere.Refund(eur(400)); err != nil {
				return err
			}
			made := refund.NewPending(refund.State{
				ID: "ref_elsewhere", CreatorID: creatorID, PaymentID: paid.ID, ProcessorID: "re_1",
				Share: ledger.Share{Amount: eur(400), Tax: eur(0)}, Reason: refund.AtProcessor,
			}, w.clock.Real())
			if _, _, err := made.Succeed("", false, w.clock.Real()); err != nil {
				return err
			}
			if err := r.Payments.Refunds.Insert(ctx, made.State()); err != nil {
				return err
			}
			if err := r.Payments.Payments.Update(ctx, elsewhere.State()); err != nil {
				return err
			}
			return w.Refund(ctx, r, elsewhere.State(), refund.NoLongerDue)
		})
		if err != nil {
			t.Fatal(err)
		}
		w.work()
		if f := w.automaticRefund(paid); f.Status != refund.Succeeded || f.Share.Amount != eur(600) {
			t.Errorf("%+v, want 600 refunded", f)
		}
		if p := w.payment(paid.ID); p.Refunded != eur(1000) {
			t.Errorf("refunded %+v", p.Refunded)
		}
		if task, ok := w.next(); ok {
			t.Errorf("left: %+v", task)
		}
	})
}

func TestMoneyThatGoesBackByItselfIsNotRefundedBeside(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		started := w.mustStart(wish(subscriptionID, w.saved(cardSucceeds)))
		w.work()
		err := w.store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
			return w.Refund(ctx, r, w.payment(started.ID), refund.NoLongerDue)
		})
		if err != nil {
			t.Fatal(err)
		}
		refunds := payments.NewRefunds(payments.RefundDeps{
			Store: w.store, IDs: system.NewIDs(), Bus: &w.bus, Providers: fakes.Providers(w.processor), Ledger: bottomless{},
			Customers: fakes.Customer{ID: customerID, CreatorID: creatorID},
		})
		request := refund.Request{PaymentID: started.ID, Reason: "requested_by_customer"}
		_, err = refunds.Request(t.Context(), creatorID, request)
		refused(t, err, fault.NotRefundable)
		w.work()
		if p := w.payment(started.ID); p.Refunded != eur(1000) {
			t.Errorf("refunded %+v", p.Refunded)
		}
	})
}
