package usage_test

import (
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sundry/core/fault"
	"sundry/core/period"
	"sundry/core/usage"
)

func at(t testing.TB, text string) time.Time {
	t.Helper()
	parsed, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

func plan(t testing.TB, anchor, now string) *usage.BillingPlan {
	t.Helper()
	schedule := usage.Schedule{Anchor: at(t, anchor), Interval: period.Month, Count: 1, StartsAt: at(t, anchor)}
	return usage.NewBillingPlan(usage.PlanState{ID: "ubp_1", Schedule: schedule}, at(t, now))
}

func TestPeriodsFollowTheAnchor(t *testing.T) {
	t.Parallel()
	p := plan(t, "2026-01-31T15:00:00Z", "2026-02-03T00:00:00Z")
	for _, want := range []string{"2026-02-28T15:00:00Z", "2026-03-31T15:00:00Z", "2026-04-30T15:00:00Z"} {
		s := p.State()
		if !s.Current.End.Equal(at(t, want)) {
			t.Fatalf("period %v, want its end at %s", s.Current, want)
		}
		if !s.NextInvoiceAt().Equal(s.Current.End.Add(2 * time.Minute)) {
			t.Errorf("next invoice at %s", s.NextInvoiceAt())
		}
		if closed, err := p.Close(s.NextInvoiceAt()); err != nil || closed != s.Current {
			t.Fatalf("closed %v, %v", closed, err)
		}
		if next := p.State(); !next.Current.Start.Equal(s.Current.End) || next.Revision != s.Revision+1 {
			t.Fatalf("%v follows %v", next.Current, s.Current)
		}
	}
}

func TestSchedule_Equal(t *testing.T) {
	t.Parallel()
	start := at(t, "2026-01-31T15:00:00Z")
	s := usage.Schedule{Anchor: start, Interval: period.Month, Count: 1, StartsAt: start, EndsAt: start.AddDate(1, 0, 0)}
	elsewhere := s
	elsewhere.Anchor = start.In(time.FixedZone("", 3600))
	if !s.Equal(elsewhere) {
		t.Error("the zone of a time makes another schedule")
	}
	later := start.Add(time.Millisecond)
	for name, change := range map[string]func(*usage.Schedule){
		"anchor":   func(s *usage.Schedule) { s.Anchor = later },
		"interval": func(s *usage.Schedule) { s.Interval = period.Year },
		"count":    func(s *usage.Schedule) { s.Count = 2 },
		"start":    func(s *usage.Schedule) { s.StartsAt = later },
		"end":      func(s *usage.Schedule) { s.EndsAt = time.Time{} },
	} {
		other := s
		change(&other)
		if s.Equal(other) {
			t.Errorf("another %s makes no other schedule", name)
		}
	}
}

func TestAPeriodIsNotClosedBeforeItsGrace(t *testing.T) {
	t.Parallel()
	p := plan(t, "2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z")
	before := p.State()
	if _, err := p.Close(at(t, "2026-02-01T00:01:59Z")); !fault.Is(err, fault.StateConflict) ||
		!reflect.DeepEqual(p.State(), before) {
		t.Errorf("%v, %+v", err, p.State())
	}
}

func TestATrialThatEndsEarlyEndsItsPeriod(t *testing.T) {
	t.Parallel()
	schedule := usage.Schedule{
		Anchor: at(t, "2026-01-15T12:00:00Z"), Interval: period.Day, Count: 1, StartsAt: at(t, "2026-01-01T12:00:00Z"),
	}
	p := usage.NewBillingPlan(usage.PlanState{ID: "ubp_1", Schedule: schedule, FreeUntil: schedule.Anchor},
		at(t, "2026-01-03T15:00:00Z"))
	early := at(t, "2026-01-03T18:30:00Z")
	if p.EndTrial(schedule.Anchor) || !p.EndTrial(early) || p.EndTrial(early) || p.State().Revision != 2 {
		t.Fatalf("the end is not taken once: %+v", p.State())
	}
	free, err := p.Close(early.Add(usage.Grace))
	if want := (usage.Period{Start: at(t, "2026-01-03T12:00:00Z"), End: early}); err != nil || free != want ||
		!p.State().Free(free) {
		t.Errorf("closed %v, %v", free, err)
	}
	s := p.State()
	if want := (usage.Period{Start: early, End: early.AddDate(0, 0, 1)}); s.Current != want || s.Free(s.Current) {
		t.Errorf("then %v", s.Current)
	}
	if got := s.Schedule.At(at(t, "2026-01-02T00:00:00Z")); got != free {
		t.Errorf("use of before is in %v", got)
	}
}

func TestTheEndOfTheSubscriptionMakesThePeriodTheLast(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ at, wantEnd string }{
		"in the middle":                    {"2026-01-11T00:00:00Z", "2026-01-11T00:00:00Z"},
		"at the very end":                  {"2026-02-01T00:00:00Z", "2026-02-01T00:00:00Z"},
		"before it began, when known late": {"2025-12-01T00:00:00Z", "2026-01-01T00:00:00Z"},
		"at its start":                     {"2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := plan(t, "2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z")
			if !p.End(at(t, c.at)) || p.End(at(t, c.at).Add(time.Hour)) {
				t.Fatal("the end is not taken once")
			}
			if p.State().Revision != 2 {
				t.Errorf("revision %d", p.State().Revision)
			}
			closed, err := p.Close(at(t, c.wantEnd).Add(usage.Grace))
			if err != nil || !closed.End.Equal(at(t, c.wantEnd)) {
				t.Fatalf("closed %v, %v", closed, err)
			}
			s := p.State()
			if s.Status != usage.PlanEnded || !s.NextInvoiceAt().IsZero() {
				t.Errorf("%+v", s)
			}
			if _, err := p.Close(s.Current.End.AddDate(1, 0, 0)); !fault.Is(err, fault.StateConflict) {
				t.Errorf("closed again: %v", err)
			}
			if p.End(at(t, c.at)) {
				t.Error("an ended plan ended again")
			}
		})
	}
}

