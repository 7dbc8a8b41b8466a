package web

import (
	"crypto/rand"
	"encoding/base64"
	"strings"
)

// newNonce names the scripts of one answer; it must never repeat between answers.
func newNonce() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails: the runtime aborts instead
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// contentPolicy allows our own style sheet, the scripts named (a nonce covers the modules
// its script imports), and requests to ourselves. Native form posts are refused because a
// card number must never be sent by anything but our script. parents are the origins
// that may frame the page; none means nobody may.
func contentPolicy(scripts string, parents []string) string {
	ancestors := "'none'"
	if len(parents) > 0 {
		ancestors = strings.Join(parents, " ")
	}
	return strings.Join([]string{
		"default-src 'none'",
		"script-src " + scripts,
		"style-src 'self'",
		"img-src 'self' data:",
		"connect-src 'self'",
		"base-uri 'none'",
		"object-src 'none'",
		"form-action 'none'",
		"frame-ancestors " + ancestors,
	}, "; ")
}

// formPolicy is the policy of a page without scripts whose own forms are sent to us: nothing secret is typed into them.
func formPolicy() string {
	return strings.Replace(contentPolicy("'none'", nil), "form-action 'none'", "form-action 'self'", 1)
}
