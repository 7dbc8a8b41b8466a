package usage_test

import (
	"context"
	"testing"
	"time"

	"sundry/core/fault"
	"sundry/core/subscription"
	core "sundry/core/usage"
	"sundry/ports"
)

// nextDay closes the current day, on which amounts of each line are wanted.
func (f *fixture) nextDay(want ...int64) {
	f.t.Helper()
	start := f.billingPlan().Current.Start
	f.clock.Set(f.billingPlan().NextInvoiceAt())
	f.close()
	lines := f.closed(start).Lines
	if len(lines) != len(want) {
		f.t.Fatalf("the day of %s has the lines %+v, want %v", start, lines, want)
	}
	for i, line := range lines {
		if line.AmountMinor != want[i] {
			f.t.Errorf("line %d of %s is %d, want %d", i, start, line.AmountMinor, want[i])
		}
	}
	f.wantVerified()
}

func (f *fixture) billingPlan() core.PlanState {
	f.t.Helper()
	p, err := f.BillingPlan(f.t.Context(), creator, f.plan.ID)
	f.must(err)
	return p
}

func (f *fixture) wantFault(err error, want fault.Code) {
	f.t.Helper()
	if got := fault.CodeOf(err); got != want {
		f.t.Errorf("got %v, want %s", err, want)
	}
}

func TestChangePrice_BillsThePeriodsAfter(t *testing.T) {
	t.Parallel()
	forEachEngine(t, core.Sum, func(t *testing.T, f *fixture) {
		ctx, day := t.Context(), f.billingPlan().Current.Start
		f.report(draft("a", "5", day))
		change := func(priceID string) (core.PlanState, error) {
			return f.ChangePrice(ctx, creator, f.plan.ID, core.PriceChange{PriceID: priceID})
		}
		first, second, third := f.plan.PriceID, f.price(3, "eur"), f.price(7, "eur")
		for _, next := range []string{third, first, second} {
			p, err := change(next)
			f.must(err)
			if want := map[string]string{first: ""}[next]; next != first && p.NextPriceID != next ||
				next == first && p.NextPriceID != want || p.PriceID != first {
				t.Errorf("changed to %s: %+v", next, p)
			}
		}
		f.nextDay(5)
		if p := f.billingPlan(); p.PriceID != second || p.NextPriceID != "" {
			t.Errorf("after the period: %+v", p)
		}
		f.report(draft("b", "2", time.Time{}), draft("late", "1", day))
		f.nextDay(6, 1) // what is late costs what it cost then
		_, err := change(third)
		f.must(err)
		f.report(draft("c", "1", time.Time{}))
		f.nextDay(3)
		f.report(draft("d", "1", time.Time{}), draft("later", "1", day), draft("late b", "1", day.Add(25*time.Hour)))
		f.nextDay(7, 1, 3)

		_, err = change("pri_none")
		f.wantFault(err, fault.NotFoundCode)
		_, err = change(f.price(1, "usd"))
		f.wantFault(err, fault.ValidationFailed)
		_, err = change("")
		f.wantFault(err, fault.ValidationFailed)
		if p := f.billingPlan(); p.PriceID != third || p.NextPriceID != "" {
			t.Errorf("after refusals: %+v", p)
		}
	})
}

func TestEndBillingPlan_RunningPeriodIsTheLast(t *testing.T) {
	t.Parallel()
	forEachEngine(t, core.Sum, func(t *testing.T, f *fixture) {
		ctx := t.Context()
		f.report(draft("a", "5", time.Time{}))
		p, err := f.EndBillingPlan(ctx, creator, f.plan.ID)
		f.must(err)
		if p.Schedule.EndsAt != p.Current.End || p.Status != core.PlanActive {
			t.Errorf("ended: %+v", p)
		}
		_, err = f.EndBillingPlan(ctx, creator, f.plan.ID)
		f.wantFault(err, fault.StateConflict)
		_, err = f.ChangePrice(ctx, creator, f.plan.ID, core.PriceChange{PriceID: f.price(3, "eur")})
		f.wantFault(err, fault.StateConflict)
		f.report(draft("b", "1", time.Time{}))
		f.clock.Set(p.Current.End)
		outcomes, err := f.Report(ctx, creator, []core.ReportDraft{draft("c", "1", time.Time{})})
		f.must(err)
		f.wantFault(outcomes[0].Err, fault.PeriodClosed)
		f.nextDay(6)
		if p := f.billingPlan(); p.Status != core.PlanEnded {
			t.Errorf("after its last period: %+v", p)
		}
	})
}

// In the two minutes after a period's end the next one runs already, and reports were accepted into it.
func TestEndBillingPlan_InTheGraceEndsTheNext(t *testing.T) {
	t.Parallel()
	forEachEngine(t, core.Sum, func(t *testing.T, f *fixture) {
		end := f.billingPlan().Current.End
		f.clock.Set(end.Add(time.Minute))
		f.report(draft("a", "5", time.Time{}))
		p, err := f.EndBillingPlan(t.Context(), creator, f.plan.ID)
		f.must(err)
		if want := end.Add(24 * time.Hour); !p.Schedule.EndsAt.Equal(want) {
			t.Errorf("ends at %s, want %s", p.Schedule.EndsAt, want)
		}
		f.nextDay(0)
		f.nextDay(5)
		if p := f.billingPlan(); p.Status != core.PlanEnded {
			t.Errorf("after its last period: %+v", p)
		}
	})
}

func TestEndBillingPlan_SubscriptionEndsBefore(t *testing.T) {
	t.Parallel()
	forEachEngine(t, core.Sum, func(t *testing.T, f *fixture) {
		f.report(draft("a", "5", time.Time{}))
		p, err := f.EndBillingPlan(t.Context(), creator, f.plan.ID)
		f.must(err)
		f.clock.Advance(time.Hour)
		f.cancel()
		ended := f.billingPlan()
		if !ended.Current.End.Equal(f.clock.Real()) || !ended.Current.End.Before(p.Current.End) {
			t.Errorf("ends at %s, want %s", ended.Current.End, f.clock.Real())
		}
		f.nextDay(5)
	})
}

func TestEndBillingPlan_SubscriptionGoesOn(t *testing.T) {
	t.Parallel()
	forEachEngine(t, core.Sum, func(t *testing.T, f *fixture) {
		f.report(draft("a", "5", time.Time{}))
		p, err := f.EndBillingPlan(t.Context(), creator, f.plan.ID)
		f.must(err)
		f.nextDay(5)
		f.clock.Advance(time.Hour)
		f.cancel()
		if ended := f.billingPlan(); ended.Schedule.EndsAt != p.Schedule.EndsAt {
			t.Errorf("ended at %s, want %s", ended.Schedule.EndsAt, p.Schedule.EndsAt)
		}
		f.wantVerified()
	})
}

// cancel ends the subscription now.
func (f *fixture) cancel() {
	f.t.Helper()
	f.atomically(func(ctx context.Context, r ports.Repos) error {
		sub, err := r.Subscriptions.Subscriptions.Get(ctx, "sub_1")
		if err != nil {
			return err
		}
		sub.EndedAt = f.clock.Real()
		return f.OnSubscriptionCanceled(ctx, r, subscription.Canceled{State: sub})
	})
}
