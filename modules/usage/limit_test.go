package usage_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"sundry/core/fault"
	core "sundry/core/usage"
	"sundry/tests/fakes"
)

// The price of the fixture is one cent a unit, so that one unit more than this is too much for an invoice.
const most = core.MaxAmount

func (f *fixture) tryReport(drafts ...core.ReportDraft) (codes []fault.Code) {
	f.t.Helper()
	out, err := f.Report(f.t.Context(), creator, drafts)
	f.must(err)
	for _, one := range out {
		codes = append(codes, fault.CodeOf(one.Err))
	}
	return codes
}

func units(key string, n int64) core.ReportDraft { return draft(key, fmt.Sprint(n), time.Time{}) }

func TestReports_StayBelowTheLimitOfAPeriod(t *testing.T) {
	t.Parallel()
	forEachEngine(t, core.Sum, func(t *testing.T, f *fixture) {
		want := func(codes []fault.Code, refused ...bool) {
			t.Helper()
			for i, code := range codes {
				if got := code == fault.LimitReached; got != refused[i] {
					t.Errorf("report %d of %v: refused %t, want %t", i, codes, got, refused[i])
				}
			}
		}
		want(f.tryReport(draft("absurd", "99999999999999999999999999", time.Time{})), true)
		want(f.tryReport(units("a", most-10), units("b", 1000000), units("c", 10)), false, true, false)
		want(f.tryReport(units("d", 1000000)), true)
		if out, err := f.Report(t.Context(), creator, []core.ReportDraft{units("a", most-10)}); err != nil ||
			!out[0].Duplicate {
			t.Errorf("again: %+v, %v; want a duplicate", out, err)
		}
		want(f.tryReport(units("e", -2000000)), false)
		want(f.tryReport(units("d", 1000000)), false)
		f.clock.Advance(24*time.Hour + core.Grace)
		want(f.tryReport(units("the next period", most)), false)
		f.close()
		if got, want := f.billed(noon, noon), fmt.Sprint(most-1000000); got != want {
			t.Errorf("billed %s, want %s", got, want)
		}
	})
}

// TestReports_AreComparedWithTheLimitByThePriceOfNow: the process remembers the price of before.
func TestReports_AreComparedWithTheLimitByThePriceOfNow(t *testing.T) {
	t.Parallel()
	forEachEngine(t, core.Sum, func(t *testing.T, f *fixture) {
		f.report(units("a", 1))
		_, err := f.ChangePrice(t.Context(), creator, f.plan.ID, core.PriceChange{PriceID: f.price(0, "eur")})
		f.must(err)
		if got := f.tryReport(units("too dear", most+1)); got[0] != fault.LimitReached {
			t.Errorf("by the old price: %v, want %s", got, fault.LimitReached)
		}
		f.clock.Advance(24*time.Hour + core.Grace)
		f.close()
		f.report(units("b", most+1), units("c", most+1))
		if got, want := f.counted().String(), fmt.Sprint(2*(most+1)); got != want {
			t.Errorf("counted %s, want %s", got, want)
		}
	})
}

func TestMaxAndLast_TakeNoReportAboveTheLimit(t *testing.T) {
	t.Parallel()
	for _, aggregation := range []core.Aggregation{core.Max, core.Last} {
		t.Run(string(aggregation), func(t *testing.T) {
			t.Parallel()
			forEachEngine(t, aggregation, func(t *testing.T, f *fixture) {
				got := f.tryReport(units("a", most), units("b", most), units("c", most+1))
				if got[0] == fault.LimitReached || got[1] == fault.LimitReached || got[2] != fault.LimitReached {
					t.Errorf("got %v, want only the last one refused", got)
				}
			})
		})
	}
}

// TestTooMuchUse_HoldsUpNothingElse plants it: reports at the same time may cost more together than each of them sees.
func TestTooMuchUse_HoldsUpNothingElse(t *testing.T) {
	t.Parallel()
	for name, voided := range map[string]bool{"voided before the end": true, "never voided": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			forEachEngine(t, core.Sum, func(t *testing.T, f *fixture) {
				day := func(n int) time.Time { return noon.Add(time.Duration(n) * 24 * time.Hour) }
				f.report(units("right", 3))
				f.report(units("wrong", 4))
				f.engine.Exec(t, f.url, "UPDATE usage_events SET quantity = '100000000000' WHERE quantity = '4'")
				f.clock.Advance(24*time.Hour + core.Grace)
				f.report(units("of day 2", 5))
				f.close()
				reached := fakes.Published[core.LimitReached](f.bus)
				if n := len(reached); n == 0 || !reached[n-1].Period.Start.Equal(noon) || reached[n-1].Plan.ID != f.plan.ID {
					t.Errorf("got the events %+v, want one about the first day", reached)
				}
				if lines := f.closed(noon).Lines; len(lines) != 1 || !lines[0].Waits || lines[0].AmountMinor != 0 {
					t.Errorf("the first invoice has %+v, want a line that asks for nothing", lines)
				}
				if _, err := f.Preview(t.Context(), creator, f.plan.ID); !fault.Is(err, fault.LimitReached) {
					t.Errorf("the preview: %v, want LIMIT_REACHED", err)
				}
				f.clock.Advance(24 * time.Hour)
				f.close()
				if got := f.billed(day(1), day(1)); got != "5" {
					t.Errorf("of the second day %s are billed, want 5", got)
				}
				if voided {
					_, err := f.Void(t.Context(), creator, "wrong")
					f.must(err)
				}
				f.end()
				f.clock.Advance(core.Grace)
				f.close()
				want := map[bool]string{true: "3", false: fmt.Sprintf("no line in %+v", f.closed(day(2)))}[voided]
				if got := f.billed(day(2), noon); got != want {
					t.Errorf("the last invoice bills %s of the first day, want %s", got, want)
				}
				plan, err := f.BillingPlan(t.Context(), creator, f.plan.ID)
				f.must(err)
				if plan.Status != core.PlanEnded {
					t.Errorf("the plan is %s, want it ended", plan.Status)
				}
				lines, err := f.Verify(t.Context())
				f.must(err)
				if unbilled := len(lines) == 1 && strings.Contains(lines[0], f.plan.ID); unbilled == voided {
					t.Errorf("verify: %q, want a line about the plan: %t", lines, !voided)
				}
			})
		})
	}
}
