package order

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"sundry/core/plan"
)

// included are the features, entitlements and credits of an offer, in words, each once.
func included(offer plan.Offer) []string {
	out := slices.Clone(offer.Features)
	for _, e := range offer.Terms.Granted(offer.Seats()) {
		switch {
		case e.Type == plan.Boolean && !e.Bool:
		case e.Type == plan.Boolean && slices.Contains(out, readable(e.Key)):
		case e.Type == plan.Boolean:
			out = append(out, readable(e.Key))
		default:
			out = append(out, fmt.Sprintf("%s: %v", readable(e.Key), e.Value()))
		}
	}
	for _, c := range offer.Terms.Credits {
		out = append(out, strings.TrimSpace(fmt.Sprintf("%s: %d %s", readable(c.Key), c.Amount, c.Unit)))
	}
	return out
}

// readable turns a key into words: priority-support is Priority support.
func readable(key string) string {
	words := strings.Join(
		strings.FieldsFunc(key, func(r rune) bool { return r == '-' || r == '_' || unicode.IsSpace(r) }), " ",
	)
	first, size := utf8.DecodeRuneInString(words)
	if size == 0 {
		return key
	}
	return string(unicode.ToUpper(first)) + words[size:]
}
