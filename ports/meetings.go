package ports

import (
	"context"
	"errors"

	"sundry/core/appointment"
)

// Errors of a MeetingHost.
var (
	// ErrMeetingAccess: the provider takes the account's token no longer. The creator has to connect it again.
	ErrMeetingAccess = errors.New("the provider of meetings refuses the account")
	// ErrMeetingGone: the provider does not have the meeting, because its owner deleted it there.
	ErrMeetingGone = errors.New("the provider has no such meeting")
)

// MeetingHost makes meetings on the accounts that creators have at a provider. Access opens an account: each method
// replaces it when the provider renews it, whatever else fails.
type MeetingHost interface {
	// ConsentURL is the provider's page on which a creator lets us make meetings. It leads to redirectURL, with state
	// and a code.
	ConsentURL(state, redirectURL string) string
	// Connect redeems such a code. The name is the account's, as its owner knows it. ErrMeetingAccess.
	Connect(ctx context.Context, code, redirectURL string) (name string, access []byte, err error)
	// Create makes a meeting with the title and times of m, and returns m with the provider's id and URL.
	// ErrMeetingAccess.
	Create(ctx context.Context, access *[]byte, m appointment.HostedMeeting) (appointment.HostedMeeting, error)
	// Update gives a meeting the title and times of m. ErrMeetingAccess, ErrMeetingGone.
	Update(ctx context.Context, access *[]byte, m appointment.HostedMeeting) error
	// Delete deletes a meeting. ErrMeetingAccess, ErrMeetingGone.
	Delete(ctx context.Context, access *[]byte, m appointment.HostedMeeting) error
}
