package money_test

import (
	"errors"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"sundry/core/money"
)

func TestRatioHalfUpRoundsTheHalfAwayFromZero(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ minor, numerator, denominator, want int64 }{
		"an exact share":                    {1190, 19, 119, 190},
		"just below the half":               {149, 1, 100, 1},
		"exactly the half":                  {150, 1, 100, 2},
		"a negative amount mirrors it":      {-150, 1, 100, -2},
		"nothing of something":              {150, 0, 100, 0},
		"something of nothing":              {0, 7, 100, 0},
		"the whole of the largest amount":   {math.MaxInt64, 100, 100, math.MaxInt64},
		"an odd denominator below the half": {1, 1, 3, 0},
		"an odd denominator over the half":  {2, 1, 3, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := money.Amount{Minor: c.minor, Currency: "eur"}.RatioHalfUp(c.numerator, c.denominator)
			if err != nil || got != (money.Amount{Minor: c.want, Currency: "eur"}) {
				t.Errorf("got %v, %v, want %d", got, err, c.want)
			}
		})
	}
}

func TestRatioPayableIsWhatCanBeCharged(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		of                     money.Amount
		numerator, denominator int64
		want                   int64
	}{
		"cents are as they are":           {money.Amount{Minor: 1005, Currency: "eur"}, 1, 10, 101},
		"thousandths are tens":            {money.Amount{Minor: 10_010, Currency: "kwd"}, 15, 100, 1500},
		"half of ten is rounded up":       {money.Amount{Minor: 10_100, Currency: "kwd"}, 5, 100, 510},
		"a negative amount mirrors it":    {money.Amount{Minor: -10_100, Currency: "kwd"}, 5, 100, -510},
		"all of what can't be is all":     {money.Amount{Minor: 10_005, Currency: "kwd"}, 7, 7, 10_005},
		"a share of what can't be is not": {money.Amount{Minor: 10_005, Currency: "kwd"}, 1, 3, 3335},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := c.of.RatioPayable(c.numerator, c.denominator)
			if want := (money.Amount{Minor: c.want, Currency: c.of.Currency}); err != nil || got != want {
				t.Errorf("got %v, %v, want %v", got, err, want)
			}
		})
	}
}

func TestRatioPayableRefusesWhatItCannotRepresent(t *testing.T) {
	t.Parallel()
	share, err := money.Amount{Minor: math.MaxInt64 - 7, Currency: "kwd"}.RatioPayable(20, 1)
	if err == nil || share != (money.Amount{}) {
		t.Errorf("%v, %v", share, err)
	}
}

func TestRatioHalfUpRefusesWhatItCannotRepresent(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ minor, numerator, denominator int64 }{
		"a result over 64 bits":                           {math.MaxInt64, 2, 1},
		"a negative numerator":                            {1, -1, 2},
		"a numerator below nothing, of nothing":           {0, -1, 2},
		"a quotient that begins beyond the lower 64 bits": {math.MaxInt64, math.MaxInt64, 1<<62 - 1},
		"a denominator of zero":                           {1, 1, 0},
		"a negative denominator":                          {1, 1, -1},
		"a product over 128 bits":                         {math.MaxInt64, math.MaxInt64, 1},
		"the one value without -x":                        {math.MinInt64, 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := money.Amount{Minor: c.minor, Currency: "eur"}.RatioHalfUp(c.numerator, c.denominator)
			if !errors.Is(err, money.ErrOverflow) {
				t.Errorf("got %v, %v, want ErrOverflow", got, err)
			}
		})
	}
}

func TestRatioHalfUpEqualsExactArithmetic(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		minor := rapid.Int64Range(-1<<55, 1<<55).Draw(t, "minor")
		denominator := rapid.Int64Range(1, 1<<40).Draw(t, "denominator")
		numerator := rapid.Int64Range(0, denominator).Draw(t, "numerator")
		got, err := money.Amount{Minor: minor, Currency: "eur"}.RatioHalfUp(numerator, denominator)
		if err != nil {
			t.Fatal(err)
		}
		twice := new(big.Int).Mul(new(big.Int).Abs(big.NewInt(minor)), big.NewInt(2*numerator))
		want := twice.Add(twice, big.NewInt(denominator)).Div(twice, big.NewInt(2*denominator)).Int64()
		if minor < 0 {
			want = -want
		}
		if got.Minor != want {
			t.Fatalf("%d × %d ÷ %d = %d, want %d", minor, numerator, denominator, got.Minor, want)
		}
	})
}
