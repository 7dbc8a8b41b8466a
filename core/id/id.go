// Package id gives every object of the service its name: a prefix that names the kind, an underscore and a
// time-ordered 128-bit value in 26 characters. The value itself arrives from outside, so rules stay without
// clock and chance.
package id

import (
	"strings"
	"time"
)

// Prefix is the kind of object that an id names.
type Prefix string

// The kinds of objects. A prefix is part of stored ids and of what integrators see: it never changes.
const (
	Listing         Prefix = "lst"
	Creator         Prefix = "crt"
	User            Prefix = "usr"
	APIKey          Prefix = "key"
	CheckoutSession Prefix = "cs"
	Variant         Prefix = "var"
	Plan            Prefix = "pln"
	Price           Prefix = "pri"
	PaymentLink     Prefix = "plink"
	Customer        Prefix = "cus"
	Payment         Prefix = "pay"
	Refund          Prefix = "ref"
	Dispute         Prefix = "dsp"
	Payout          Prefix = "po"
	Subscription    Prefix = "sub"
	Grant           Prefix = "grt"
	Invoice         Prefix = "inv"
	InvoiceLine     Prefix = "ili"
	BillingPlan     Prefix = "ubp"
	Meter           Prefix = "mtr"
	Product         Prefix = "prd"
	UsageEvent      Prefix = "uev"
	UsageAlert      Prefix = "ual"
	UsageCredit     Prefix = "ucr"
	WebhookEndpoint Prefix = "we"
	Event           Prefix = "evt"
	Delivery        Prefix = "dlv"
	Appointment     Prefix = "apt"
	Reservation     Prefix = "clm"
	Discount        Prefix = "dsc"
	LedgerEntry     Prefix = "led"
	Mail            Prefix = "mail"
	PaymentMethod   Prefix = "pm"
	CardSetup       Prefix = "seti"
	Quote           Prefix = "qt"
	Document        Prefix = "doc"
	Request         Prefix = "req"
	Image           Prefix = "img"
	File            Prefix = "file"
	Meeting         Prefix = "mtg"
)

// Crockford's base32 in lower case: the digits and letters rise in the order of their bytes, so ids sort as
// text in the order of their values.
const (
	alphabet  = "0123456789abcdefghjkmnpqrstvwxyz"
	bodyChars = 26 // 130 bits, of which the first two are zero
)

// New renders prefix, an underscore and body, the most significant bits first.
func New(prefix Prefix, body [16]byte) string {
	out := make([]byte, 0, len(prefix)+1+bodyChars)
	out = append(out, prefix...)
	out = append(out, '_')
	var bits, have uint = 0, 2 // the two zero bits that fill 128 up to 26 times 5
	for _, b := range body {
		bits = bits<<8 | uint(b)
		for have += 8; have >= 5; have -= 5 {
			out = append(out, alphabet[bits>>(have-5)&31])
		}
	}
	return string(out)
}

// Valid reports whether s is an id of the given kind as New renders it.
func Valid(prefix Prefix, s string) bool {
	body, ok := strings.CutPrefix(s, string(prefix)+"_")
	return ok && validBody(body)
}

// Body returns the 26 characters after the prefix, "" when s is not an id of any kind.
func Body(s string) string {
	_, body, _ := strings.Cut(s, "_")
	if !validBody(body) {
		return ""
	}
	return body
}

func validBody(body string) bool {
	if len(body) != bodyChars || body[0] > '7' { // above 7 the value needs more than 128 bits
		return false
	}
	for i := range len(body) {
		if strings.IndexByte(alphabet, body[i]) < 0 {
			return false
		}
	}
	return true
}

// Time returns the time at which the id was made, to the millisecond: the first 48 bits of the value. ok is false when
// s is not an id.
func Time(s string) (at time.Time, ok bool) {
	body := Body(s)
	if body == "" {
		return time.Time{}, false
	}
	var millis int64
	for _, c := range []byte(body[:10]) {
		millis = millis<<5 | int64(strings.IndexByte(alphabet, c))
	}
	return time.UnixMilli(millis).UTC(), true
}

// First returns the least id of a kind that can have been made at a time or after it.
func First(prefix Prefix, at time.Time) string {
	var body [16]byte
	ms := uint64(max(at.UnixMilli(), 0)) //nolint:gosec // not negative
	for i := range 6 {
		body[i] = byte(ms >> (8 * (5 - i))) //nolint:gosec // one byte of six is meant
	}
	return New(prefix, body)
}
