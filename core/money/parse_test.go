package money_test

import (
	"testing"

	"sundry/core/money"
)

func TestTypedAmountsAreReadExactly(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text     string
		currency money.Currency
		minor    int64
		ok       bool
	}{
		{"29", "eur", 2900, true},
		{" 29.5 ", "eur", 2950, true},
		{"29,05", "eur", 2905, true},
		{"0.01", "eur", 1, true},
		{"1500", "jpy", 1500, true},
		{"29.", "eur", 2900, true},
		{"999999999999", "eur", 99999999999900, true},
		{"0", "kwd", 0, true},
		{"29.005", "eur", 0, false},
		{"1.5", "jpy", 0, false},
		{"1,234.56", "eur", 0, false},
		{"-1", "eur", 0, false},
		{"1e3", "eur", 0, false},
		{".5", "eur", 0, false},
		{"", "eur", 0, false},
		{"9999999999999", "eur", 0, false},
	} {
		got, ok := money.ParseTyped(c.text, c.currency)
		if ok != c.ok || got.Minor != c.minor {
			t.Errorf("%q %s is %d, %v", c.text, c.currency, got.Minor, ok)
		}
		if again, same := money.ParseTyped(got.Typed(), c.currency); ok && (!same || again != got) {
			t.Errorf("%q is written as %q, which reads %v", c.text, got.Typed(), again)
		}
	}
}

func TestAmountsAreWrittenAsTheyAreTyped(t *testing.T) {
	t.Parallel()
	for want, a := range map[string]money.Amount{
		"29.00": {Minor: 2900, Currency: "eur"}, "-29.05": {Minor: -2905, Currency: "eur"},
		"1500": {Minor: 1500, Currency: "jpy"},
		"-7":   {Minor: -7, Currency: "jpy"}, "0.001": {Minor: 1, Currency: "kwd"},
	} {
		if got := a.Coded(); got != want+" "+string(a.Currency) {
			t.Errorf("%d %s with its code is %q", a.Minor, a.Currency, got)
		}
		if got := a.Typed(); got != want {
			t.Errorf("%+v is %q, want %q", a, got, want)
		}
	}
}
