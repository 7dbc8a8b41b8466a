package strictjson

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// Canonical returns the JSON value of body in canonical form: members sorted by name, no blanks, each text and number
// in one form, and of members with one name the last. Two bodies with equal results have the same value. It returns a
// body that is no JSON value unchanged.
func Canonical(body []byte) []byte {
	if !json.Valid(body) {
		return body
	}
	text, _ := appendCanonical(make([]byte, 0, len(body)), body)
	return text
}

// appendCanonical appends the valid value that in begins with, and returns what is behind it.
func appendCanonical(to, in []byte) (text, rest []byte) {
	switch in = skipBlanks(in); in[0] {
	case '{':
		return appendObject(to, in[1:])
	case '[':
		to = append(to, '[')
		for in = skipBlanks(in[1:]); in[0] != ']'; in = skipBlanks(in) {
			if in[0] == ',' {
				to, in = append(to, ','), in[1:]
			}
			to, in = appendCanonical(to, in)
		}
		return append(to, ']'), in[1:]
	case '"':
		_, to, rest = appendText(to, in)
		return to, rest
	}
	end := bytes.IndexAny(in, ",]} \t\r\n")
	if end < 0 {
		end = len(in)
	}
	if literal := in[:end]; in[0] >= 'a' {
		to = append(to, literal...)
	} else {
		to = append(to, canonicalNumber(string(literal))...)
	}
	return to, in[end:]
}

// appendObject is appendCanonical behind the brace of an object.
func appendObject(to, in []byte) (text, rest []byte) {
	type member struct {
		name      []byte
		from, end int
	}
	var members []member
	begin := len(to)
	for in = skipBlanks(in); in[0] != '}'; in = skipBlanks(in) {
		if in[0] == ',' {
			in = skipBlanks(in[1:])
		}
		m := member{from: len(to)}
		m.name, to, in = appendText(to, in)
		to, in = appendCanonical(append(to, ':'), skipBlanks(in)[1:])
		m.end = len(to)
		members = append(members, m)
	}
	slices.SortStableFunc(members, func(a, b member) int { return bytes.Compare(a.name, b.name) })
	sorted := make([]byte, 0, len(to)-begin+len(members)+2)
	for i, m := range members {
		if i+1 < len(members) && bytes.Equal(m.name, members[i+1].name) {
			continue
		}
		sorted = append(append(sorted, ','), to[m.from:m.end]...)
	}
	to = append(append(to[:begin], '{'), bytes.TrimPrefix(sorted, []byte(","))...)
	return append(to, '}'), in[1:]
}

// appendText appends the text that in begins with, and returns what it says and what is behind it.
func appendText(to, in []byte) (says, text, rest []byte) {
	plain, end := true, 1
	for ; in[end] != '"'; end++ {
		switch c := in[end]; {
		case c == '\\':
			plain = false
			end++
		case c > '~' || c == '<' || c == '>' || c == '&': // encoding/json escapes some of these
			plain = false
		}
	}
	literal, rest := in[:end+1], in[end+1:]
	if plain {
		return literal[1:end], append(to, literal...), rest
	}
	var value string
	_ = json.Unmarshal(literal, &value)
	escaped, _ := json.Marshal(value) //nolint:errchkjson // a text
	return []byte(value), append(to, escaped...), rest
}

func skipBlanks(in []byte) []byte { return bytes.TrimLeft(in, " \t\r\n") }

// canonicalNumber writes a JSON number as its significant digits and a power of ten: 1, 1.0 and 10e-1 are 1e0. A
// number with an absurd exponent is returned unchanged.
func canonicalNumber(text string) string {
	mantissa, exponentText, _ := strings.Cut(strings.ToLower(text), "e")
	exponent := 0
	if exponentText != "" {
		n, err := strconv.Atoi(exponentText)
		if err != nil || n < -1e6 || n > 1e6 {
			return text
		}
		exponent = n
	}
	mantissa, negative := strings.CutPrefix(mantissa, "-")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	exponent -= len(fraction)
	digits := strings.TrimLeft(whole+fraction, "0")
	significant := strings.TrimRight(digits, "0")
	if significant == "" {
		return "0"
	}
	exponent += len(digits) - len(significant)
	if negative {
		significant = "-" + significant
	}
	return significant + "e" + strconv.Itoa(exponent)
}
