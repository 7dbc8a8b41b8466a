package payments_test

import (
	"context"
	"testing"
	"time"

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

// RecordRefund implements ports.SaleLedger.
func (b bottomless) RecordRefund(
	ctx context.Context, r ports.Repos, paymentID string, minor *int64,
) (ledger.Share, error) {
	return b.ReserveRefund(ctx, r, paymentID, minor)
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

// elsewhere lists a refund that was made at the processor; before is called first.
type elsewhere struct{ before func() }

// ListRefunds implements ports.RefundLister.
func (e elsewhere) ListRefunds(context.Context, string) ([]ports.RefundReport, error) {
	e.before()
	return []ports.RefundReport{{
		ProcessorID: "re_1", Amount: eur(1000), Outcome: refund.Outcome{Status: refund.Pending},
	}}, nil
}

// change changes a payment as another process would.
func (w *fixture) change(paid payment.State, change func(*payment.State)) {
	w.t.Helper()
	err := w.store.Atomically(w.t.Context(), func(ctx context.Context, r ports.Repos) error {
		return changePayment(ctx, r, paid.ID, change)
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

// refundedElsewhere is the inbox that learns of a refund which was made at the processor; before is called first.
func (w *fixture) refundedElsewhere(before func()) *payments.Inbox {
	providers := fakes.Providers(w.processor)
	providers[0].RefundLister = elsewhere{before}
	return payments.NewInbox(payments.InboxDeps{
		Store: w.store, Clock: w.clock, Providers: providers,
		Refunds: payments.NewRefunds(payments.RefundDeps{
			Store: w.store, IDs: system.NewIDs(), Bus: &w.bus, Providers: providers, Ledger: bottomless{},
			Customers: fakes.Customer{ID: laterCustomerID, CreatorID: creatorID},
		}),
	})
}

// TestRefundElsewhere_WaitsForItsPayment reports a refund before the payment is known to have succeeded, with its id at
// the processor and without.
func TestRefundElsewhere_WaitsForItsPayment(t *testing.T) {
	t.Parallel()
	for name, known := range map[string]string{"known there": "pi_1", "outcome unknown": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			forEachEngine(t, func(t *testing.T, w *fixture) { w.refundUnsettled(known) })
		})
	}
}

// refundUnsettled has a refund reported of a payment that has an id at the processor, or none, and is not settled.
func (w *fixture) refundUnsettled(processorID string) {
	t := w.t
	t.Helper()
	paid := w.mustStart(wish(subscriptionID, w.saved(cardSucceeds)))
	w.change(paid, func(p *payment.State) { p.ProcessorID, p.CustomerID = processorID, laterCustomerID })
	inbox := w.refundedElsewhere(func() {})
	w.process(inbox, ports.ProcessorEvent{ID: "refunded", Kind: ports.AboutPaymentRefunds, ObjectID: paid.ID})
	w.work()
	w.change(paid, func(p *payment.State) { p.ProcessorID = "pi_1" })
	w.clock.Advance(2 * time.Second)
	task, ok := w.next()
	if !ok {
		t.Fatal("the event is not processed again")
	}
	if err := inbox.Process(t.Context(), task); err != nil {
		t.Fatal(err)
	}
	made, err := w.store.Read(t.Context()).Payments.Refunds.GetByProcessorID(t.Context(), "re_1")
	if err != nil || made.PaymentID != paid.ID {
		t.Errorf("%+v, %v", made, err)
	}
}

// A refund at the processor is of the customer whom its payment got while the processor was asked.
func TestARefundElsewhereIsOfTheCustomerWhoPaidMeanwhile(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		paid := w.mustStart(wish(subscriptionID, w.saved(cardSucceeds)))
		w.work()
		w.change(paid, func(p *payment.State) { p.ProcessorID = "pi_1" })
		w.process(w.refundedElsewhere(func() {
			w.change(paid, func(p *payment.State) { p.CustomerID = laterCustomerID })
		}), ports.ProcessorEvent{ID: "refunded", Kind: ports.AboutPaymentRefunds, ObjectID: paid.ID})
		made, err := w.store.Read(t.Context()).Payments.Refunds.GetByProcessorID(t.Context(), "re_1")
		if err != nil || made.CustomerID != laterCustomerID {
			t.Errorf("%+v, %v", made, err)
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
				ID: "ref_elsewhere", CreatorID: creatorID,
				Return:      ledger.Return{PaymentID: paid.ID, Share: ledger.Share{Amount: eur(400), Tax: eur(0)}},
				ProcessorID: "re_1", Reason: refund.AtProcessor,
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
		refunds := w.refunds()
		request := refund.Request{PaymentID: started.ID, Reason: "requested_by_customer"}
		_, err = refunds.Request(t.Context(), creatorID, request)
		refused(t, err, fault.NotRefundable)
		w.work()
		if p := w.payment(started.ID); p.Refunded != eur(1000) {
			t.Errorf("refunded %+v", p.Refunded)
		}
	})
}

// refunds makes refunds of as much as is asked for.
func (w *fixture) refunds() *payments.Refunds {
	return payments.NewRefunds(payments.RefundDeps{
		Store: w.store, IDs: system.NewIDs(), Bus: &w.bus, Providers: fakes.Providers(w.processor), Ledger: bottomless{},
		Customers: fakes.Customer{ID: customerID, CreatorID: creatorID},
	})
}

// TestRefundKey_IsOfOneRequest: a request that died before its response is found by its key, and another is not taken
// for it.
func TestRefundKey_IsOfOneRequest(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		paid := w.mustStart(wish(subscriptionID, w.saved(cardSucceeds)))
		w.work()
		refunds, amount, less := w.refunds(), int64(1000), int64(999)
		request := refund.Request{PaymentID: paid.ID, Minor: &amount, Reason: "other", Key: "key"}
		first, err := refunds.Request(t.Context(), creatorID, request)
		if err != nil {
			t.Fatal(err)
		}
		for name, change := range map[string]func(*refund.Request){
			"another amount":  func(r *refund.Request) { r.Minor = &less },
			"another reason":  func(r *refund.Request) { r.Reason = "duplicate" },
			"another payment": func(r *refund.Request) { r.PaymentID = "pay_other" },
			"kept access":     func(r *refund.Request) { r.KeepAccess = true },
		} {
			other := request
			change(&other)
			if _, err := refunds.Request(t.Context(), creatorID, other); !fault.Is(err, fault.IdempotencyKeyMismatch) {
				t.Errorf("%s: %v, want IDEMPOTENCY_KEY_MISMATCH", name, err)
			}
		}
		if again, err := refunds.Request(t.Context(), creatorID, request); err != nil || again.ID != first.ID {
			t.Errorf("the same request made %s, %v; want %s", again.ID, err, first.ID)
		}
	})
}
