package usage_test

import (
	"testing"
	"time"

	core "sundry/core/usage"
)

// leastPrice makes a price of a cent for each unit, and at least ten for a period.
func (f *fixture) leastPrice() string {
	f.t.Helper()
	made, err := f.CreatePrice(f.t.Context(), creator, core.PriceDraft{
		ProductID: f.product, BillingScheme: "TIERED", Currency: "eur", Minimum: new(int64(10)),
		Recurring: &core.RecurringDraft{Interval: "month"}, Tiers: []core.TierDraft{{UnitAmountInCents: new(int64(1))}},
	})
	f.must(err)
	return made.ID
}

func TestMinimum_IsExactWithLateUse(t *testing.T) {
	t.Parallel()
	forEachEngine(t, core.Sum, func(t *testing.T, f *fixture) {
		first := f.billingPlan().Current.Start
		_, err := f.ChangePrice(t.Context(), creator, f.plan.ID, core.PriceChange{PriceID: f.leastPrice()})
		f.must(err)
		f.report(draft("a", "3", time.Time{}))
		f.nextDay(3)
		day := f.billingPlan().Current.Start
		f.report(draft("b", "3", time.Time{}))
		preview, err := f.Preview(t.Context(), creator, f.plan.ID)
		f.must(err)
		if preview.TotalMinor() != 10 || preview.Lines[0].TopUpMinor != 7 {
			t.Errorf("the preview is %+v, want 3 and 7", preview.Lines)
		}
		f.nextDay(10)
		f.report(draft("late below it", "6", day), draft("late of a price without", "1", first))
		f.nextDay(10, 1)
		f.report(draft("late beyond it", "4", day), units("c", 12))
		f.nextDay(12, 3)
		f.report(draft("a correction", "-9", day))
		f.nextDay(10, -3)
		_, err = f.Void(t.Context(), creator, "late below it")
		if err == nil {
			t.Error("a report is voided that an invoice has asked for")
		}
		f.report(draft("e", "2", time.Time{}))
		f.clock.Advance(time.Hour)
		f.cancel() // the minimum is that of a whole day
		f.nextDay(10)
		if got := f.billingPlan().Status; got != core.PlanEnded {
			t.Errorf("the plan is %s", got)
		}
		f.wantSound()
	})
}

// TestMinimum_OfAPeriodThatWaited: the reports that cost too much are voided, and the period still costs its minimum.
func TestMinimum_OfAPeriodThatWaited(t *testing.T) {
	t.Parallel()
	forEachEngine(t, core.Sum, func(t *testing.T, f *fixture) {
		_, err := f.ChangePrice(t.Context(), creator, f.plan.ID, core.PriceChange{PriceID: f.leastPrice()})
		f.must(err)
		f.nextDay(0)
		f.report(units("wrong", 4))
		f.engine.Exec(t, f.url, "UPDATE usage_events SET quantity = '100000000000' WHERE quantity = '4'")
		f.clock.Set(f.billingPlan().NextInvoiceAt())
		f.close()
		if lines, err := f.Verify(t.Context()); err != nil || len(lines) != 1 {
			t.Errorf("verify: %q, %v; want one line about what waits", lines, err)
		}
		_, err = f.Void(t.Context(), creator, "wrong")
		f.must(err)
		f.nextDay(10, 10)
		f.nextDay(10)
		f.wantSound()
	})
}
