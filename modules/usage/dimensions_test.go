package usage_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sundry/core/fault"
	core "sundry/core/usage"
	"sundry/tests/testdb"
)

// forEachDivided is forEachEngine with a meter whose use is told apart by model and region, and a price of 10 cents for
// the model large, 7 for small in eu, and 1 for the rest.
func forEachDivided(t *testing.T, minimum *int64, test func(t *testing.T, f *fixture)) {
	t.Helper()
	testdb.EachEngine(t, func(t *testing.T, engine testdb.Engine) {
		f := &fixture{t: t, engine: engine, url: engine.URL(t), clock: testdb.NewClock(noon)}
		f.open()
		f.setUp(core.Sum)
		meter, err := f.CreateMeter(t.Context(), creator, core.MeterDraft{
			Name: "Tokens", EventName: "tokens", Aggregation: "SUM", Dimensions: []string{"model", "region"},
		})
		f.must(err)
		f.offer.MeterID, f.offer.PriceID = meter.ID, f.ratedPrice(minimum)
		f.bill()
		test(t, f)
	})
}

func (f *fixture) ratedPrice(minimum *int64) (id string) {
	f.t.Helper()
	tier := func(minor int64) []core.TierDraft { return []core.TierDraft{{UnitAmountInCents: &minor}} }
	made, err := f.CreatePrice(f.t.Context(), creator, core.PriceDraft{
		ProductID: f.product, BillingScheme: "TIERED", Currency: "eur", Minimum: minimum,
		Recurring: &core.RecurringDraft{Interval: "month"}, Tiers: tier(1),
		Rates: []core.RateDraft{
			{When: map[string]string{"model": "large"}, Tiers: tier(10)},
			{When: map[string]string{"model": "small", "region": "eu"}, Tiers: tier(7)},
		},
	})
	f.must(err)
	return made.ID
}

// of is a report of tokens of a model in a region.
func of(key, quantity, model, region string, at time.Time) core.ReportDraft {
	d := draft(key, quantity, at)
	d.Meter, d.Properties = "tokens", map[string]string{"model": model, "region": region, "user": key}
	return d
}

// linesOf writes lines as "values quantity = amount", with the period's number of days after noon where it is late.
func linesOf(lines []core.Rated) string {
	var all []string
	for _, l := range lines {
		line := fmt.Sprintf("%s %s = %d", l.When(), l.Quantity, l.AmountMinor)
		if l.Late {
			line += fmt.Sprintf(" of day %d", int(l.PeriodStart.Sub(noon).Hours()/24))
		}
		all = append(all, line)
	}
	return strings.Join(all, "; ")
}

// wantLines closes the running period and compares its lines.
func (f *fixture) wantLines(want string) {
	f.t.Helper()
	day := f.billingPlan().Current.Start
	f.clock.Set(f.billingPlan().NextInvoiceAt())
	f.close()
	f.clock.Advance(time.Second)
	if got := linesOf(f.closed(day).Lines); got != want {
		f.t.Errorf("closed %s with\n%s\nwant\n%s", day, got, want)
	}
	f.wantVerified()
}

func TestRates_BillUseByItsDimensions(t *testing.T) {
	t.Parallel()
	forEachDivided(t, nil, func(t *testing.T, f *fixture) {
		f.report(of("a", "1.5", "large", "eu", noon), of("b", "2", "small", "eu", noon), of("c", "4", "small", "us", noon),
			of("d", "0.5", "large", "", noon))
		f.must(f.Flush(t.Context()))
		plain := draft("e", "3", noon)
		plain.Meter = "tokens"
		f.report(plain, of("f", "1", "large", "us", noon)) // wait to be counted
		preview, err := f.Preview(t.Context(), creator, f.plan.ID)
		f.must(err)
		const want = "model large 3 = 30; model small, region eu 2 = 14; all other 7 = 7"
		if got := linesOf(preview.Lines); got != want || preview.TotalMinor() != 51 {
			t.Errorf("the preview is %s: %d", got, preview.TotalMinor())
		}
		f.wantLines(want)
		f.report(of("late", "2", "small", "eu", noon), of("moved", "5", "large", "eu", noon),
			of("fewer", "-5", "small", "us", noon))
		f.wantLines("all other 0 = 0; model large 8 = 50 of day 0; model small, region eu 4 = 14 of day 0; " +
			"all other 2 = -5 of day 0")
		_, err = f.Void(t.Context(), creator, "late")
		if fault.CodeOf(err) != fault.PeriodClosed {
			t.Errorf("a report is voided that an invoice has asked for: %v", err)
		}
		f.wantLines("all other 0 = 0")
	})
}

