package strictjson

import (
	"bytes"
	"encoding/json"
	"io"
	"strconv"
	"strings"
)

// Canonical returns the JSON value of body in canonical form: members sorted by name, no blanks, each number in one
// form. Two bodies with equal results have the same value. It returns a body that is no JSON value unchanged.
func Canonical(body []byte) []byte {
	in := json.NewDecoder(bytes.NewReader(body))
	in.UseNumber()
	var value any
	if err := in.Decode(&value); err != nil {
		return body
	}
	if _, err := in.Token(); err != io.EOF {
		return body
	}
	text, err := json.Marshal(canonical(value))
	if err != nil {
		return body
	}
	return text
}

func canonical(value any) any {
	switch v := value.(type) {
	case json.Number:
		return canonicalNumber(string(v))
	case []any:
		for i := range v {
			v[i] = canonical(v[i])
		}
	case map[string]any:
		for name := range v {
			v[name] = canonical(v[name])
		}
	}
	return value
}

// canonicalNumber writes a JSON number as its significant digits and a power of ten: 1, 1.0 and 10e-1 are 1e0. A
// number with an absurd exponent is returned unchanged.
func canonicalNumber(text string) json.Number {
	mantissa, exponentText, _ := strings.Cut(strings.ToLower(text), "e")
	exponent := 0
	if exponentText != "" {
		n, err := strconv.Atoi(exponentText)
		if err != nil || n < -1e6 || n > 1e6 {
			return json.Number(text)
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
	return json.Number(significant + "e" + strconv.Itoa(exponent))
}
