// Package redact removes secrets from a text before an error is stored where people other than the operator read it. It
// is the second line of defense: errors should contain no secret to begin with.
package redact

import "regexp"

// mask replaces what was removed.
const mask = "[hidden]"

// rules are tried in order. Each keeps what its groups hold.
var rules = []struct {
	pattern *regexp.Regexp
	with    string
}{
	// The user and password of an address.
	{regexp.MustCompile(`([a-zA-Z][a-zA-Z0-9+.-]*://)[^/?#\s"'@]*(?:@[^/?#\s"'@]*)*@`), "${1}" + mask + "@"},
	// API keys (ours and the card processor's), signing secrets, refresh tokens.
	{regexp.MustCompile(`\b((?:sk|rk|pk)_(?:test|live)_|whsec_|rt_)[A-Za-z0-9_+/=-]+`), "${1}" + mask},
	// The card processor's client secrets.
	{regexp.MustCompile(`(_secret_)[A-Za-z0-9]+`), "${1}" + mask},
	// JSON Web Tokens.
	{regexp.MustCompile(`\beyJ[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+){1,2}`), mask},
	// What a header shows.
	{regexp.MustCompile(`(?i)\b((?:bearer|basic)\s+)[A-Za-z0-9._~+/=-]{8,}`), "${1}" + mask},
	// Named values, in queries, connection strings and JSON.
	{regexp.MustCompile(`(?i)([a-z_-]*(?:password|passwd|secret|token|signature|api_?key)["']?\s*[=:]\s*["']?)[^\s"'&,;}]+`), "${1}" + mask},
	// The secret links of a checkout and of a receipt: an id's body and its proof.
	{regexp.MustCompile(`\b[0-9a-hjkmnp-tv-z]{52}\b`), mask},
	// Card numbers.
	{regexp.MustCompile(`\b[0-9](?:[ -]?[0-9]){14,18}\b`), mask},
	// The operator's network.
	{regexp.MustCompile(`\b((?:dial|read|write) (?:tcp|udp|unix)[46]?) \S+`), "${1} " + mask + ":"},
}

// Text returns s without secrets, card numbers and addresses of the operator's network.
func Text(s string) string {
	for _, rule := range rules {
		s = rule.pattern.ReplaceAllString(s, rule.with)
	}
	return s
}
