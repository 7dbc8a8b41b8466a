// Package metadata has the pairs of strings that integrators attach to objects and get back unchanged.
package metadata

import (
	"encoding/json"
	"maps"
	"strings"
	"unicode"
	"unicode/utf8"

	"sundry/core/fault"
)

// Limits of metadata, in characters.
const (
	maxPairs = 20
	MaxKey   = 40
	maxValue = 500
)

// Pairs are an object's metadata. The zero value is none. Two are equal by == if they have the same pairs.
type Pairs struct{ text string }

// New returns the given pairs. It keeps nothing of the map.
func New(pairs map[string]string) Pairs {
	if len(pairs) == 0 {
		return Pairs{}
	}
	text, err := json.Marshal(pairs) // sorted by key
	if err != nil {
		panic(err) // of strings there is no error
	}
	return Pairs{string(text)}
}

// Restore rebuilds pairs from their stored text.
func Restore(text string) Pairs {
	var pairs map[string]string
	if json.Unmarshal([]byte(text), &pairs) != nil {
		return Pairs{} // '' of an object that never had any
	}
	return New(pairs)
}

// Text returns the pairs as they are stored: a JSON object, "" for none.
func (p Pairs) Text() string { return p.text }

// Map returns a copy of the pairs, never nil.
func (p Pairs) Map() map[string]string {
	pairs := map[string]string{}
	if p.text != "" {
		_ = json.Unmarshal([]byte(p.text), &pairs) // New wrote it
	}
	return pairs
}

// Merge returns the pairs with those of a change over them. An empty value removes its key.
func (p Pairs) Merge(change map[string]string) Pairs {
	pairs := p.Map()
	maps.Copy(pairs, change)
	maps.DeleteFunc(pairs, func(_, value string) bool { return value == "" })
	return New(pairs)
}

// Change contains the pairs that a PATCH sets and removes.
type Change struct {
	// Pairs are put over those that there are: an empty value removes its key.
	Pairs map[string]string
	// Clear removes all that there are first.
	Clear bool
}

// Check lists everything that is wrong with the change itself, as one VALIDATION_FAILED error.
func (c Change) Check() error {
	var f fault.Violations
	Check(c.Pairs, f.Nest("metadata"))
	return f.Err()
}

// Apply returns the pairs after the change. VALIDATION_FAILED when that is more than an object may have.
func (c Change) Apply(before Pairs) (Pairs, error) {
	if c.Clear {
		before = Pairs{}
	}
	after := before.Merge(c.Pairs)
	var f fault.Violations
	Check(after.Map(), f.Nest("metadata"))
	if err := f.Err(); err != nil {
		return before, err
	}
	return after, nil
}

// Check lists everything that is wrong with pairs that a request gives.
func Check(pairs map[string]string, f *fault.Violations) {
	f.Check(len(pairs) <= maxPairs, "", fault.DetailTooLong, "At most 20 pairs are allowed.")
	for key, value := range pairs {
		f.Check(key != "" && utf8.RuneCountInString(key) <= MaxKey, key, fault.DetailInvalid, "A key has 1 to 40 characters.")
		CheckText(key, value, maxValue, f)
	}
}

// CheckText checks a text of an integrator's own: its length in characters, and that it has no control characters but
// line breaks and tabs.
func CheckText(field, s string, limit int, f *fault.Violations) {
	if utf8.RuneCountInString(s) > limit {
		f.Addf(field, fault.DetailTooLong, "At most %d characters are allowed.", limit)
	}
	f.Check(
		!strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }), field,
		fault.DetailInvalid, "Control characters are not allowed.",
	)
}