func TestAnEndWithinTheGraceLeavesOneMorePeriod(t *testing.T) {
	t.Parallel()
	p := plan(t, "2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z")
	p.End(at(t, "2026-02-01T00:01:00Z"))
	if _, err := p.Close(at(t, "2026-02-01T00:02:00Z")); err != nil || p.State().Status != usage.PlanActive {
		t.Fatalf("%v, %+v", err, p.State())
	}
	last, err := p.Close(at(t, "2026-02-01T00:03:00Z"))
	if err != nil || !last.End.Equal(at(t, "2026-02-01T00:01:00Z")) || p.State().Status != usage.PlanEnded {
		t.Errorf("%v, %v, %+v", last, err, p.State())
	}
}

func TestAnEndThatIsFarAwayLeavesTheNextPeriodWhole(t *testing.T) {
	t.Parallel()
	p := plan(t, "2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z")
	p.End(at(t, "2026-06-11T00:00:00Z"))
	if _, err := p.Close(p.State().NextInvoiceAt()); err != nil ||
		!p.State().Current.End.Equal(at(t, "2026-03-01T00:00:00Z")) {
		t.Errorf("%v, the next period is %v", err, p.State().Current)
	}
}

func TestAReportExactlyAtAPeriodsEndBelongsToTheNext(t *testing.T) {
	t.Parallel()
	s := plan(t, "2025-01-31T15:00:00Z", "2025-08-13T20:00:00Z").State()
	if want := (usage.Period{Start: at(t, "2025-07-31T15:00:00Z"),
		End: at(t, "2025-08-31T15:00:00Z")}); s.Current != want {
		t.Fatalf("current %v", s.Current)
	}
	if got := s.Schedule.At(s.Current.End); !got.Start.Equal(s.Current.End) {
		t.Errorf("a report at the end counts in %v", got)
	}
	if got := s.Schedule.At(s.Current.End.Add(-time.Millisecond)); got != s.Current {
		t.Errorf("a report just before counts in %v", got)
	}
}

func TestWhatWasUsedBeforeTheFirstPeriodCountsInIt(t *testing.T) {
	t.Parallel()
	s := usage.Schedule{Anchor: at(t, "2026-02-01T00:00:00Z"), Interval: period.Month, Count: 1,
		StartsAt: at(t, "2026-01-18T00:00:00Z")}
	for _, used := range []string{"2026-01-02T00:00:00Z", "2025-11-02T00:00:00Z"} {
		if got, want := s.At(at(t, used)), (usage.Period{Start: s.StartsAt, End: s.Anchor}); got != want {
			t.Errorf("%s counts in %v, want %v", used, got, want)
		}
	}
}

