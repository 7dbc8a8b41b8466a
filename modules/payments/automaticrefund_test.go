package payments_test

import (
	"context"
	"testing"
	"time"

	"sundry/adapters/system"
	"sundry/core/document"
	"sundry/core/money"
	"sundry/core/payment"
	"sundry/core/refund"
	"sundry/core/secret"
	"sundry/modules/payments"
	"sundry/ports"
	"sundry/tests/fakes"
)

// decider is a processor that decides about refunds as the test says.
type decider struct {
	ports.Processor
	outcome refund.Outcome
}

// Refund implements ports.Processor.
func (d *decider) Refund(context.Context, ports.RefundRequest) (refund.Outcome, error) {
	return d.outcome, nil
}

// returning is a ledger in which money comes back.
type returning struct{ bottomless }

// ReverseRefund implements ports.SaleLedger.
func (returning) ReverseRefund(context.Context, ports.Repos, refund.State) (bool, error) {
	return true, nil
}

func TestAutomaticRefundOutcomes(t *testing.T) {
	t.Parallel()
	pending, made := refund.Outcome{Status: refund.Pending}, refund.Outcome{Status: refund.Succeeded}
	failed := refund.Outcome{Status: refund.Failed, Reason: "expired_or_canceled_card"}
	for name, c := range map[string]struct {
		outcomes []refund.Outcome
		back     money.Amount
		failures int64
	}{
		"it waits for its outcome":          {[]refund.Outcome{pending, pending, made}, eur(1000), 0},
		"it fails after it waited":          {[]refund.Outcome{pending, failed, failed}, eur(0), 1},
		"it fails after it succeeded":       {[]refund.Outcome{made, failed, failed}, eur(0), 1},
		"it fails after it waited, at last": {[]refund.Outcome{pending, made, failed}, eur(0), 1},
		"old news change nothing":           {[]refund.Outcome{made, pending, made}, eur(1000), 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			forEachEngine(t, func(t *testing.T, w *fixture) {
				decides := &decider{Processor: w.processor}
				providers := fakes.Providers(decides)
				w.register(providers...)
				inbox := payments.NewInbox(payments.InboxDeps{
					Store: w.store, Clock: w.clock, Providers: providers, Refunds: payments.NewRefunds(payments.RefundDeps{
						Store: w.store, IDs: system.NewIDs(), Bus: &w.bus, Providers: providers, Ledger: returning{},
						Links: document.Links{Keys: secret.Fixed(make([]byte, 32))},
					}),
				})
				paid := w.mustStart(wish(subscriptionID, w.saved(cardSucceeds)))
				w.work()
				for i, outcome := range c.outcomes {
					decides.outcome = outcome
					if i == 0 {
						w.refundAutomatically(w.payment(paid.ID))
						w.work()
						continue
					}
					w.clock.Advance(time.Second)
					w.process(inbox, ports.ProcessorEvent{
						ID: string(rune('a' + i)), Kind: ports.AboutRefund, ObjectID: refund.AutomaticID(paid.ID),
					})
					w.work()
				}
				last, f := c.outcomes[len(c.outcomes)-1], w.automaticRefund(paid)
				if f.Status != last.Status || f.FailureReason != last.Reason || w.payment(paid.ID).Refunded != c.back {
					t.Errorf("%+v of %+v", f, w.payment(paid.ID))
				}
				if got := w.published("refund.failed", f.ID); got != c.failures {
					t.Errorf("%d failures are published, want %d", got, c.failures)
				}
				if task, ok := w.next(); ok {
					t.Errorf("left: %+v", task)
				}
				w.auditPayments()
			})
		})
	}
}

// refundAutomatically makes a payment go back.
func (w *fixture) refundAutomatically(paid payment.State) {
	w.t.Helper()
	err := w.store.Atomically(w.t.Context(), func(ctx context.Context, r ports.Repos) error {
		return w.Refund(ctx, r, paid, refund.NoLongerDue)
	})
	if err != nil {
		w.t.Fatal(err)
	}
}
