package usage_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sundry/core/fault"
	core "sundry/core/usage"
	"sundry/ports"
)

func jsonNumber(s string) json.Number { return json.Number(s) }

func TestCountingBesideReportingSkipsAndDoublesNothing(t *testing.T) {
	t.Parallel()
	forEachEngine(t, core.Sum, func(t *testing.T, f *fixture) {
		const clients, reports = 8, 40
		var running, accepted atomic.Int64
		running.Store(clients)
		var all sync.WaitGroup
		for client := range clients {
			all.Go(func() {
				defer running.Add(-1)
				for n := range reports {
					key := fmt.Sprintf("%d-%d", client, n-n%10/9) // one key in ten is used twice
					out, err := f.Report(t.Context(), creator, []core.ReportDraft{draft(key, "0.1", time.Time{})})
					if err != nil || out[0].Err != nil {
						t.Errorf("%v, %+v", err, out)
						return
					}
					if !out[0].Duplicate {
						accepted.Add(1)
					}
				}
			})
		}
		all.Go(func() {
			for running.Load() > 0 {
				if err := f.Flush(t.Context()); err != nil {
					t.Error(err)
					return
				}
				if faults, err := f.VerifyNew(t.Context()); err != nil || len(faults) > 0 {
					t.Errorf("beside it: %v, %v", faults, err)
					return
				}
			}
		})
		all.Wait()
		want, err := core.ParseQuantity(fmt.Sprintf("%d.%d", accepted.Load()/10, accepted.Load()%10))
		f.must(err)
		if got := f.counted(); got != want || accepted.Load() != clients*reports*9/10 {
			t.Errorf("%d accepted, counted %s", accepted.Load(), got)
		}
		if faults, err := f.Verify(t.Context()); err != nil || len(faults) > 0 {
			t.Errorf("verify: %v, %v", faults, err)
		}
		f.clock.Advance(24*time.Hour + core.Grace)
		f.close()
		if got := f.billed(noon, noon); got != want.String() {
			t.Errorf("billed %s of %s", got, want)
		}
	})
}

func TestEveryReportIsBilledOnceDespiteClosings(t *testing.T) {
	t.Parallel()
	forEachEngine(t, core.Sum, func(t *testing.T, f *fixture) {
		f.clock.Advance(24*time.Hour + core.Grace)
		var stop atomic.Bool
		var accepted atomic.Int64
		var all sync.WaitGroup
		for client := range 4 {
			all.Go(func() {
				for n := 0; !stop.Load(); n++ {
					out, err := f.Report(t.Context(), creator, []core.ReportDraft{
						draft(fmt.Sprintf("%d-%d", client, n), "1", noon),
					})
					if err != nil || out[0].Err != nil {
						t.Errorf("%v, %+v", err, out)
						return
					}
					accepted.Add(1)
				}
			})
		}
		more := func() {
			for before := accepted.Load(); accepted.Load() < before+20 && !t.Failed(); {
				time.Sleep(time.Millisecond)
			}
		}
		more()
		f.close() // while reports of its period go on arriving
		more()
		stop.Store(true)
		all.Wait()
		f.clock.Advance(24 * time.Hour)
		f.close()
		first, second := f.closed(noon), f.closed(noon.Add(24*time.Hour))
		var sum int64
		for _, line := range append(first.Lines, second.Lines...) {
			sum += line.AmountMinor
		}
		if sum != accepted.Load() {
			t.Errorf(
				"%d reports of 1 cent were billed %d cents: %+v, then %+v", accepted.Load(), sum, first.Lines,
				second.Lines,
			)
		}
	})
}

