package subscriptions_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"sundry/core/checkout"
	"sundry/core/discount"
	"sundry/core/payment"
	"sundry/core/period"
	"sundry/core/subscription"
	"sundry/ports"
	"sundry/tests/fakes"
)

func TestAOneTimeSaleStartsNoSubscription(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		w.do(func(ctx context.Context, r ports.Repos) error {
			return w.OnCheckoutPaid(ctx, r, checkout.Paid{
				CheckoutID: "cs_1", CreatorID: creatorID, Offer: basic, At: started,
			})
		})
		w.wantEvents()
	})
}

func TestEachPeriodIsBilledWhenItBeginsAndBoughtOnce(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		s := w.begin(basic)
		if n := w.at(s.CurrentPeriodEnd.Add(-1)); n != 0 {
			t.Fatal("billed before the period is over")
		}
		end := s.CurrentPeriodEnd
		w.at(end)
		p := w.decide(payment.Outcome{Status: payment.Succeeded})
		if p.Sale.Subtotal != eur(1000) || !p.Sale.PeriodStart.Equal(end) || p.Purpose != payment.ForSubscription ||
			p.PaymentMethodID != "pm_1" || !p.OffSession || p.Sale.ListingID != "lst_1" {
			t.Errorf("%+v", p)
		}
		w.wantEvents("subscription.charge_paid", "subscription.renewed")
		if s = w.get(s.ID); !s.CurrentPeriodStart.Equal(end) || s.Charge != nil {
			t.Fatalf("%+v", s)
		}
		if n := w.at(s.CurrentPeriodEnd.Add(-1)); n != 0 {
			t.Fatal("billed twice")
		}
	})
}

func TestALateWorkerMovesNoDay(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ late, counted time.Duration }{
		"within a minute it counts as punctual": {time.Minute - time.Millisecond, 0},
		"later it counts as it is":              {time.Minute, time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			forEachEngine(t, func(t *testing.T, w *fixture) {
				s := w.begin(basic)
				w.at(s.CurrentPeriodEnd.Add(c.late))
				if p := w.decide(fakes.Declined("card_declined")); !p.CreatedAt.Equal(s.CurrentPeriodEnd.Add(c.counted)) {
					t.Errorf("the attempt counts as made %s", p.CreatedAt)
				}
				if got := w.get(s.ID).Dunning.GraceEndsAt; !got.Equal(s.CurrentPeriodEnd.Add(c.counted).Add(subscription.Grace)) {
					t.Errorf("the grace ends %s", got)
				}
			})
		})
	}
}

func TestATrialThatEndsOnABoundaryIsBilledThere(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		w.clock.Set(time.Date(2028, 2, 15, 0, 0, 0, 0, time.UTC)) // the 14 days end at midnight of the leap day
		s := w.begin(trial)
		leap := time.Date(2028, 2, 29, 0, 0, 0, 0, time.UTC)
		if !s.TrialEndsAt.Equal(leap) {
			t.Fatalf("%+v", s)
		}
		w.at(leap.Add(-1)) // the notice
		w.wantEvents("subscription.renewal_due")
		w.at(leap)
		w.decide(payment.Outcome{Status: payment.Succeeded})
		if s = w.get(s.ID); s.Status != subscription.StatusActive || !s.CurrentPeriodStart.Equal(leap) ||
			!s.CurrentPeriodEnd.Equal(leap.AddDate(0, 1, 0)) {
			t.Errorf("%+v", s)
		}
	})
}

func TestNothingDueIsNotCharged(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		free := basic
		free.Price = eur(0)
		s := w.begin(free)
		w.at(s.CurrentPeriodEnd)
		if live := w.live(); len(live) != 0 {
			t.Fatalf("%+v", live)
		}
		w.wantEvents("subscription.renewed")
	})
}

func TestDoubledTasksOfSeveralWorkersStartOneCharge(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		s := w.begin(basic)
		w.clock.Set(s.CurrentPeriodEnd)
		task, _ := w.next()
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				err := w.RunDue(t.Context(), task)
				// One that read before the first committed is stopped by that one's live payment.
				if err != nil && !errors.Is(err, ports.ErrFenced) && !errors.Is(err, ports.ErrDuplicate) {
					t.Error(err)
				}
			})
		}
		all.Wait()
		w.decide(payment.Outcome{Status: payment.Succeeded})
		if s := w.get(s.ID); !s.CurrentPeriodStart.Equal(started.AddDate(0, 0, 28)) {
			t.Errorf("%+v", s)
		}
	})
}

