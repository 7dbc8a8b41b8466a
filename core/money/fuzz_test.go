package money_test

import (
	"testing"

	"sundry/core/money"
)

// FuzzParseTyped: what is read is written and read as the same amount, and is never below zero.
func FuzzParseTyped(f *testing.F) {
	for _, text := range []string{"29", "29.00", "29,5", " 0 ", "999999999999.99", "1e9", "-1", "1.234", "٣", "1.", ".5"} {
		f.Add(text, "eur")
		f.Add(text, "jpy")
		f.Add(text, "kwd")
	}
	f.Fuzz(func(t *testing.T, text, code string) {
		currency, err := money.ParseCurrency(code)
		if err != nil {
			return
		}
		amount, ok := money.ParseTyped(text, currency)
		if !ok {
			return
		}
		again, ok := money.ParseTyped(amount.Typed(), currency)
		if !ok || again != amount || amount.Minor < 0 {
			t.Errorf("%q is %v, written %q, which is %v", text, amount, amount.Typed(), again)
		}
	})
}
