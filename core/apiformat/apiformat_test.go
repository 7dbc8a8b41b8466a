package apiformat_test

import (
	"math"
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
	for _, at := range []time.Time{ // on either side of what has four digits, of years and of days
		{}, time.Date(-1, 12, 31, 23, 59, 59, 999_999_999, time.UTC), time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC),
		time.Date(1969, 12, 31, 23, 59, 59, 999_000_000, time.UTC), time.Date(2024, 2, 29, 9, 8, 7, 60_000_000, time.UTC),
		time.Date(2000, 1, 1, 0, 0, 0, 100_000_000, time.UTC), time.Date(9999, 12, 31, 23, 59, 59, 999_999_999, time.UTC),
		time.Date(10000, 1, 1, 0, 0, 0, 1_000_000, time.UTC),
	} {
		want := at.Format("2006-01-02T15:04:05.000Z")
		if got := apiformat.Instant(at); got != want {
			t.Errorf("%s, want %s", got, want)
		}
		if got := string(apiformat.AppendInstant([]byte("at "), at)); got != "at "+want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if apiformat.Time(time.Time{}) != nil || apiformat.Text("") != nil || *apiformat.Time(at) != apiformat.Instant(at) ||
		*apiformat.Text("x") != "x" {
		t.Error("null means not set, and nothing else")
	}
}

func TestJSONIsForMachinesAlone(t *testing.T) {
	t.Parallel()
	if got, err := apiformat.JSON(map[string]string{"url": "https://a.example/?b&c=<d>"}); err != nil ||
		string(got) != `{"url":"https://a.example/?b&c=<d>"}` {
		t.Errorf("%s, %v", got, err)
	}
	if got, err := apiformat.JSON(math.NaN()); err == nil || got != nil {
		t.Errorf("%s for what JSON cannot say", got)
	}
}
