package usage_test

import (
	"math/big"
	"testing"

	"sundry/core/usage"
)

// FuzzParseQuantity: what is read is the number that was written, and is stored and read as the same.
func FuzzParseQuantity(f *testing.F) {
	for _, literal := range []string{
		"0", "-0", "12.5", "1e3", "1E-12", "0.000000000001", "99999999999999999999999999", "1e999999999", "+1", "01", ".5", "NaN",
	} {
		f.Add(literal)
	}
	f.Fuzz(func(t *testing.T, literal string) {
		quantity, err := usage.ParseQuantity(literal)
		if err != nil {
			return
		}
		stored := quantity.String()
		again, err := usage.RestoreQuantity(stored)
		if err != nil || again != quantity {
			t.Errorf("%q is stored as %q, which is %v, %v", literal, stored, again, err)
		}
		want, ok := new(big.Rat).SetString(literal)
		if got, _ := new(big.Rat).SetString(stored); !ok || got == nil || got.Cmp(want) != 0 {
			t.Errorf("%q is stored as %q", literal, stored)
		}
	})
}
