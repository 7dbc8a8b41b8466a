package payments_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"sundry/core/fault"
	"sundry/core/id"
	"sundry/core/payment"
	"sundry/core/refund"
	"sundry/modules/payments"
	"sundry/ports"
	"sundry/tests/fakes"
)

const subscriptionID = "sub_01h00000000000000000000000"

// wantPaid holds a payment to: succeeded, announced once, with one receipt, and nothing left to do.
func (w *fixture) wantPaid(id string) {
	w.t.Helper()
	p := w.payment(id)
	if p.Status != payment.Succeeded || !strings.HasSuffix(p.Sale.ReceiptNumber, "-R-000001") || p.SettledAt.IsZero() ||
		p.ProcessorFee.Minor == 0 {
		w.t.Errorf("%+v", p)
	}
	if n := w.published("payment.completed", id); n != 1 {
		w.t.Errorf("announced %d times", n)
	}
	w.clock.Advance(2 * time.Hour)
	if n := w.work(); n != 0 {
		w.t.Errorf("%d tasks are left", n)
	}
}

func TestAStartedChargeIsMadeByItsTaskOnce(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		started := w.mustStart(wish(subscriptionID, w.saved(cardSucceeds)))
		if started.Status != payment.Pending || started.Amount != eur(1000) || !started.OffSession ||
			started.Last4 != "4242" {
			t.Fatalf("%+v", started)
		}
		w.work()
		w.wantPaid(started.ID)
	})
}

// busyStore is a store whose transactions find the database busy.
type busyStore struct{ ports.Store }

func (busyStore) Atomically(context.Context, func(context.Context, ports.Repos) error) error {
	return fmt.Errorf("transaction kept losing: %w", ports.ErrDatabaseBusy)
}

// Callers of a busy database hear that nothing was changed, which is not so once the processor was asked.
func TestRun_BusyAfterTheCharge(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		for _, card := range []string{cardSucceeds, cardLost} {
			started := w.mustStart(wish(string(id.Subscription)+"_"+card, w.saved(card)))
			attempts := fakes.NewAttempts(busyStore{w.store}, &w.bus, fakes.Providers(w.processor),
				payments.NewSavedCardOutcomes(w.saving))
			_, err := attempts.Run(t.Context(), started, ports.Payer{})
			if !errors.Is(err, ports.ErrDatabaseLost) || errors.Is(err, ports.ErrDatabaseBusy) {
				t.Errorf("card %s: %v, want %v", card, err, ports.ErrDatabaseLost)
			}
		}
	})
}

// TestAChargeOfItsCallerIsMadeOnce starts charges whose caller runs them, and leaves them to their task where the
// caller dies before the outcome.
func TestAChargeOfItsCallerIsMadeOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		card string
		run  func(w *fixture, started payment.State)
		// after passes before the task settles what the caller has left.
		after time.Duration
		calls int64
	}{
		"it is run": {card: cardSucceeds, calls: 1, run: func(w *fixture, started payment.State) {
			if err := w.RunUnattended(w.t.Context(), started); err != nil {
				w.t.Error(err)
			}
		}},
		"its response times out": {card: cardLost, calls: 1, run: func(w *fixture, started payment.State) {
			if err := w.RunUnattended(w.t.Context(), started); err != nil {
				w.t.Error(err)
			}
		}},
		"its process dies before": {
			card: cardSucceeds, calls: 1, after: time.Minute, run: func(*fixture, payment.State) {},
		},
		"its process dies with the response": {
			card: cardSucceeds, calls: 2, after: time.Minute, run: func(w *fixture, started payment.State) {
				w.processor.DieAfter.Store(true)
				fakes.Dying(w.t, func() { _ = w.RunUnattended(w.t.Context(), started) })
				w.processor.DieAfter.Store(false)
			},
		},
		"the processor is not reached": {
			card: cardSucceeds, calls: 2, after: 3 * time.Second, run: func(w *fixture, started payment.State) {
				w.processor.Unreachable.Store(true)
				err := w.RunUnattended(w.t.Context(), started)
				if !errors.Is(err, ports.ErrProcessorUnavailable) {
					w.t.Errorf("got %v, want %v", err, ports.ErrProcessorUnavailable)
				}
				w.processor.Unreachable.Store(false)
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			forEachEngine(t, func(t *testing.T, w *fixture) {
				charge := wish(subscriptionID, w.saved(c.card))
				charge.RunByCaller = true
				w.processor.Charged.Store(0)
				started := w.mustStart(charge)
				if n := w.work(); n != 0 {
					t.Errorf("%d tasks run beside the caller", n)
				}
				c.run(w, started)
				w.clock.Advance(c.after)
				if err := w.Recover(t.Context()); err != nil {
					t.Fatal(err)
				}
				want := 0
				if c.after > 0 {
					want = 1
				}
				if n, calls := w.work(), w.processor.Charged.Load(); n != want || calls != c.calls {
					t.Errorf("%d tasks and %d calls, want %d and %d", n, calls, want, c.calls)
				}
				w.wantPaid(started.ID)
			})
		})
	}
}

