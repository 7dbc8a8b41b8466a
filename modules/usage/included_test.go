package usage_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"sundry/core/plan"
	"sundry/core/subscription"
	core "sundry/core/usage"
	"sundry/ports"
)

// include gives the subscription another plan: now, or with a period that began at a time.
func (f *fixture) include(included int64, renewedAt time.Time) {
	f.t.Helper()
	f.atomically(func(ctx context.Context, r ports.Repos) error {
		sub, err := r.Subscriptions.Subscriptions.Get(ctx, "sub_1")
		if err != nil {
			return err
		}
		sub.Offer.Terms.Meters = []plan.Meter{{EventName: "calls", Included: included}}
		if renewedAt.IsZero() {
			return f.OnSubscriptionUpdated(ctx, r, subscription.Updated{State: sub})
		}
		sub.CurrentPeriodStart = renewedAt
		return f.OnSubscriptionRenewed(ctx, r, subscription.Renewed{State: sub})
	})
}

// TestIncludedUse_IsNotBilled changes the plan in a period, and with its end, shortly before the period is closed.
func TestIncludedUse_IsNotBilled(t *testing.T) {
	t.Parallel()
	forEachEngine(t, core.Sum, func(t *testing.T, f *fixture) {
		day := func(n int) time.Time { return noon.Add(time.Duration(n) * 24 * time.Hour) }
		f.include(100, time.Time{})
		f.report(units("a", 150))
		f.clock.Advance(24 * time.Hour)
		f.include(20, day(1)) // the first day ended with the old plan
		f.clock.Advance(core.Grace)
		f.report(units("b", 15))
		f.close()
		f.report(draft("late", "10", noon))
		preview, err := f.Preview(t.Context(), creator, f.plan.ID)
		f.must(err)
		if preview.TotalMinor() != 10 {
			t.Errorf("the preview is %d, want the 10 that are late", preview.TotalMinor())
		}
		f.clock.Advance(24 * time.Hour)
		f.close()
		for n, want := range []struct{ amount, included int64 }{{50, 100}, {0, 15}} {
			line := f.closed(day(n)).Lines[0]
			if line.AmountMinor != want.amount || line.Included != core.Units(want.included) {
				t.Errorf("day %d: %d for what is beyond %s, want %+v", n, line.AmountMinor, line.Included, want)
			}
		}
		if lines := f.closed(day(1)).Lines; len(lines) != 2 || lines[1].AmountMinor != 10 {
			t.Errorf("the late use is %+v, want 10", lines)
		}
		summary, err := f.Summary(t.Context(), creator, "sub_1")
		f.must(err)
		if got := summary[0].Stream.Included; got != 20 {
			t.Errorf("%d are included now, want 20", got)
		}
		f.wantSound()
	})
}

// TestIncludedUse_OfAClosedPeriodStays: a renewal that is paid late begins another plan with a period of before.
func TestIncludedUse_OfAClosedPeriodStays(t *testing.T) {
	t.Parallel()
	for _, ended := range []bool{false, true} {
		t.Run(fmt.Sprintf("ended %t", ended), func(t *testing.T) {
			t.Parallel()
			forEachEngine(t, core.Sum, func(t *testing.T, f *fixture) {
				f.include(100, time.Time{})
				f.report(units("a", 150))
				if ended {
					_, err := f.EndBillingPlan(t.Context(), creator, f.plan.ID)
					f.must(err)
				}
				f.clock.Advance(24*time.Hour + core.Grace)
				f.close()
				f.include(20, noon)
				if !ended {
					f.report(draft("late", "10", noon))
					f.report(units("b", 25))
					f.clock.Advance(24 * time.Hour)
					f.close()
					lines := f.closed(noon.Add(24 * time.Hour)).Lines
					if len(lines) != 2 || lines[0].AmountMinor != 5 || lines[1].AmountMinor != 10 {
						t.Errorf("the second day is %+v, want 5 for it and 10 for what is late", lines)
					}
				}
				f.wantSound()
			})
		})
	}
}
