package payments_test

import (
	"context"
	"errors"
	"testing"

	"sundry/core/fault"
	"sundry/core/payment"
	"sundry/core/refund"
	"sundry/ports"
	"sundry/tests/fakes"
)

// newcomer is a provider that knows none of the old payments: whatever it is asked about them is a fault.
type newcomer struct {
	ports.Processor
	t *testing.T
}

func (n newcomer) Charge(_ context.Context, r ports.ChargeRequest) (payment.Outcome, error) {
	if r.Method != "new_card" {
		n.t.Errorf("the new provider was asked to charge %q", r.Method)
	}
	return payment.Outcome{Status: payment.Succeeded, Fee: eur(1)}, nil
}

func TestAnotherProviderTakesNewPaymentsOnly(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		old := w.mustStart(wish(subscriptionID, w.saved(cardSucceeds)))
		w.work()
		before := fakes.Providers(w.processor)[0]
		w.register(ports.Provider{Name: "newcomer", Processor: newcomer{t: t}}, before)
		if err := w.store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
			return w.Refund(ctx, r, w.payment(old.ID), refund.NoLongerDue)
		}); err != nil {
			t.Fatal(err)
		}
		w.work()
		if got := w.payment(old.ID); got.Provider != before.Name || got.Refunded != old.Amount {
			t.Errorf("%+v, want it refunded where it was made", got)
		}
		renewal := w.mustStart(wish("sub_renewal", "")) // by the saved card, which only the old provider knows
		fresh := wish("sub_fresh", "")
		fresh.Method = "new_card"
		taken := w.mustStart(fresh)
		w.work()
		for id, provider := range map[string]string{renewal.ID: before.Name, taken.ID: "newcomer"} {
			if got := w.payment(id); got.Status != payment.Succeeded || got.Provider != provider {
				t.Errorf("%+v, want it taken by %s", got, provider)
			}
		}
	})
}

func TestAProviderThatIsGoneIsWaitedFor(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		card := w.saved(cardSucceeds)
		started := w.mustStart(wish(subscriptionID, card))
		before := fakes.Providers(w.processor)
		w.register(ports.Provider{Name: "newcomer", Processor: newcomer{t: t}})
		task, ok := w.next()
		if !ok {
			t.Fatal("no task is due")
		}
		if err := w.Charge(t.Context(), task); !errors.Is(err, ports.ErrProcessorUnavailable) {
			t.Errorf("charged: %v", err)
		}
		_, err := w.start(wish("sub_other", card)) // nobody can charge that card now
		refused(t, err, fault.PaymentMethodRequired)
		w.register(before...)
		if err := w.Charge(t.Context(), task); err != nil {
			t.Error(err)
		}
		w.wantPaid(started.ID)
	})
}
