package usage

import (
	"strconv"
	"strings"
)

// number is the value of a decimal literal: its significant digits, without zeros at either end, and the power of ten
// of the last of them.
type number struct {
	negative bool
	digits   string
	exponent int
}

// integerDigits and decimals count the places before and behind the point; below 0 where there are zeros instead.
func (n number) integerDigits() int { return len(n.digits) + n.exponent }
func (n number) decimals() int      { return -n.exponent }

// maxExponent bounds what an exponent may be; whatever is beyond it is beyond every limit here too.
const maxExponent = 100_000

// parseNumber reads a number as JSON writes it. ok is false for any other text.
func parseNumber(text string) (n number, ok bool) {
	text, n.negative = strings.CutPrefix(text, "-")
	mantissa, power, scientific := strings.Cut(strings.ToLower(text), "e")
	if scientific {
		if !isExponent(power) {
			return number{}, false
		}
		n.exponent = exponentOf(power)
	}
	whole, fraction, pointed := strings.Cut(mantissa, ".")
	if !allDigits(whole) || pointed && !allDigits(fraction) || len(whole) > 1 && whole[0] == '0' {
		return number{}, false
	}
	digits := strings.TrimLeft(whole+fraction, "0")
	n.exponent -= len(fraction)
	n.digits = strings.TrimRight(digits, "0")
	n.exponent += len(digits) - len(n.digits)
	if n.digits == "" {
		return number{}, true // zero has neither sign nor exponent
	}
	return n, true
}

func isExponent(s string) bool {
	if s != "" && (s[0] == '+' || s[0] == '-') {
		s = s[1:]
	}
	return allDigits(s)
}

func exponentOf(s string) int {
	value, _ := strconv.Atoi(s) // isExponent has seen it: an error is its size, and the value the largest there is
	return min(max(value, -maxExponent), maxExponent)
}

func allDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// scaled is the number without its sign at 12 decimals. It must have no more of them; ok is false when it is too large.
func (n number) scaled() (value wide, ok bool) {
	for i := range len(n.digits) {
		if value, ok = value.mulAdd(10, uint64(n.digits[i]-'0')); !ok {
			return wide{}, false
		}
	}
	for range n.exponent + scale {
		if value, ok = value.mulAdd(10, 0); !ok {
			return wide{}, false
		}
	}
	return value, true
}
