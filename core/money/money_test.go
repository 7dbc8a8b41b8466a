package money_test

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sundry/core/fault"
	"sundry/core/money"
)

func TestParseCurrency(t *testing.T) {
	t.Parallel()
	for code, exponent := range map[string]int{
		"eur": 2, "usd": 2, "chf": 2, "jpy": 0, "krw": 0, "clp": 0, "isk": 0, "kwd": 3, "tnd": 3, "mru": 2, "mga": 2,
		"zwg": 2, "xcg": 2, "sle": 2, "ved": 2, "xpf": 0, "huf": 2,
	} {
		c, err := money.ParseCurrency(code)
		if err != nil || c.Exponent() != exponent {
			t.Errorf("%s: %v, exponent %d, want %d", code, err, c.Exponent(), exponent)
		}
	}
	for name, code := range map[string]string{
		"upper case": "USD", "mixed case": "Eur", "empty": "", "two letters": "eu", "four letters": "euro",
		"a fund": "clf", "a metal": "xau", "the test code": "xts", "no currency": "xxx", "an accounting unit": "xdr",
		"withdrawn": "bgn", "a coin without a state": "btc", "a space": "eur ", "a NUL": "eu\x00",
	} {
		t.Run(name+" is refused", func(t *testing.T) {
			t.Parallel()
			if c, err := money.ParseCurrency(code); c != "" || !fault.Is(err, fault.ValidationFailed) {
				t.Errorf("%q -> %q, %v", code, c, err)
			}
		})
	}
	if _, err := money.ParseCurrency("USD"); !strings.Contains(err.Error(), "lower case: usd") {
		t.Errorf("no hint at the lower case: %v", err)
	}
}

func TestDigitsAreThoseOfTheCurrency(t *testing.T) {
	t.Parallel()
	for want, a := range map[string]money.Amount{
		"12.00":                 {Minor: 1200, Currency: "eur"},
		"1200.":                 {Minor: 1200, Currency: "jpy"},
		"0.05":                  {Minor: 5, Currency: "usd"},
		"-0.99":                 {Minor: -99, Currency: "usd"},
		"0.00":                  {Minor: 0, Currency: "usd"},
		"0.001":                 {Minor: 1, Currency: "kwd"},
		"-92233720368547758.08": {Minor: math.MinInt64, Currency: "gbp"},
	} {
		negative, whole, fraction := a.Digits()
		got := whole + "." + fraction
		if negative {
			got = "-" + got
		}
		if got != want {
			t.Errorf("%+v = %s, want %s", a, got, want)
		}
	}
	if symbol, ok := money.Currency("chf").Symbol(); symbol != "CHF" || ok {
		t.Errorf("%s, %v", symbol, ok)
	}
	if symbol, ok := money.Currency("eur").Symbol(); symbol != "€" || !ok {
		t.Errorf("%s, %v", symbol, ok)
	}
}

// edgy draws amounts near the limits as often as ordinary ones.
func edgy() *rapid.Generator[int64] {
	return rapid.OneOf(rapid.Int64(), rapid.Int64Range(-1000, 1000),
		rapid.Int64Range(math.MaxInt64-3, math.MaxInt64), rapid.Int64Range(math.MinInt64, math.MinInt64+3))
}

func TestArithmeticIsExactOrRefused(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		x, y := edgy().Draw(t, "x"), edgy().Draw(t, "y")
		a, b := money.Amount{Minor: x, Currency: "eur"}, money.Amount{Minor: y, Currency: "eur"}
		bx, by := big.NewInt(x), big.NewInt(y)
		check := func(op string, exact *big.Int, got money.Amount, err error) {
			switch {
			case !exact.IsInt64() && !errors.Is(err, money.ErrOverflow):
				t.Fatalf("%d %s %d = %+v, %v; want an overflow", x, op, y, got, err)
			case !exact.IsInt64() && got != (money.Amount{}):
				t.Fatalf("a refused result is not empty: %+v", got)
			case exact.IsInt64() && (err != nil || got != money.Amount{Minor: exact.Int64(), Currency: "eur"}):
				t.Fatalf("%d %s %d = %+v, %v; want %s", x, op, y, got, err, exact)
			}
		}
		sum, err := a.Add(b)
		check("+", new(big.Int).Add(bx, by), sum, err)
		difference, err := a.Sub(b)
		check("-", new(big.Int).Sub(bx, by), difference, err)
		product, err := a.Mul(y)
		check("*", new(big.Int).Mul(bx, by), product, err)
		negated, err := a.Neg()
		check("neg", new(big.Int).Neg(bx), negated, err)
	})
}