func TestAProcessDiesBetweenTheChargeAndTheCommit(t *testing.T) {
	t.Parallel()
	for name, die := range map[string]func(p *fakes.Processor, on bool){
		"before the processor receives it":   func(p *fakes.Processor, on bool) { p.DieBefore.Store(on) },
		"after the processor took the money": func(p *fakes.Processor, on bool) { p.DieAfter.Store(on) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			forEachEngine(t, func(t *testing.T, w *fixture) {
				card := w.saved(cardSucceeds)
				w.processor.Charged.Store(0)
				started := w.mustStart(wish(subscriptionID, card))
				die(w.processor, true)
				fakes.Dying(t, func() { w.work() })
				die(w.processor, false)
				if p := w.payment(started.ID); p.Status != payment.Pending {
					t.Fatalf("committed by a process that died: %+v", p)
				}
				w.clock.Advance(time.Minute) // the lease of the dead process ends
				w.expireLeases()
				if n := w.work(); n != 1 || w.processor.Charged.Load() != 2 {
					t.Fatalf("%d tasks, %d calls", n, w.processor.Charged.Load())
				}
				w.wantPaid(started.ID)
			})
		})
	}
}

// expireLeases puts the task of a dead process back.
func (w *fixture) expireLeases() {
	w.t.Helper()
	now, _ := w.clock.Now(w.t.Context(), "")
	err := w.store.Atomically(w.t.Context(), func(ctx context.Context, r ports.Repos) error {
		return r.Tasks.Schedule(ctx, payments.TaskCharge, w.live(), creatorID, now)
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

// live returns the id of the only payment that is not settled.
func (w *fixture) live() string {
	w.t.Helper()
	all, err := w.store.Read(w.t.Context()).Payments.Payments.ListLive(w.t.Context(), creatorID, 10)
	if err != nil || len(all) != 1 {
		w.t.Fatalf("%d live payments, %v", len(all), err)
	}
	return all[0].ID
}

func TestACapturedChargeWhoseResponseTimesOutIsFound(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		started := w.mustStart(wish(subscriptionID, w.saved(cardLost)))
		w.work()
		w.wantPaid(started.ID)
	})
}

func TestAnOpenOutcomeIsAskedForAgainUntilItIsKnown(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		started := w.mustStart(wish(subscriptionID, w.saved(cardStaysOpen)))
		w.work()
		if p := w.payment(started.ID); p.Status != payment.Processing || w.published("payment.completed", started.ID) != 0 {
			t.Fatalf("%+v", p)
		}
		if n := w.work(); n != 0 {
			t.Fatal("asked again at once")
		}
		// The pause grows with the age of the attempt: two seconds, then half of its age.
		for _, wait := range []time.Duration{2 * time.Second, 2 * time.Second, 2 * time.Second, 3 * time.Second} {
			w.clock.Advance(wait - time.Millisecond)
			if n := w.work(); n != 0 {
				t.Fatalf("asked before %s have passed", wait)
			}
			w.clock.Advance(time.Millisecond)
			if n := w.work(); n != 1 {
				t.Fatalf("not asked after %s", wait)
			}
		}
		if err := w.store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
			return r.Sandbox.ClockOffsets.Advance(ctx, creatorID, time.Hour)
		}); err != nil {
			t.Fatal(err)
		}
		w.clock.Advance(time.Hour)
		w.work()
		w.wantPaid(started.ID)
	})
}

