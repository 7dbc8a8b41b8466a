package usage_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"sundry/core/checkout"
	"sundry/core/plan"
	core "sundry/core/usage"
	"sundry/modules/usage"
	"sundry/ports"
	"sundry/tests/fakes"
)

// The workers are away from before the period's end until after the credit's, and expire it first.
func TestCredit_PaysWhatWasDueBeforeItExpired(t *testing.T) {
	t.Parallel()
	forEachEngine(t, core.Sum, func(t *testing.T, f *fixture) {
		_, err := f.Report(t.Context(), creator, []core.ReportDraft{draft("1", "300", noon)})
		f.must(err)
		f.atomically(func(ctx context.Context, r ports.Repos) error {
			sold := checkout.Paid{CreatorID: creator, CustomerID: "cus_1", CheckoutID: "cs_2", At: noon}
			sold.Offer.Terms.UsageCredits = []plan.UsageCredit{{AmountInCents: 1000, Currency: "eur", ExpiresInDays: 2}}
			return f.OnCheckoutPaid(ctx, r, sold)
		})
		f.clock.Advance(50 * time.Hour)
		run := func(task ports.Task) error {
			if task.Kind == usage.TaskExpirePrepaid {
				return f.ExpireCredit(t.Context(), task)
			}
			return f.ClosePeriod(t.Context(), task)
		}
		var due []ports.Task
		for _, class := range []ports.TaskClass{ports.DefaultTasks, ports.PaymentTasks} {
			claimed, err := f.store.Claim(t.Context(), class, f.clock.Real(), time.Minute, 10)
			f.must(err)
			due = append(due, claimed...)
		}
		slices.SortFunc(due, func(a, b ports.Task) int { return strings.Compare(b.Kind, a.Kind) }) // usage.expire_prepaid first
		for _, task := range due {
			f.must(run(task))
		}
		f.clock.Advance(core.Grace)
		fakes.WorkOf(t, f.store, creator, f.clock.Real(), run)
		list, err := f.Credits(t.Context(), ports.CreditFilter{CreatorID: creator}, ports.Page{Limit: 10})
		f.must(err)
		if got := list.Items[0]; got.Used != 300 || got.Expired != 700 || got.End != core.CreditExpired {
			t.Errorf("used %d and expired %d as %q, want 300 and 700", got.Used, got.Expired, got.End)
		}
	})
}

// What late use takes back of a paid period after the plan's last invoice pays for the customer's next use.
func TestCredit_OfLateUseOutlivesThePlan(t *testing.T) {
	t.Parallel()
	forEachEngine(t, core.Sum, func(t *testing.T, f *fixture) {
		first := f.billingPlan().Current.Start
		f.report(draft("1", "10", time.Time{}))
		f.nextDay(10)
		f.report(draft("2", "-6", first.Add(time.Hour)), draft("3", "2", time.Time{}))
		f.clock.Advance(time.Hour)
		f.cancel()
		f.nextDay(2, -2)
		of := ports.CreditFilter{CreatorID: creator, CustomerID: "cus_1"}
		list, err := f.Credits(t.Context(), of, ports.Page{Limit: 10})
		f.must(err)
		if len(list.Items) != 1 || list.Items[0].Rest() != 4 || list.Items[0].Currency != "eur" ||
			list.Items[0].Meter != "" || !list.Items[0].ExpiresAt.IsZero() || list.Items[0].CheckoutID != "" {
			t.Errorf("the credits are %+v, want one of 4 for all use", list.Items)
		}
		if granted := fakes.Published[core.CreditGranted](f.bus); len(granted) != 1 || granted[0].Granted != 4 {
			t.Errorf("granted were %+v", granted)
		}
		f.wantSound()
	})
}
