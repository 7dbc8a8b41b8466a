// Package faulttest reads refusals in tests.
package faulttest

import (
	"errors"

	"sundry/core/fault"
)

// Lines lists what a VALIDATION_FAILED refusal found, as "field CODE"; nothing for nil. Any other error ends the test.
func Lines(t interface{ Fatalf(string, ...any) }, err error) []string {
	if err == nil {
		return nil
	}
	var refused *fault.Error
	if !errors.As(err, &refused) || refused.Code != fault.ValidationFailed {
		t.Fatalf("got %v, want VALIDATION_FAILED", err)
		return nil
	}
	lines := make([]string, len(refused.Details))
	for i, d := range refused.Details {
		lines[i] = d.Field + " " + d.Code
	}
	return lines
}
