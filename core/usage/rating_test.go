package usage_test

import (
	"encoding/json"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sundry/core/fault"
	"sundry/core/fault/faulttest"
	"sundry/core/money"
	"sundry/core/usage"
)

// tiers reads "5@7 10@6.5 ∞@6", prices in minor units.
func tiers(t testing.TB, text string) usage.Tiers {
	t.Helper()
	var drafts []usage.TierDraft
	for part := range strings.FieldsSeq(text) {
		upTo, price, _ := strings.Cut(part, "@")
		draft := usage.TierDraft{UnitAmountDecimal: &price}
		if upTo != "∞" {
			number := json.Number(upTo)
			draft.UpTo = &number
		}
		drafts = append(drafts, draft)
	}
	var f fault.Violations
	parsed := usage.ParseTiers(&f, "tiers", drafts)
	if err := f.Err(); err != nil {
		t.Fatal(err)
	}
	return parsed
}

func quantity(t testing.TB, literal string) usage.Quantity {
	t.Helper()
	q, err := usage.ParseQuantity(literal)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func TestKnownAmounts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, tiers, quantity string
		want                  int64
	}{
		{"the first unit", "5@700 10@650 ∞@600", "1", 700},
		{"the first of the second tier", "5@700 10@650 ∞@600", "6", 4150},
		{"all three tiers", "5@700 10@650 ∞@600", "25", 15750},
		{"thousands", "1000@10 10000@5 ∞@1", "15000", 60000},
		{"half into the second tier", "10@5000 20@4000 ∞@3000", "15", 70000},
		{"decimal bounds", "0.1@1000 1@500 ∞@200", "0.5", 300},
		{"a price with many decimals", "∞@0.3333", "1000", 333},
		{"decimals on both sides in a currency of two decimals", "∞@445.56", "10.625", 4734},
		{"and in one of none", "∞@4.4556", "10.625", 47},
		{"a half is rounded away from zero", "∞@0.5", "1", 1},
		{"less than a half is not", "∞@0.4", "1", 0},
		{"the last decimal below a half", "∞@0.499999999999", "1", 0},
		{"nothing", "5@7 ∞@6", "0", 0},
		{"a negative sum is billed as nothing", "5@7 ∞@6", "-3", 0},
		{"exactly at a bound", "5@7 ∞@6", "5", 35},
		{"just above a bound", "5@7 ∞@1000", "5.000000000001", 35},
		{"the smallest product", "∞@0.000000000001", "0.000000000001", 0},
		{"the largest amount", "∞@99999999999", "1", 99999999999},
		{"a free first tier", "100@0 ∞@2", "101", 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := tiers(t, c.tiers).Amount(quantity(t, c.quantity), 1)
			if err != nil || got != c.want {
				t.Errorf("%s of %s = %d, %v; want %d", c.quantity, c.tiers, got, err, c.want)
			}
		})
	}
}

// Stripe charges thousandths in tens only.
func TestUseInThousandthsCanBeCharged(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		currency money.Currency
		quantity string
		want     int64
	}{
		"tens of thousandths":   {"kwd", "20", 30},
		"less than half of ten": {"kwd", "16.666", 20},
		"half of ten":           {"kwd", "16.666667", 30},
		"less than any":         {"kwd", "3", 0},
		"the most":              {"kwd", "66666666660", 99_999_999_990},
		"whole minor units":     {"eur", "3", 5},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			price := usage.Price{Currency: c.currency, TiersMode: usage.Graduated, Tiers: tiers(t, "∞@1.5")}
			if got, err := price.Amount(quantity(t, c.quantity)); err != nil || got != c.want {
				t.Errorf("%s units cost %d, want %d (%v)", c.quantity, got, c.want, err)
			}
			if _, got, err := price.Explain(quantity(t, c.quantity)); err != nil || got != c.want {
				t.Errorf("%s units are explained as %d, want %d (%v)", c.quantity, got, c.want, err)
			}
		})
	}
	price := usage.Price{Currency: "kwd", Tiers: tiers(t, "∞@1")}
	if got, err := price.Amount(quantity(t, "99999999995")); !fault.Is(err, fault.LimitReached) {
		t.Errorf("more than an invoice can charge is %d (%v)", got, err)
	}
}

