package apiformat_test

import (
	"testing"
	"time"

	"sundry/core/apiformat"
)

func TestInstantsAreUTCWithMilliseconds(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 8, 14, 0, 0, 5_900_000, time.FixedZone("", -5*60*60))
	if got := apiformat.Instant(at); got != "2026-03-08T19:00:00.005Z" {
		t.Error(got)
	}
	if apiformat.Time(time.Time{}) != nil || apiformat.Text("") != nil || *apiformat.Time(at) != apiformat.Instant(at) || *apiformat.Text("x") != "x" {
		t.Error("null means not set, and nothing else")
	}
}
