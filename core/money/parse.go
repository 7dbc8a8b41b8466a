package money

import (
	"strconv"
	"strings"
)

// maxTyped bounds the digits of whole units that a person may type.
const maxTyped = 12

// ParseTyped reads an amount as a person types it, in whole units with at most the currency's decimals after a point or
// a comma: 29, 29.00 and 29,5. ok is false for anything else; nothing is rounded.
func ParseTyped(text string, c Currency) (a Amount, ok bool) {
	whole, fraction, _ := strings.Cut(strings.ReplaceAll(strings.TrimSpace(text), ",", "."), ".")
	exponent := c.Exponent()
	if len(whole) == 0 || len(whole) > maxTyped || len(fraction) > exponent ||
		strings.Trim(whole+fraction, "0123456789") != "" {
		return a, false
	}
	minor, err := strconv.ParseInt(whole+fraction+strings.Repeat("0", exponent-len(fraction)), 10, 64)
	return Amount{Minor: minor, Currency: c}, err == nil
}

// Typed writes an amount as ParseTyped reads it: 29.00.
func (a Amount) Typed() string {
	negative, whole, fraction := a.Digits()
	if fraction != "" {
		whole += "." + fraction
	}
	if negative {
		return "-" + whole
	}
	return whole
}

// Coded writes an amount with the code of its currency: 29.00 eur.
func (a Amount) Coded() string { return a.Typed() + " " + string(a.Currency) }
