package plan_test

import (
	"encoding/json"
	"testing"

	"sundry/core/fault"
	"sundry/core/money"
	"sundry/core/period"
	"sundry/core/plan"
)

func eur(minor int64) money.Amount { return money.Amount{Minor: minor, Currency: "eur"} }

func TestSeatsMultiplyThePriceOnce(t *testing.T) {
	t.Parallel()
	one := plan.Offer{Title: "Team", PlanKey: "pro", PlanName: "Pro", Price: eur(1250), Interval: period.Month}
	five, err := one.WithSeats(5)
	if err != nil || five.Price != eur(6250) || five.Unit() != eur(1250) || five.Seats() != 5 {
		t.Fatalf("five: %+v, %v", five, err)
	}
	if five.Name() != "Team – Pro × 5" || five.PlanTitle() != "Pro × 5" {
		t.Errorf("named %q, %q", five.Name(), five.PlanTitle())
	}
	two, err := five.WithSeats(2)
	if err != nil || two.Price != eur(2500) || two.Seats() != 2 {
		t.Errorf("two of five: %+v, %v", two, err)
	}
	other := five
	other.PriceID = "price_2"
	if five.SameAs(two) || five.SameAs(other) || !five.SameAs(five) {
		t.Error("offers in another quantity, or of another price, are the same")
	}
	back, err := two.WithSeats(1)
	if err != nil || back.Price != one.Price || back.Quantity != 0 || back.UnitPrice != (money.Amount{}) {
		t.Errorf("one again: %+v, %v", back, err)
	}
	if one.Seats() != 1 || one.Unit() != eur(1250) || one.Name() != "Team – Pro" {
		t.Errorf("an offer without a quantity: %d of %v, %q", one.Seats(), one.Unit(), one.Name())
	}
}

func TestAQuantityIsRefused(t *testing.T) {
	t.Parallel()
	recurring := plan.Offer{Price: eur(1000), Interval: period.Month}
	for name, c := range map[string]struct {
		offer    plan.Offer
		quantity int
		ok       bool
	}{
		"none":                           {recurring, 0, false},
		"less than none":                 {recurring, -1, false},
		"ten thousand":                   {recurring, 10_000, true},
		"one more":                       {recurring, 10_001, false},
		"two of what does not recur":     {plan.Offer{Price: eur(1000)}, 2, false},
		"one of what does not recur":     {plan.Offer{Price: eur(1000)}, 1, true},
		"the most money":                 {plan.Offer{Price: eur(33_333_333_333), Interval: period.Month}, 3, true},
		"one cent more":                  {plan.Offer{Price: eur(33_333_333_334), Interval: period.Month}, 3, false},
		"more than an integer can count": {plan.Offer{Price: eur(plan.MaxAmount), Interval: period.Month}, 10_000_000_000, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := c.offer.WithSeats(c.quantity); c.ok && err != nil || !c.ok && !fault.Is(err, fault.ValidationFailed) {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestALimitPerSeatIsMultiplied(t *testing.T) {
	t.Parallel()
	var terms plan.Terms
	var f fault.Violations
	if plan.CheckSeats(&f, "quantity", nil); f.Err() != nil {
		t.Errorf("no quantity is refused: %v", f.Err())
	}
	third := plan.Terms{Entitlements: []plan.Entitlement{{Type: plan.Limit, Limit: 333_333_333_333_333, PerSeat: true}}}
	if got := third.Granted(3)[0].Limit; got != 999_999_999_999_999 {
		t.Errorf("three thirds of the most are %d", got)
	}
	stored := `{"entitlements":[{"key":"projects","type":"limit","value":10,"perSeat":true},` +
		`{"key":"regions","type":"limit","value":3},{"key":"huge","type":"limit","value":900000000000000,"perSeat":true}]}`
	if err := json.Unmarshal([]byte(stored), &terms); err != nil {
		t.Fatal(err)
	}
	for seats, want := range map[int][3]int64{
		1: {10, 3, 900_000_000_000_000}, 2: {20, 3, 1_000_000_000_000_000}, 5: {50, 3, 1_000_000_000_000_000}, 10_000: {100_000, 3, 1_000_000_000_000_000},
	} {
		for i, e := range terms.Granted(seats) {
			if e.Limit != want[i] || e.PerSeat {
				t.Errorf("%d seats give %+v, want %d", seats, e, want[i])
			}
		}
	}
	if !terms.Entitlements[0].PerSeat || terms.Entitlements[0].Limit != 10 {
		t.Errorf("the terms became %+v", terms.Entitlements[0])
	}
	raw, err := json.Marshal(terms.Entitlements[:2])
	if want := `[{"key":"projects","type":"limit","value":10,"perSeat":true},{"key":"regions","type":"limit","value":3}]`; err != nil || string(raw) != want {
		t.Errorf("%s, %v", raw, err)
	}
}
