package payments_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"sundry/adapters/system"
	"sundry/core/dispute"
	"sundry/core/ledger"
	"sundry/core/money"
	"sundry/core/payment"
	"sundry/core/refund"
	"sundry/modules/payments"
	"sundry/ports"
	"sundry/tests/fakes"
)

// bank is a dispute of a payment as the processor reports it.
type bank struct {
	ports.DisputeProcessor
	report ports.DisputeReport
}

// FindDispute implements ports.DisputeProcessor.
func (b *bank) FindDispute(context.Context, string) (ports.DisputeReport, error) {
	return b.report, nil
}

// halved is a ledger that holds half of a claim, and loses all of it.
type halved struct{ ports.SaleLedger }

// OpenDispute implements ports.SaleLedger.
func (halved) OpenDispute(
	_ context.Context, _ ports.Repos, _, _ string, claimed money.Amount,
) (ledger.Share, error) {
	return ledger.Share{Amount: eur(claimed.Minor / 2), Tax: eur(claimed.Minor / 20)}, nil
}

// CloseDispute implements ports.SaleLedger.
func (halved) CloseDispute(
	_ context.Context, _ ports.Repos, _ dispute.State, claimed money.Amount,
) (ledger.Share, error) {
	return ledger.Share{Amount: claimed, Tax: eur(claimed.Minor / 10)}, nil
}

// completing is a ledger in which the payment succeeds just before its sale is read.
type completing struct {
	halved
	paymentID string
}

// OpenDispute implements ports.SaleLedger.
func (c completing) OpenDispute(
	ctx context.Context, r ports.Repos, paymentID, disputeID string, claimed money.Amount,
) (ledger.Share, error) {
	err := changePayment(ctx, r, c.paymentID, func(p *payment.State) { p.CustomerID = laterCustomerID })
	if err != nil {
		return ledger.Share{}, err
	}
	return c.halved.OpenDispute(ctx, r, paymentID, disputeID, claimed)
}

// changePayment changes a payment as another transaction would.
func changePayment(ctx context.Context, r ports.Repos, paymentID string, change func(*payment.State)) error {
	paid, err := r.Payments.Payments.Get(ctx, paymentID)
	if err != nil {
		return err
	}
	change(&paid)
	paid.Revision++
	return r.Payments.Payments.Update(ctx, paid)
}

// laterCustomerID is the customer whom a payment gets as it succeeds.
const laterCustomerID = "cus_01h00000000000000000000009"

// The dispute would take no access away, because a payment without a customer has bought nothing.
func TestADisputeIsOfTheCustomerWhoPaidMeanwhile(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		paid := w.mustStart(wish(subscriptionID, w.saved(cardSucceeds)))
		inbox, reported := w.bankOf(paid, completing{paymentID: paid.ID})
		reported.report.Status = dispute.NeedsResponse
		w.processEvent(inbox, "opened")
		d, err := w.store.Read(t.Context()).Payments.Disputes.GetByProcessorID(t.Context(), "dp_1")
		if err != nil || d.CustomerID != laterCustomerID {
			t.Errorf("%+v, %v", d, err)
		}
	})
}

// unsold is a ledger in which the payment has no sale until there is one.
type unsold struct {
	halved
	sold bool
}

// OpenDispute implements ports.SaleLedger.
func (l *unsold) OpenDispute(
	ctx context.Context, r ports.Repos, paymentID, disputeID string, claimed money.Amount,
) (ledger.Share, error) {
	if !l.sold {
		return ledger.Share{}, ports.ErrNotFound
	}
	return l.halved.OpenDispute(ctx, r, paymentID, disputeID, claimed)
}

// TestDispute_WaitsForItsPayment reports a dispute before the payment is known to have succeeded, which is no failure.
func TestDispute_WaitsForItsPayment(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		paid, held := w.mustStart(wish(subscriptionID, w.saved(cardSucceeds))), &unsold{}
		inbox, reported := w.bankOf(paid, held)
		reported.report.Status = dispute.NeedsResponse
		w.processEvent(inbox, "opened")
		w.work()
		w.clock.Advance(2 * time.Second)
		task, ok := w.next()
		if !ok {
			t.Fatal("the event is not processed again")
		}
		if err := inbox.Process(t.Context(), task); !errors.Is(err, ports.ErrNotFound) {
			t.Errorf("without a sale of a payment that succeeded: %v", err)
		}
		held.sold = true
		if err := inbox.Process(t.Context(), task); err != nil {
			t.Fatal(err)
		}
		if d, err := w.store.Read(t.Context()).Payments.Disputes.GetByProcessorID(t.Context(), "dp_1"); err != nil ||
			d.PaymentID != paid.ID {
			t.Errorf("%+v, %v", d, err)
		}
	})
}

func TestALostDisputeIsOfAllThatWasLost(t *testing.T) {
	t.Parallel()
	for status, want := range map[dispute.Status]ledger.Share{
		dispute.Won:  {Amount: eur(500), Tax: eur(50)},
		dispute.Lost: {Amount: eur(1000), Tax: eur(100)},
	} {
		t.Run(string(status), func(t *testing.T) {
			t.Parallel()
			forEachEngine(t, func(t *testing.T, w *fixture) {
				paid := w.mustStart(wish(subscriptionID, w.saved(cardSucceeds)))
				w.work()
				inbox, reported := w.bankOf(paid, halved{})
				for _, now := range []dispute.Status{dispute.NeedsResponse, status} {
					reported.report.Status = now
					w.processEvent(inbox, string(now))
				}
				d, err := w.store.Read(t.Context()).Payments.Disputes.GetByProcessorID(t.Context(), "dp_1")
				if err != nil || d.Status != status || d.Share != want || (d.CreditNoteNumber != "") != d.Undoes() {
					t.Errorf("%+v, %v, want %+v", d, err, want)
				}
			})
		})
	}
}