func TestWhatIsUsedAfterTheEndCountsInTheLastPeriod(t *testing.T) {
	t.Parallel()
	s := usage.Schedule{Anchor: at(t, "2026-01-01T00:00:00Z"), Interval: period.Month, Count: 1,
		StartsAt: at(t, "2026-01-01T00:00:00Z")}
	for name, c := range map[string]struct{ ends, wantStart string }{
		"in the middle of a period": {"2026-02-11T00:00:00Z", "2026-02-01T00:00:00Z"},
		"with a period":             {"2026-02-01T00:00:00Z", "2026-01-01T00:00:00Z"},
		"at the very start":         {"2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z"},
	} {
		s.EndsAt = at(t, c.ends)
		want := usage.Period{Start: at(t, c.wantStart), End: s.EndsAt}
		for _, used := range []time.Time{s.EndsAt, s.EndsAt.AddDate(0, 0, 3), s.EndsAt.AddDate(0, 3, 0)} {
			if got := s.At(used); got != want {
				t.Errorf("the end is %s: %s counts in %v, want %v", name, used, got, want)
			}
		}
		if !fault.Is(s.Takes(s.EndsAt), fault.PeriodClosed) || s.Takes(s.EndsAt.Add(-time.Millisecond)) != nil {
			t.Errorf("the end is %s: reports are taken %v, then %v", name, s.Takes(s.EndsAt.Add(-time.Millisecond)),
				s.Takes(s.EndsAt))
		}
	}
	s.EndsAt = time.Time{}
	if err := s.Takes(at(t, "2199-01-01T00:00:00Z")); err != nil {
		t.Errorf("without an end: %v", err)
	}
}

func TestATrialIsFree(t *testing.T) {
	t.Parallel()
	s := usage.PlanState{FreeUntil: at(t, "2026-01-15T00:00:00Z")}
	if !s.Free(usage.Period{End: at(t, "2026-01-15T00:00:00Z")}) ||
		s.Free(usage.Period{End: at(t, "2026-01-15T00:00:01Z")}) {
		t.Error("the trial's end is not the end of what is free")
	}
}

// Periods tile the time of a plan, whatever the anchor and whenever it ends: each report counts in exactly one.
func TestEveryReportCountsInOnePeriodThatIsClosed(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		anchor := time.UnixMilli(rapid.Int64Range(1.7e12, 1.8e12).Draw(t, "anchor")).UTC()
		interval := rapid.SampledFrom([]period.Interval{period.Day, period.Week, period.Month, period.Year}).Draw(t,
			"interval")
		schedule := usage.Schedule{Anchor: anchor, Interval: interval, Count: 1, StartsAt: anchor.Add(-time.Hour)}
		p := usage.NewBillingPlan(usage.PlanState{Schedule: schedule}, anchor)
		closes := rapid.IntRange(0, 4).Draw(t, "closes")
		var closed []usage.Period
		for range closes {
			c, err := p.Close(p.State().NextInvoiceAt())
			if err != nil {
				t.Fatal(err)
			}
			closed = append(closed, c)
		}
		p.End(p.State().Current.Start.Add(time.Duration(rapid.Int64Range(0, int64(400*24*time.Hour)).Draw(t,
			"end"))).Truncate(time.Millisecond))
		for p.State().Status != usage.PlanEnded {
			c, err := p.Close(p.State().NextInvoiceAt())
			if err != nil {
				t.Fatal(err)
			}
			closed = append(closed, c)
		}
		s := p.State()
		span := s.Schedule.EndsAt.Sub(closed[0].Start).Milliseconds()
		if span == 0 {
			return
		}
		report := closed[0].Start.Add(time.Duration(rapid.Int64Range(0, span-1).Draw(t, "report")) * time.Millisecond)
		got, count := s.Schedule.At(report), 0
		for _, c := range closed {
			if c == got {
				count++
			}
		}
		if count != 1 || report.Before(got.Start) || !report.Before(got.End) {
			t.Fatalf("a report at %s counts in %v, closed %v", report, got, closed)
		}
	})
}

func TestChangePrice(t *testing.T) {
	t.Parallel()
	p := usage.NewBillingPlan(usage.PlanState{
		PriceID: "pri_1", Schedule: usage.Schedule{Interval: period.Day, Count: 1},
	}, at(t, "2026-03-01T00:00:00Z"))
	periods := []usage.Period{p.State().Current}
	for _, change := range []string{"pri_2", "", "pri_3"} {
		if change != "" {
			if err := p.ChangePrice(change); err != nil || p.State().PriceID == change || p.State().NextPriceID != change {
				t.Fatalf("changed to %s: %v, %+v", change, err, p.State())
			}
		}
		if _, err := p.Close(p.State().NextInvoiceAt()); err != nil {
			t.Fatal(err)
		}
		periods = append(periods, p.State().Current)
	}
	s := p.State()
	for i, want := range []string{"pri_1", "pri_2", "pri_2", "pri_3"} {
		if got := s.PriceOf(periods[i]); got != want {
			t.Errorf("period %d has the price %s, want %s", i, got, want)
		}
	}
	before := s.Revision
	if err := p.ChangePrice("pri_4"); err != nil || p.ChangePrice("pri_3") != nil || p.State().NextPriceID != "" {
		t.Errorf("a change taken back leaves %+v", p.State())
	}
	if p.State().Revision != before+2 {
		t.Errorf("revision %d, want %d", p.State().Revision, before+2)
	}
}