// TestRates_TellCorrectionsApart: a correction leaves the quantity of the period as it is, but not its price.
func TestRates_TellCorrectionsApart(t *testing.T) {
	t.Parallel()
	forEachDivided(t, nil, func(t *testing.T, f *fixture) {
		f.report(of("a", "5", "large", "eu", noon))
		f.wantLines("model large 5 = 50")
		f.report(of("not large", "-5", "large", "eu", noon), of("but small", "5", "small", "eu", noon),
			of("b", "2", "large", "eu", time.Time{}))
		f.must(f.Flush(t.Context())) // nothing waits when the period is closed
		f.wantLines("model large 2 = 20; model large 0 = -50 of day 0; model small, region eu 5 = 35 of day 0")
		f.report(of("c", "1", "large", "eu", noon), of("d", "-1", "small", "eu", noon))
		_, err := f.Void(t.Context(), creator, "c")
		f.must(err)
		f.must(f.Flush(t.Context()))
		_, err = f.Void(t.Context(), creator, "d")
		f.must(err)
		f.wantLines("all other 0 = 0")
	})
}

func TestRates_ShareAMinimumAndWhatIsIncluded(t *testing.T) {
	t.Parallel()
	forEachDivided(t, new(int64(100)), func(t *testing.T, f *fixture) {
		f.report(of("a", "3", "large", "eu", noon), of("b", "2", "small", "us", noon))
		day := f.billingPlan().Current.Start
		f.wantLines("model large 3 = 30; all other 2 = 70")
		if rest := f.closed(day).Lines[1]; rest.TopUpMinor != 68 {
			t.Errorf("the minimum adds %d, want 68", rest.TopUpMinor)
		}
		f.report(of("late", "4", "large", "eu", noon), of("more", "20", "large", "eu", time.Time{}))
		f.wantLines("model large 20 = 200; model large 7 = 40 of day 0; all other 2 = -40 of day 0")
	})
}

// TestRates_TooMuchUseWaits: all rates of a period that amounts to too much wait together.
func TestRates_TooMuchUseWaits(t *testing.T) {
	t.Parallel()
	forEachDivided(t, nil, func(t *testing.T, f *fixture) {
		large := func(key string, n int64, model string) core.ReportDraft {
			return of(key, fmt.Sprint(n), model, "eu", time.Time{})
		}
		got := f.tryReport(large("a", most/10, "large"), large("b", 1, "large"), large("c", most, "none"))
		if got[0] == fault.LimitReached || got[2] != fault.LimitReached {
			t.Errorf("got %v, want only the last one refused", got)
		}
		f.report(of("x", "2", "small", "eu", time.Time{}))
		f.engine.Exec(t, f.url, "UPDATE usage_events SET quantity = '100000000000' WHERE quantity = '1'")
		f.clock.Set(f.billingPlan().NextInvoiceAt())
		f.close()
		if lines := f.closed(noon).Lines; core.SumOf(lines) != 0 || !lines[0].Waits {
			t.Errorf("the lines are %s", linesOf(lines))
		}
		if lines, err := f.Verify(t.Context()); err != nil || len(lines) != 1 {
			t.Errorf("verify: %q, %v; want one line about what waits", lines, err)
		}
		for _, key := range []string{"a", "b"} {
			_, err := f.Void(t.Context(), creator, key)
			f.must(err)
		}
		f.wantLines("all other 0 = 0; model small, region eu 2 = 14 of day 0")
	})
}

