package appointment

import (
	"net/url"
	"slices"
	"strings"

	"sundry/core/fault"
	"sundry/core/listing"
	"sundry/core/text"
)

// Provider names the host of virtual meetings.
type Provider string

// The providers of meetings. Static is one address for every meeting; Jitsi gives each a room of its own. Zoom and
// GoogleMeet make each on the creator's account there.
const (
	Static     Provider = "static"
	Jitsi      Provider = "jitsi"
	Zoom       Provider = "zoom"
	GoogleMeet Provider = "google_meet"
)

// AccountProviders are those at which a creator needs an account.
var AccountProviders = []Provider{Zoom, GoogleMeet}

// NeedsAccount reports whether meetings are made on the creator's account at the provider.
func (p Provider) NeedsAccount() bool { return slices.Contains(AccountProviders, p) }

const (
	// publicJitsi is the server that needs no account.
	publicJitsi = "https://meet.jit.si"
	// jitsiRoom precedes the names of our rooms there.
	jitsiRoom  = "/sundry-"
	maxURL     = 2048
	maxAddress = 500
)

// VirtualMeeting specifies where virtual meetings take place. URL is the meeting itself (Static) or the server (Jitsi;
// "" = the public one); a provider that needs an account has none.
type VirtualMeeting struct {
	Provider Provider `json:"provider"`
	URL      string   `json:"url"`
}

// Place is the address at which a creator receives buyers.
type Place struct {
	Address string `json:"address"`
}

// MeetingSettings describe the places in which a creator meets buyers; a nil member is not set.
type MeetingSettings struct {
	Virtual  *VirtualMeeting `json:"virtual"`
	InPerson *Place          `json:"inPerson"`
}

// Check lists everything that is wrong with the settings.
func (m MeetingSettings) Check() error {
	var f fault.Violations
	if m.Virtual != nil {
		at := f.Nest("virtual")
		at.OneOf(
			"provider", string(m.Virtual.Provider), string(Static), string(Jitsi), string(Zoom), string(GoogleMeet),
		)
		switch {
		case m.Virtual.URL != "" && m.Virtual.Provider.NeedsAccount():
			at.Addf("url", fault.DetailNotAllowed, "Each meeting gets an address of its own.")
		case m.Virtual.URL != "":
			at.Check(meetingURL(m.Virtual.URL, m.Virtual.Provider), "url", fault.DetailInvalid,
				"Expected an absolute https address of at most 2048 characters, without user name; of a Jitsi server also "+
					"without query and fragment.")
		default:
			at.Check(m.Virtual.Provider != Static, "url", fault.DetailRequired, "Expected the address of the meeting.")
		}
	}
	if m.InPerson != nil {
		address, at := m.InPerson.Address, f.Nest("inPerson")
		if at.Check(strings.TrimSpace(address) != "", "address", fault.DetailRequired, "Expected the address where buyers "+
			"are received.") {
			text.CheckLines(at, "address", address, maxAddress)
		}
	}
	return f.Err()
}

func meetingURL(s string, provider Provider) bool {
	u, err := url.Parse(s)
	if err != nil || len(s) > maxURL || u.Scheme != "https" || u.Hostname() == "" || u.User != nil ||
		strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return false
	}
	return provider != Jitsi || !strings.ContainsAny(s, "?#")
}

// address returns the address at which a listing's buyers are received: its own place before the creator's. "" when
// neither is known.
func (m MeetingSettings) address(l listing.State) string {
	if own := l.Text(listing.InPersonAddress); strings.TrimSpace(own) != "" {
		return own
	}
	if m.InPerson != nil {
		return m.InPerson.Address
	}
	return ""
}

// link returns the link of a virtual meeting; room names it at a provider that gives each its own. Below rooms are
// those of meetings that a provider has yet to make (Meeting).
func (m MeetingSettings) link(rooms, room string) string {
	switch {
	case m.Virtual == nil:
		return ""
	case m.Virtual.Provider.NeedsAccount():
		return rooms + room
	case m.Virtual.Provider == Static:
		return m.Virtual.URL
	case m.Virtual.URL == "":
		return publicJitsi + jitsiRoom + room
	}
	return strings.TrimRight(m.Virtual.URL, "/") + jitsiRoom + room
}

// MissingSetup names everything that keeps a listing from being booked. The
// field of each names where to fix it: a member of the listing, of the availability or of the meeting settings.
func MissingSetup(l listing.State, v listing.Variant, s Setup) []fault.Detail {
	missing := []fault.Detail{}
	add := func(absent bool, field, message string) {
		if absent {
			missing = append(missing, fault.Detail{Field: field, Code: fault.DetailRequired, Message: message})
		}
	}
	add(!l.Type.Bookable(), "type", "Only listings of type APPOINTMENT can be booked.")
	add(l.Status == listing.Archived, "status", "The listing is archived: it is not sold any more.")
	add(l.Status != listing.Active && l.Status != listing.Archived, "status", "The listing must be ACTIVE: publish it.")
	if !l.Type.Bookable() {
		return missing
	}
	add(v.DurationMinutes < minDuration, "variant.durationMinutes", "The session must last at least 5 minutes.")
	add(len(s.Hours.Weekly) == 0, "availability.weekly", "The creator has set no weekly hours.")
	add(offers(l, Virtual) && s.Meetings.Virtual == nil, "meetingSettings.virtual", "The creator has not set where "+
		"virtual meetings take place.")
	add(offers(l, InPerson) && s.Meetings.address(l) == "", "meetingSettings.inPerson.address",
		"The creator has not set where buyers are received.")
	return missing
}

const minDuration = 5
