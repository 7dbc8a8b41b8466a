package subscription_test

import (
	"slices"
	"testing"
	"time"

	"sundry/core/period"
	"sundry/core/plan"
	"sundry/core/subscription"
)

func TestPeriodsFollowTheOriginalAnchorOverYears(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		start string
		offer plan.Offer
		want  []string // the days on which periods begin
	}{
		"the 31st is clamped to each month's end": {"2026-12-31T10:00:00Z", basic,
			[]string{"2027-01-31", "2027-02-28", "2027-03-31", "2027-04-30", "2027-05-31"}},
		"the 30th comes back after February": {"2027-01-30T10:00:00Z", basic,
			[]string{"2027-02-28", "2027-03-30", "2027-04-30"}},
		"the 29th is kept in a leap year": {"2027-12-29T10:00:00Z", basic,
			[]string{"2028-01-29", "2028-02-29", "2028-03-29"}},
		"29 February yearly": {"2028-02-29T10:00:00Z", yearly,
			[]string{"2029-02-28", "2030-02-28", "2031-02-28", "2032-02-29"}},
		"weeks cross the year": {"2026-12-21T10:00:00Z", offer("w", 100, period.Week, 1, 0),
			[]string{"2026-12-28", "2027-01-04", "2027-01-11"}},
		"two weeks": {"2026-12-21T10:00:00Z", offer("w", 100, period.Week, 2, 0),
			[]string{"2027-01-04", "2027-01-18"}},
		"days over a leap day": {"2028-02-28T10:00:00Z", offer("d", 100, period.Day, 1, 0),
			[]string{"2028-02-29", "2028-03-01"}},
		"a quarter": {"2026-11-30T10:00:00Z", offer("q", 100, period.Month, 3, 0),
			[]string{"2027-02-28", "2027-05-30", "2027-08-30"}},
		"the end of a trial is the anchor": {"2027-01-17T10:00:00Z", trial,
			[]string{"2027-01-31", "2027-02-28", "2027-03-31"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sub := subscription.New(order(c.offer), at(c.start))
			if _, err := sub.Activate(at(c.start)); err != nil {
				t.Fatal(err)
			}
			end := sub.State().CurrentPeriodEnd
			for _, want := range c.want {
				step, due := sub.State().Next()
				if step != subscription.StepRenew || !due.Equal(end) {
					t.Fatalf("next is %q at %s, the period ends at %s", step, due, end)
				}
				s := renew(t, sub, due)
				if got := s.CurrentPeriodStart; got.Format(time.DateOnly) != want || !got.Equal(end) {
					t.Errorf("a period begins %s, want %s", got, want)
				}
				end = s.CurrentPeriodEnd
			}
		})
	}
}

func TestRenewalsThatRunLateMissNoPeriod(t *testing.T) {
	t.Parallel()
	sub := begin(t, offer("d", 100, period.Day, 1, 0))
	for n := range 5 {
		if s := renew(t, sub, started.Add(10*day)); !s.CurrentPeriodStart.Equal(started.Add(time.Duration(n+1) * day)) {
			t.Fatalf("period %d begins %s", n+1, s.CurrentPeriodStart)
		}
	}
}

func TestARecoveryPaysForThePeriodThatRuns(t *testing.T) {
	t.Parallel()
	monthly, weekly := begin(t, basic), begin(t, offer("w", 100, period.Week, 1, 0))
	end := monthly.State().CurrentPeriodEnd
	decline(t, monthly, "card_declined", end)
	if s := renew(t, monthly, end.Add(14*day)); !s.CurrentPeriodStart.Equal(end) || s.Dunning != (subscription.Dunning{}) {
		t.Errorf("the month that failed was not the one paid for: %+v", s)
	}
	end = weekly.State().CurrentPeriodEnd
	decline(t, weekly, "card_declined", end)
	if s := renew(t, weekly, end.Add(14*day)); !s.CurrentPeriodStart.Equal(end.Add(14 * day)) {
		t.Errorf("weeks without access were charged: %s", s.CurrentPeriodStart)
	}
}

