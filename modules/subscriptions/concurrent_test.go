package subscriptions_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"sundry/core/fault"
	"sundry/core/payment"
	"sundry/core/paymentmethod"
	"sundry/core/subscription"
	"sundry/ports"
	"sundry/tests/fakes"
)

// atOnce runs a request several times at once and returns how often it succeeded. Each of the others has to be refused
// as STATE_CONFLICT.
func atOnce(t *testing.T, request func() error) (succeeded int) {
	t.Helper()
	const times = 8
	failures := make(chan error, times)
	var all sync.WaitGroup
	for range times {
		all.Go(func() { failures <- request() })
	}
	all.Wait()
	close(failures)
	for err := range failures {
		if err == nil {
			succeeded++
		} else if !fault.Is(err, fault.StateConflict) {
			t.Errorf("%v, want STATE_CONFLICT", err)
		}
	}
	return succeeded
}

// overdue begins a subscription whose renewal is declined.
func (w *fixture) overdue() subscription.State {
	w.t.Helper()
	s := w.begin(basic)
	w.at(s.CurrentPeriodEnd)
	w.decide(fakes.Declined("insufficient_funds"))
	return w.get(s.ID)
}

func TestTheSameWishAtOnceIsOneCharge(t *testing.T) {
	t.Parallel()
	for name, wish := range map[string]func(w *fixture) func() error{
		"change": func(w *fixture) func() error {
			s := w.begin(basic)
			return func() error { _, err := w.ChangePlan(w.t.Context(), creatorID, s.ID, upgrade); return err }
		},
		"resume": func(w *fixture) func() error {
			s := w.begin(basic)
			if _, err := w.Pause(w.t.Context(), creatorID, s.ID); err != nil {
				w.t.Fatal(err)
			}
			w.clock.Set(s.CurrentPeriodEnd.Add(time.Hour))
			return func() error { _, err := w.Resume(w.t.Context(), creatorID, s.ID); return err }
		},
		"pay now": func(w *fixture) func() error {
			s := w.overdue()
			return func() error { _, err := w.PayNow(w.t.Context(), creatorID, s.ID); return err }
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			forEachEngine(t, func(t *testing.T, w *fixture) {
				request := wish(w)
				w.charges.Response = payment.Outcome{Status: payment.Processing}
				// A request that is not refused sees the charge that is under way.
				if got := atOnce(t, request); got != 1 {
					t.Errorf("%d requests started a charge, want 1", got)
				}
				if live := w.live(); len(live) != 1 {
					t.Errorf("%d charges are under way, want 1", len(live))
				}
			})
		})
	}
}

func TestANewCardBesidePayNowIsOneCharge(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		s := w.overdue()
		w.charges.Response = payment.Outcome{Status: payment.Processing}
		saved := make(chan error, 1)
		go func() {
			saved <- w.store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
				return w.OnCardSaved(ctx, r, paymentmethod.Saved{State: paymentmethod.State{
					ID: "pm_2", CreatorID: creatorID, CustomerID: customerID, CreatedAt: w.clock.Real(),
				}})
			})
		}()
		atOnce(t, func() error { _, err := w.PayNow(t.Context(), creatorID, s.ID); return err })
		if err := <-saved; err != nil {
			t.Errorf("a card could not be saved: %v", err)
		}
		if live := w.live(); len(live) != 1 {
			t.Errorf("%d charges are under way, want 1", len(live))
		}
	})
}