func TestDoubledTasksOfSeveralWorkersTakeTheMoneyOnce(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		started := w.mustStart(wish(subscriptionID, w.saved(cardSucceeds)))
		task, _ := w.next()
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				if err := w.Charge(t.Context(), task); err != nil && !errors.Is(err, ports.ErrFenced) {
					t.Error(err)
				}
			})
			all.Go(func() {
				if _, err := w.Run(t.Context(), started, ports.Payer{}); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		w.wantPaid(started.ID)
	})
}

func TestOneAttemptPerSubjectIsLive(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		c := wish(subscriptionID, w.saved(cardStaysOpen))
		w.mustStart(c)
		if _, err := w.start(c); !errors.Is(err, ports.ErrDuplicate) {
			t.Errorf("a second live attempt: %v", err)
		}
		other := c
		other.Subject.SubjectID = "sub_02h00000000000000000000000"
		w.mustStart(other)
	})
}

func TestWhichCardIsCharged(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		_, err := w.start(wish(subscriptionID, ""))
		refused(t, err, fault.PaymentMethodRequired)
		first := w.saved(cardFailsLater)
		latest := w.saved(cardSucceeds)
		for n, c := range []struct{ asked, want string }{{first, first}, {"", latest}, {"pm_unknown", latest},
			{"removed", latest}} {
			if c.asked == "removed" {
				c.asked = first
				if err := w.RemoveCard(t.Context(), creatorID, customerID, first); err != nil {
					t.Fatal(err)
				}
			}
			if got := w.mustStart(wish(fmt.Sprint("sub_", n), c.asked)); got.PaymentMethodID != c.want {
				t.Errorf("asked for %q: %s is charged, want %s", c.asked, got.PaymentMethodID, c.want)
			}
		}
		foreign := wish("sub_9", latest)
		foreign.Subject.CustomerID = "cus_02h00000000000000000000000"
		_, err = w.start(foreign)
		refused(t, err, fault.PaymentMethodRequired)
	})
}

func TestADeclineIsAnnouncedOnceAndTakesNoReceipt(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		started := w.mustStart(wish(subscriptionID, w.saved(cardFailsLater)))
		w.work()
		p := w.payment(started.ID)
		if p.Status != payment.Declined || p.Decline.Code != "card_declined" || p.Sale.ReceiptNumber != "" {
			t.Errorf("%+v", p)
		}
		if w.published("payment.failed", p.ID) != 1 || w.published("payment.completed", p.ID) != 0 {
			t.Error("a decline is announced once, as a failure")
		}
	})
}

func TestAnInvoiceTakesNoReceiptNumber(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		c := wish("inv_1", w.saved(cardSucceeds))
		c.Subject.Purpose = payment.ForInvoice
		started := w.mustStart(c)
		w.work()
		if p := w.payment(started.ID); p.Status != payment.Succeeded || p.Sale.ReceiptNumber != "" {
			t.Errorf("%+v", p)
		}
	})
}

func TestACallerWhoIsToldOfAnOutageIsNotChargedLater(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		started := w.mustStart(wish(subscriptionID, w.saved(cardSucceeds)))
		w.processor.Unreachable.Store(true)
		_, err := w.Run(t.Context(), started, ports.Payer{})
		refused(t, err, fault.ProcessorUnavailable)
		w.processor.Unreachable.Store(false)
		w.work()
		if p := w.payment(started.ID); p.Status != payment.Canceled || w.published("payment.failed", p.ID) != 1 {
			t.Errorf("%+v", p)
		}
	})
}

// lastCharge loses the response to a charge, and the processor is not reached from then on.
type lastCharge struct {
	ports.Processor
	until *fakes.Processor
}

// Charge implements ports.Processor.
func (p lastCharge) Charge(ctx context.Context, r ports.ChargeRequest) (payment.Outcome, error) {
	_, err := p.Processor.Charge(ctx, r)
	p.until.Unreachable.Store(true)
	return payment.Outcome{}, errors.Join(err, ports.ErrOutcomeUnknown)
}

func TestRun_OutageAfterALostResponse(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		started := w.mustStart(wish(subscriptionID, w.saved(cardSucceeds)))
		reached := w.processor.Processor
		w.processor.Processor = lastCharge{reached, w.processor}
		left, err := w.Run(t.Context(), started, ports.Payer{})
		if err != nil || left.Status != payment.Pending {
			t.Errorf("got %s, %v; want that nothing is known", left.Status, err)
		}
		w.processor.Processor = reached
		w.processor.Unreachable.Store(false)
		w.clock.Advance(3 * time.Second)
		w.work()
		w.wantPaid(started.ID)
	})
}

