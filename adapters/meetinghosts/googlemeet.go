package meetinghosts

import (
	"cmp"
	"context"
	"net/http"

	"golang.org/x/oauth2"

	"sundry/core/appointment"
	"sundry/ports"
)

// GoogleMeet makes meeting spaces (https://developers.google.com/workspace/meet/api). A space has neither a title nor a
// time, and its owner cannot delete it: changes and cancellations ask nothing of Google.
type GoogleMeet struct{ account }

var _ ports.MeetingHost = GoogleMeet{}

// spacesScope lets us make spaces and see those that we made.
const spacesScope = "https://www.googleapis.com/auth/meetings.space.created"

// NewGoogleMeet returns the provider.
func NewGoogleMeet(c Config) GoogleMeet {
	c.AuthURL = cmp.Or(c.AuthURL, "https://accounts.google.com/o/oauth2/v2/auth")
	c.TokenURL = cmp.Or(c.TokenURL, "https://oauth2.googleapis.com/token")
	c.APIURL = cmp.Or(c.APIURL, "https://meet.googleapis.com/v2")
	return GoogleMeet{newAccount(c, oauth2.AuthStyleInParams, spacesScope)}
}

// ConsentURL implements ports.MeetingHost. Google gives a token that lasts only to who asks for one, and only with a
// consent.
func (g GoogleMeet) ConsentURL(state, redirectURL string) string {
	return g.at(redirectURL).AuthCodeURL(state, oauth2.AccessTypeOffline, oauth2.ApprovalForce)
}

// Connect implements ports.MeetingHost. The account has no name: to read it would take another consent.
func (g GoogleMeet) Connect(ctx context.Context, code, redirectURL string) (name string, access []byte, err error) {
	access, err = g.connect(ctx, code, redirectURL)
	return "", access, err
}

// Create implements ports.MeetingHost.
func (g GoogleMeet) Create(ctx context.Context, access *[]byte, m appointment.HostedMeeting) (
	appointment.HostedMeeting, error) {
	var space struct{ Name, MeetingURI string }
	err := g.call(ctx, access, http.MethodPost, g.api+"/spaces", struct{}{}, &space)
	if err == nil && (space.Name == "" || space.MeetingURI == "") {
		err = errIncomplete
	}
	if err == nil {
		m.ProviderID, m.URL = space.Name, space.MeetingURI
	}
	return m, err
}

// Update implements ports.MeetingHost.
func (GoogleMeet) Update(context.Context, *[]byte, appointment.HostedMeeting) error { return nil }

// Delete implements ports.MeetingHost.
func (GoogleMeet) Delete(context.Context, *[]byte, appointment.HostedMeeting) error { return nil }
