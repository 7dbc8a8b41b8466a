package usage_test

import (
	"fmt"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sundry/core/fault"
	"sundry/core/usage"
)

func packages(t testing.TB, size int64, unit string) usage.Price {
	t.Helper()
	return usage.Price{TiersMode: usage.Package, Tiers: tiers(t, "∞@"+unit), PackageSize: size}
}

func TestKnownPackageAmounts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name           string
		size           int64
		unit, quantity string
		begun          string
		want           int64
	}{
		{"nothing", 1000, "500", "0", "", 0},
		{"less than nothing", 1000, "500", "-1500", "", 0},
		{"the first unit", 1000, "500", "1", "1 package of 1000", 500},
		{"the least there is", 1000, "500", "0.000000000001", "1 package of 1000", 500},
		{"a package", 1000, "500", "1000", "1 package of 1000", 500},
		{"a little more", 1000, "500", "1000.000000000001", "2 packages of 1000", 1000},
		{"one more", 1000, "500", "1001", "2 packages of 1000", 1000},
		{"one less than three", 1000, "500", "2999", "3 packages of 1000", 1500},
		{"three", 1000, "500", "3000", "3 packages of 1000", 1500},
		{"packages of one round units up", 1, "7", "2.5", "3 packages of 1", 21},
		{"packages of a quantity that is no power of ten", 7, "3", "22", "4 packages of 7", 12},
		{"the sum is rounded, not each package", 100, "0.3333", "100000", "1000 packages of 100", 333},
		{"half a cent is a cent", 100, "0.5", "1", "1 package of 100", 1},
		{"less than half a cent is none", 100, "0.4999", "1", "1 package of 100", 0},
		{"free packages", 100, "0", "250", "3 packages of 100", 0},
		{"the largest packages", 1_000_000_000_000, "9", "1000000000000.1", "2 packages of 1000000000000", 18},
		{"the largest quantity", 1_000_000_000_000, "0.0001", "99999999999999999999999999",
			"100000000000000 packages of 1000000000000", 10_000_000_000},
		{"the most that is billed", 10, "99999999999", "10", "1 package of 10", 99_999_999_999},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			price, q := packages(t, c.size, c.unit), quantity(t, c.quantity)
			amount, err := price.Amount(q)
			if err != nil || amount != c.want {
				t.Fatalf("%s units: %d, %v; want %d", c.quantity, amount, err, c.want)
			}
			charges, explained, err := price.Explain(q)
			if err != nil || explained != c.want {
				t.Fatalf("explained by %+v: %d, %v", charges, explained, err)
			}
			var begun []string
			for _, one := range charges {
				begun = append(begun, one.Counted())
			}
			if got := strings.Join(begun, ", "); got != c.begun {
				t.Errorf("counted %q, want %q", got, c.begun)
			}
		})
	}
	for _, q := range []string{"10.1", "99999999999999999999999999"} {
		_, err := packages(t, 10, "99999999999").Amount(quantity(t, q))
		_, _, explaining := packages(t, 10, "99999999999").Explain(quantity(t, q))
		if !fault.Is(err, fault.LimitReached) || !fault.Is(explaining, fault.LimitReached) {
			t.Errorf("%s, more than an invoice can charge: %v, %v", q, err, explaining)
		}
	}
}

func TestPackagesAreCountedBeyondWhatIsIncluded(t *testing.T) {
	t.Parallel()
	period := usage.Period{Start: at(t, "2026-01-01T00:00:00Z"), End: at(t, "2026-02-01T00:00:00Z")}
	for q, want := range map[string]int64{"100": 0, "100.1": 500, "1100": 500, "1101": 1000} {
		r := usage.Use{Price: packages(t, 1000, "500"), Period: period, Quantity: quantity(t, q), Included: 100}.Rate()
		if r.Waits || r.AmountMinor != want {
			t.Errorf("%s units of which 100 are included: %+v, want %d", q, r, want)
		}
	}
}

// TestAPackageMakesASmallReportLarge: what one unit asks for is a package.
func TestAPackageMakesASmallReportLarge(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		unit, quantity string
		want           bool
	}{
		{"99999", "0.001", false}, {"100000", "0.001", true}, {"99999", "1000", false}, {"99999", "1000.1", true},
		{"99999999999", "0", false}, {"99999999999", "-1", false},
	} {
		if got := packages(t, 1000, c.unit).Large(quantity(t, c.quantity)); got != c.want {
			t.Errorf("%s units at %s for a package: large is %v", c.quantity, c.unit, got)
		}
	}
	most, err := usage.RestoreQuantity(largestQuantity)
	if err != nil {
		t.Fatal(err)
	}
	if each := packages(t, 1, "0"); !each.Large(most) {
		t.Error("packages that cannot be counted are not large")
	} else if amount, err := each.Amount(most); amount != 0 || !fault.Is(err, fault.LimitReached) {
		t.Errorf("packages that cannot be counted: %d, %v", amount, err)
	} else if charges, amount, err := each.Explain(most); charges != nil || amount != 0 || !fault.Is(err, fault.LimitReached) {
		t.Errorf("packages that cannot be counted are %v, %d, %v", charges, amount, err)
	}
	byRate := usage.Price{Tiers: tiers(t, "∞@1"), Rates: []usage.Rate{{Tiers: tiers(t, "∞@2")}, {Tiers: tiers(t, "∞@100")}}}
	if byRate.Large(usage.Units(999)) || !byRate.Large(usage.Units(1000)) {
		t.Error("what is large by a rate is not")
	}
	if tiered := (usage.Price{Tiers: tiers(t, "∞@100")}); tiered.Large(usage.Units(999)) || !tiered.Large(usage.Units(1000)) {
		t.Error("the packages changed what is large in tiers")
	}
}

// TestPackagesAreCountedUp compares with big rational numbers: the packages hold the quantity, and one less does not.
func TestPackagesAreCountedUp(outer *testing.T) {
	outer.Parallel()
	rapid.Check(outer, func(t *rapid.T) {
		size := rapid.OneOf(rapid.Int64Range(1, 20), rapid.Int64Range(1, 1_000_000_000_000)).Draw(t, "size")
		whole, decimals := rapid.Int64Range(0, 1_000_000_000).Draw(t, "whole"), rapid.Int64Range(0, 999).Draw(t, "decimals")
		text := fmt.Sprintf("%d.%03d", whole, decimals)
		price := packages(outer, size, "1")
		charges, amount, err := price.Explain(quantity(outer, text))
		if err != nil {
			t.Fatal(err)
		}
		exact, _ := new(big.Rat).SetString(text)
		holds := func(n int64) bool {
			return new(big.Rat).SetInt(new(big.Int).Mul(big.NewInt(n), big.NewInt(size))).Cmp(exact) >= 0
		}
		if !holds(amount) || amount > 0 && holds(amount-1) {
			t.Fatalf("%s units in packages of %d: %d", text, size, amount)
		}
		if len(charges) > 0 && (charges[0].Quantity != usage.Units(amount) || charges[0].PackageSize != size) {
			t.Fatalf("explained by %+v", charges)
		}
		if again, err := price.Amount(quantity(outer, text)); err != nil || again != amount {
			t.Fatalf("%d, %v; explained %d", again, err, amount)
		}
	})
}
