package layout

import (
	"slices"
	"testing"
	"time"

	"sundry/core/locale"
)

func TestZonesNameTheirCountryAndOffset(t *testing.T) {
	t.Parallel()
	winter := time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC)
	for tag, wants := range map[string][]string{
		"en-US": {
			"Asia: Kolkata, India · UTC+5:30", "Asia: Kathmandu, Nepal · UTC+5:45", "Europe: Kyiv, Ukraine · UTC+2",
			"Americas: Nuuk, Greenland · UTC−2", "Americas: Knox, Indiana, United States · UTC−6", "UTC: UTC",
		},
		"de": {"Asien: Kolkata, Indien · UTC+5:30", "Europa: Berlin, Deutschland · UTC+1"},
		"fr": {"Asie: Kolkata, Inde · UTC+5:30", "Europe: Berlin, Allemagne · UTC+1"},
	} {
		var got []string
		for _, group := range ZoneGroups(locale.ParseTag(tag), winter) {
			for _, z := range group.Zones {
				got = append(got, group.Label+": "+z.Label)
			}
		}
		for _, want := range wants {
			if !slices.Contains(got, want) {
				t.Errorf("%s: no %q", tag, want)
			}
		}
		if len(got) < 400 {
			t.Errorf("%s: %d zones", tag, len(got))
		}
	}
}