func TestAggregationsAreThoseOfTheOracle(t *testing.T) {
	t.Parallel()
	for _, aggregation := range []core.Aggregation{core.Sum, core.Max, core.Last} {
		t.Run(string(aggregation), func(t *testing.T) {
			t.Parallel()
			forEachEngine(t, aggregation, func(t *testing.T, f *fixture) {
				f.clock.Advance(time.Hour)
				want := core.Total{}
				for i, quantity := range []string{"0.3", "7.000000000001", "2", "7", "1.5", "0.000000000001"} {
					at := noon.Add(time.Duration((i*4)%7) * time.Minute)
					out, err := f.Report(t.Context(), creator, []core.ReportDraft{draft(fmt.Sprint(i), quantity, at)})
					f.must(err)
					f.must(out[0].Err)
					q, err := core.ParseQuantity(quantity)
					f.must(err)
					want, _ = want.Take(aggregation, core.Sample{ID: out[0].ID, At: at, Quantity: q})
					if i%2 == 0 { // the others are counted together, or are not counted yet when the period closes
						f.must(f.Flush(t.Context()))
					}
					if i == 2 {
						f.wantSound()
					}
				}
				f.clock.Advance(24 * time.Hour)
				f.close()
				if got := f.billed(noon, noon); got != want.Quantity.String() {
					t.Errorf("billed %s, want %s", got, want.Quantity)
				}
				f.wantSound()
			})
		})
	}
}

// wantSound verifies everything and what is new.
func (f *fixture) wantSound() {
	f.t.Helper()
	for name, verify := range map[string]func(context.Context) ([]string, error){"all": f.Verify, "new": f.VerifyNew} {
		if faults, err := verify(f.t.Context()); err != nil || len(faults) > 0 {
			f.t.Errorf("verify %s: %v, %v", name, faults, err)
		}
	}
}

// A check of the new reports finds wrong counts until they are corrected.
func TestVerifyingNewReportsFindsWrongCounts(t *testing.T) {
	t.Parallel()
	for _, aggregation := range []core.Aggregation{core.Sum, core.Max, core.Last} {
		t.Run(string(aggregation), func(t *testing.T) {
			t.Parallel()
			forEachEngine(t, aggregation, func(t *testing.T, f *fixture) {
				f.clock.Advance(time.Hour)
				report := func(n int) {
					t.Helper()
					out, err := f.Report(t.Context(), creator, []core.ReportDraft{
						draft(fmt.Sprint(n), fmt.Sprintf("%d.5", n), noon.Add(time.Duration(n)*time.Minute)),
					})
					f.must(err)
					f.must(out[0].Err)
				}
				void := func(n int) {
					t.Helper()
					_, err := f.Void(t.Context(), creator, fmt.Sprint(n))
					f.must(err)
				}
				report(1)
				report(2)
				f.countedAll(2)
				f.wantSound()
				report(3)
				report(4)
				f.countedAll(4)
				void(2) // was counted twice
				void(4) // was counted once
				f.wantSound()
				void(3)
				f.wantSound()
				report(5)
				f.countedAll(2)
				f.wantSound()
				report(6)
				f.countedAll(3) // and it is not checked yet
				exec := func(statement string) { f.engine.Exec(t, f.url, statement) }
				right := map[core.Aggregation]string{core.Sum: "13.5", core.Max: "6.5", core.Last: "6.5"}[aggregation]
				for _, damage := range []string{"UPDATE usage_rollups SET quantity = '9.5'",
					"UPDATE usage_rollups SET reports = 7"} {
					repair := "UPDATE usage_rollups SET reports = 3, quantity = '" + right + "'"
					exec(damage)
					for range 2 {
						if faults, err := f.VerifyNew(t.Context()); err != nil || len(faults) != 1 {
							t.Errorf("after %s: %v, %v", damage, faults, err)
						}
					}
					exec(repair)
					f.wantSound()
				}
			})
		})
	}
}

// countedAll flushes, after which so many reports are in the counts.
func (f *fixture) countedAll(want int) {
	f.t.Helper()
	f.must(f.Flush(f.t.Context()))
	if got := f.engine.Int(f.t, f.url, "SELECT COALESCE(SUM(reports), 0) FROM usage_rollups"); got != int64(want) {
		f.t.Fatalf("counted %d reports, want %d", got, want)
	}
}

func TestOnlySumsTakeNegativeReports(t *testing.T) {
	t.Parallel()
	for _, aggregation := range []core.Aggregation{core.Sum, core.Max, core.Last} {
		t.Run(string(aggregation), func(t *testing.T) {
			t.Parallel()
			forEachEngine(t, aggregation, func(t *testing.T, f *fixture) {
				out, err := f.Report(t.Context(), creator, []core.ReportDraft{draft("a", "-1", time.Time{})})
				f.must(err)
				if fault.Is(out[0].Err, fault.ValidationFailed) != (aggregation != core.Sum) {
					t.Errorf("%+v", out)
				}
			})
		})
	}
}