func TestATaskWaitsForAProcessorThatIsAway(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		started := w.mustStart(wish(subscriptionID, w.saved(cardSucceeds)))
		task, _ := w.next()
		w.processor.Unreachable.Store(true)
		if err := w.Charge(t.Context(), task); !errors.Is(err, ports.ErrProcessorUnavailable) {
			t.Fatalf("%v", err)
		}
		if p := w.payment(started.ID); p.Status != payment.Pending {
			t.Errorf("%+v", p)
		}
		w.processor.Unreachable.Store(false)
		if err := w.Charge(t.Context(), task); err != nil {
			t.Fatal(err)
		}
		w.wantPaid(started.ID)
	})
}

func TestTheCustomersResponseToTheirBankDecides(t *testing.T) {
	t.Parallel()
	for approve, want := range map[bool]payment.Status{true: payment.Succeeded, false: payment.Declined} {
		t.Run(string(want), func(t *testing.T) {
			t.Parallel()
			forEachEngine(t, func(t *testing.T, w *fixture) {
				c := wish(subscriptionID, w.saved(cardAsksAlways))
				c.OnSession = true
				started := w.mustStart(c)
				if _, err := w.Authenticate(t.Context(), started.ID, approve, home); !fault.Is(err, fault.StateConflict) {
					t.Fatalf("nothing was asked yet: %v", err)
				}
				if p, err := w.Run(
					t.Context(), started, ports.Payer{},
				); err != nil || p.Status != payment.RequiresAction {
					t.Fatalf("%+v, %v", p, err)
				}
				p, err := w.Authenticate(t.Context(), started.ID, approve, home)
				if err != nil || p.Status != want {
					t.Errorf("%+v, %v", p, err)
				}
			})
		})
	}
}

func TestAnUnansweredBankIsGivenUpAfterAnHour(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		c := wish(subscriptionID, w.saved(cardAsksAlways))
		c.OnSession = true
		started := w.mustStart(c)
		w.work()
		w.clock.Advance(time.Hour - time.Millisecond)
		w.work()
		if p := w.payment(started.ID); p.Status != payment.RequiresAction {
			t.Fatalf("given up early: %+v", p)
		}
		w.clock.Advance(time.Hour)
		w.work()
		if p := w.payment(started.ID); p.Status != payment.Canceled || w.published("payment.failed", p.ID) != 1 {
			t.Errorf("%+v", p)
		}
	})
}

func TestMoneyThatIsNotWantedGoesBackOnce(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		started := w.mustStart(wish(subscriptionID, w.saved(cardSucceeds)))
		w.work()
		back := func() {
			err := w.store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
				return w.Refund(ctx, r, w.payment(started.ID), refund.NoLongerDue)
			})
			if err != nil {
				t.Fatal(err)
			}
			w.work()
		}
		back()
		back() // asked again, by a doubled message
		if p := w.payment(started.ID); p.Refunded != eur(1000) || w.published("payment.reversed", p.ID) != 1 {
			t.Errorf("%+v", p)
		}
		list, err := w.store.Read(t.Context()).Payments.Refunds.List(
			t.Context(), creatorID, started.ID, ports.Page{Limit: 10},
		)
		if err != nil || len(list.Items) != 1 || list.Items[0].Status != refund.Succeeded || !list.Items[0].Full ||
			list.Items[0].Reason != refund.NoLongerDue || !strings.HasSuffix(list.Items[0].CreditNoteNumber, "-C-000001") {
			t.Errorf("%+v, %v", list.Items, err)
		}
	})
}

func TestLiveAttemptsAreLookedIntoBeforeTheClockMoves(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		started := w.mustStart(wish(subscriptionID, w.saved(cardStaysOpen)))
		w.work()
		now, _ := w.clock.Now(t.Context(), "")
		err := w.store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
			return w.ReconcileSoon(ctx, r, creatorID, now)
		})
		if err != nil {
			t.Fatal(err)
		}
		w.clock.Advance(time.Millisecond)
		if task, ok := w.next(); !ok || task.Subject != started.ID {
			t.Errorf("%+v", task)
		}
	})
}
