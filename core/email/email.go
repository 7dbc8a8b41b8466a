// Package email knows which texts are e-mail addresses and which of them are the same. It is part of the shared
// kernel: creators, buyers and customers all have one.
package email

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxLength is the longest address that SMTP can carry, in bytes.
const MaxLength = 254

const (
	maxLocal = 64
	maxLabel = 63
)

// Parse trims the text, lower-cases it and reports whether the outcome has the shape of an address. Every mailbox
// provider of note ignores case, so two spellings of one address count as one.
//
// Only the shape is checked: whether mail arrives, only mail can show.
func Parse(text string) (address string, ok bool) {
	address = strings.ToLower(strings.TrimSpace(text))
	if len(address) > MaxLength || !utf8.ValidString(text) { // lower-casing hides invalid bytes
		return address, false
	}
	at := strings.LastIndexByte(address, '@')
	if at < 1 || at > maxLocal {
		return address, false
	}
	return address, validLocal(address[:at]) && validDomain(address[at+1:])
}

// validLocal takes what mailbox providers hand out, and some more; quoted local parts are not among it.
func validLocal(local string) bool {
	return !strings.ContainsFunc(local, func(r rune) bool {
		return unicode.IsSpace(r) || !unicode.IsPrint(r) || strings.ContainsRune(`@()<>[]\,;:"`, r)
	})
}

// validDomain wants at least two labels of letters, digits and inner hyphens.
func validDomain(domain string) bool {
	labels := strings.Split(domain, ".")
	for _, label := range labels {
		if label == "" || len(label) > maxLabel || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		if strings.ContainsFunc(label, func(r rune) bool {
			return r != '-' && !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
		}) {
			return false
		}
	}
	return len(labels) >= 2
}
