package appointment

import "sundry/core/slot"

// File is the availability part of a catalog file: when and where a creator meets buyers. Their other calendars are
// not in it, because the addresses of those are secrets.
type File struct {
	Hours    slot.Settings   `json:"hours"`
	Meetings MeetingSettings `json:"meetings"`
}
