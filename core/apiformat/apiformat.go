// Package apiformat writes values for others, in responses and in events alike, as docs/api.md describes them.
package apiformat

import (
	"bytes"
	"encoding/json"
	"time"
)

// instantLayout is RFC 3339 in UTC with milliseconds and Z.
const instantLayout = "2006-01-02T15:04:05.000Z"

// Instant is RFC 3339 in UTC with milliseconds and Z.
func Instant(t time.Time) string {
	return string(AppendInstant(make([]byte, 0, len(instantLayout)), t))
}

// AppendInstant appends an Instant. A calendar has thousands, and reading the layout for each would cost most of its
// time.
func AppendInstant(b []byte, t time.Time) []byte {
	t = t.UTC()
	year, month, day := t.Date()
	if year < 0 || year > 9999 {
		return t.AppendFormat(b, instantLayout)
	}
	hour, minute, second := t.Clock()
	b = append(appendTwo(appendTwo(b, year/100), year%100), '-')
	b = append(appendTwo(b, int(month)), '-')
	b = append(appendTwo(b, day), 'T')
	b = append(appendTwo(b, hour), ':')
	b = append(appendTwo(b, minute), ':')
	b = append(appendTwo(b, second), '.')
	milliseconds := t.Nanosecond() / int(time.Millisecond)
	return append(appendTwo(append(b, digit(milliseconds/100)), milliseconds%100), 'Z')
}

// appendTwo appends a number below 100.
func appendTwo(b []byte, n int) []byte { return append(b, digit(n/10), digit(n%10)) }

func digit(n int) byte { return '0' + byte(n) } //nolint:gosec // one digit

// Time returns an Instant, null for the zero time.
func Time(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	s := Instant(t)
	return &s
}

// Text is null for an empty string.
func Text[T ~string](s T) *string {
	if s == "" {
		return nil
	}
	plain := string(s)
	return &plain
}

// Count is null for zero.
func Count(n int) *int {
	if n == 0 {
		return nil
	}
	return &n
}

// JSON returns a value as JSON text. Characters such as & are written as they are: the text is never part of a page.
func JSON(v any) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(text.Bytes(), []byte("\n")), nil
}
