package appointment

import "time"

// HostedMeeting is a virtual meeting on a creator's account at a provider. Buyers get the address of its room here,
// which exists from the moment they pay and leads on to the provider's once that has made the meeting.
type HostedMeeting struct {
	Room      string
	CreatorID string
	Provider  Provider
	// AppointmentID or, where several buyers share the time, GroupID names whose meeting it is.
	AppointmentID, GroupID string
	// ProviderID and URL are the provider's; "" before it has made the meeting, and once it has deleted it.
	ProviderID, URL string
	// Title and times are those that the provider has.
	Title            string
	StartsAt, EndsAt time.Time
	CreatedAt        time.Time
	Revision         int64
}

// NewHostedMeeting returns the meeting of an appointment that has not been made yet.
func NewHostedMeeting(room string, provider Provider, a State, now time.Time) HostedMeeting {
	m := HostedMeeting{
		Room: room, CreatorID: a.CreatorID, Provider: provider, AppointmentID: a.ID, CreatedAt: now, Revision: 1,
	}
	if a.GroupID != "" {
		m.AppointmentID, m.GroupID = "", a.GroupID
	}
	return m
}

// MeetingStep names a change at the provider.
type MeetingStep string

// The steps.
const (
	NoStep        MeetingStep = ""
	MakeMeeting   MeetingStep = "make"
	ChangeMeeting MeetingStep = "change"
	DeleteMeeting MeetingStep = "delete"
)

// Next returns what has to be done so that the provider's meeting fits the appointments that take place in it, of which
// those count that are confirmed and have its address, and the meeting with the title and times that it shall have.
func (m HostedMeeting) Next(address string, all []State) (HostedMeeting, MeetingStep) {
	for _, a := range all {
		if a.Status != StatusConfirmed || a.MeetingURL != address {
			continue
		}
		next := m
		next.Title, next.StartsAt, next.EndsAt = a.Title, a.StartsAt, a.EndsAt
		switch {
		case m.ProviderID == "":
			return next, MakeMeeting
		case next != m:
			return next, ChangeMeeting
		}
		return m, NoStep
	}
	if m.ProviderID == "" {
		return m, NoStep
	}
	return m, DeleteMeeting
}

// Deleted returns the meeting once the provider has deleted it.
func (m HostedMeeting) Deleted() HostedMeeting {
	m.ProviderID, m.URL = "", ""
	return m
}

// MeetingAccount is a creator's account at a provider of meetings.
type MeetingAccount struct {
	CreatorID string
	Provider  Provider
	// Name is the account's, as its owner knows it, such as an e-mail address; "" when the provider does not say.
	Name string
	// Token opens the account, encrypted.
	Token       []byte
	ConnectedAt time.Time
	// FailedAt is the time of the provider's last refusal of the token; zero while it takes it.
	FailedAt time.Time
	Revision int64
}
