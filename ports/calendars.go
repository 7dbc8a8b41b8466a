package ports

import "time"

// CalendarMethod says what a calendar file is for (RFC 5546).
type CalendarMethod string

// The methods. Request and Cancel are sent to a buyer, whose calendar acts on them; Publish is read again and again.
const (
	CalendarRequest CalendarMethod = "REQUEST"
	CalendarCancel  CalendarMethod = "CANCEL"
	CalendarPublish CalendarMethod = "PUBLISH"
)

// CalendarFile is a calendar with its entries.
type CalendarFile struct {
	Method CalendarMethod
	// Name is how a subscribed calendar calls itself; "" for single entries.
	Name    string
	Entries []CalendarEntry
}

// CalendarEntry is an appointment as calendars know it.
type CalendarEntry struct {
	// UID stays the same for good; Sequence rises with each change.
	UID      string
	Sequence int
	Canceled bool
	StartsAt time.Time
	EndsAt   time.Time
	// StampedAt is when this version was made.
	StampedAt time.Time
	Summary   string
	// Description may have several lines. Location is an address, or the link when they meet virtually; URL is the link.
	Description string
	Location    string
	URL         string
	// Organizer and Attendee are left out without an e-mail address.
	Organizer CalendarParty
	Attendee  CalendarParty
}

// CalendarParty is one of those who meet.
type CalendarParty struct{ Name, Email string }

// CalendarWriter writes calendar files (RFC 5545).
type CalendarWriter interface {
	Write(file CalendarFile) []byte
}
