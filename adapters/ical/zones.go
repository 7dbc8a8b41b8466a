package ical

import (
	"strings"
	"time"

	"sundry/core/civil"
)

// windowsZones are the names that Outlook and Exchange write where others write IANA's (CLDR, windowsZones.xml).
var windowsZones = map[string]string{
	"AUS Eastern Standard Time": "Australia/Sydney", "Arab Standard Time": "Asia/Riyadh",
	"Arabian Standard Time":   "Asia/Dubai",
	"Argentina Standard Time": "America/Buenos_Aires", "Atlantic Standard Time": "America/Halifax",
	"Canada Central Standard Time":  "America/Regina",
	"Central America Standard Time": "America/Guatemala", "Central Europe Standard Time": "Europe/Budapest",
	"Central European Standard Time": "Europe/Warsaw", "Central Standard Time": "America/Chicago",
	"China Standard Time":     "Asia/Shanghai",
	"E. Africa Standard Time": "Africa/Nairobi", "E. Australia Standard Time": "Australia/Brisbane",
	"E. Europe Standard Time":        "Europe/Chisinau",
	"E. South America Standard Time": "America/Sao_Paulo", "Eastern Standard Time": "America/New_York",
	"Egypt Standard Time": "Africa/Cairo",
	"FLE Standard Time":   "Europe/Kiev", "GMT Standard Time": "Europe/London", "GTB Standard Time": "Europe/Bucharest",
	"Greenwich Standard Time": "Atlantic/Reykjavik", "Hawaiian Standard Time": "Pacific/Honolulu",
	"India Standard Time":  "Asia/Calcutta",
	"Israel Standard Time": "Asia/Jerusalem", "Korea Standard Time": "Asia/Seoul",
	"Mountain Standard Time": "America/Denver",
	"Nepal Standard Time":    "Asia/Katmandu", "New Zealand Standard Time": "Pacific/Auckland",
	"Newfoundland Standard Time": "America/St_Johns",
	"Pacific SA Standard Time":   "America/Santiago", "Pacific Standard Time": "America/Los_Angeles",
	"Pakistan Standard Time": "Asia/Karachi",
	"Romance Standard Time":  "Europe/Paris", "Russian Standard Time": "Europe/Moscow",
	"SA Pacific Standard Time": "America/Bogota",
	"SE Asia Standard Time":    "Asia/Bangkok", "Singapore Standard Time": "Asia/Singapore",
	"South Africa Standard Time": "Africa/Johannesburg",
	"Taipei Standard Time":       "Asia/Taipei", "Tokyo Standard Time": "Asia/Tokyo",
	"Turkey Standard Time":      "Europe/Istanbul",
	"US Mountain Standard Time": "America/Phoenix", "UTC": "UTC", "W. Australia Standard Time": "Australia/Perth",
	"W. Central Africa Standard Time": "Africa/Lagos", "W. Europe Standard Time": "Europe/Berlin",
}

// zoneOf is the zone that a calendar means by a name; otherwise is the creator's, for times that name none or one that
// nobody knows.
func zoneOf(name string, otherwise *time.Location) *time.Location {
	if name == "" {
		return otherwise
	}
	if known, ok := windowsZones[name]; ok {
		name = known
	}
	if zone, err := civil.ParseZone(name); err == nil {
		return zone
	}
	// Mozilla and others put a path before the name: /mozilla.org/20050126_1/Europe/Berlin.
	if parts := strings.Split(name, "/"); len(parts) > 2 {
		if zone, err := civil.ParseZone(strings.Join(parts[len(parts)-2:], "/")); err == nil {
			return zone
		}
	}
	return otherwise
}
