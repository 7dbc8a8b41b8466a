package usage_test

import (
	"fmt"
	"testing"
	"time"

	"sundry/core/fault"
	core "sundry/core/usage"
	"sundry/ports"
)

func (f *fixture) deleteReports() {
	f.t.Helper()
	f.must(f.store.DeleteOld(f.t.Context(), ports.Retention{Now: noon, Usage: noon.AddDate(0, 6, 0)}))
}

func (f *fixture) reportOne(d core.ReportDraft) (duplicate bool) {
	f.t.Helper()
	out, err := f.Report(f.t.Context(), creator, []core.ReportDraft{d})
	f.must(err)
	f.must(out[0].Err)
	return out[0].Duplicate
}

func (f *fixture) wantStored(want int64) {
	f.t.Helper()
	if n := f.engine.Int(f.t, f.url, "SELECT COUNT(*) FROM usage_events"); n != want {
		f.t.Errorf("%d reports are stored, not %d", n, want)
	}
}

// TestOldReportsAreDeletedAndTheirCountsStay has them in a month of their own and, on PostgreSQL, in the partition of
// all others.
func TestOldReportsAreDeletedAndTheirCountsStay(t *testing.T) {
	t.Parallel()
	for _, months := range []bool{true, false} {
		for _, aggregation := range []core.Aggregation{core.Sum, core.Max, core.Last} {
			t.Run(fmt.Sprintf("%s, months %t", aggregation, months), func(t *testing.T) {
				t.Parallel()
				forEachEngine(t, aggregation, func(t *testing.T, f *fixture) {
					if months {
						f.must(f.MakePartitions(t.Context()))
					}
					f.clock.Advance(time.Hour)
					f.reportOne(draft("a", "10", noon))
					f.reportOne(draft("b", "7", noon.Add(time.Minute)))
					f.countedAll(2)
					f.deleteReports()
					f.wantStored(2) // which are not counted twice yet
					f.wantSound()
					f.reportOne(draft("c", "8", noon.Add(2*time.Minute)))
					f.deleteReports()
					if !months || f.engine.Name == "sqlite" {
						f.wantStored(1)
					}
					f.countedAll(3)
					f.wantSound()
					f.deleteReports()
					f.wantStored(0)
					f.wantSound()
					if !f.reportOne(draft("a", "10", noon)) {
						t.Error("a key is deleted with its report")
					}
					f.reportOne(draft("d", "9", noon.Add(3*time.Minute)))
					f.countedAll(4)
					f.wantSound()
					for _, key := range []string{"a", "d"} { // one is deleted, and one counted with deleted ones
						if _, err := f.Void(t.Context(), creator, key); fault.CodeOf(err) != fault.PeriodClosed {
							t.Errorf("to void %s: %v", key, err)
						}
					}
					f.wantSound()
					f.clock.Advance(24 * time.Hour)
					f.close()
					want := map[core.Aggregation]string{core.Sum: "34", core.Max: "10", core.Last: "9"}[aggregation]
					if got := f.billed(noon, noon); got != want {
						t.Errorf("billed %s, want %s", got, want)
					}
				})
			})
		}
	}
}

// TestAnotherScheduleLeavesFinalCounts bills by the day what was counted by the month so far.
func TestAnotherScheduleLeavesFinalCounts(t *testing.T) {
	t.Parallel()
	for deleted, month := range map[bool]string{false: "5", true: "8"} {
		t.Run(fmt.Sprint(deleted), func(t *testing.T) {
			t.Parallel()
			forEachEngine(t, core.Sum, func(t *testing.T, f *fixture) {
				meter, err := f.CreateMeter(t.Context(), creator, core.MeterDraft{
					Name: "Seats", EventName: "seats", Aggregation: "SUM",
				})
				f.must(err)
				report := func(key, quantity string) {
					t.Helper()
					d := draft(key, quantity, time.Time{})
					d.Meter = "seats"
					f.reportOne(d)
				}
				report("a", "5")
				f.countedAll(1)
				f.wantSound()
				if deleted {
					f.deleteReports()
				}
				f.clock.Advance(50 * time.Hour)
				report("b", "3")
				f.countedAll(2)
				_, err = f.CreateBillingPlan(t.Context(), creator, core.PlanDraft{
					SubscriptionID: "sub_1", MeterID: meter.ID, PriceID: f.plan.PriceID, BillingInterval: "day",
				})
				f.must(err)
				for start, want := range map[time.Time]string{noon: month, noon.Add(48 * time.Hour): "3"} {
					query := fmt.Sprintf(
						"SELECT COUNT(*) FROM usage_rollups WHERE period_start = %d AND quantity = '%s'",
						start.UnixMilli(), want,
					)
					if f.engine.Int(t, f.url, query) != 1 {
						t.Errorf("not %s from %s on", want, start)
					}
				}
				f.wantSound()
			})
		})
	}
}
