package civil_test

import (
	"testing"

	"sundry/core/civil"
)

// FuzzParseDate: a date is written as it was read.
func FuzzParseDate(f *testing.F) {
	for _, text := range []string{"2026-11-26", "1970-01-01", "9999-12-31", "2026-02-30", "1969-12-31", "2026-1-1", "2026-11-26T00:00"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if date, ok := civil.ParseDate(text); ok && date.String() != text {
			t.Errorf("%q is written %q", text, date)
		}
	})
}

// FuzzParseZone: a name is found as itself or not at all, and no name leads to a file of another folder.
func FuzzParseZone(f *testing.F) {
	for _, name := range []string{"Europe/Paris", "UTC", "", "Local", "../../etc/passwd", "/etc/localtime", "right/UTC", "europe/paris"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		zone, err := civil.ParseZone(name)
		if (zone == nil) != (err != nil) {
			t.Fatalf("%q: got %v and %v", name, zone, err)
		}
		if zone != nil && zone.String() != name {
			t.Errorf("%q is the zone %q", name, zone)
		}
	})
}