func TestATaskThatComesLateIsDone(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		s := w.begin(basic)
		end := s.CurrentPeriodEnd
		w.clock.Set(end)
		task, _ := w.next()
		if _, err := w.Cancel(t.Context(), creatorID, s.ID, false); err != nil {
			t.Fatal(err)
		}
		w.TakeNames()
		// The row is gone with the cancellation, as it is for a worker that was overtaken.
		if err := w.RunDue(t.Context(), task); err != nil && !errors.Is(err, ports.ErrFenced) {
			t.Error(err)
		}
		for _, subject := range []string{s.ID, "sub_unknown"} {
			w.do(func(ctx context.Context, r ports.Repos) error {
				return errors.Join(
					r.Tasks.Schedule(ctx, "subscription.due", subject, creatorID, end),
					r.Tasks.Schedule(ctx, "subscription.notice", subject, creatorID, end),
				)
			})
		}
		if n := w.at(end); n != 4 {
			t.Errorf("%d tasks", n)
		}
		w.wantEvents()
	})
}

func TestATaskThatComesEarlyWaits(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		s := w.begin(basic)
		w.do(func(ctx context.Context, r ports.Repos) error {
			return r.Tasks.Schedule(ctx, "subscription.due", s.ID, creatorID, started)
		})
		w.at(started.Add(day))
		if live := w.live(); len(live) != 0 {
			t.Fatalf("%+v", live)
		}
		w.at(s.CurrentPeriodEnd)
		w.decide(payment.Outcome{Status: payment.Succeeded})
	})
}

func TestADeclinedRenewalIsRetriedAndExpires(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		s := w.begin(basic)
		end := s.CurrentPeriodEnd
		for n, after := range []time.Duration{0, 2 * day, 7 * day, 14 * day} {
			w.at(end.Add(after))
			w.decide(fakes.Declined("insufficient_funds"))
			w.wantEvents("subscription.dunning")
			if d := w.get(s.ID).Dunning; d.Attempts != n+1 {
				t.Fatalf("%+v", d)
			}
		}
		w.at(end.Add(21 * day))
		w.decide(fakes.Declined("insufficient_funds"))
		w.wantEvents("subscription.dunning", "subscription.expired")
		if s = w.get(s.ID); s.Status != subscription.StatusExpired || !s.EndedAt.Equal(end.Add(21*day)) {
			t.Errorf("%+v", s)
		}
		if n := w.at(end.AddDate(1, 0, 0)); n != 0 {
			t.Errorf("%d tasks after the end", n)
		}
	})
}

func TestAHardDeclineWaitsForTheGraceAndExpires(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		s := w.begin(basic)
		w.at(s.CurrentPeriodEnd)
		w.decide(fakes.Declined("stolen_card"))
		w.wantEvents("subscription.dunning")
		if n := w.at(s.CurrentPeriodEnd.Add(7*day - time.Millisecond)); n != 0 {
			t.Error("tried again")
		}
		w.at(s.CurrentPeriodEnd.Add(7 * day))
		w.wantEvents("subscription.expired")
	})
}

func TestACustomerWithoutACardIsAskedForOne(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		s := w.begin(basic)
		w.charges.Cardless = true
		w.at(s.CurrentPeriodEnd)
		w.wantEvents("subscription.dunning")
		if s = w.get(s.ID); s.Status != subscription.StatusPastDue || s.Dunning.DeclineCode != payment.MethodRequired ||
			s.Charge != nil {
			t.Errorf("%+v", s)
		}
	})
}

func TestAChargeThatWasNeverSentIsMadeAgain(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		s := w.begin(basic)
		w.at(s.CurrentPeriodEnd)
		w.decide(payment.Outcome{Status: payment.Canceled})
		w.wantEvents()
		if n := w.at(s.CurrentPeriodEnd.Add(time.Millisecond)); n != 1 {
			t.Fatalf("%d tasks", n)
		}
		w.decide(payment.Outcome{Status: payment.Succeeded})
		w.wantEvents("subscription.charge_paid", "subscription.renewed")
	})
}

