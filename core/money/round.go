package money

import (
	"math"
	"math/bits"
)

// RatioHalfUp returns a × numerator ÷ denominator, rounded half up to the minor unit. A negative amount mirrors its
// positive counterpart, so that a credit cancels the charge it reverses. The numerator must not be negative and the
// denominator must be positive; a result beyond 64 bits is ErrOverflow.
func (a Amount) RatioHalfUp(numerator, denominator int64) (Amount, error) {
	if min(numerator, denominator) < 0 { // a denominator of zero is refused with what is too large for it
		return Amount{}, overflow(a, "ratio", numerator)
	}
	high, low := bits.Mul64(magnitude(a.Minor), uint64(numerator)) //nolint:gosec // not negative
	divisor := uint64(denominator)                                 //nolint:gosec // not negative
	if high >= divisor {
		return Amount{}, overflow(a, "*", numerator)
	}
	quotient, remainder := bits.Div64(high, low, divisor)
	if remainder >= divisor-remainder {
		quotient++
	}
	if quotient > math.MaxInt64 {
		return Amount{}, overflow(a, "*", numerator)
	}
	result := Amount{int64(quotient), a.Currency}
	if a.Minor < 0 {
		result.Minor = -result.Minor
	}
	return result, nil
}

// RatioPayable is RatioHalfUp of an amount that can be charged, rounded to one that can be charged, too
// (Currency.Step). Of any other amount it is RatioHalfUp.
func (a Amount) RatioPayable(numerator, denominator int64) (Amount, error) {
	step := a.Currency.Step()
	if a.Minor%step != 0 {
		step = 1
	}
	a.Minor /= step
	share, err := a.RatioHalfUp(numerator, denominator)
	if err != nil {
		return Amount{}, err
	}
	return share.Mul(step)
}
