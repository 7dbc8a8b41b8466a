package invoicing_test

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"sundry/core/fault"
	"sundry/core/invoice"
	"sundry/core/locale"
	"sundry/core/payment"
	"sundry/core/paymentmethod"
	"sundry/modules/invoicing"
	"sundry/ports"
	"sundry/tests/fakes"
)

func TestAnInvoiceIsRetriedOneThreeFiveAndSevenDays(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		state := w.failing()
		for attempt, after := range []time.Duration{1 * day, 3 * day, 5 * day, 7 * day} {
			if n := w.at(noon.Add(after - time.Millisecond)); n != 0 {
				t.Fatalf("retried before %s", after)
			}
			if n := w.at(noon.Add(after)); n != 1 {
				t.Fatalf("%d tasks ran after %s, want the retry", n, after)
			}
			if p := w.charges.Live(t, creatorID); len(p) != 1 || !p[0].CreatedAt.Equal(noon.Add(after)) || !p[0].OffSession {
				t.Fatalf("charged %+v", p)
			}
			w.charges.Decide(t, creatorID, fakes.Declined("insufficient_funds"))
			w.wantEvents("invoice.payment_failed")
			if got := w.get(state.ID); got.AttemptCount != attempt+2 || got.Status != invoice.Failed {
				t.Errorf("%+v", got)
			}
		}
		if got := w.get(state.ID); !got.NextAttemptAt.IsZero() || w.at(noon.Add(90*day)) != 0 {
			t.Errorf("%+v, want no further attempt", got)
		}
		paid, err := w.Pay(t.Context(), creatorID, state.ID) // by hand it may be paid even then
		if err != nil || paid.Status != invoice.Paid {
			t.Errorf("%+v, %v", paid, err)
		}
	})
}

func TestARetryWithoutACardIsAFailure(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		state := w.failing()
		w.charges.Cardless = true
		for i, after := range []time.Duration{1 * day, 3 * day, 5 * day, 7 * day} {
			if n := w.at(noon.Add(after)); n != 1 {
				t.Fatalf("%d tasks ran after %s, want the retry", n, after)
			}
			if got := w.get(state.ID); got.DeclineCode != "payment_method_required" || got.AttemptCount != i+2 {
				t.Errorf("%+v", got)
			}
			w.wantEvents("invoice.payment_failed")
		}
		if n := w.at(noon.Add(90 * day)); n != 0 {
			t.Errorf("%d tasks are left", n)
		}
	})
}

func TestARetryThatIsNotNeededIsDone(t *testing.T) {
	t.Parallel()
	for name, subject := range map[string]func(w *fixture) string{
		"of an unknown invoice": func(*fixture) string { return "inv_unknown" },
		"of a paid invoice":     func(w *fixture) string { return w.push("paid", 1000).ID },
		"while a charge is under way": func(w *fixture) string {
			w.charges.Response = payment.Outcome{Status: payment.Processing}
			return w.push("open", 1000).ID
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			forEachEngine(t, func(t *testing.T, w *fixture) {
				id := subject(w)
				w.do(func(ctx context.Context, r ports.Repos) error {
					return r.Tasks.Schedule(ctx, invoicing.TaskRetry, id, creatorID, noon)
				})
				before, live := w.all(), len(w.charges.Live(t, creatorID))
				if n := w.at(noon); n != 1 || w.at(noon.Add(day)) != 0 {
					t.Errorf("%d runs, want one that ends the task", n)
				}
				if task, ok := w.next(); ok {
					t.Errorf("left to do: %+v", task)
				}
				if after := w.all(); !reflect.DeepEqual(after, before) || len(w.charges.Live(t, creatorID)) != live {
					t.Errorf("changed to %+v", after)
				}
			})
		})
	}
}

