package period

import (
	"strconv"
	"strings"

	"sundry/core/fault"
)

// Cadence says how often something is charged: "month" for every month, "month:3" for every third, "" where it was not
// said. It selects one of a plan's prices.
type Cadence string

// Every returns the cadence of count intervals; 0 and 1 both mean one.
func Every(interval Interval, count int) Cadence {
	if interval == "" || count <= 1 {
		return Cadence(interval)
	}
	return Cadence(string(interval) + ":" + strconv.Itoa(count))
}

// ParseCadence parses the text that Every returns. Its error is ParseInterval's.
func ParseCadence(s string) (Cadence, error) {
	unit, number, counted := strings.Cut(s, ":")
	interval, err := ParseInterval(unit)
	if err != nil || !counted {
		return Cadence(interval), err
	}
	count, err := strconv.Atoi(number)
	if err != nil || count < 1 {
		return "", fault.Invalid(fault.Detail{Code: fault.DetailInvalid, Message: "Expected a number of intervals."})
	}
	return Every(interval, count), nil
}

// Parts returns the interval of a cadence that ParseCadence returned, and how many of it; "" and 0 for none.
func (c Cadence) Parts() (interval Interval, count int) {
	unit, number, counted := strings.Cut(string(c), ":")
	switch {
	case c == "":
		return "", 0
	case !counted:
		return Interval(unit), 1
	}
	count, _ = strconv.Atoi(number) // it was parsed before
	return Interval(unit), count
}
