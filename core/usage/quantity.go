package usage

import (
	"database/sql/driver"
	"fmt"

	"sundry/core/fault"
)

// Limits of one reported quantity.
const (
	maxIntegerDigits = 26
	maxDecimals      = scale
)

// Quantity is an exact decimal number with up to 12 decimals. The zero value is 0, and equal quantities are ==.
type Quantity struct {
	negative bool
	value    wide // times 10^12
}

// ParseQuantity reads the quantity of a report from its JSON literal, whose digits are all kept. Its error is a
// VALIDATION_FAILED fault without a field, made for Violations.Merge.
func ParseQuantity(literal string) (Quantity, error) {
	n, ok := parseNumber(literal)
	switch {
	case !ok:
		return Quantity{}, invalid(fault.DetailInvalid, "Expected a JSON number such as 12.5.")
	case n.integerDigits() > maxIntegerDigits:
		return Quantity{}, invalid(fault.DetailOutOfRange, "Expected at most 26 digits before the decimal point.")
	case n.decimals() > maxDecimals:
		return Quantity{}, invalid(fault.DetailOutOfRange, "Expected at most 12 decimals.")
	}
	value, _ := n.scaled() // 38 digits fit
	return Quantity{n.negative, value}, nil
}

// RestoreQuantity reads a quantity that String wrote, or a sum that a database formed of such. Sums may have more
// digits than one report.
func RestoreQuantity(text string) (Quantity, error) {
	n, ok := parseNumber(text)
	if !ok || n.decimals() > maxDecimals {
		return Quantity{}, fmt.Errorf("usage: %q is not a stored quantity", text)
	}
	value, ok := n.scaled()
	if !ok {
		return Quantity{}, fmt.Errorf("usage: the stored quantity %q is out of range", text)
	}
	return Quantity{n.negative, value}, nil
}

// Units returns a whole number of units.
func Units(n int64) Quantity {
	if n < 0 {
		return Units(0).minus(Units(-n)) // the most negative integer is no quantity that anybody configures
	}
	value, _ := wide{uint64(n)}.mulAdd(one, 0)
	return Quantity{value: value}
}

// String writes the number as JSON does, without an exponent and without superfluous zeros.
func (q Quantity) String() string {
	if q.negative {
		return "-" + q.value.decimal(scale)
	}
	return q.value.decimal(scale)
}

// MarshalJSON writes a JSON number with all its decimals.
func (q Quantity) MarshalJSON() ([]byte, error) { return []byte(q.String()), nil }

// UnmarshalJSON reads what MarshalJSON wrote.
func (q *Quantity) UnmarshalJSON(raw []byte) (err error) {
	*q, err = RestoreQuantity(string(raw))
	return err
}

// Value implements driver.Valuer: databases keep the exact text or their own exact decimals.
func (q Quantity) Value() (driver.Value, error) { return q.String(), nil }

// Scan implements sql.Scanner.
func (q *Quantity) Scan(from any) (err error) {
	switch text := from.(type) {
	case string:
		*q, err = RestoreQuantity(text)
	case []byte:
		*q, err = RestoreQuantity(string(text))
	case int64:
		*q = Units(text)
	default:
		err = fmt.Errorf("usage: a quantity cannot be read from %T", from)
	}
	return err
}

// isNegative reports whether q is below 0.
func (q Quantity) isNegative() bool { return q.negative }

// IsZero reports whether q is 0.
func (q Quantity) IsZero() bool { return q.value.isZero() }

// Compare is -1, 0 or 1 as q is less than, equal to or greater than other.
func (q Quantity) Compare(other Quantity) int {
	switch {
	case q.negative && !other.negative:
		return -1
	case !q.negative && other.negative:
		return 1
	case q.negative:
		return other.value.compare(q.value)
	}
	return q.value.compare(other.value)
}

// Add is q + other. ok is false when the sum has more digits than can be kept.
func (q Quantity) Add(other Quantity) (sum Quantity, ok bool) {
	if q.negative != other.negative {
		return q.minus(other.Neg()), true
	}
	value, ok := q.value.add(other.value)
	return Quantity{q.negative, value}, ok
}

// Neg is -q.
func (q Quantity) Neg() Quantity {
	return Quantity{!q.negative && !q.IsZero(), q.value}
}

// minus is q - other for two numbers of one sign, which cannot overflow.
func (q Quantity) minus(other Quantity) Quantity {
	switch q.value.compare(other.value) {
	case 0:
		return Quantity{}
	case 1:
		return Quantity{q.negative, q.value.sub(other.value)}
	}
	return Quantity{!q.negative, other.value.sub(q.value)}
}

// Billable returns the part of a period's quantity that is paid for: never less than 0.
func (q Quantity) Billable() Quantity {
	if q.negative {
		return Quantity{}
	}
	return q
}

// Beyond splits what is paid for into the part beyond the units that are included, and the included part.
func (q Quantity) Beyond(units Quantity) (rest, included Quantity) {
	if q = q.Billable(); q.Compare(units) <= 0 {
		return Quantity{}, q
	}
	return q.minus(units), units
}

// Share reports whether q is at least the given percentage of whole.
func (q Quantity) Share(percent int, whole Quantity) bool {
	if q.negative {
		return false
	}
	have, fits := q.value.mulAdd(100, 0)
	want, _ := whole.value.mulAdd(uint64(max(percent, 0)), 0)
	return !fits || have.compare(want) >= 0
}

func invalid(code, message string) error {
	return fault.Invalid(fault.Detail{Code: code, Message: message})
}