func TestThreeLinesAreRoundedEach(t *testing.T) {
	t.Parallel()
	price := tiers(t, "∞@1033.3333")
	var sum int64
	for range 3 {
		amount, err := price.Amount(usage.Units(1), 1)
		if err != nil {
			t.Fatal(err)
		}
		sum += amount
	}
	if sum != 3099 {
		t.Errorf("three lines of 10.333333 come to %d", sum)
	}
}

// largest is the largest quantity there is: 2^256-1 at 12 decimals.
const largest = "115792089237316195423570985008687907853269984665640564039457584007.913129639935"

func TestAmountsBeyondAllInvoicesAreRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string][2]string{
		"one too many":           {"∞@1", "100000000000"},
		"a report of all digits": {"∞@99999999999", strings.Repeat("9", 26)},
		"more than a product":    {"∞@99999999999", strings.Repeat("9", 64)},
		"more than a sum fits":   {"1@99999999999 ∞@0.000000000001", largest},
		"rounded over the edge":  {"∞@99999999999", "1.00000000001"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q, err := usage.RestoreQuantity(c[1])
			if err != nil {
				t.Fatal(err)
			}
			if got, err := tiers(t, c[0]).Amount(q, 1); got != 0 || !fault.Is(err, fault.LimitReached) {
				t.Errorf("%d, %v", got, err)
			}
			if _, got, err := tiers(t, c[0]).Explain(q, 1); got != 0 || !fault.Is(err, fault.LimitReached) {
				t.Errorf("explained as %d: %v", got, err)
			}
		})
	}
}

func TestExplainListsTheTiersThatWereReached(t *testing.T) {
	t.Parallel()
	charges, amount, err := tiers(t, "10@0.25 20@0.1 ∞@0").Explain(quantity(t, "12.5"), 1)
	if err != nil || amount != 3 || len(charges) != 2 {
		t.Fatalf("%+v, %d, %v", charges, amount, err)
	}
	if charges[0].Quantity != usage.Units(10) || charges[0].Amount != "2.5" || charges[1].Quantity.String() != "2.5" ||
		charges[1].Amount != "0.25" {
		t.Errorf("%+v", charges)
	}
}

// The oracle walks unit by unit: at a resolution of one tenth, each tenth is sold at the price of its own tier.
func TestRatingSellsEachUnitAtThePriceOfItsTier(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		count := rapid.IntRange(1, 5).Draw(t, "tiers")
		bounds, prices, text := make([]int, count-1), make([]int64, count), make([]string, count)
		upTo := 0
		for i := range count {
			prices[i] = rapid.Int64Range(0, 100_000).Draw(t, "price")
			price := decimal(prices[i], 3)
			if i == count-1 {
				text[i] = "∞@" + price
				break
			}
			upTo += rapid.IntRange(1, 60).Draw(t, "width")
			bounds[i] = upTo
			text[i] = decimal(int64(upTo), 1) + "@" + price
		}
		tenths := rapid.IntRange(0, 400).Draw(t, "tenths")
		want := new(big.Int)
		for n := 1; n <= tenths; n++ {
			tier := 0
			for tier < len(bounds) && n > bounds[tier] {
				tier++
			}
			want.Add(want, big.NewInt(prices[tier]))
		}
		// want is in ten-thousandths of a minor unit.
		minor, rest := new(big.Int).QuoRem(want, big.NewInt(10_000), new(big.Int))
		if rest.Int64() >= 5_000 {
			minor.Add(minor, big.NewInt(1))
		}
		var f fault.Violations
		parsed := parse(&f, text)
		if err := f.Err(); err != nil {
			t.Fatal(err)
		}
		q, err := usage.ParseQuantity(decimal(int64(tenths), 1))
		if err != nil {
			t.Fatal(err)
		}
		got, err := parsed.Amount(q, 1)
		if err != nil || got != minor.Int64() {
			t.Fatalf("%s of %v = %d, %v; unit by unit %s", q, text, got, err, minor)
		}
		charges, explained, err := parsed.Explain(q, 1)
		if err != nil || explained != got {
			t.Fatalf("explained as %d, %v", explained, err)
		}
		sum := usage.Quantity{}
		for _, c := range charges {
			sum, _ = sum.Add(c.Quantity)
		}
		if sum != q {
			t.Fatalf("the tiers' quantities sum to %s of %s", sum, q)
		}
	})
}

