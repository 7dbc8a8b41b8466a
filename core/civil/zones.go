package civil

import (
	_ "embed"
	"strings"
)

// zoneTable lists the zones as tzdata's zone.tab does (2025b): a current name, the country whose clocks it shows and
// the names that it has had, which browsers and older systems still report. The data is in the public domain.
//
//go:embed zones.tsv
var zoneTable string

// NamedZone is a time zone as people choose it.
type NamedZone struct {
	Name    string // current IANA name
	Country string // ISO 3166-1 alpha-2; "" for UTC
	Former  []string
}

var (
	zones       = loadZones()
	currentName = currentNames(zones)
)

func loadZones() (all []NamedZone) {
	for line := range strings.Lines(zoneTable) {
		name, rest, _ := strings.Cut(strings.TrimSpace(line), "\t")
		code, former, _ := strings.Cut(rest, "\t")
		all = append(all, NamedZone{name, code, strings.Fields(former)})
	}
	return all
}

func currentNames(all []NamedZone) map[string]string {
	names := map[string]string{}
	for _, z := range all {
		for _, former := range z.Former {
			names[former] = z.Name
		}
	}
	return names
}

// NamedZones returns every zone that people choose from, sorted by name.
func NamedZones() []NamedZone { return zones }

// CurrentZoneName returns the name that a zone has today: Asia/Kolkata for Asia/Calcutta. A name that has not changed,
// or that is unknown, comes back as it is.
func CurrentZoneName(name string) string {
	if current, renamed := currentName[name]; renamed {
		return current
	}
	return name
}

// Region returns the first part of the name, such as Europe.
func (z NamedZone) Region() string {
	region, _, _ := strings.Cut(z.Name, "/")
	return region
}

// Place returns the city, with the state where the name has one: "Ho Chi Minh", "Knox, Indiana".
func (z NamedZone) Place() string {
	parts := strings.Split(strings.ReplaceAll(z.Name, "_", " "), "/")
	city := parts[len(parts)-1]
	if len(parts) < 3 || parts[1] == "Argentina" {
		return city
	}
	return city + ", " + parts[1]
}