// TestRates_BesideTheVersionBefore: a process of it counts without parts, and voids a report that is in one.
func TestRates_BesideTheVersionBefore(t *testing.T) {
	t.Parallel()
	forEachDivided(t, nil, func(t *testing.T, f *fixture) {
		f.report(of("a", "5", "large", "eu", noon), of("b", "2", "small", "eu", noon))
		f.must(f.Flush(t.Context()))
		for _, statement := range []string{
			"DELETE FROM usage_parts", "DELETE FROM usage_combinations", "UPDATE usage_watermark SET divided = 0",
		} {
			f.engine.Exec(t, f.url, statement)
		}
		preview, err := f.Preview(t.Context(), creator, f.plan.ID)
		f.must(err)
		if got := linesOf(preview.Lines); got != "model large 5 = 50; model small, region eu 2 = 14" {
			t.Errorf("the preview is %s", got)
		}
		f.wantVerified()
		f.must(f.Flush(t.Context()))
		if n := f.engine.Int(t, f.url, "SELECT COUNT(*) FROM usage_parts"); n != 2 {
			t.Errorf("there are %d parts, want 2", n)
		}
		f.wantVerified()
		for _, statement := range []string{
			"UPDATE usage_events SET voided_at = 1 WHERE key = 'b'",
			"UPDATE usage_rollups SET quantity = '5', reports = 1, checked_quantity = '5', checked_reports = 1 " +
				"WHERE quantity = '7'",
		} {
			f.engine.Exec(t, f.url, statement)
		}
		found, err := f.Verify(t.Context())
		f.must(err)
		if len(found) != 2 || !strings.Contains(found[0], "dimensions") || !strings.Contains(found[1], "days") {
			t.Errorf("verify: %q; want a line about the parts and one about the days", found)
		}
		f.clock.Set(f.billingPlan().NextInvoiceAt())
		f.close()
		if got := linesOf(f.closed(noon).Lines); got != "model large 5 = 50" {
			t.Errorf("closed with %s", got)
		}
	})
}

// TestRates_OutliveTheirReports, which are deleted only once they are in a part.
func TestRates_OutliveTheirReports(t *testing.T) {
	t.Parallel()
	forEachDivided(t, nil, func(t *testing.T, f *fixture) {
		f.report(of("a", "5", "large", "eu", noon), of("b", "2", "small", "eu", noon))
		f.must(f.Flush(t.Context()))
		f.wantVerified() // counts them a second time
		f.engine.Exec(t, f.url, "DELETE FROM usage_parts")
		f.engine.Exec(t, f.url, "UPDATE usage_watermark SET divided = 0")
		f.deleteReports()
		f.wantStored(2)
		f.must(f.Flush(t.Context()))
		f.deleteReports()
		f.wantStored(0)
		f.report(of("c", "1", "small", "eu", noon))
		f.wantLines("model large 5 = 50; model small, region eu 3 = 21")
	})
}

// TestRates_MoveWithTheirPeriods: a new billing plan divides time into other periods.
func TestRates_MoveWithTheirPeriods(t *testing.T) {
	t.Parallel()
	testdb.EachEngine(t, func(t *testing.T, engine testdb.Engine) {
		f := &fixture{t: t, engine: engine, url: engine.URL(t), clock: testdb.NewClock(noon)}
		f.open()
		f.setUp(core.Sum)
		meter, err := f.CreateMeter(t.Context(), creator, core.MeterDraft{
			Name: "Tokens", EventName: "tokens", Aggregation: "COUNT", Dimensions: []string{"model", "region"},
		})
		f.must(err)
		f.offer.MeterID, f.offer.PriceID = meter.ID, f.ratedPrice(nil)
		f.report(of("a", "1", "large", "eu", noon), of("b", "1", "small", "eu", noon))
		f.clock.Advance(25 * time.Hour)
		f.report(of("c", "1", "large", "eu", time.Time{}), of("d", "1", "small", "us", time.Time{}))
		f.must(f.Flush(t.Context()))
		f.report(of("e", "1", "large", "us", time.Time{}))
		f.bill()
		f.wantVerified()
		f.wantLines("model large 2 = 20; all other 1 = 1")
	})
}

