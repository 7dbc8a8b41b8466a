package appointment

import (
	"math"
	"testing"
	"time"

	"sundry/core/listing"
	"sundry/core/money"
)

func TestTheSharesOfAPackSumToWhatWasPaid(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		paid int64
		want []int64
	}{
		"it divides":              {9000, []int64{3000, 3000, 3000}},
		"a cent is left":          {10000, []int64{3333, 3334, 3333}},
		"less than a cent each":   {2, []int64{1, 0, 1}},
		"one appointment":         {4999, []int64{4999}},
		"nothing was paid at all": {0, []int64{0, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var sum int64
			for i, want := range c.want {
				got, err := ShareOf(money.Amount{Minor: c.paid, Currency: "eur"}, i, len(c.want))
				if err != nil || got.Minor != want || got.Currency != "eur" {
					t.Errorf("share %d is %+v, %v, want %d", i, got, err, want)
				}
				sum += got.Minor
			}
			if sum != c.paid {
				t.Errorf("the shares sum to %d of %d", sum, c.paid)
			}
		})
	}
}

func TestTheSharesOfThousandthsCanBeRefunded(t *testing.T) {
	t.Parallel()
	for i, want := range []int64{3330, 3340, 3330} {
		got, err := ShareOf(money.Amount{Minor: 10_000, Currency: "kwd"}, i, 3)
		if err != nil || got.Minor != want {
			t.Errorf("share %d is %+v, %v, want %d", i, got, err, want)
		}
	}
}

func TestNoPlaceOutsideThePackHasAShare(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		paid            int64
		position, count int
	}{
		"before the first":                 {100, -1, 3},
		"after the last of a large amount": {math.MaxInt64, 1, 1},
		"of none":                          {100, 0, 0},
	} {
		if got, err := ShareOf(money.Amount{Minor: c.paid, Currency: "eur"}, c.position, c.count); err == nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestWhoGetsTheMoneyBack(t *testing.T) {
	t.Parallel()
	starts := time.Date(2026, 6, 15, 8, 0, 0, 0, time.UTC)
	day := RefundPolicy{Promised: true, FullHours: 24}
	for name, c := range map[string]struct {
		policy RefundPolicy
		by     Canceler
		wanted bool
		before time.Duration
		want   RefundDecision
	}{
		"a buyer in time":                   {day, ByBuyer, true, 25 * time.Hour, RefundDue},
		"a buyer at the last moment":        {day, ByBuyer, true, 24 * time.Hour, RefundDue},
		"a buyer a moment later":            {day, ByBuyer, true, 24*time.Hour - time.Millisecond, TooLateToRefund},
		"a buyer who was promised nothing":  {RefundPolicy{}, ByBuyer, true, 1000 * time.Hour, NoRefundPolicy},
		"a buyer who may until the start":   {RefundPolicy{Promised: true}, ByBuyer, true, time.Minute, RefundDue},
		"a creator, whatever was promised":  {RefundPolicy{}, ByCreator, true, time.Minute, RefundDue},
		"a creator who keeps the money":     {day, ByCreator, false, 25 * time.Hour, RefundDeclined},
		"the system, whatever was promised": {RefundPolicy{}, BySystem, true, time.Minute, RefundDue},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := State{StartsAt: starts, RefundPolicy: c.policy}
			if got := s.DecideRefund(c.by, c.wanted, starts.Add(-c.before)); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestThePolicyIsTheOneThatTheBuyerSaw(t *testing.T) {
	t.Parallel()
	b := Bookable{
		Listing:      listing.State{Type: listing.Appointment, Metadata: listing.Metadata{listing.FullRefundHours: int64(1)}},
		RefundPolicy: PolicyOf(new(48)),
	}
	a, _ := b.Book("apt_1", ReservationState{}, Buyer{}, "", time.Time{})
	if got := a.State().RefundPolicy; got != (RefundPolicy{Promised: true, FullHours: 48}) || *got.Hours() != 48 {
		t.Errorf("%+v", got)
	}
	b.RefundPolicy = PolicyOf(nil)
	a, _ = b.Book("apt_2", ReservationState{}, Buyer{}, "", time.Time{})
	if got := a.State().RefundPolicy; got.Promised || got.Hours() != nil {
		t.Errorf("%+v", got)
	}
}

func TestALateMoveOfTheBuyerRestoresNoRefund(t *testing.T) {
	t.Parallel()
	starts := time.Date(2026, 6, 15, 8, 0, 0, 0, time.UTC)
	late, early := starts.Add(-23*time.Hour), starts.Add(-25*time.Hour)
	for name, c := range map[string]struct {
		policy *int
		at, to time.Time
		want   RefundDecision
		hours  int // of the policy afterwards
	}{
		"late, to a later day":       {new(24), late, starts.Add(72 * time.Hour), TooLateToRefund, 96},
		"late, by part of an hour":   {new(24), late, starts.Add(20 * time.Minute), TooLateToRefund, 25},
		"late, by a moment":          {new(24), late, starts.Add(1), TooLateToRefund, 25},
		"late, to an earlier time":   {new(24), late, starts.Add(-2 * time.Hour), TooLateToRefund, 22},
		"late, by two years":         {new(24), late, starts.AddDate(2, 0, 0), TooLateToRefund, 732*24 - 24 + 24},
		"in time, to a later day":    {new(24), early, starts.Add(72 * time.Hour), RefundDue, 24},
		"nothing was promised":       {nil, late, starts.Add(72 * time.Hour), NoRefundPolicy, 0},
		"promised until the start":   {new(0), late, starts.Add(72 * time.Hour), RefundDue, 0},
		"in time, into its last day": {new(24), early, starts.Add(-2 * time.Hour), TooLateToRefund, 24},
	} {
		a := Restore(State{StartsAt: starts, RefundPolicy: PolicyOf(c.policy)})
		if err := a.MoveByBuyer(c.to, c.at); err != nil {
			t.Fatal(err)
		}
		a.s.StartsAt = c.to
		if got := a.State().DecideRefund(ByBuyer, true, c.at); got != c.want || a.s.RefundPolicy.FullHours != c.hours {
			t.Errorf("%s: %s with %d hours, want %s with %d", name, got, a.s.RefundPolicy.FullHours, c.want, c.hours)
		}
	}
}

func TestAMoveOfTheCreatorTakesNoRefundAway(t *testing.T) {
	t.Parallel()
	starts := time.Date(2026, 6, 15, 8, 0, 0, 0, time.UTC)
	late, early := starts.Add(-23*time.Hour), starts.Add(-72*time.Hour)
	for name, c := range map[string]struct {
		policy *int
		at, to time.Time
		want   RefundDecision
		hours  int // of the policy afterwards
	}{
		"into its last day":    {new(24), early, early.Add(12 * time.Hour), RefundDue, 0},
		"to a later day":       {new(24), early, starts.Add(72 * time.Hour), RefundDue, 24},
		"when it was too late": {new(24), late, late.Add(time.Hour), TooLateToRefund, 24},
		"nothing was promised": {nil, early, early.Add(time.Hour), NoRefundPolicy, 0},
	} {
		a := Restore(State{StartsAt: starts, RefundPolicy: PolicyOf(c.policy)})
		a.MoveByCreator(c.to, c.at)
		a.s.StartsAt = c.to
		if got := a.State().DecideRefund(ByBuyer, true, c.at); got != c.want || a.s.RefundPolicy.FullHours != c.hours {
			t.Errorf("%s: %s with %d hours, want %s with %d", name, got, a.s.RefundPolicy.FullHours, c.want, c.hours)
		}
	}
}
