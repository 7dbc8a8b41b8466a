package subscription_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sundry/core/fault"
	"sundry/core/period"
	"sundry/core/plan"
	"sundry/core/subscription"
)

// seats is an offer in a quantity.
func seats(t rapid.TB, o plan.Offer, n int) plan.Offer {
	t.Helper()
	o, err := o.WithSeats(n)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// changeSeats changes the quantity now and returns what it costs: what is credited is less than nothing.
func changeSeats(t rapid.TB, sub *subscription.Subscription, n int, now time.Time) int64 {
	t.Helper()
	before := sub.State()
	bill, err := sub.ChangeBill(seats(t, before.Offer, n), subscription.ChargeNow, now)
	if err != nil {
		t.Fatal(err)
	}
	if bill.Due().Minor == 0 {
		_, err = sub.Apply(bill)
	} else if err = sub.StartCharge("pay_c", bill); err == nil {
		_, err = sub.Paid("pay_c")
	}
	if err != nil {
		t.Fatal(err)
	}
	credited := sub.State().Credit.Minor - (before.Credit.Minor - bill.CreditUsed.Minor)
	return bill.Subtotal.Minor - credited
}

// TestSeatChangesAddUp holds a period's price to the days of each quantity in it: every change rounds twice.
func TestSeatChangesAddUp(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		one := offer("team", rapid.Int64Range(1, 99_999).Draw(t, "unit"), period.Month, 1, 0)
		now := seats(t, one, rapid.IntRange(1, 500).Draw(t, "seats"))
		sub := subscription.New(order(now), started)
		if _, err := sub.Activate(started); err != nil {
			t.Fatal(err)
		}
		const days = 28 // from 31 January to 28 February
		offsets := rapid.SliceOfN(rapid.IntRange(0, days-1), 0, 8).Draw(t, "days")
		slices.Sort(offsets)
		cost, ideal, from, changes := now.Price.Minor, int64(0), 0, int64(0)
		for _, day0 := range offsets {
			n := rapid.IntRange(1, 500).Draw(t, "to")
			if n == sub.State().Offer.Seats() {
				continue
			}
			ideal += sub.State().Offer.Price.Minor * int64(day0-from)
			from = day0
			cost += changeSeats(t, sub, n, started.Add(time.Duration(day0)*day+time.Hour))
			changes++
		}
		ideal += sub.State().Offer.Price.Minor * int64(days-from)
		if off := cost*days - ideal; off > changes*days || -off > changes*days {
			t.Fatalf("the period cost %d, by days it is %d/%d: off by more than a cent for each of %d changes", cost, ideal,
				days, changes)
		}
		if s := sub.State(); s.Offer.Unit() != one.Price {
			t.Fatalf("the price of one became %v", s.Offer.Unit())
		}
	})
}

// TestSeatsUpAndDownAtOnceCostNothing changes the quantity back at the instant at which it was changed.
func TestSeatsUpAndDownAtOnceCostNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		one := offer("team", rapid.Int64Range(0, 99_999).Draw(t, "unit"), period.Month, 1, 0)
		first := rapid.IntRange(1, 100).Draw(t, "seats")
		sub := subscription.New(order(seats(t, one, first)), started)
		if _, err := sub.Activate(started); err != nil {
			t.Fatal(err)
		}
		now := started.Add(time.Duration(rapid.Int64Range(0, int64(28*day)-1).Draw(t, "at")))
		sum := int64(0)
		for _, n := range append(rapid.SliceOfN(rapid.IntRange(1, 100), 1, 6).Draw(t, "to"), first) {
			if n != sub.State().Offer.Seats() {
				sum += changeSeats(t, sub, n, now)
			}
		}
		if sum != 0 {
			t.Fatalf("%d cents remain", sum)
		}
	})
}

func TestSeatsAreBilledWithEachRenewal(t *testing.T) {
	t.Parallel()
	sub := begin(t, seats(t, basic, 3))
	if s := sub.State(); s.PeriodValue != eur(3000) {
		t.Fatalf("the first period is worth %v", s.PeriodValue)
	}
	half := at("2026-02-14T10:00:00Z") // 14 of 28 days
	if cost := changeSeats(t, sub, 5, half); cost != 1000 {
		t.Errorf("two more for half a period: %d, want 1000", cost)
	}
	if cost := changeSeats(t, sub, 4, half); cost != -500 || sub.State().Credit != eur(500) {
		t.Errorf("one less for half a period: %d, want -500", cost)
	}
	bill := charge(t, sub, "pay_r", sub.State().CurrentPeriodEnd)
	if bill.Subtotal != eur(4000) || bill.Due() != eur(3500) || bill.Lines[0].Description != "App – basic × 4" {
		t.Errorf("the renewal: %+v", bill)
	}
	if _, err := sub.Paid("pay_r"); err != nil {
		t.Fatal(err)
	}
	if _, err := sub.PlanFor(seats(t, sub.State().Offer, 2)); err != nil || sub.State().Planned.Seats() != 2 {
		t.Fatalf("two from the next period: %v", err)
	}
	if _, err := sub.PlanFor(sub.State().Offer); err != nil || sub.State().Planned != nil {
		t.Fatalf("as it is after all: %v, %+v", err, sub.State().Planned)
	}
	if _, err := sub.PlanFor(seats(t, sub.State().Offer, 2)); err != nil {
		t.Fatal(err)
	}
	if s := renew(t, sub, sub.State().CurrentPeriodEnd); s.Offer.Seats() != 2 || s.PeriodValue != eur(2000) {
		t.Errorf("renewed: %d for %v", s.Offer.Seats(), s.PeriodValue)
	}
	if _, err := sub.ChangeBill(sub.State().Offer, subscription.ChargeNow, half); !fault.Is(err, fault.StateConflict) {
		t.Errorf("the same quantity: %v", err)
	}
}

func TestSeatsChangeForNothingDuringATrial(t *testing.T) {
	t.Parallel()
	sub := begin(t, seats(t, trial, 2))
	for _, n := range []int{5, 4} {
		if cost := changeSeats(t, sub, n, started.Add(day)); cost != 0 || sub.State().Status != subscription.StatusTrialing {
			t.Fatalf("%d seats in the trial: %d cents, %s", n, cost, sub.State().Status)
		}
	}
	if s := renew(t, sub, sub.State().CurrentPeriodEnd); s.PeriodValue != eur(4000) || s.Offer.Seats() != 4 {
		t.Errorf("the first paid period: %d for %v", s.Offer.Seats(), s.PeriodValue)
	}
}

func TestAQuoteIsForOneQuantity(t *testing.T) {
	t.Parallel()
	sub := begin(t, seats(t, basic, 2))
	bill, err := sub.ChangeBill(seats(t, basic, 3), subscription.ChargeNow, started)
	if err != nil {
		t.Fatal(err)
	}
	quote := subscription.Quote{SubscriptionID: "sub_1", Mode: subscription.ChargeNow, Bill: bill, Revision: sub.State().Revision,
		ExpiresAt: started.Add(time.Hour)}
	for n, ok := range map[int]bool{3: true, 4: false} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			if _, err := quote.Use(sub.State(), seats(t, basic, n), subscription.ChargeNow, started); (err == nil) != ok {
				t.Errorf("%v", err)
			}
		})
	}
}
