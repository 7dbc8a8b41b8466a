// Package wire says how values are written for others, in answers and in events alike (contract §2).
package wire

import "time"

// Instant is RFC 3339 in UTC with milliseconds and Z.
func Instant(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// Time is an Instant, null for the zero time.
func Time(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	s := Instant(t)
	return &s
}

// Text is null for an empty string.
func Text(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