func TestMoneyThatIsNotAwaitedGoesBack(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		s := w.begin(basic)
		w.at(s.CurrentPeriodEnd)
		if _, err := w.Cancel(t.Context(), creatorID, s.ID, false); err != nil {
			t.Fatal(err)
		}
		w.TakeNames()
		p := w.decide(payment.Outcome{Status: payment.Succeeded})
		w.wantEvents()
		if len(w.charges.Refunded()) != 1 || w.charges.Refunded()[0] != p.ID ||
			w.get(s.ID).Status != subscription.StatusCanceled {
			t.Errorf("%v", w.charges.Refunded())
		}
		w.do(func(ctx context.Context, r ports.Repos) error {
			p.Purpose, p.SubjectID = payment.ForInvoice, "inv_1"
			return errors.Join(
				w.OnPaymentCompleted(ctx, r, payment.Completed{State: p}),
				w.OnPaymentFailed(ctx, r, payment.Failed{State: p}),
			)
		})
		if len(w.charges.Refunded()) != 1 {
			t.Error("an invoice's money went back")
		}
	})
}

func TestADeclineThatIsNotAwaitedChangesNothing(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		s := w.begin(basic)
		w.at(s.CurrentPeriodEnd)
		if _, err := w.Cancel(t.Context(), creatorID, s.ID, false); err != nil {
			t.Fatal(err)
		}
		w.TakeNames()
		w.decide(fakes.Declined("card_declined"))
		w.wantEvents()
	})
}

func TestARenewalIsTaxedWhereTheCustomerLives(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		s := w.begin(basic)
		w.taxed = "DE"
		w.at(s.CurrentPeriodEnd)
		// 19 % are contained in 10.00: 1.60.
		if p := w.decide(payment.Outcome{Status: payment.Succeeded}); p.Sale.Tax != eur(160) || p.Amount != eur(1000) ||
			p.Sale.TaxAdded != eur(0) {
			t.Errorf("%+v", p.Sale)
		}
	})
}

// The first months with a price are those that the discount is for, whenever they begin.
func TestADiscountWaitsForAPausedTrial(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		s := w.beginWith(trial, &discount.Terms{PercentOff: 50, Duration: discount.Repeating, DurationInMonths: 2})
		w.at(started.Add(5 * day))
		if _, err := w.Pause(t.Context(), creatorID, s.ID); err != nil {
			t.Fatal(err)
		}
		resumed := s.TrialEndsAt.AddDate(0, 3, 5)
		w.at(resumed)
		if sale, _, ok, err := w.NextCharge(t.Context(), w.get(s.ID)); err != nil || !ok || sale.Discount != eur(500) {
			t.Errorf("resuming is announced at a discount of %d, %v, want 500", sale.Discount.Minor, err)
		}
		w.charges.Response = payment.Outcome{Status: payment.Processing}
		if _, err := w.Resume(t.Context(), creatorID, s.ID); err != nil {
			t.Fatal(err)
		}
		for n, want := range []int64{500, 500, 1000} {
			if n > 0 {
				w.at(w.get(s.ID).CurrentPeriodEnd)
			}
			if p := w.decide(payment.Outcome{Status: payment.Succeeded}); p.Amount != eur(want) {
				t.Errorf("payment %d is %d, want %d", n+1, p.Amount.Minor, want)
			}
		}
	})
}

func TestADiscountLastsForItsMonths(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		terms discount.Terms
		trial bool
		want  []int64
	}{
		"once": {
			discount.Terms{PercentOff: 50, Duration: discount.Once}, false, []int64{1000, 1000},
		},
		"once, after a trial": {discount.Terms{PercentOff: 50, Duration: discount.Once}, true, []int64{500, 1000}},
		"three months": {
			discount.Terms{PercentOff: 50, Duration: discount.Repeating, DurationInMonths: 3}, false,
			[]int64{500, 500, 1000},
		},
		"two months after a trial": {
			discount.Terms{PercentOff: 50, Duration: discount.Repeating, DurationInMonths: 2}, true,
			[]int64{500, 500, 1000},
		},
		"forever": {discount.Terms{AmountOff: eur(300), Duration: discount.Forever}, false, []int64{700, 700, 700}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			forEachEngine(t, func(t *testing.T, w *fixture) {
				o := basic
				if c.trial {
					o = trial
				}
				s := w.beginWith(o, &c.terms)
				for n, want := range c.want {
					w.at(s.CurrentPeriodEnd)
					if p := w.decide(payment.Outcome{Status: payment.Succeeded}); p.Amount != eur(want) {
						t.Errorf("renewal %d costs %d, want %d", n+1, p.Amount.Minor, want)
					}
					s = w.get(s.ID)
				}
			})
		})
	}
}