// TestADoubledRetryChargesOnce runs the same claim twice, as a worker does that outlived its lease.
func TestADoubledRetryChargesOnce(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		w.failing()
		w.clock.Advance(day)
		task, ok := w.next()
		if !ok {
			t.Fatal("no retry is due")
		}
		results := make(chan error, 2)
		for range cap(results) {
			go func() { results <- w.Retry(context.Background(), task) }()
		}
		fenced := 0
		for range cap(results) {
			if err := <-results; errors.Is(err, ports.ErrFenced) {
				fenced++
			} else if err != nil {
				t.Error(err)
			}
		}
		if live := w.charges.Live(t, creatorID); fenced != 1 || len(live) != 1 {
			t.Errorf("%d runs were fenced, %d charges; want one each", fenced, len(live))
		}
	})
}

func TestAnOutcomeIsBookedOnce(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		state := w.push("k1", 5000)
		w.bus.Take()
		paid, err := w.store.Read(t.Context()).Payments.Payments.Get(t.Context(), state.PaymentID)
		w.must(err)
		for range 2 {
			w.do(func(ctx context.Context, r ports.Repos) error {
				return w.OnPaymentCompleted(ctx, r, payment.Completed{State: paid})
			})
		}
		late := paid
		late.Decline.Code = "expired_card"
		w.do(func(ctx context.Context, r ports.Repos) error {
			return w.OnPaymentFailed(ctx, r, payment.Failed{State: late})
		})
		w.wantEvents()
		if got := w.get(state.ID); !reflect.DeepEqual(got, state) {
			t.Errorf("changed to %+v", got)
		}
		if refunded := w.charges.Refunded(); len(refunded) != 0 {
			t.Errorf("%v went back", refunded)
		}
		elsewhere := paid
		elsewhere.Purpose, elsewhere.SubjectID = payment.ForSubscription, "sub_1"
		w.do(func(ctx context.Context, r ports.Repos) error {
			return errors.Join(w.OnPaymentCompleted(ctx, r, payment.Completed{State: elsewhere}),
				w.OnPaymentFailed(ctx, r, payment.Failed{State: elsewhere}))
		})
		elsewhere.Purpose, elsewhere.SubjectID = payment.ForInvoice, "inv_unknown"
		err = w.store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
			completed := w.OnPaymentCompleted(ctx, r, payment.Completed{State: elsewhere})
			refused(t, completed, fault.NotFoundCode)
			failed := w.OnPaymentFailed(ctx, r, payment.Failed{State: elsewhere})
			refused(t, failed, fault.NotFoundCode)
			return nil
		})
		w.must(err)
	})
}

func TestMoneyThatComesTwiceGoesBack(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		state := w.failing()
		w.at(noon.Add(day))
		first := w.charges.Live(t, creatorID)[0]
		w.charges.Decide(t, creatorID, payment.Outcome{Status: payment.Canceled}) // and yet its money arrives later
		if got := w.get(state.ID); got.DeclineCode != "processor_unavailable" {
			t.Errorf("a charge that was canceled is recorded as %q", got.DeclineCode)
		}
		paid, err := w.Pay(t.Context(), creatorID, state.ID)
		if err != nil || paid.Status != invoice.Paid {
			t.Fatalf("%+v, %v", paid, err)
		}
		w.bus.Take()
		w.charges.Finish(t, first.ID, payment.Outcome{Status: payment.Succeeded})
		if refunded := w.charges.Refunded(); !slices.Equal(refunded, []string{first.ID}) {
			t.Errorf("%v went back, want %s", refunded, first.ID)
		}
		if got := w.get(state.ID); !reflect.DeepEqual(got, paid) {
			t.Errorf("changed to %+v", got)
		}
		w.wantEvents()
	})
}

func TestAPaidInvoiceEndsItsRetries(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		state := w.failing()
		w.clock.Advance(time.Hour)
		paid, err := w.Pay(t.Context(), creatorID, state.ID)
		if err != nil || paid.Status != invoice.Paid || !paid.PaidAt.Equal(noon.Add(time.Hour)) ||
			!paid.NextAttemptAt.IsZero() {
			t.Errorf("%+v, %v", paid, err)
		}
		w.wantEvents("invoice.paid")
		if n := w.at(noon.Add(30 * day)); n != 0 {
			t.Errorf("%d tasks are left", n)
		}
	})
}