func TestTheWindowOfReportsIsClosedAtBothEnds(t *testing.T) {
	t.Parallel()
	forEachEngine(t, core.Sum, func(t *testing.T, f *fixture) {
		f.clock.Advance(40 * 24 * time.Hour)
		now := f.clock.Real()
		for name, c := range map[string]struct {
			at time.Time
			ok bool
		}{
			"35 days ago":           {now.Add(-core.MaxAge), true},
			"a millisecond earlier": {now.Add(-core.MaxAge - time.Millisecond), false},
			"5 minutes ahead":       {now.Add(core.MaxAhead), true},
			"a millisecond too far": {now.Add(core.MaxAhead + time.Millisecond), false},
		} {
			out, err := f.Report(t.Context(), creator, []core.ReportDraft{draft(name, "1", c.at)})
			f.must(err)
			if (out[0].Err == nil) != c.ok || !c.ok && !fault.Is(out[0].Err, fault.ValidationFailed) {
				t.Errorf("%s: %v", name, out[0].Err)
			}
		}
	})
}

// TestAReportTakesTheTimeOfAClockThatMovedMeanwhile moves the clock as another process does: nothing in this one is
// told.
func TestAReportTakesTheTimeOfAClockThatMovedMeanwhile(t *testing.T) {
	t.Parallel()
	forEachEngine(t, core.Sum, func(t *testing.T, f *fixture) {
		report := func(key string, at time.Time) {
			t.Helper()
			out, err := f.Report(t.Context(), creator, []core.ReportDraft{draft(key, "1", at)})
			f.must(err)
			f.must(out[0].Err)
		}
		moveTo := func(offset time.Duration) {
			t.Helper()
			f.atomically(func(ctx context.Context, r ports.Repos) error {
				return r.Sandbox.ClockOffsets.Advance(ctx, creator, offset)
			})
		}
		report("before", time.Time{})
		moveTo(24 * time.Hour)
		report("the next day", time.Time{})
		moveTo(48 * time.Hour)
		report("said to be the day after", noon.Add(48*time.Hour))
		for day := range 3 {
			start := noon.Add(time.Duration(day) * 24 * time.Hour)
			if got := f.engine.Int(
				t, f.url, fmt.Sprintf("SELECT COUNT(*) FROM usage_events WHERE period_start = %d", start.UnixMilli()),
			); got != 1 {
				t.Errorf("%d reports of day %d, want 1", got, day+1)
			}
		}
	})
}

// TestAFlushEndsWithNothingLeftWhereverItsStepsEnd counts in steps that end inside of what was reported together.
func TestAFlushEndsWithNothingLeftWhereverItsStepsEnd(t *testing.T) {
	t.Parallel()
	forEachEngine(t, core.Sum, func(t *testing.T, f *fixture) {
		const together, requests = 3, 5
		for request := range requests {
			var drafts []core.ReportDraft
			for n := range together {
				drafts = append(drafts, draft(fmt.Sprintf("%d-%d", request, n), "1", time.Time{}))
			}
			out, err := f.Report(t.Context(), creator, drafts)
			f.must(err)
			for _, one := range out {
				f.must(one.Err)
			}
		}
		end, err := f.intake.Position(t.Context())
		f.must(err)
		for _, limit := range []int{1, together + 1} { // less than was reported together, and a little more
			f.engine.Exec(t, f.url, "UPDATE usage_watermark SET position = 0")
			f.engine.Exec(t, f.url, "UPDATE usage_rollups SET reports = 0, quantity = '0'")
			var counted int64
			for more := true; more; {
				f.atomically(func(ctx context.Context, r ports.Repos) error {
					step, err := r.Usage.Rollups.Flush(ctx, end, limit, f.clock.Real())
					counted, more = counted+step.Rows, step.More
					return err
				})
			}
			if counted != together*requests {
				t.Errorf("%d at a time: counted %d of %d", limit, counted, together*requests)
			}
		}
	})
}
