package usage_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"sundry/core/fault"
	"sundry/core/usage"
)

func volume(t testing.TB, text string) usage.Price {
	t.Helper()
	return usage.Price{TiersMode: usage.Volume, Tiers: tiers(t, text)}
}

// reached is the tier of a quantity.
func reached(p usage.Price, q usage.Quantity) usage.Tier {
	return p.Tiers[slices.IndexFunc(p.Tiers, func(t usage.Tier) bool { return t.Unbounded || q.Compare(t.UpTo) <= 0 })]
}

func TestKnownVolumeAmounts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, tiers, quantity string
		want                  int64
	}{
		{"nothing", "5@700 10@650 ∞@600", "0", 0},
		{"less than nothing", "5@700 10@650 ∞@600", "-3", 0},
		{"the first unit", "5@700 10@650 ∞@600", "1", 700},
		{"all of the first tier", "5@700 10@650 ∞@600", "5", 3500},
		{"a little more than the first tier", "5@700 10@650 ∞@600", "5.000000000001", 3250},
		{"the first of the second tier", "5@700 10@650 ∞@600", "6", 3900},
		{"all of the second tier", "5@700 10@650 ∞@600", "10", 6500},
		{"the last tier", "5@700 10@650 ∞@600", "25", 15000},
		{"a free first tier costs nothing", "1000@0 ∞@0.02", "1000", 0},
		{"and all of it beyond", "1000@0 ∞@0.5", "1001", 501},
		{"half a cent is a cent", "10@1 ∞@0.5", "11", 6},
		{"less than half a cent is none", "∞@0.4999", "1", 0},
		{"decimals on both sides", "10@500 ∞@445.56", "10.625", 4734},
		{"one tier", "∞@0.3333", "1000", 333},
		{"the most that is billed", "1@5 ∞@1", "99999999999", 99_999_999_999},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			price, q := volume(t, c.tiers), quantity(t, c.quantity)
			amount, err := price.Amount(q)
			if err != nil || amount != c.want {
				t.Fatalf("%s units: %d, %v; want %d", c.quantity, amount, err, c.want)
			}
			charges, explained, err := price.Explain(q)
			if err != nil || explained != c.want || len(charges) > 1 {
				t.Fatalf("explained by %+v: %d, %v", charges, explained, err)
			}
			for _, one := range charges {
				if one.Quantity != q || !one.Tier.Unbounded && q.Compare(one.Tier.UpTo) > 0 || one.Tier.Unit != reached(price, q).Unit ||
					one.Tier.Unbounded != reached(price, q).Unbounded {
					t.Errorf("explained by %+v", one)
				}
			}
		})
	}
	if _, err := volume(t, "1@5 ∞@1").Amount(quantity(t, "100000000000")); !fault.Is(err, fault.LimitReached) {
		t.Errorf("more than an invoice can charge: %v", err)
	}
}

// TestVolumeIsOneTierForAllUnits compares the modes: both are the same within the first tier, and by volume the rest is
// what the reached tier alone would ask for.
func TestVolumeIsOneTierForAllUnits(outer *testing.T) {
	outer.Parallel()
	rapid.Check(outer, func(t *rapid.T) {
		first, second := rapid.Int64Range(0, 500).Draw(t, "first"), rapid.Int64Range(0, 500).Draw(t, "second")
		end, n := rapid.Int64Range(1, 1000).Draw(t, "end"), rapid.Int64Range(0, 2000).Draw(t, "units")
		price := volume(outer, fmt.Sprintf("%d@%d ∞@%d", end, first, second))
		q := quantity(outer, fmt.Sprint(n))
		amount, err := price.Amount(q)
		if err != nil {
			t.Fatal(err)
		}
		graduated, err := price.Tiers.Amount(q, 1)
		if err != nil {
			t.Fatal(err)
		}
		want := n * first
		if n > end {
			want = n * second
		} else if graduated != amount {
			t.Fatalf("within the first tier %d, graduated %d", amount, graduated)
		}
		if amount != want {
			t.Fatalf("%d units: %d, want %d", n, amount, want)
		}
	})
}