func TestARefusedPayChangesNothing(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		open, paid := w.failing(), w.push("paid", 1000)
		_, err := w.Pay(t.Context(), otherID, open.ID)
		refused(t, err, fault.NotFoundCode)
		_, err = w.PayByLink(t.Context(), "forged")
		refused(t, err, fault.NotFoundCode)
		_, err = w.PayWithCard(t.Context(), "forged", ports.CardInput{}, locale.Default)
		refused(t, err, fault.NotFoundCode)
		_, err = w.Pay(t.Context(), creatorID, paid.ID)
		refused(t, err, fault.StateConflict)
		_, err = w.PayByLink(t.Context(), link(paid))
		refused(t, err, fault.StateConflict)
		_, err = w.PayWithCard(t.Context(), link(paid), ports.CardInput{Number: "4242424242424242"}, locale.Default)
		refused(t, err, fault.StateConflict)
		_, err = w.PayWithCard(t.Context(), link(open), ports.CardInput{Number: "12"}, locale.Default)
		refused(t, err, fault.ValidationFailed)
		w.charges.Cardless = true
		_, err = w.Pay(t.Context(), creatorID, open.ID)
		refused(t, err, fault.PaymentMethodRequired)
		w.charges.Cardless = false
		for _, before := range []invoice.State{open, paid} {
			if got := w.get(before.ID); !reflect.DeepEqual(got, before) {
				t.Errorf("changed to %+v, want %+v", got, before)
			}
		}
		if live := w.charges.Live(t, creatorID); len(live) != 0 {
			t.Errorf("charged %+v", live)
		}
		w.charges.Response = payment.Outcome{Status: payment.Processing}
		if _, err := w.Pay(t.Context(), creatorID, open.ID); err != nil {
			t.Error(err)
		}
		_, err = w.Pay(t.Context(), creatorID, open.ID)
		refused(t, err, fault.StateConflict) // a charge is under way
		if live := w.charges.Live(t, creatorID); len(live) != 1 {
			t.Errorf("%d charges are under way, want one", len(live))
		}
	})
}

// On PostgreSQL the second payment is made while the first has read the invoice as unpaid and not yet charged it. On
// SQLite it waits until the first has ended.
func TestAPaymentBetweenReadAndChargeCountsOnce(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]func(w *fixture, state invoice.State) error{
		"by request": func(w *fixture, state invoice.State) error {
			_, err := w.Pay(t.Context(), creatorID, state.ID)
			return err
		},
		"by task": func(w *fixture, _ invoice.State) error {
			w.clock.Advance(day)
			task, ok := w.next()
			if !ok {
				return errors.New("no retry is due")
			}
			return w.Retry(t.Context(), task)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			forEachEngine(t, func(t *testing.T, w *fixture) {
				state := w.failing()
				ended := make(chan error, 1)
				w.charges.Meanwhile = func() {
					done := make(chan struct{})
					go func() {
						defer close(done)
						_, err := w.Pay(context.Background(), creatorID, state.ID)
						ended <- err
					}()
					select {
					case <-done:
					case <-time.After(200 * time.Millisecond): // SQLite has one writer
					}
				}
				err := first(w, state)
				if err != nil && !fault.Is(err, fault.StateConflict) && !errors.Is(err, ports.ErrFenced) {
					t.Error(err)
				}
				if err := <-ended; err != nil && !fault.Is(err, fault.StateConflict) {
					t.Error(err)
				}
				if live := w.charges.Live(t, creatorID); len(live) == 1 { // the task's, which another task makes
					w.charges.Decide(t, creatorID, payment.Outcome{Status: payment.Succeeded})
				}
				if got := w.get(state.ID); got.Status != invoice.Paid || len(w.charges.Refunded()) != 0 {
					t.Errorf("%d charges were returned, %+v; want one charge", len(w.charges.Refunded()), got)
				}
			})
		})
	}
}

