package usage_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sundry/core/fault"
	core "sundry/core/usage"
	"sundry/tests/testdb"
)

// by is a report of one use by a user.
func by(key, user string, at time.Time) core.ReportDraft {
	d := draft(key, "1", at)
	d.Properties = map[string]string{"userId": user}
	return d
}

// report sends reports and fails unless all of them are accepted.
func (f *fixture) report(drafts ...core.ReportDraft) {
	f.t.Helper()
	outcomes, err := f.Report(f.t.Context(), creator, drafts)
	f.must(err)
	for _, o := range outcomes {
		f.must(o.Err)
	}
}

func (f *fixture) wantCount(want string) {
	f.t.Helper()
	if got := f.counted().String(); got != want {
		f.t.Fatalf("counted %s, want %s", got, want)
	}
	f.wantVerified()
}

func (f *fixture) wantVerified() {
	f.t.Helper()
	for _, verify := range []func() ([]string, error){
		func() ([]string, error) { return f.Verify(f.t.Context()) },
		func() ([]string, error) { return f.VerifyNew(f.t.Context()) },
	} {
		found, err := verify()
		f.must(err)
		if len(found) > 0 {
			f.t.Fatalf("verify found %v", found)
		}
	}
}

func TestCountMeterCountsReports(t *testing.T) {
	t.Parallel()
	forEachEngine(t, core.Count, func(t *testing.T, f *fixture) {
		f.report(draft("a", "1", noon), draft("b", "1.0", noon), draft("c", "1", noon))
		f.report(draft("a", "1", noon)) // a duplicate
		f.wantCount("3")
		_, err := f.Void(t.Context(), creator, "b")
		f.must(err)
		f.wantCount("2")
		outcomes, err := f.Report(t.Context(), creator, []core.ReportDraft{draft("d", "2", noon)})
		f.must(err)
		if got := fault.CodeOf(outcomes[0].Err); got != fault.ValidationFailed {
			t.Errorf("a report of 2: got %s, want %s", got, fault.ValidationFailed)
		}
		f.wantCount("2")
	})
}

// TestUniqueValuesStayInThePeriodBeforeABillingPlan: a period that a plan cuts keeps the values of its first reports.
func TestUniqueValuesStayInThePeriodBeforeABillingPlan(t *testing.T) {
	t.Parallel()
	testdb.EachEngine(t, func(t *testing.T, engine testdb.Engine) {
		f := &fixture{t: t, engine: engine, url: engine.URL(t), clock: testdb.NewClock(noon)}
		f.open()
		f.setUp(core.Unique)
		f.report(by("a", "ada", noon))
		f.clock.Set(noon.AddDate(0, 0, 1).Add(-time.Minute))
		f.report(by("b", "ada", f.clock.Real()), by("c", "ada", f.clock.Real().Add(2*time.Minute)))
		f.clock.Set(noon.AddDate(0, 0, 1).Add(time.Minute))
		f.bill()
		f.wantCount("1")
	})
}

func TestUniqueMeterCountsValues(t *testing.T) {
	t.Parallel()
	forEachEngine(t, core.Unique, func(t *testing.T, f *fixture) {
		f.report(by("a", "ada", noon), by("b", "bob", noon), by("c", "ada", noon))
		f.wantCount("2")
		f.report(by("d", "ada", noon), by("e", "Ada", noon))
		f.wantCount("3")

		for _, step := range []struct{ void, want string }{
			{"c", "3"}, // counted for nothing
			{"a", "3"}, // passes ada on to d
			{"d", "2"}, // the last of ada
			{"b", "1"},
		} {
			_, err := f.Void(t.Context(), creator, step.void)
			f.must(err)
			f.wantCount(step.want)
		}
		f.report(by("f", "ada", noon), by("g", "ada", noon))
		f.wantCount("2")

		outcomes, err := f.Report(t.Context(), creator, []core.ReportDraft{draft("h", "1", noon)})
		f.must(err)
		var refused *fault.Error
		if !errors.As(outcomes[0].Err, &refused) || refused.Details[0].Field != "properties.userId" {
			t.Errorf("a report without the property: got %v", outcomes[0].Err)
		}
		f.wantCount("2")
	})
}