// A bank takes the money of a dispute itself, and a refund beside it would take it twice.
func TestMoneyThatIsDisputedGoesBackOnce(t *testing.T) {
	t.Parallel()
	for status, want := range map[dispute.Status]refund.Status{
		dispute.Won: refund.Succeeded, dispute.Lost: refund.Failed,
	} {
		t.Run(string(status), func(t *testing.T) {
			t.Parallel()
			forEachEngine(t, func(t *testing.T, w *fixture) {
				paid := w.mustStart(wish(subscriptionID, w.saved(cardSucceeds)))
				w.work()
				inbox, reported := w.bankOf(paid, halved{})
				reported.report.Status = dispute.NeedsResponse
				w.processEvent(inbox, "opened")
				err := w.store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
					return w.Refund(ctx, r, w.payment(paid.ID), refund.NoLongerDue)
				})
				if err != nil {
					t.Fatal(err)
				}
				w.work()
				if f := w.automaticRefund(paid); f.Status != refund.Pending || w.payment(paid.ID).Refunded != eur(0) {
					t.Errorf("while disputed: %+v", f)
				}
				reported.report.Status = status
				w.processEvent(inbox, "closed")
				w.work()
				back := eur(0)
				if want == refund.Succeeded {
					back = eur(1000)
				}
				if f := w.automaticRefund(paid); f.Status != want || (f.FailureReason == "dispute_lost") != (want == refund.Failed) ||
					w.payment(paid.ID).Refunded != back {
					t.Errorf("%+v of %+v", f, w.payment(paid.ID))
				}
				if task, ok := w.next(); ok {
					t.Errorf("left: %+v", task)
				}
				w.auditPayments()
			})
		})
	}
}

// A bank may take a part of the money alone.
func TestTheRestOfALostDisputeGoesBack(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		paid := w.mustStart(wish(subscriptionID, w.saved(cardSucceeds)))
		w.work()
		inbox, reported := w.bankOf(paid, halved{})
		reported.report.Amount = eur(400)
		for _, status := range []dispute.Status{dispute.NeedsResponse, dispute.Lost} {
			reported.report.Status = status
			w.processEvent(inbox, string(status))
		}
		w.refundAutomatically(w.payment(paid.ID))
		w.work()
		if f := w.automaticRefund(paid); f.Status != refund.Succeeded || f.Share.Amount != eur(600) ||
			w.payment(paid.ID).Refunded != eur(600) {
			t.Errorf("%+v of %+v, want 600 refunded", f, w.payment(paid.ID))
		}
		if task, ok := w.next(); ok {
			t.Errorf("left: %+v", task)
		}
		w.auditPayments()
	})
}

// auditPayments fails the test for a payment that went neither where it belongs nor back.
func (w *fixture) auditPayments() {
	w.t.Helper()
	read := w.store.Read(w.t.Context())
	if ids, err := read.Subscriptions.Audit.LostCharges(w.t.Context(), 10); err != nil || len(ids) > 0 {
		w.t.Errorf("lost charges %v, %v", ids, err)
	}
	if ids, err := read.Checkout.Audit.KeptMoney(w.t.Context(), payments.TaskRefund, 10); err != nil || len(ids) > 0 {
		w.t.Errorf("kept money %v, %v", ids, err)
	}
}

func (w *fixture) automaticRefund(paid payment.State) refund.State {
	w.t.Helper()
	f, err := w.store.Read(w.t.Context()).Payments.Refunds.Get(w.t.Context(), refund.AutomaticID(paid.ID))
	if err != nil {
		w.t.Fatal(err)
	}
	return f
}

// bankOf disputes a payment of €10, and returns the inbox that learns what the bank reports of it.
func (w *fixture) bankOf(paid payment.State, held ports.SaleLedger) (*payments.Inbox, *bank) {
	reported := &bank{report: ports.DisputeReport{
		ProcessorID: "dp_1", PaymentID: paid.ID, CreatorID: creatorID, Amount: eur(1000),
	}}
	providers := fakes.Providers(w.processor)
	providers[0].DisputeProcessor = reported
	return payments.NewInbox(payments.InboxDeps{
		Store: w.store, Clock: w.clock, Providers: providers,
		Disputes: payments.NewDisputes(payments.DisputeDeps{
			Store: w.store, IDs: system.NewIDs(), Bus: &w.bus, Providers: providers, Ledger: held,
		}),
	}), reported
}

// processEvent has an event about the dispute processed.
func (w *fixture) processEvent(inbox *payments.Inbox, eventID string) {
	w.t.Helper()
	w.process(inbox, ports.ProcessorEvent{ID: eventID, Kind: ports.AboutDispute, ObjectID: "dp_1"})
}

// process has an event processed.
func (w *fixture) process(inbox *payments.Inbox, e ports.ProcessorEvent) {
	w.t.Helper()
	e.Provider, e.CreatorID = fakes.ProviderName, creatorID
	err := w.store.Atomically(w.t.Context(), func(ctx context.Context, r ports.Repos) error {
		_, err := r.Payments.ProcessorEvents.Insert(ctx, e, w.clock.Real())
		if err != nil {
			return err
		}
		return r.Tasks.Schedule(ctx, payments.TaskProcessorEvent, e.ID, creatorID, w.clock.Real().Add(-time.Second))
	})
	if err != nil {
		w.t.Fatal(err)
	}
	task, ok := w.next()
	if !ok {
		w.t.Fatal("no event is to be processed")
	}
	if err := inbox.Process(w.t.Context(), task); err != nil {
		w.t.Fatal(err)
	}
}