func TestPaysAtOnceChargeOnce(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		state := w.failing()
		results := make(chan error, 3)
		for range cap(results) {
			go func() {
				_, err := w.Pay(context.Background(), creatorID, state.ID)
				results <- err
			}()
		}
		paid := 0
		for range cap(results) {
			if err := <-results; err == nil {
				paid++
			} else if !fault.Is(err, fault.StateConflict) {
				t.Error(err)
			}
		}
		if got := w.get(state.ID); paid != 1 || got.AttemptCount != 2 || len(w.charges.Refunded()) != 0 {
			t.Errorf("%d paid, %+v; want one", paid, got)
		}
	})
}

// What is refused before it reaches the bank is not counted.
func TestCardsOnThePageOfAnInvoiceAreCounted(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		open, paid := w.failing(), w.push("paid", 1000)
		card := func(state invoice.State, number string) error {
			_, err := w.PayWithCard(t.Context(), link(state), ports.CardInput{Number: number}, locale.Default)
			return err
		}
		w.tries.Left = 0
		refused(t, card(open, "4242424242424242"), fault.RateLimited)
		refused(t, card(open, "12"), fault.ValidationFailed)
		refused(t, card(paid, "4242424242424242"), fault.StateConflict)
		_, err := w.PayByLink(t.Context(), link(open))
		refused(t, err, fault.RateLimited)
		if got := w.get(open.ID); !reflect.DeepEqual(got, open) {
			t.Errorf("a refused card changed %+v to %+v", open, got)
		}
		w.tries.Left = 1
		if err := card(open, "4242424242424242"); err != nil || w.tries.Left != 0 {
			t.Errorf("%v with %d tries left, want none", err, w.tries.Left)
		}
	})
}

func TestACustomerPaysWithANewCard(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		state, german := w.failing(), locale.ParseTag("de")
		mandate, err := w.MandateText(t.Context(), state, german)
		if err != nil || mandate != paymentmethod.MandateText(german, w.config.Merchant, "Ada") ||
			!strings.Contains(mandate, "Sundry") {
			t.Errorf("%q, %v", mandate, err)
		}
		paid, err := w.PayWithCard(t.Context(), link(state), ports.CardInput{Number: "4242424242424242"}, german)
		if err != nil || paid.Status != invoice.Paid {
			t.Fatalf("%+v, %v", paid, err)
		}
		p, err := w.store.Read(t.Context()).Payments.Payments.Get(t.Context(), paid.PaymentID)
		if err != nil || p.Method == "" || p.Mandate != mandate || p.OffSession || !p.SaveCard {
			t.Errorf("charged %+v, %v; want the card saved with what the customer agreed to", p, err)
		}
	})
	forEachEngine(t, func(t *testing.T, w *fixture) {
		paid, err := w.PayByLink(t.Context(), link(w.failing()))
		w.must(err)
		p, err := w.store.Read(t.Context()).Payments.Payments.Get(t.Context(), paid.PaymentID)
		if err != nil || p.Method != "" || p.Mandate != "" || p.OffSession || p.SaveCard {
			t.Errorf("charged %+v, %v; want the saved card, with the customer present", p, err)
		}
	})
}

