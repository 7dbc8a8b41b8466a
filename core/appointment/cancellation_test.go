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