func TestDunningTriesFourTimesAndGivesUp(t *testing.T) {
	t.Parallel()
	sub := begin(t, basic)
	first := sub.State().CurrentPeriodEnd
	for n, after := range []int{0, 2, 7, 14, 21} {
		attempt := first.AddDate(0, 0, after)
		if step, due := sub.State().Next(); step != subscription.StepRenew || !due.Equal(attempt) {
			t.Fatalf("attempt %d: next is %q at %s, want %s", n+1, step, due, attempt)
		}
		s := decline(t, sub, "insufficient_funds", attempt)
		d := s.Dunning
		if s.Status != subscription.StatusPastDue || d.Attempts != n+1 || d.DeclineCode != "insufficient_funds" ||
			!d.FirstFailedAt.Equal(first) || !d.GraceEndsAt.Equal(first.AddDate(0, 0, 7)) {
			t.Fatalf("attempt %d: %+v", n+1, d)
		}
	}
	last := first.AddDate(0, 0, 21)
	if step, _ := sub.State().Next(); step != subscription.StepExpire {
		t.Fatalf("next is %q", step)
	}
	if _, err := sub.NextBill(last); err != nil {
		t.Fatalf("a new card could not pay any more: %v", err)
	}
	if e, err := sub.Expire(last); err != nil || !e.EndedAt.Equal(last) || e.Status != subscription.StatusExpired {
		t.Fatalf("%+v, %v", e, err)
	}
}

func TestAHardDeclineIsNotTriedAgain(t *testing.T) {
	t.Parallel()
	for _, code := range []string{"stolen_card", "lost_card", "authentication_required", "fraudulent"} {
		sub := begin(t, basic)
		failed := sub.State().CurrentPeriodEnd
		s := decline(t, sub, code, failed)
		if !s.Dunning.NextAttemptAt.IsZero() {
			t.Errorf("%s: tried again at %s", code, s.Dunning.NextAttemptAt)
		}
		step, due := s.Next()
		if step != subscription.StepExpire || !due.Equal(failed.Add(subscription.Grace)) {
			t.Errorf("%s: %q at %s", code, step, due)
		}
		if _, err := sub.Expire(due.Add(-1)); err == nil {
			t.Errorf("%s: expired within the grace", code)
		}
	}
}

func TestAnExtraAttemptUsesUpNoneOfTheDays(t *testing.T) {
	t.Parallel()
	sub := begin(t, basic)
	first := sub.State().CurrentPeriodEnd
	decline(t, sub, "card_declined", first)
	s := decline(t, sub, "card_declined", first.Add(3*time.Hour))
	if !s.Dunning.NextAttemptAt.Equal(first.Add(2*day)) || s.Dunning.Attempts != 2 {
		t.Errorf("%+v", s.Dunning)
	}
}

func TestNoStepWhileChargingOrAfterTheEnd(t *testing.T) {
	t.Parallel()
	idle := []string{"incomplete", "charging", "changing", "paused", "paused, over", "resuming", "canceled", "expired"}
	for _, situation := range situations {
		step, _ := situation.make(t).State().Next()
		if (step == subscription.NoStep) != slices.Contains(idle, situation.name) {
			t.Errorf("%s: next is %q", situation.name, step)
		}
	}
}

func TestNoticeAWeekBeforeTrialOrYearlyCharge(t *testing.T) {
	t.Parallel()
	long, short, year, month := begin(t, trial), begin(t, offer("basic", 1000, period.Month, 1, 3)), begin(t,
		yearly), begin(t, basic)
	type notice struct {
		sub  *subscription.Subscription
		want time.Time
	}
	every := func(interval period.Interval, count, days int) notice {
		return notice{begin(t, offer("basic", 1000, interval, count, 0)), started.AddDate(0, 0, days-7)}
	}
	for name, c := range map[string]notice{
		"a trial":                       {long, started.Add(7 * day)},
		"one that is shorter than that": {short, started},
		"a year":                        {year, year.State().CurrentPeriodEnd.Add(-7 * day)},
		"a month is not":                {month, time.Time{}},
		"twelve months":                 every(period.Month, 12, 365),
		"52 weeks":                      every(period.Week, 52, 364),
		"365 days":                      every(period.Day, 365, 365),
		"two years":                     every(period.Year, 2, 730),
		"51 weeks are not":              {begin(t, offer("basic", 1000, period.Week, 51, 0)), time.Time{}},
		"eleven months are not":         {begin(t, offer("basic", 1000, period.Month, 11, 0)), time.Time{}},
	} {
		if got := c.sub.State().NoticeAt(); !got.Equal(c.want) {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	if _, err := year.CancelAtPeriodEnd(subscription.CancelRequested, started); err != nil {
		t.Fatal(err)
	}
	if got := year.State().NoticeAt(); !got.IsZero() {
		t.Errorf("a year that is canceled: %s", got)
	}
}