func TestTheBankMayAskTheCustomer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		approve bool
		status  invoice.Status
		code    fault.Code
	}{
		"and they approve": {true, invoice.Paid, ""},
		"and they refuse":  {false, invoice.Failed, fault.CardDeclined},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			forEachEngine(t, func(t *testing.T, w *fixture) {
				state := w.failing()
				idle := func(when string) {
					t.Helper()
					if status, err := w.UnderWay(t.Context(), state); err != nil || status == payment.RequiresAction {
						t.Errorf("%s: %s, %v", when, status, err)
					}
					_, err := w.Challenge(t.Context(), link(state), home)
					refused(t, err, fault.StateConflict)
					_, err = w.Authenticate(t.Context(), link(state), true, home)
					refused(t, err, fault.StateConflict)
				}
				idle("before any charge")
				w.charges.Response = payment.Outcome{Status: payment.RequiresAction}
				if got, err := w.PayByLink(t.Context(), link(state)); err != nil || got.Status != invoice.Failed {
					t.Fatalf("%+v, %v; want it unchanged while the bank asks", got, err)
				}
				if status, err := w.UnderWay(t.Context(), state); err != nil || status != payment.RequiresAction {
					t.Errorf("%s, %v; want requires_action", status, err)
				}
				attempt := w.charges.Live(t, creatorID)[0]
				action, err := w.Challenge(t.Context(), link(state), home)
				if err != nil || action.RedirectURL != "https://bank.example.com/"+attempt.ID {
					t.Errorf("%+v, %v", action, err)
				}
				_, err = w.Challenge(t.Context(), "forged", home)
				refused(t, err, fault.NotFoundCode)
				_, err = w.Authenticate(t.Context(), "forged", c.approve, home)
				refused(t, err, fault.NotFoundCode)
				got, err := w.Authenticate(t.Context(), link(state), c.approve, home)
				if code := fault.CodeOf(err); (err != nil) != (c.code != "") || err != nil && code != c.code || got.ID != state.ID {
					t.Errorf("%+v, %v; want %q", got, err, c.code)
				}
				if got := w.get(state.ID); got.Status != c.status {
					t.Errorf("the invoice is %s, want %s", got.Status, c.status)
				}
				idle("afterwards")
			})
		})
	}
	forEachEngine(t, func(t *testing.T, w *fixture) {
		state := w.failing()
		w.charges.Response = payment.Outcome{Status: payment.Processing}
		_, err := w.PayByLink(t.Context(), link(state))
		w.must(err)
		if status, err := w.UnderWay(t.Context(), state); err != nil || status == payment.RequiresAction {
			t.Errorf("a charge that is processing waits for the customer: %s, %v", status, err)
		}
	})
}

// A card whose last charge is disputed is not charged for use meanwhile.
func TestInvoiceWaitsForDispute(t *testing.T) {
	t.Parallel()
	for name, lost := range map[string]bool{"won": false, "lost": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for what, declined := range map[string]bool{"a new one": false, "a declined one": true} {
				t.Run(what, func(t *testing.T) {
					t.Parallel()
					forEachEngine(t, func(t *testing.T, w *fixture) { w.waitsForDispute(lost, declined) })
				})
			}
		})
	}
}

// waitsForDispute closes a period, whose charge is declined before the dispute, or waits for its end.
func (w *fixture) waitsForDispute(lost, declined bool) {
	w.t.Helper()
	const invoiceID = "inv_01h00000000000000000000001"
	w.disputed = !declined
	w.must(w.close(closed(invoiceID, 3000)))
	if declined {
		w.charges.Decide(w.t, creatorID, fakes.Declined("insufficient_funds"))
	}
	w.disputed = true
	w.at(noon.Add(3 * day))
	if live := w.charges.Live(w.t, creatorID); len(live) > 0 {
		w.t.Fatalf("charged during the dispute: %+v", live)
	}
	_, err := w.Pay(w.t.Context(), creatorID, invoiceID)
	refused(w.t, err, fault.StateConflict)
	w.disputed, w.disputeLost = false, lost
	w.at(noon.Add(5 * day))
	if !lost {
		w.charges.Decide(w.t, creatorID, payment.Outcome{Status: payment.Succeeded})
	}
	got := w.get(invoiceID)
	if (got.Status == invoice.Paid) == lost || !got.NextAttemptAt.IsZero() {
		w.t.Errorf("after the dispute: %+v", got)
	}
	if task, ok := w.next(); ok {
		w.t.Errorf("left: %+v", task)
	}
	if !lost {
		return
	}
	if paid, err := w.Pay(w.t.Context(), creatorID, invoiceID); err != nil || paid.Status != invoice.Paid {
		w.t.Errorf("paid by hand: %+v, %v", paid, err)
	}
}