func TestUniqueMeterVoidsBeforeCounting(t *testing.T) {
	t.Parallel()
	forEachEngine(t, core.Unique, func(t *testing.T, f *fixture) {
		f.report(by("a", "ada", noon), by("b", "ada", noon))
		_, err := f.Void(t.Context(), creator, "a")
		f.must(err)
		f.wantCount("1")
		f.report(by("c", "bob", noon))
		f.must(f.Flush(t.Context()))
		f.report(by("d", "bob", noon)) // waits while c, which is counted, is voided
		_, err = f.Void(t.Context(), creator, "c")
		f.must(err)
		f.wantCount("2")
	})
}

// Reports and voids of few values, many at once: whatever happens, one report of each value counts.
func TestUniqueMeterUnderRacingReports(t *testing.T) {
	t.Parallel()
	forEachEngine(t, core.Unique, func(t *testing.T, f *fixture) {
		const reporters, rounds = 4, 12
		var done sync.WaitGroup
		for r := range reporters {
			done.Go(func() {
				for n := range rounds {
					key := fmt.Sprintf("%d-%d", r, n)
					outcomes, err := f.Report(f.t.Context(), creator, []core.ReportDraft{
						by(key, fmt.Sprint(n%3), noon), by(key+"x", fmt.Sprint((n+1)%3), noon),
					})
					if err != nil || outcomes[0].Err != nil || outcomes[1].Err != nil {
						t.Errorf("report %s: %v, %v", key, err, outcomes)
					}
					if n%3 > 0 {
						if _, err := f.Void(f.t.Context(), creator, key); err != nil {
							t.Errorf("void %s: %v", key, err)
						}
					}
					if n%4 == 0 {
						if err := f.Flush(f.t.Context()); err != nil {
							t.Errorf("flush: %v", err)
						}
					}
				}
			})
		}
		done.Wait()
		f.wantCount("3")
	})
}

// A new billing plan divides time into other periods: what was counted in a month is counted by days, and voided there.
func TestReportsAreVoidedInTheirNewPeriods(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		aggregation               core.Aggregation
		month, day, voided, after string
	}{
		{core.Sum, "4", "2", "c", "1"},
		{core.Count, "4", "2", "c", "1"},
		{core.Max, "1", "1", "c", "1"},
		{core.Unique, "2", "1", "c", "1"},
	} {
		t.Run(string(c.aggregation), func(t *testing.T) {
			t.Parallel()
			testdb.EachEngine(t, func(t *testing.T, engine testdb.Engine) {
				f := &fixture{t: t, engine: engine, url: engine.URL(t), clock: testdb.NewClock(noon)}
				f.open()
				f.setUp(c.aggregation)
				f.report(by("a", "ada", noon), by("b", "bob", noon))
				f.clock.Advance(25 * time.Hour)
				f.report(by("c", "ada", time.Time{}), by("d", "ada", time.Time{}))
				f.wantCount(c.month)
				f.bill()
				f.wantCount(c.day)
				_, err := f.Void(t.Context(), creator, c.voided)
				f.must(err)
				f.wantCount(c.after)
			})
		})
	}
}

func TestUniqueMeterCountsDistinctValues(t *testing.T) {
	t.Parallel()
	forEachEngine(t, core.Unique, func(t *testing.T, f *fixture) {
		reported := 0
		rapid.Check(t, func(rt *rapid.T) {
			live := map[string]string{} // values by key
			for range rapid.IntRange(1, 12).Draw(rt, "steps") {
				keys := slices.Sorted(maps.Keys(live))
				if len(keys) > 0 && rapid.Bool().Draw(rt, "void") {
					key := rapid.SampledFrom(keys).Draw(rt, "voided")
					_, err := f.Void(t.Context(), creator, key)
					f.must(err)
					delete(live, key)
				} else {
					reported++
					key := fmt.Sprintf("report-%05d", reported)
					live[key] = rapid.SampledFrom([]string{"ada", "bob", "eve"}).Draw(rt, "value")
					f.report(by(key, live[key], noon))
				}
				if rapid.Bool().Draw(rt, "flush") {
					f.must(f.Flush(t.Context()))
				}
			}
			values := map[string]bool{}
			for _, value := range live {
				values[value] = true
			}
			if got, want := f.counted(), core.Units(int64(len(values))); got != want {
				rt.Fatalf("counted %s of %v, want %s", got, live, want)
			}
			for key := range live {
				_, err := f.Void(t.Context(), creator, key)
				f.must(err)
			}
		})
		f.wantCount("0")
	})
}