func TestArithmeticAtItsLimits(t *testing.T) {
	t.Parallel()
	const most, least = math.MaxInt64, math.MinInt64
	for _, c := range []struct {
		op         string
		a, b, want int64
		ok         bool
	}{
		{"+", most, 0, most, true}, {"+", most - 1, 1, most, true}, {"+", most, 1, 0, false}, {"+", least, -1, 0, false},
		{"+", 7, 1, 8, true}, {"+", 7, -1, 6, true},
		{"-", least, 0, least, true}, {"-", least + 1, 1, least, true}, {"-", least, 1, 0, false}, {"-", most, -1, 0, false},
		{"-", 7, 1, 6, true}, {"-", 7, -1, 8, true},
		{"*", most, 1, most, true}, {"*", most, -1, -most, true}, {"*", least, 1, least, true}, {"*", least, -1, 0, false},
		{"*", -1, least, 0, false},
		{"*", 1 << 62, -2, least, true}, {"*", 1 << 62, 2, 0, false}, {"*", 1 << 62, -3, 0, false}, {"*", -5, 1, -5, true},
		{"*", 1, -5, -5, true},
		{"*", 5, 0, 0, true}, {"*", least, 2, 0, false}, {"*", 1 << 32, -(1 << 32), 0, false},
		{"*", 1 << 33, 1 << 33, 0, false}, {"*", 0, least, 0, true},
	} {
		a, b := money.Amount{Minor: c.a, Currency: "eur"}, money.Amount{Minor: c.b, Currency: "eur"}
		var got money.Amount
		var err error
		switch c.op {
		case "+":
			got, err = a.Add(b)
		case "-":
			got, err = a.Sub(b)
		case "*":
			got, err = a.Mul(c.b)
		}
		if (err == nil) != c.ok || got.Minor != c.want {
			t.Errorf("%d %s %d = %d, %v", c.a, c.op, c.b, got.Minor, err)
		}
	}
}

func TestACurrencyThatWasWithdrawnHasTwoDecimals(t *testing.T) {
	t.Parallel()
	if got := money.Currency("bgn").Exponent(); got != 2 {
		t.Errorf("%d decimals", got)
	}
	if _, err := money.ParseCurrency("EURO"); err == nil || strings.Contains(err.Error(), "lower case: ") {
		t.Errorf("no currency in capitals: %v", err)
	}
	if _, err := money.ParseCurrency("XXX"); err == nil || strings.Contains(err.Error(), "lower case: ") {
		t.Errorf("three capitals that are no currency: %v", err)
	}
}

func TestCurrenciesDoNotMix(t *testing.T) {
	t.Parallel()
	a, b := money.Amount{Minor: 1, Currency: "eur"}, money.Amount{Minor: 1, Currency: "usd"}
	if got, err := a.Add(b); !errors.Is(err, money.ErrCurrencyMismatch) || got != (money.Amount{}) {
		t.Errorf("Add = %+v, %v", got, err)
	}
	if got, err := a.Sub(b); !errors.Is(err, money.ErrCurrencyMismatch) || got != (money.Amount{}) {
		t.Errorf("Sub = %+v, %v", got, err)
	}
}

func TestMajorShiftsThePointAndRoundsNothing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ currency, minor, want string }{
		{"eur", "5", "0.05"}, {"eur", "5.5", "0.055"}, {"eur", "1234", "12.34"}, {"eur", "100", "1.00"},
		{"eur", "0.0000010", "0.00000001"},
		{"jpy", "12.50", "12.5"}, {"jpy", "12", "12"}, {"kwd", "1", "0.001"}, {"eur", "-250", "-2.50"},
	} {
		if got := money.Currency(c.currency).Major(c.minor); got != c.want {
			t.Errorf("%s %s: %s, want %s", c.minor, c.currency, got, c.want)
		}
	}
}

func TestCreditUsedLeavesWhatCanBeCharged(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ due, credit, least, want int64 }{
		"nothing is left":                 {90, 100, 50, 90},
		"enough is left":                  {100, 50, 50, 50},
		"all of it":                       {100, 100, 50, 100},
		"a cent would be left":            {100, 99, 50, 50},
		"too little would be left":        {100, 60, 50, 50},
		"less is due than can be charged": {40, 30, 50, 30},
		"just that is due":                {50, 30, 50, 0},
		"every amount is charged":         {100, 99, 0, 99},
		"no credit":                       {100, 0, 50, 0},
		"nothing is due":                  {0, 10, 50, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := money.CreditUsed(c.due, c.credit, c.least); got != c.want {
				t.Errorf("got %d, want %d", got, c.want)
			}
		})
	}
}

// The amounts are as Stripe publishes them, in major units.
func TestTheLeastChargeIsThatOfTheProcessor(t *testing.T) {
	t.Parallel()
	for currency, major := range map[money.Currency]string{
		"aed": "2.00", "aud": "0.50", "brl": "0.50", "cad": "0.50", "chf": "0.50", "czk": "15.00", "dkk": "2.50", "eur": "0.50",
		"gbp": "0.30", "hkd": "4.00", "huf": "175.00", "inr": "0.50", "jpy": "50", "mxn": "10.00", "myr": "2.00", "nok": "3.00",
		"nzd": "0.50", "pln": "2.00", "ron": "2.00", "sek": "3.00", "sgd": "0.50", "thb": "10.00", "usd": "0.50", "kwd": "0.000",
	} {
		if got := currency.Major(fmt.Sprint(currency.LeastCharge())); got != major {
			t.Errorf("%s: %s, want %s", currency, got, major)
		}
	}
}

func TestThousandthsAreChargedInTens(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		currency money.Currency
		minor    int64
		want     bool
	}{
		"tens of thousandths": {"kwd", 1230, true}, "one thousandth more": {"kwd", 1231, false}, "five": {"kwd", 5, false},
		"minus ten": {"kwd", -10, true}, "cents": {"eur", 1231, true}, "yen": {"jpy", 1, true},
	} {
		var f fault.Violations
		c.currency.CheckStep(&f, "amountInCents", c.minor)
		if got := f.Err() == nil; got != c.want {
			t.Errorf("%s: %v", name, f.Err())
		}
	}
	if eur, kwd := money.Currency("eur").Step(), money.Currency("kwd").Step(); eur != 1 || kwd != 10 {
		t.Errorf("steps of %d and %d", eur, kwd)
	}
}