func TestEndingPlansRefuseChanges(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(p *usage.BillingPlan, now time.Time) error{
		"ends with its period": (*usage.BillingPlan).EndWithPeriod,
		"has ended": func(p *usage.BillingPlan, now time.Time) error {
			p.End(now)
			_, err := p.Close(now.Add(time.Hour))
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			now := at(t, "2026-01-11T00:00:00Z")
			p := plan(t, "2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z")
			if err := end(p, now); err != nil {
				t.Fatal(err)
			}
			before := p.State()
			if err := p.ChangePrice("pri_2"); !fault.Is(err, fault.StateConflict) {
				t.Errorf("change: %v", err)
			}
			if err := p.EndWithPeriod(now); !fault.Is(err, fault.StateConflict) {
				t.Errorf("end: %v", err)
			}
			if !reflect.DeepEqual(p.State(), before) {
				t.Errorf("a refusal changed %+v to %+v", before, p.State())
			}
		})
	}
}

func TestAnEarlierEndCutsThePeriodThatIsTheLast(t *testing.T) {
	t.Parallel()
	p := plan(t, "2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z")
	now := at(t, "2026-01-11T00:00:00Z")
	if err := p.EndWithPeriod(now); err != nil || !p.End(now) || !p.State().Current.End.Equal(now) {
		t.Errorf("%v, the last period is %v, want its end at %s", err, p.State().Current, now)
	}
}

func TestAPriceChangeNamesItsPrice(t *testing.T) {
	t.Parallel()
	wantFaults(t, usage.PriceChange{PriceID: "upr_1"}.Check(), "")
	wantFaults(t, usage.PriceChange{}.Check(), "priceId REQUIRED")
}

func TestARenamedCustomerIsAChange(t *testing.T) {
	t.Parallel()
	p := usage.RestoreBillingPlan(usage.PlanState{ExternalCustomerID: "user-1", Revision: 1})
	if before := p.State(); p.Rename("user-1") || p.State().Revision != before.Revision {
		t.Error("the same name is a change")
	}
	before := p.State().Revision
	if s := p.State(); !p.Rename("user-2") || p.State().ExternalCustomerID != "user-2" || p.State().Revision != before+1 {
		t.Errorf("%+v became %+v", s, p.State())
	}
}

func TestAPlanThatHasEndedEndsNoMore(t *testing.T) {
	t.Parallel()
	start, end := "2026-01-31T15:00:00Z", "2026-02-10T00:00:00Z"
	p := plan(t, start, "2026-02-03T00:00:00Z")
	p.End(at(t, end))
	if _, err := p.Close(p.State().NextInvoiceAt()); err != nil || p.State().Status != usage.PlanEnded {
		t.Fatalf("%+v, %v", p.State(), err)
	}
	s := p.State()
	s.FreeUntil = at(t, "2027-01-01T00:00:00Z")
	ended := usage.RestoreBillingPlan(s)
	if ended.End(at(t, start)) || ended.EndTrial(at(t, end)) || !reflect.DeepEqual(ended.State(), s) {
		t.Errorf("%+v changed to %+v", s, ended.State())
	}
}

func TestClosedPeriodsAreThoseThatHaveHadTheirInvoice(t *testing.T) {
	t.Parallel()
	p := plan(t, "2026-01-31T15:00:00Z", "2026-02-03T00:00:00Z")
	for range 3 {
		if _, err := p.Close(p.State().NextInvoiceAt()); err != nil {
			t.Fatal(err)
		}
	}
	wantEnds := func(s usage.PlanState, want ...string) {
		t.Helper()
		i := 0
		for closed := range s.Closed() {
			if i >= len(want) || !closed.End.Equal(at(t, want[i])) {
				t.Fatalf("closed period %d is %v, want the ends %v", i, closed, want)
			}
			i++
		}
		if i != len(want) {
			t.Errorf("%d closed periods, want %d", i, len(want))
		}
	}
	ends := []string{"2026-02-28T15:00:00Z", "2026-03-31T15:00:00Z", "2026-04-30T15:00:00Z"}
	wantEnds(p.State(), ends...)
	for closed := range p.State().Closed() {
		if !closed.End.Equal(at(t, ends[0])) {
			t.Errorf("the first is %v", closed)
		}
		break
	}
	last := "2026-05-10T00:00:00Z"
	p.End(at(t, last))
	wantEnds(p.State(), ends...)
	if _, err := p.Close(p.State().NextInvoiceAt()); err != nil {
		t.Fatal(err)
	}
	wantEnds(p.State(), append(ends, last)...)
}
