package usage

import (
	"math/bits"
	"slices"
	"strconv"
	"strings"
)

// wide is an unsigned integer of 256 bits, the least significant word first. Rating runs on it: a quantity of 38 digits
// times a price of 23 fits, so nothing is allocated and nothing is rounded before the end.
type wide [4]uint64

// scale is the number of decimals that quantities and unit prices keep, and one what 1 is at that scale.
const (
	scale = 12
	one   = 1_000_000_000_000
)

func (a wide) isZero() bool { return a == wide{} }

func (a wide) compare(b wide) int {
	_, borrow := a.minus(b)
	switch {
	case borrow != 0:
		return -1
	case a == b:
		return 0
	}
	return 1
}

func (a wide) add(b wide) (sum wide, ok bool) {
	var carry uint64
	sum[0], carry = bits.Add64(a[0], b[0], 0)
	sum[1], carry = bits.Add64(a[1], b[1], carry)
	sum[2], carry = bits.Add64(a[2], b[2], carry)
	sum[3], carry = bits.Add64(a[3], b[3], carry)
	return sum, carry == 0
}

// sub is a - b for a >= b.
func (a wide) sub(b wide) wide {
	difference, _ := a.minus(b)
	return difference
}

// minus is a - b; borrow is 1 when b is the larger.
func (a wide) minus(b wide) (difference wide, borrow uint64) {
	difference[0], borrow = bits.Sub64(a[0], b[0], 0)
	difference[1], borrow = bits.Sub64(a[1], b[1], borrow)
	difference[2], borrow = bits.Sub64(a[2], b[2], borrow)
	difference[3], borrow = bits.Sub64(a[3], b[3], borrow)
	return difference, borrow
}

// mulAdd is a*n + m.
func (a wide) mulAdd(n, m uint64) (product wide, ok bool) {
	for i := range a {
		high, low := bits.Mul64(a[i], n)
		low, carry := bits.Add64(low, m, 0)
		product[i], m = low, high+carry
	}
	return product, m == 0
}

// times is a*b, where only the lower two words of b may be set.
func (a wide) times(b wide) (product wide, ok bool) {
	if a[1]|a[2]|a[3]|b[1] == 0 { // true of nearly every report and price
		product[1], product[0] = bits.Mul64(a[0], b[0])
		return product, true
	}
	low, ok := a.mulAdd(b[0], 0)
	high, fits := a.mulAdd(b[1], 0)
	if !ok || !fits || high[3] != 0 {
		return wide{}, false
	}
	return low.add(wide{0, high[0], high[1], high[2]})
}

// divide is a/n and what is left.
func (a wide) divide(n uint64) (quotient wide, rest uint64) {
	for i := len(a) - 1; i >= 0; i-- {
		if a[i] == 0 && rest == 0 {
			continue
		}
		quotient[i], rest = bits.Div64(rest, a[i], n)
	}
	return quotient, rest
}

// decimal writes a as a number with the given count of decimals: no exponent, no superfluous zeros.
func (a wide) decimal(decimals int) string {
	const chunk, chunkDigits = 1_000_000_000_000_000_000, 18
	var parts []string
	var rest uint64
	for {
		a, rest = a.divide(chunk)
		part := strconv.FormatUint(rest, 10)
		if a.isZero() {
			parts = append(parts, part)
			break
		}
		parts = append(parts, strings.Repeat("0", chunkDigits-len(part))+part)
	}
	var digits strings.Builder
	for _, part := range slices.Backward(parts) {
		digits.WriteString(part)
	}
	text := digits.String()
	text = strings.Repeat("0", max(decimals+1-len(text), 0)) + text
	point := len(text) - decimals
	fraction := strings.TrimRight(text[point:], "0")
	if fraction == "" {
		return text[:point]
	}
	return text[:point] + "." + fraction
}
