package usage_test

import (
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sundry/core/fault"
	"sundry/core/fault/faulttest"
	"sundry/core/usage"
)

func TestQuantitiesKeepEveryDigit(t *testing.T) {
	t.Parallel()
	for literal, want := range map[string]string{
		"0": "0", "-0": "0", "0.0": "0", "0e9": "0", "5": "5", "12.50": "12.5", "-3.25": "-3.25", "1e3": "1000",
		"1.5E-2": "0.015", "2e+2": "200",
		"0.000000000001": "0.000000000001", "1.0000000000000000": "1", "10000000000000000000e-10": "1000000000",
		"99999999999999999999999999.999999999999": "99999999999999999999999999.999999999999",
		"9007199254740993":                        "9007199254740993", "0.1": "0.1",
	} {
		q, err := usage.ParseQuantity(literal)
		if err != nil || q.String() != want {
			t.Errorf("%s -> %s, %v; want %s", literal, q, err, want)
		}
		back, err := usage.RestoreQuantity(q.String())
		if err != nil || back != q {
			t.Errorf("%s stored and read again is %s, %v", literal, back, err)
		}
	}
}

func TestQuantitiesThatAreRefused(t *testing.T) {
	t.Parallel()
	for literal, code := range map[string]string{
		"":                             fault.DetailInvalid,
		"abc":                          fault.DetailInvalid,
		"01":                           fault.DetailInvalid,
		".5":                           fault.DetailInvalid,
		"5.":                           fault.DetailInvalid,
		"1e":                           fault.DetailInvalid,
		"+1":                           fault.DetailInvalid,
		"--1":                          fault.DetailInvalid,
		"NaN":                          fault.DetailInvalid,
		"0x10":                         fault.DetailInvalid,
		"1 ":                           fault.DetailInvalid,
		"1" + strings.Repeat("0", 26):  fault.DetailOutOfRange,
		"0.0000000000001":              fault.DetailOutOfRange,
		"1e26":                         fault.DetailOutOfRange,
		"1e-13":                        fault.DetailOutOfRange,
		"1e999999999999999999999":      fault.DetailOutOfRange,
		"1e-999999999999999999999":     fault.DetailOutOfRange,
		"123456789012345678901234567":  fault.DetailOutOfRange,
		"-1" + strings.Repeat("0", 26): fault.DetailOutOfRange,
	} {
		q, err := usage.ParseQuantity(literal)
		if got := faulttest.Lines(t, err); len(got) != 1 || got[0] != " "+code || q != (usage.Quantity{}) {
			t.Errorf("%q -> %s, %v; want %s", literal, q, err, code)
		}
	}
}

func TestQuantityArithmeticIsThatOfIntegers(t *testing.T) {
	t.Parallel()
	any38 := rapid.Custom(func(t *rapid.T) *big.Int {
		n := new(big.Int).SetBytes(rapid.SliceOfN(rapid.Byte(), 0, 15).Draw(t, "n"))
		if rapid.Bool().Draw(t, "negative") {
			n.Neg(n)
		}
		return n
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := any38.Draw(t, "a"), any38.Draw(t, "b")
		qa, qb := ofInteger(t, a), ofInteger(t, b)
		sum, ok := qa.Add(qb)
		if want := ofInteger(t, new(big.Int).Add(a, b)); !ok || sum != want {
			t.Fatalf("%s + %s = %s, want %s", qa, qb, sum, want)
		}
		if qa.Compare(qb) != a.Cmp(b) {
			t.Fatalf("%s against %s: %d", qa, qb, qa.Compare(qb))
		}
		if back, ok := sum.Add(qb.Neg()); !ok || back != qa {
			t.Fatalf("%s + %s - %s = %s", qa, qb, qb, back)
		}
	})
}