// TestRates_FollowAPriceWithout: periods of the price without rates are settled, and late use of them is told by sums.
func TestRates_FollowAPriceWithout(t *testing.T) {
	t.Parallel()
	forEachDivided(t, nil, func(t *testing.T, f *fixture) {
		f.report(of("a", "5", "large", "eu", noon))
		_, err := f.ChangePrice(t.Context(), creator, f.plan.ID, core.PriceChange{PriceID: f.price(2, "eur")})
		f.must(err)
		f.wantLines("model large 5 = 50")
		second := f.billingPlan().Current.Start
		f.report(of("b", "3", "large", "eu", time.Time{}), of("late", "1", "small", "eu", noon))
		_, err = f.ChangePrice(t.Context(), creator, f.plan.ID, core.PriceChange{PriceID: f.ratedPrice(nil)})
		f.must(err)
		f.wantLines(" 3 = 6; model small, region eu 1 = 7 of day 0")
		if n := f.engine.Int(t, f.url, "SELECT COUNT(*) FROM usage_parts WHERE changed"); n != 0 {
			t.Errorf("%d parts are left to be billed", n)
		}
		f.report(of("c", "1", "large", "us", time.Time{}), of("later", "2", "small", "eu", second),
			of("moved", "-1", "large", "eu", second), of("to", "1", "none", "eu", second))
		f.wantLines("model large 1 = 10;  5 = 4 of day 1")
	})
}

func TestRates_NeedTheDimensionsOfTheMeter(t *testing.T) {
	t.Parallel()
	forEachEngine(t, core.Sum, func(t *testing.T, f *fixture) {
		_, err := f.ChangePrice(t.Context(), creator, f.plan.ID, core.PriceChange{PriceID: f.ratedPrice(nil)})
		refused, ok := errors.AsType[*fault.Error](err)
		if !ok || len(refused.Details) != 1 || refused.Details[0].Field != "priceId" {
			t.Errorf("got %v, want a fault of priceId", err)
		}
	})
}

// TestRates_BillEveryReportOnce reports, voids, counts and closes at random, and compares all invoices with what was
// used.
func TestRates_BillEveryReportOnce(t *testing.T) {
	t.Parallel()
	forEachDivided(t, nil, func(t *testing.T, f *fixture) {
		unit := map[string]int64{"large/eu": 10, "large/us": 10, "small/eu": 7, "small/us": 1, "/": 1}
		reported, invoiced := 0, int64(0)
		used := map[string]core.Quantity{} // by day and combination
		rapid.Check(t, func(rt *rapid.T) {
			open := map[string]string{} // combinations by key
			for range rapid.IntRange(1, 8).Draw(rt, "steps") {
				now := f.clock.Real()
				keys := slices.Sorted(maps.Keys(open))
				if len(keys) > 0 && rapid.IntRange(0, 3).Draw(rt, "void") == 0 {
					key := rapid.SampledFrom(keys).Draw(rt, "voided")
					_, err := f.Void(t.Context(), creator, key)
					f.must(err)
					used[open[key]], _ = used[open[key]].Add(core.Units(-1))
					delete(open, key)
				} else {
					reported++
					key := fmt.Sprintf("report-%05d", reported)
					combination := rapid.SampledFrom(slices.Sorted(maps.Keys(unit))).Draw(rt, "combination")
					at := now.Add(-time.Duration(rapid.IntRange(0, 72).Draw(rt, "hours")) * time.Hour)
					if at.Before(noon) {
						at = noon
					}
					model, region, _ := strings.Cut(combination, "/")
					f.report(of(key, "1", model, region, at))
					open[key] = fmt.Sprintf("%d %s", int(at.Sub(noon).Hours()/24), combination)
					used[open[key]], _ = used[open[key]].Add(core.Units(1))
				}
				if rapid.Bool().Draw(rt, "flush") {
					f.must(f.Flush(t.Context()))
				}
			}
			for range 2 { // the second invoice has what was late for the first
				day := f.billingPlan().Current.Start
				f.clock.Set(f.billingPlan().NextInvoiceAt())
				f.close()
				f.clock.Advance(time.Second)
				invoiced += core.SumOf(f.closed(day).Lines)
			}
			var want int64
			for key, q := range used {
				n := int64(0)
				for q != core.Units(n) {
					n++
				}
				_, combination, _ := strings.Cut(key, " ")
				want += n * unit[combination]
			}
			if invoiced != want {
				rt.Fatalf("invoiced %d of %v, want %d", invoiced, used, want)
			}
		})
		f.wantVerified()
	})
}
