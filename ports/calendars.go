package ports

import (
	"context"
	"time"

	"sundry/core/slot"
)

// CalendarMethod is the purpose of a calendar file (RFC 5546).
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
	// Name is the name that a subscribed calendar shows; "" for single entries.
	Name    string
	Entries []CalendarEntry
}

// CalendarEntry is an appointment as calendars know it.
type CalendarEntry struct {
	// UID never changes. Sequence rises with each change.
	UID      string
	Sequence int
	Canceled bool
	StartsAt time.Time
	EndsAt   time.Time
	// StampedAt is the time of this version.
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

// CalendarReader reads calendars that untrusted parties wrote, within bounds of time and memory.
type CalendarReader interface {
	// Busy lists when a calendar's events take time, within an interval, in order and merged. Events whose UID is one of
	// our appointments' at the host ours are left out. Its errors are short and fit to be shown to the calendar's owner.
	Busy(raw []byte, zone *time.Location, during slot.Interval, ours string) ([]slot.Interval, error)
}

// Fetcher reads addresses that untrusted parties chose. It dials no address that is not public, also when it is
// redirected, and bounds what it reads and how long that takes. Its errors are short, without the address, and fit to
// be shown to its owner.
type Fetcher interface {
	Network
	Fetch(ctx context.Context, url string) ([]byte, error)
}
