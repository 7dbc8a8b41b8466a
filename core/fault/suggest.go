package fault

import (
	"strconv"
	"strings"
)

const (
	// maxTypo is the greatest distance, in bytes, at which a name suggests its neighbor.
	maxTypo = 2
	// maxSuggested bounds the names that are compared: a longer one is no typo.
	maxSuggested = 64
)

// DidYouMean returns the sentence that suggests the likeliest of the known names for one that is not known, with a
// blank before it; "" when none is near.
func DidYouMean(name string, known ...string) string {
	if nearest := Nearest(name, known...); nearest != "" {
		return " Did you mean " + strconv.Quote(nearest) + "?"
	}
	return ""
}

// ExpectedOneOf returns the message for a value that is not one of those allowed.
func ExpectedOneOf(value string, allowed ...string) string {
	list := strings.Join(allowed, ", ")
	if last := strings.LastIndex(list, ", "); last >= 0 {
		list = list[:last] + " or" + list[last+1:]
	}
	return "Expected " + list + "." + DidYouMean(value, allowed...)
}

// Nearest returns the known name that an unknown one most likely stands for; "" when none is similar.
func Nearest(name string, known ...string) string {
	if len(name) > maxSuggested {
		return ""
	}
	nearest, best := "", maxTypo+1
	for _, candidate := range known {
		// Letter case is the commonest slip and costs nothing; a short name is no typo of a wholly different one.
		distance := editDistance(strings.ToLower(name), strings.ToLower(candidate))
		if distance < len(candidate) && (distance < best || distance == best && candidate < nearest) {
			nearest, best = candidate, distance
		}
	}
	return nearest
}

// editDistance counts the bytes to insert, delete or replace to turn a into b.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}
