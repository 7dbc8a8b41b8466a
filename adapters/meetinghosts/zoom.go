package meetinghosts

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"golang.org/x/oauth2"

	"sundry/core/appointment"
	"sundry/ports"
)

// Zoom makes scheduled meetings (https://developers.zoom.us/docs/api/meetings). Its application needs the scopes
// meeting:write:meeting, meeting:update:meeting, meeting:delete:meeting and user:read:user.
type Zoom struct{ account }

var _ ports.MeetingHost = Zoom{}

// NewZoom returns the provider.
func NewZoom(c Config) Zoom {
	c.AuthURL = cmp.Or(c.AuthURL, "https://zoom.us/oauth/authorize")
	c.TokenURL = cmp.Or(c.TokenURL, "https://zoom.us/oauth/token")
	c.APIURL = cmp.Or(c.APIURL, "https://api.zoom.us/v2")
	return Zoom{newAccount(c, oauth2.AuthStyleInHeader)} // the scopes are those of the application
}

// ConsentURL implements ports.MeetingHost.
func (z Zoom) ConsentURL(state, redirectURL string) string {
	return z.at(redirectURL).AuthCodeURL(state)
}

// Connect implements ports.MeetingHost.
func (z Zoom) Connect(ctx context.Context, code, redirectURL string) (name string, access []byte, err error) {
	if access, err = z.connect(ctx, code, redirectURL); err != nil {
		return "", nil, err
	}
	var owner struct{ Email string }
	err = z.call(ctx, &access, http.MethodGet, z.api+"/users/me", nil, &owner)
	return owner.Email, access, err
}

// scheduled is a meeting at a time, type 2 of Zoom.
type scheduled struct {
	Topic     string `json:"topic"`
	Type      int    `json:"type"`
	StartTime string `json:"start_time"`
	Duration  int    `json:"duration"` // minutes
	Timezone  string `json:"timezone"`
}

// longestTopic is Zoom's limit of characters.
const longestTopic = 200

func newScheduled(m appointment.HostedMeeting) scheduled {
	topic := []rune(m.Title)
	return scheduled{
		Topic: string(topic[:min(len(topic), longestTopic)]), Type: 2,
		StartTime: m.StartsAt.UTC().Format("2006-01-02T15:04:05Z"),
		Duration:  int(m.EndsAt.Sub(m.StartsAt) / time.Minute), Timezone: "UTC",
	}
}

// Create implements ports.MeetingHost.
func (z Zoom) Create(ctx context.Context, access *[]byte, m appointment.HostedMeeting) (
	appointment.HostedMeeting, error) {
	var made struct {
		ID      int64
		JoinURL string `json:"join_url"`
	}
	err := z.call(ctx, access, http.MethodPost, z.api+"/users/me/meetings", newScheduled(m), &made)
	if err == nil && (made.ID == 0 || made.JoinURL == "") {
		err = errIncomplete
	}
	if err == nil {
		m.ProviderID, m.URL = strconv.FormatInt(made.ID, 10), made.JoinURL
	}
	return m, err
}

// errIncomplete reports that a provider made a meeting and did not say which.
var errIncomplete = errors.New("the response names no meeting")

// Update implements ports.MeetingHost.
func (z Zoom) Update(ctx context.Context, access *[]byte, m appointment.HostedMeeting) error {
	return z.call(ctx, access, http.MethodPatch, z.api+"/meetings/"+m.ProviderID, newScheduled(m), nil)
}

// Delete implements ports.MeetingHost.
func (z Zoom) Delete(ctx context.Context, access *[]byte, m appointment.HostedMeeting) error {
	return z.call(ctx, access, http.MethodDelete, z.api+"/meetings/"+m.ProviderID, nil, nil)
}
