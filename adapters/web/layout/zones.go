package layout

import (
	"slices"
	"strings"
	"time"

	"sundry/core/civil"
	"sundry/core/country"
	"sundry/core/locale"
)

// ZoneGroup is a part of the world with its time zones, for a select.
type ZoneGroup struct {
	Label string
	Zones []ZoneChoice
}

// ZoneChoice is a time zone to choose: "Kolkata, India · UTC+5:30".
type ZoneChoice struct {
	Name, Label string
	// Former are the zone's outdated names, separated by spaces, by which it is found, too.
	Former string
}

// ZoneGroups returns every time zone by its part of the world, with its country and how its clocks stand now, in the
// reader's language.
func ZoneGroups(reader locale.Locale, now time.Time) []ZoneGroup {
	var groups []ZoneGroup
	for _, z := range civil.NamedZones() {
		choice, ok := newZoneChoice(reader, now, z)
		if !ok {
			continue
		}
		label := reader.Text("zone." + strings.ToLower(z.Region()))
		if last := len(groups) - 1; last < 0 || groups[last].Label != label {
			groups = append(groups, ZoneGroup{Label: label})
		}
		group := &groups[len(groups)-1]
		group.Zones = append(group.Zones, choice)
	}
	for _, group := range groups {
		slices.SortStableFunc(group.Zones, func(a, b ZoneChoice) int { return strings.Compare(a.Label, b.Label) })
	}
	return groups
}

func newZoneChoice(reader locale.Locale, now time.Time, z civil.NamedZone) (ZoneChoice, bool) {
	location, err := civil.ParseZone(z.Name)
	if err != nil {
		return ZoneChoice{}, false // newer than the rules that this program has
	}
	label := z.Place()
	if z.Country != "" {
		label += ", " + country.Name(z.Country, reader.Language) + " · " + civil.Offset(now, location)
	}
	return ZoneChoice{Name: z.Name, Label: label, Former: strings.Join(z.Former, " ")}, true
}