// ofInteger is n at 12 decimals.
func ofInteger(t *rapid.T, n *big.Int) usage.Quantity {
	text := new(big.Int).Abs(n).String()
	if len(text) < 13 {
		text = strings.Repeat("0", 13-len(text)) + text
	}
	text = text[:len(text)-12] + "." + text[len(text)-12:]
	if n.Sign() < 0 {
		text = "-" + text
	}
	q, err := usage.RestoreQuantity(text)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// beyond is 2^256, the first number that does not fit.
const beyond = "115792089237316195423570985008687907853269984665640564039457584007913129639936"

// largestQuantity is the most that can be kept: 2^256 - 1 of the smallest parts.
const largestQuantity = "115792089237316195423570985008687907853269984665640564039457584007.913129639935"

func TestStoredQuantitiesMayBeLongerThanReportedOnes(t *testing.T) {
	t.Parallel()
	most, err := usage.ParseQuantity(strings.Repeat("9", 26))
	if err != nil {
		t.Fatal(err)
	}
	sum := most
	for range 1000 {
		var ok bool
		if sum, ok = sum.Add(most); !ok {
			t.Fatal("a thousand of the largest quantities do not fit")
		}
	}
	back, err := usage.RestoreQuantity(sum.String())
	if err != nil || back != sum {
		t.Errorf("%s read again is %s, %v", sum, back, err)
	}
	for _, text := range []string{"", "x", "0.0000000000001", "1e99", strings.Repeat("9", 70), strings.Repeat("9", 90),
		beyond + "5"} {
		if q, err := usage.RestoreQuantity(text); err == nil {
			t.Errorf("%q was read as %s", text, q)
		}
	}
}

func TestSharesOfAnIncludedAmount(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		q       string
		percent int
		whole   int64
		want    bool
	}{
		"below":               {"79.999999999999", 80, 100, false},
		"exactly":             {"80", 80, 100, true},
		"above all of it":     {"201", 200, 100, true},
		"a negative quantity": {"-5", 1, 100, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			alert := usage.Alert{Percent: c.percent}
			if got := alert.Reached(quantity(t, c.q), c.whole); got != c.want {
				t.Errorf("%s of %d at %d %%: %v", c.q, c.whole, c.percent, got)
			}
			if alert.Reached(quantity(t, c.q), 0) {
				t.Error("a share of nothing was reached")
			}
		})
	}
}

func TestAShareOfMoreThanCanBeMultipliedIsReached(t *testing.T) {
	t.Parallel()
	// A hundred times this is a multiple of 2^256.
	q, err := usage.RestoreQuantity("28948022309329048855892746252171976963317496166410141009864396001.978282409984")
	if err != nil || !(usage.Alert{Percent: 1}).Reached(q, 1) {
		t.Errorf("%v, %s is not a percent of one", err, q)
	}
}

func TestUnitsMayBeNegativeAndZeroHasNoSign(t *testing.T) {
	t.Parallel()
	if got := usage.Units(-5); got.String() != "-5" || got.Neg() != usage.Units(5) {
		t.Errorf("%s, %s", got, got.Neg())
	}
	if got := usage.Units(0).Neg(); got != (usage.Quantity{}) {
		t.Errorf("minus nothing is %+v", got)
	}
}

func TestQuantitiesAreReadFromWhatDatabasesKeep(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		from any
		want string
	}{
		"text":         {"12.5", "12.5"},
		"bytes":        {[]byte("-0.25"), "-0.25"},
		"an integer":   {int64(-7), "-7"},
		"no number":    {"x", ""},
		"nor in bytes": {[]byte("x"), ""},
		"a float":      {1.5, ""},
		"nothing":      {nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var q usage.Quantity
			if err := q.Scan(c.from); (err != nil) != (c.want == "") || err == nil && q.String() != c.want {
				t.Errorf("%v is read as %s, %v", c.from, q, err)
			}
		})
	}
	var q usage.Quantity
	if err := q.UnmarshalJSON([]byte(`"x"`)); err == nil {
		t.Errorf("a text was read as %s", q)
	}
}

func TestQuantity_Beyond(t *testing.T) {
	t.Parallel()
	for q, want := range map[string][2]string{
		"150.5": {"50.5", "100"}, "100": {"0", "100"}, "99.5": {"0", "99.5"}, "0": {"0", "0"}, "-3": {"0", "0"},
	} {
		quantity, err := usage.ParseQuantity(q)
		if err != nil {
			t.Fatal(err)
		}
		rest, included := quantity.Beyond(usage.Units(100))
		if got := [2]string{rest.String(), included.String()}; got != want {
			t.Errorf("%s beyond 100: got %v, want %v", q, got, want)
		}
	}
}