func TestACustomerIsToldOnceAWeekBeforeATrialOrAYear(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		s := w.begin(yearly)
		week := s.CurrentPeriodEnd.Add(-7 * day)
		if n := w.at(week.Add(-time.Millisecond)); n != 0 {
			t.Fatal("too early")
		}
		w.at(week)
		if due := w.Take(); len(due) != 1 || due[0].(subscription.RenewalDue).Amount != eur(30000) {
			t.Fatalf("%+v", due)
		}
		// A change within the week notifies nobody again.
		w.do(func(ctx context.Context, r ports.Repos) error { return w.OnCustomerRenamed(ctx, r, renamed("grace")) })
		w.wantEvents("subscription.updated")
		if n := w.at(s.CurrentPeriodEnd.Add(-time.Millisecond)); n != 0 {
			t.Fatal("notified twice")
		}
		w.at(s.CurrentPeriodEnd)
		w.decide(payment.Outcome{Status: payment.Succeeded})
		w.TakeNames()
		w.at(week.AddDate(1, 0, 0))
		w.wantEvents("subscription.renewal_due")
	})
}

// A charge that comes back within the week before it is due is announced when it does.
func TestAResumedRenewalIsAnnounced(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		stop func(t *testing.T, w *fixture, id string) (subscription.State, error)
		want []string
	}{
		"a pause": {
			func(t *testing.T, w *fixture, id string) (subscription.State, error) {
				t.Helper()
				return w.Pause(t.Context(), creatorID, id)
			}, []string{"subscription.updated", "subscription.updated", "subscription.renewal_due"},
		},
		"a cancellation": {
			func(t *testing.T, w *fixture, id string) (subscription.State, error) {
				t.Helper()
				return w.Cancel(t.Context(), creatorID, id, true)
			}, []string{"subscription.cancel_scheduled", "subscription.updated", "subscription.renewal_due"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			forEachEngine(t, func(t *testing.T, w *fixture) {
				s := w.begin(yearly)
				if _, err := c.stop(t, w, s.ID); err != nil {
					t.Fatal(err)
				}
				w.at(s.CurrentPeriodEnd.Add(-3 * day))
				if _, err := w.Resume(t.Context(), creatorID, s.ID); err != nil {
					t.Fatal(err)
				}
				w.at(s.CurrentPeriodEnd.Add(-3 * day))
				w.wantEvents(c.want...)
			})
		})
	}
}

func TestACanceledOrFreeRenewalIsNotAnnounced(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		canceled, free := w.begin(yearly), yearly
		free.Price = eur(0)
		w.begin(free)
		if _, err := w.Cancel(t.Context(), creatorID, canceled.ID, true); err != nil {
			t.Fatal(err)
		}
		w.TakeNames()
		w.at(canceled.CurrentPeriodEnd.Add(-day))
		w.wantEvents()
	})
}

func TestWeeksAndYearsAndMonthEndsOverYears(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		start    string
		interval period.Interval
		want     []string
	}{
		"the 29th": {"2027-11-29", period.Month, []string{"2027-12-29", "2028-01-29", "2028-02-29", "2028-03-29"}},
		"the 30th": {"2027-12-30", period.Month, []string{"2028-01-30", "2028-02-29", "2028-03-30"}},
		"the 31st": {
			"2027-12-31", period.Month, []string{"2028-01-31", "2028-02-29", "2028-03-31", "2028-04-30", "2028-05-31"},
		},
		"a leap day": {"2028-02-29", period.Year, []string{"2029-02-28", "2030-02-28", "2031-02-28", "2032-02-29"}},
		"weeks":      {"2028-02-21", period.Week, []string{"2028-02-28", "2028-03-06"}},
		"days":       {"2028-02-28", period.Day, []string{"2028-02-29", "2028-03-01"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			forEachEngine(t, func(t *testing.T, w *fixture) {
				at, err := time.Parse(time.DateOnly, c.start)
				if err != nil {
					t.Fatal(err)
				}
				w.clock.Set(at)
				s := w.begin(offer("x", 500, c.interval, 0))
				for _, want := range c.want {
					w.at(s.CurrentPeriodEnd)
					w.decide(payment.Outcome{Status: payment.Succeeded})
					if s = w.get(s.ID); s.CurrentPeriodStart.Format(time.DateOnly) != want {
						t.Errorf("a period begins %s, want %s", s.CurrentPeriodStart, want)
					}
				}
			})
		})
	}
}
