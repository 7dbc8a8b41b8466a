// Package apiformat defines how values are written for others, in responses and in events alike (contract §2).
package apiformat

import (
	"bytes"
	"encoding/json"
	"time"
)

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

// JSON is a value as JSON text. Characters such as & are written as they are: the text is never part of a page.
func JSON(v any) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(text.Bytes(), []byte("\n")), nil
}