func parse(f *fault.Violations, text []string) usage.Tiers {
	drafts := make([]usage.TierDraft, len(text))
	for i, part := range text {
		upTo, price, _ := strings.Cut(part, "@")
		drafts[i].UnitAmountDecimal = &price
		if upTo != "∞" {
			number := json.Number(upTo)
			drafts[i].UpTo = &number
		}
	}
	return usage.ParseTiers(f, "tiers", drafts)
}

// decimal writes n divided by a power of ten.
func decimal(n int64, places int) string {
	text := strconv.FormatInt(n, 10)
	if missing := places + 1 - len(text); missing > 0 {
		text = strings.Repeat("0", missing) + text
	}
	return text[:len(text)-places] + "." + text[len(text)-places:]
}

func TestTiersListEveryFault(t *testing.T) {
	t.Parallel()
	text := func(s string) *string { return &s }
	number := func(s string) *json.Number { n := json.Number(s); return &n }
	cents := func(n int64) *int64 { return &n }
	for name, c := range map[string]struct {
		drafts []usage.TierDraft
		want   string
	}{
		"none": {nil, "tiers REQUIRED"},
		"the last has an end": {[]usage.TierDraft{{UpTo: number("1"), UnitAmountInCents: cents(1)}},
			"tiers[0].upTo INVALID"},
		"one before the last has none": {[]usage.TierDraft{{UnitAmountInCents: cents(1)}, {UnitAmountInCents: cents(1)}},
			"tiers[0].upTo INVALID"},
		"not rising": {[]usage.TierDraft{{UpTo: number("2"), UnitAmountInCents: cents(1)},
			{UpTo: number("2"), UnitAmountInCents: cents(1)}, {UnitAmountInCents: cents(1)}}, "tiers[1].upTo OUT_OF_RANGE"},
		"the first at zero": {[]usage.TierDraft{{UpTo: number("0"), UnitAmountInCents: cents(1)},
			{UnitAmountInCents: cents(1)}}, "tiers[0].upTo OUT_OF_RANGE"},
		"no price": {[]usage.TierDraft{{}}, "tiers[0].unitAmountInCents REQUIRED"},
		"both prices": {[]usage.TierDraft{{UnitAmountInCents: cents(1), UnitAmountDecimal: text("1")}},
			"tiers[0].unitAmountDecimal NOT_ALLOWED"},
		"a negative price": {[]usage.TierDraft{{UnitAmountInCents: cents(-1)}}, "tiers[0].unitAmountInCents " +
			"OUT_OF_RANGE"},
		"thirteen decimals": {[]usage.TierDraft{{UnitAmountDecimal: text("0.0000000000001")}},
			"tiers[0].unitAmountDecimal OUT_OF_RANGE"},
		"a price beyond every card": {[]usage.TierDraft{{UnitAmountDecimal: text("99999999999.1")}},
			"tiers[0].unitAmountDecimal OUT_OF_RANGE"},
		"no number": {[]usage.TierDraft{{UnitAmountDecimal: text("1,5")}},
			"tiers[0].unitAmountDecimal INVALID"},
		"below one before a faulty one": {[]usage.TierDraft{{UpTo: number("5"), UnitAmountInCents: cents(1)},
			{UpTo: number("x"), UnitAmountInCents: cents(1)}, {UpTo: number("3"), UnitAmountInCents: cents(1)},
			{UnitAmountInCents: cents(1)}}, "tiers[1].upTo INVALID, tiers[2].upTo OUT_OF_RANGE"},
		"a price beyond every number": {[]usage.TierDraft{{UnitAmountDecimal: text("1e99")}},
			"tiers[0].unitAmountDecimal OUT_OF_RANGE"},
		"a price a trifle too high": {[]usage.TierDraft{{UnitAmountDecimal: text("99999999999.000000000001")}},
			"tiers[0].unitAmountDecimal OUT_OF_RANGE"},
		"every fault of every tier": {[]usage.TierDraft{{UpTo: number("-1")},
			{UpTo: number("1e27"), UnitAmountInCents: cents(1)}, {UnitAmountInCents: cents(1)}}, "tiers[0].unitAmountInCents " +
			"REQUIRED, tiers[0].upTo OUT_OF_RANGE, tiers[1].upTo OUT_OF_RANGE"},
		"as many tiers as there may be": {rising(100), ""},
		"one more":                      {rising(101), "tiers TOO_LONG"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var f fault.Violations
			usage.ParseTiers(&f, "tiers", c.drafts)
			if got := faulttest.Lines(t, f.Err()); strings.Join(got, ", ") != c.want {
				t.Errorf("faults %v, want %s", got, c.want)
			}
		})
	}
}

