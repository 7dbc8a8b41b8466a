package treasury_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"sundry/core/fault"
	"sundry/core/identity"
	"sundry/core/money"
	"sundry/core/payout"
	"sundry/modules/treasury"
	"sundry/ports"
)

// setSchedule changes when the account is paid out, as modules/identity does.
func (w *fixture) setSchedule(s payout.Schedule) {
	w.t.Helper()
	w.schedule = s
	w.must(w.do(func(ctx context.Context, r ports.Repos) error {
		return w.OnPayoutScheduleChanged(ctx, r, identity.PayoutScheduleChanged{CreatorID: creatorID, Schedule: s})
	}))
}

func TestAScheduleIsOneTask(t *testing.T) {
	t.Parallel()
	midnight := noon.Truncate(day).Add(day) // a Monday
	for schedule, first := range map[payout.Schedule]time.Time{
		payout.Daily: midnight, payout.Weekly: midnight, payout.Monthly: time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC),
	} {
		t.Run(string(schedule), func(t *testing.T) {
			t.Parallel()
			forEachEngine(t, config, func(t *testing.T, w *fixture) {
				w.setSchedule(schedule)
				w.clock.Set(first.Add(-time.Millisecond))
				if n := w.work(); n != 0 {
					t.Fatalf("%d tasks ran before %s", n, first)
				}
				w.clock.Set(first)
				if n := w.work(); n != 1 {
					t.Fatalf("%d tasks ran at %s, want one", n, first)
				}
				next, _ := schedule.Next(first)
				w.clock.Set(next.Add(-time.Millisecond))
				if n := w.work(); n != 0 {
					t.Fatalf("%d tasks ran before %s", n, next)
				}
				w.setSchedule(payout.Manual)
				w.clock.Set(next.Add(40 * day))
				if n := w.work(); n != 0 {
					t.Errorf("%d tasks ran although nothing is planned", n)
				}
			})
		})
	}
}

func TestScheduledPayouts_WaitForSuspended(t *testing.T) {
	t.Parallel()
	forEachEngine(t, config, func(t *testing.T, w *fixture) {
		w.earn(9470)
		w.setSchedule(payout.Daily)
		w.standing.Open = fault.New(fault.Forbidden, "suspended")
		w.clock.Advance(40 * day)
		if n := w.work(); n == 0 || len(w.payouts()) != 0 {
			t.Fatalf("%d tasks ran, %d payouts; want none of a suspended account", n, len(w.payouts()))
		}
		w.standing.Open = nil
		w.clock.Advance(day)
		w.work()
		if n := len(w.payouts()); n != 1 {
			t.Errorf("%d payouts once it goes on, want one", n)
		}
	})
}

func TestAScheduleThatIsGoneEndsItsTask(t *testing.T) {
	t.Parallel()
	forEachEngine(t, config, func(t *testing.T, w *fixture) {
		w.earn(9470)
		w.setSchedule(payout.Daily)
		w.schedule = payout.Manual // changed by a transaction whose event this task overtakes
		w.clock.Advance(day)
		if n := w.work(); n != 1 || len(w.payouts()) != 0 {
			t.Fatalf("%d tasks ran, %d payouts; want none of a manual schedule", n, len(w.payouts()))
		}
		w.noTasks()
	})
}

func TestAScheduledDayPaysEachCurrencyOnce(t *testing.T) {
	t.Parallel()
	forEachEngine(t, config, func(t *testing.T, w *fixture) {
		// 1081 leaves 997, which is below the minimum.
		for currency, minor := range map[money.Currency]int64{"usd": 20_000, "chf": 1081} {
			p := w.completed(minor, 0, 0)
			w.must(w.book(inCurrency(p, currency)))
		}
		w.earn(9470)
		w.setSchedule(payout.Daily)
		w.clock.Set(w.clock.Real().Truncate(day).Add(day))
		if n := w.work(); n != 3 {
			t.Errorf("%d tasks ran, want the day's and one per payout", n)
		}
		var got []money.Amount
		for _, p := range w.payouts() {
			if p.Status != payout.Paid {
				t.Errorf("%+v", p)
			}
			got = append(got, p.Amount)
		}
		slices.SortFunc(got, func(a, b money.Amount) int { return int(a.Minor - b.Minor) })
		if want := []money.Amount{eur(9470), {Minor: 18_970, Currency: "usd"}}; !slices.Equal(got, want) {
			t.Errorf("paid out %v, want %v", got, want)
		}

		// What becomes available on the same day waits for the next, even when the task runs again.
		w.earnOnTheSameDay()
		w.must(w.do(func(ctx context.Context, r ports.Repos) error {
			return r.Tasks.Schedule(ctx, treasury.TaskScheduledPayouts, creatorID, creatorID, w.clock.Real())
		}))
		w.work()
		if n := len(w.payouts()); n != 2 {
			t.Errorf("%d payouts after the task ran twice on a day, want 2", n)
		}
		w.clock.Advance(day)
		w.work()
		if n := len(w.payouts()); n != 3 {
			t.Errorf("%d payouts on the next day, want 3", n)
		}
	})
}

// earnOnTheSameDay makes money available without moving the clock: the payout of the day comes back.
func (w *fixture) earnOnTheSameDay() {
	w.t.Helper()
	was := w.rail.outcome
	w.rail.outcome = ports.PayoutOutcome{Status: payout.Failed, Reason: "returned"}
	for _, p := range w.payouts() {
		if p.Amount.Currency == "eur" {
			w.must(w.RefreshPayout(context.Background(), p.ID))
		}
	}
	w.rail.outcome = was
}

func TestAScheduledPayoutWaitsForItsAccount(t *testing.T) {
	t.Parallel()
	forEachEngine(t, needy(), func(t *testing.T, w *fixture) {
		w.earn(9470)
		w.setSchedule(payout.Daily)
		w.clock.Set(w.clock.Real().Truncate(day).Add(day))
		if n := w.work(); n != 1 || len(w.payouts()) != 0 {
			t.Fatalf("%d tasks ran, %d payouts without an account", n, len(w.payouts()))
		}
		opened, err := w.OpenAccountSession(t.Context(), creatorID, treasury.AccountRequest{Country: "IE"})
		w.must(err)
		w.clock.Advance(day)
		if w.work(); len(w.payouts()) != 0 {
			t.Fatal("paid out to an account that is not ready")
		}
		w.rail.report(opened.Account.ID, payout.AccountReady, "") // and the event about it is lost
		w.clock.Advance(day)
		w.work()
		paid := w.payouts()
		if len(paid) != 1 || paid[0].Destination != opened.Account.ID || paid[0].Amount != eur(9470) {
			t.Errorf("paid out %+v", paid)
		}
	})
}
