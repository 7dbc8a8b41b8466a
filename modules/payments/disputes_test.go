package payments_test

import (
	"context"
	"testing"
	"time"

	"sundry/adapters/system"
	"sundry/core/dispute"
	"sundry/core/ledger"
	"sundry/core/money"
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
				reported := &bank{report: ports.DisputeReport{
					ProcessorID: "dp_1", PaymentID: paid.ID, CreatorID: creatorID, Amount: eur(1000),
				}}
				providers := fakes.Providers(w.processor)
				providers[0].DisputeProcessor = reported
				inbox := payments.NewInbox(payments.InboxDeps{
					Store: w.store, Clock: w.clock, Providers: providers,
					Disputes: payments.NewDisputes(payments.DisputeDeps{
						Store: w.store, IDs: system.NewIDs(), Bus: &w.bus, Providers: providers, Ledger: halved{},
					}),
				})
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

// processEvent has an event about the dispute processed.
func (w *fixture) processEvent(inbox *payments.Inbox, eventID string) {
	w.t.Helper()
	err := w.store.Atomically(w.t.Context(), func(ctx context.Context, r ports.Repos) error {
		_, err := r.Payments.ProcessorEvents.Insert(ctx, ports.ProcessorEvent{
			ID: eventID, Provider: fakes.ProviderName, Kind: ports.AboutDispute, ObjectID: "dp_1", CreatorID: creatorID,
		}, w.clock.Real())
		if err != nil {
			return err
		}
		return r.Tasks.Schedule(ctx, payments.TaskProcessorEvent, eventID, creatorID, w.clock.Real().Add(-time.Second))
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