// rising is a price of n tiers that is well.
func rising(n int) []usage.TierDraft {
	drafts := make([]usage.TierDraft, n)
	for i := range drafts {
		upTo := json.Number(strconv.Itoa(i + 1))
		drafts[i] = usage.TierDraft{UpTo: &upTo, UnitAmountInCents: new(int64(25))}
	}
	drafts[n-1].UpTo = nil
	return drafts
}

func TestAPriceInMinorUnitsIsWhole(t *testing.T) {
	t.Parallel()
	var f fault.Violations
	parsed := usage.ParseTiers(&f, "tiers", rising(1))
	if minor, whole := parsed[0].Unit.Minor(); minor != 25 || !whole || parsed[0].Unit.String() != "25" || f.Err() != nil {
		t.Errorf("%d, %v, %s, %v", minor, whole, parsed[0].Unit, f.Err())
	}
	if minor, whole := tiers(t, "∞@1.000000000001")[0].Unit.Minor(); minor != 1 || whole {
		t.Errorf("%d, %v", minor, whole)
	}
}

func TestStoredTiersThatCannotBeReadAreErrors(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{`{"upTo":"x","unitAmountDecimal":"1"}`, `{"unitAmountDecimal":"1","upTo":"x"}`,
		`{"upTo":null,"unitAmountDecimal":"x"}`} {
		var tier usage.Tier
		if err := json.Unmarshal([]byte(raw), &tier); err == nil {
			t.Errorf("%s was read as %+v", raw, tier)
		}
	}
}

func TestTiersSurviveStorage(t *testing.T) {
	t.Parallel()
	before := tiers(t, "0.1@1000 1e3@0.000000000001 ∞@2")
	raw, err := json.Marshal(before)
	if err != nil {
		t.Fatal(err)
	}
	if want := `[{"upTo":0.1,"unitAmountDecimal":"1000"},{"upTo":1000,"unitAmountDecimal":"0.000000000001"},` +
		`{"upTo":null,"unitAmountDecimal":"2"}]`; string(raw) != want {
		t.Errorf("stored as %s", raw)
	}
	var after usage.Tiers
	if err := json.Unmarshal(raw, &after); err != nil || len(after) != 3 || after[0] != before[0] ||
		after[1] != before[1] || after[2] != before[2] {
		t.Errorf("%+v, %v", after, err)
	}
}

func FuzzTiers(f *testing.F) {
	f.Add("5", "0.35", "1", "12.5")
	f.Add("1e26", "99999999999", "0", "99999999999999999999999999.999999999999")
	f.Fuzz(func(t *testing.T, upTo, first, second, reported string) {
		number := json.Number(upTo)
		var faults fault.Violations
		parsed := usage.ParseTiers(&faults, "tiers", []usage.TierDraft{{UpTo: &number, UnitAmountDecimal: &first},
			{UnitAmountDecimal: &second}})
		q, err := usage.ParseQuantity(reported)
		if err != nil || faults.Err() != nil {
			return
		}
		if got, err := parsed.Amount(q, 1); err == nil && (got < 0 || got > usage.MaxAmount) {
			t.Errorf("%s of %s@%s ∞@%s = %d", reported, upTo, first, second, got)
		}
	})
}

func BenchmarkRating(b *testing.B) {
	price, q := tiers(b, "1000@12.5 10000@6.25 100000@3.125 ∞@1.5625"), quantity(b, "123456.789")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := price.Amount(q, 1); err != nil {
			b.Fatal(err)
		}
	}
}
