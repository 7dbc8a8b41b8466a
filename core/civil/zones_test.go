package civil_test

import (
	"strings"
	"testing"
	"time"

	"sundry/core/civil"
	"sundry/core/country"
)

func TestNamedZonesExistAndAreCurrent(t *testing.T) {
	t.Parallel()
	all := civil.NamedZones()
	if len(all) < 400 {
		t.Fatalf("%d zones", len(all))
	}
	for _, z := range all {
		if _, err := civil.ParseZone(z.Name); err != nil {
			t.Errorf("%s: %v", z.Name, err)
		}
		if !country.Valid(z.Country) && z.Name != "UTC" {
			t.Errorf("%s is in %q", z.Name, z.Country)
		}
		if current := civil.CurrentZoneName(z.Name); current != z.Name {
			t.Errorf("%s is called %s today", z.Name, current)
		}
		for _, former := range z.Former {
			if civil.CurrentZoneName(former) != z.Name {
				t.Errorf("%s has two current names", former)
			}
		}
	}
}

func TestOutdatedZoneNamesShowTheSameClocks(t *testing.T) {
	t.Parallel()
	for _, z := range civil.NamedZones() {
		current, _ := civil.ParseZone(z.Name)
		for _, former := range z.Former {
			zone, err := civil.ParseZone(former)
			if err != nil {
				t.Errorf("%s: %v", former, err)
				continue
			}
			for month := time.January; month <= time.December; month++ {
				at := time.Date(2026, month, 15, 12, 0, 0, 0, time.UTC)
				if civil.Offset(at, zone) != civil.Offset(at, current) {
					t.Errorf("%s is not %s", former, z.Name)
				}
			}
		}
	}
}

func TestZonesArePlacesOfTheirCountries(t *testing.T) {
	t.Parallel()
	for former, want := range map[string]string{
		"Asia/Calcutta": "Asia/Kolkata IN Kolkata", "Asia/Saigon": "Asia/Ho_Chi_Minh VN Ho Chi Minh",
		"Europe/Kiev": "Europe/Kyiv UA Kyiv", "Asia/Katmandu": "Asia/Kathmandu NP Kathmandu",
		"America/Godthab": "America/Nuuk GL Nuuk", "Africa/Asmera": "Africa/Asmara ER Asmara",
		"America/Buenos_Aires": "America/Argentina/Buenos_Aires AR Buenos Aires",
		"America/Knox_IN":      "America/Indiana/Knox US Knox, Indiana", "Europe/Paris": "Europe/Paris FR Paris",
	} {
		got := ""
		for _, z := range civil.NamedZones() {
			if z.Name == civil.CurrentZoneName(former) {
				got = strings.Join([]string{z.Name, z.Country, z.Place()}, " ")
			}
		}
		if got != want {
			t.Errorf("%s: %q, want %q", former, got, want)
		}
	}
}

func TestRegionIsTheFirstPartOfTheName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"Europe/Paris": "Europe", "America/Indiana/Knox": "America", "UTC": "UTC"} {
		if got := (civil.NamedZone{Name: name}).Region(); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
