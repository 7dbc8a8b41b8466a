package usage_test

import (
	"context"
	"testing"
	"time"

	"sundry/core/checkout"
	"sundry/core/plan"
	core "sundry/core/usage"
	"sundry/ports"
	"sundry/tests/fakes"
)

// Cards are charged 50 cents at least, and a call costs one.
func forEachCharged(t *testing.T, test func(t *testing.T, f *fixture)) {
	t.Helper()
	forEachEngine(t, core.Sum, func(t *testing.T, f *fixture) {
		f.least = 50
		test(t, f)
	})
}

// TestCarryOver_WaitsUntilItCanBeCharged: each closed day asks for nothing until all days together can be charged.
func TestCarryOver_WaitsUntilItCanBeCharged(t *testing.T) {
	t.Parallel()
	forEachCharged(t, func(t *testing.T, f *fixture) {
		f.report(draft("1", "20", time.Time{}))
		f.nextDay(0)
		if line := f.closed(noon).Lines[0]; !line.Waits || !line.TooSmall || line.CarriedOver {
			t.Errorf("the first day is %+v, want it carried over", line)
		}
		f.report(draft("2", "29", time.Time{}))
		f.nextDay(0)
		f.report(draft("3", "1", time.Time{}))
		preview, err := f.Preview(t.Context(), creator, f.plan.ID)
		f.must(err)
		if got := preview.TotalMinor(); got != 50 {
			t.Errorf("the preview asks for %d, want 50", got)
		}
		f.nextDay(1, 20, 29)
		for _, line := range f.closed(noon.Add(48 * time.Hour)).Lines[1:] {
			if !line.Late || !line.CarriedOver {
				t.Errorf("%+v, want it carried over from its day", line)
			}
		}
		f.nextDay(0)
		if reached := fakes.Published[core.LimitReached](f.bus); len(reached) > 0 {
			t.Errorf("a limit was reached: %+v", reached)
		}
	})
}

func TestCarryOver_LeavesReportsToBeVoided(t *testing.T) {
	t.Parallel()
	forEachCharged(t, func(t *testing.T, f *fixture) {
		f.report(draft("1", "20", time.Time{}), draft("2", "7", time.Time{}))
		f.nextDay(0)
		_, err := f.Void(t.Context(), creator, "2")
		f.must(err)
		f.report(draft("3", "60", time.Time{}))
		f.nextDay(60, 20)
	})
}

// TestCarryOver_LateUse carries what is late, and leaves what was billed as it was.
func TestCarryOver_LateUse(t *testing.T) {
	t.Parallel()
	forEachCharged(t, func(t *testing.T, f *fixture) {
		f.report(draft("1", "80", time.Time{}))
		f.nextDay(80)
		f.report(draft("late", "3", noon.Add(time.Hour)))
		f.nextDay(0)
		f.report(draft("2", "50", time.Time{}))
		f.nextDay(50, 3)
		if late := f.closed(noon.Add(48 * time.Hour)).Lines[1]; late.CarriedOver {
			t.Errorf("%+v is carried over, want it reported late", late)
		}
	})
}

// TestCarryOver_EndsWithThePlan: no later invoice could ask for it.
func TestCarryOver_EndsWithThePlan(t *testing.T) {
	t.Parallel()
	forEachCharged(t, func(t *testing.T, f *fixture) {
		f.report(draft("1", "20", time.Time{}))
		f.nextDay(0)
		f.report(draft("2", "5", time.Time{}))
		f.clock.Advance(time.Hour)
		f.cancel()
		f.nextDay(5, 20)
		f.wantSound()
	})
}

// TestCarryOver_Credits: credits pay small amounts, and leave none to be charged.
func TestCarryOver_Credits(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		used   string
		credit int64
		want   int64 // of the credit is used
	}{
		"all of a small amount":                {"20", 30, 20},
		"none of one that stays too small":     {"40", 30, 0},
		"all of the credit":                    {"90", 30, 30},
		"as much as leaves the least charge":   {"70", 30, 20},
		"none where just that is asked for":    {"50", 30, 0},
		"all of an amount that can be charged": {"60", 60, 60},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			forEachCharged(t, func(t *testing.T, f *fixture) {
				f.atomically(func(ctx context.Context, r ports.Repos) error {
					sold := checkout.Paid{CreatorID: creator, CustomerID: "cus_1", CheckoutID: "cs_2", At: noon}
					sold.Offer.Terms.UsageCredits = []plan.UsageCredit{{AmountInCents: c.credit, Currency: "eur"}}
					return f.OnCheckoutPaid(ctx, r, sold)
				})
				f.report(draft("1", c.used, time.Time{}))
				f.clock.Set(f.billingPlan().NextInvoiceAt())
				f.close()
				var got int64
				for _, use := range f.closed(noon).Credits {
					got += use.Minor
				}
				if got != c.want {
					t.Errorf("%d of the credit are used, want %d", got, c.want)
				}
				f.wantSound()
			})
		})
	}
}

func TestCarryOver_RatesWaitTogether(t *testing.T) {
	t.Parallel()
	forEachDivided(t, nil, func(t *testing.T, f *fixture) {
		f.least = 50
		f.report(of("1", "2", "large", "eu", time.Time{}), of("2", "1", "small", "eu", time.Time{}))
		f.clock.Set(f.billingPlan().NextInvoiceAt())
		f.close()
		lines := f.closed(noon).Lines
		if core.SumOf(lines) != 0 || !lines[0].TooSmall {
			t.Errorf("the lines are %s, want all carried over", linesOf(lines))
		}
		f.wantVerified()
		f.least = 0
		f.clock.Set(f.billingPlan().NextInvoiceAt())
		f.close()
		if lines := f.closed(noon.Add(24 * time.Hour)).Lines; core.SumOf(lines) == 0 {
			t.Errorf("the lines are %s, want those of the day before", linesOf(lines))
		}
		f.wantVerified()
	})
}
