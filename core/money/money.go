// Package money counts in integer minor units of one currency. Nothing here rounds and nothing overflows in
// silence: a sum that cannot be right is an error.
package money

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Both errors mean a defect in the caller or figures beyond all commerce, so they are not faults of a request.
var (
	// ErrOverflow: the result does not fit 64 bits.
	ErrOverflow = errors.New("money: amount out of range")
	// ErrCurrencyMismatch: the operands are in different currencies.
	ErrCurrencyMismatch = errors.New("money: currencies differ")
)

// Amount is a sum of money: Minor counts the smallest unit of Currency (cents for eur, yen for jpy).
type Amount struct {
	Minor    int64
	Currency Currency
}

// Add returns a + b, or ErrCurrencyMismatch or ErrOverflow.
func (a Amount) Add(b Amount) (Amount, error) {
	if err := a.matches(b); err != nil {
		return Amount{}, err
	}
	sum := a.Minor + b.Minor
	if (sum > a.Minor) != (b.Minor > 0) {
		return Amount{}, overflow(a, "+", b.Minor)
	}
	return Amount{sum, a.Currency}, nil
}

// Sub returns a - b, or ErrCurrencyMismatch or ErrOverflow.
func (a Amount) Sub(b Amount) (Amount, error) {
	if err := a.matches(b); err != nil {
		return Amount{}, err
	}
	difference := a.Minor - b.Minor
	if (difference < a.Minor) != (b.Minor > 0) {
		return Amount{}, overflow(a, "-", b.Minor)
	}
	return Amount{difference, a.Currency}, nil
}

// Neg returns -a, or ErrOverflow for the one value without a counterpart.
func (a Amount) Neg() (Amount, error) {
	return Amount{0, a.Currency}.Sub(a)
}

// Mul returns a times n, or ErrOverflow.
func (a Amount) Mul(n int64) (Amount, error) {
	product := a.Minor * n
	// MinInt64 / -1 is MinInt64 again, so the division alone would not notice that overflow.
	if n != 0 && (product/n != a.Minor || n == -1 && a.Minor == math.MinInt64) {
		return Amount{}, overflow(a, "*", n)
	}
	return Amount{product, a.Currency}, nil
}

// Digits returns the decimal digits of the absolute value, before and behind the decimal point; fraction is "" for
// currencies without decimals.
func (a Amount) Digits() (negative bool, whole, fraction string) {
	digits, exponent := strconv.FormatUint(magnitude(a.Minor), 10), a.Currency.Exponent()
	digits = strings.Repeat("0", max(0, exponent+1-len(digits))) + digits
	point := len(digits) - exponent
	return a.Minor < 0, digits[:point], digits[point:]
}

// Major writes a decimal number of minor units, such as a price per unit, in units of the currency: 5.5 cents are
// 0.055. Nothing is rounded; trailing zeros beyond the currency's decimals are left out.
func (c Currency) Major(minorDecimal string) string {
	digits, negative := strings.CutPrefix(minorDecimal, "-")
	whole, fraction, _ := strings.Cut(digits, ".")
	exponent := c.Exponent()
	whole = strings.Repeat("0", max(0, exponent+1-len(whole))) + whole
	point := len(whole) - exponent
	tail := whole[point:] + strings.TrimRight(fraction, "0")
	out := whole[:point]
	if tail != "" {
		out += "." + tail
	}
	if negative {
		out = "-" + out
	}
	return out
}

func (a Amount) matches(b Amount) error {
	if a.Currency != b.Currency {
		return fmt.Errorf("%w: %q and %q", ErrCurrencyMismatch, a.Currency, b.Currency)
	}
	return nil
}

func overflow(a Amount, operator string, n int64) error {
	return fmt.Errorf("%w: %d %s %d (%s)", ErrOverflow, a.Minor, operator, n, a.Currency)
}

// magnitude is |n| without the overflow of -MinInt64.
func magnitude(n int64) uint64 {
	return min(uint64(n), -uint64(n)) //nolint:gosec // two's complement is what makes it right for MinInt64
}
