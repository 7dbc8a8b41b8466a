package meetinghosts_test

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"sundry/adapters/meetinghosts/meetinghoststest"
	"sundry/core/appointment"
	"sundry/ports"
)

const redirect = "https://pay.example.com/connected"

func lesson() appointment.HostedMeeting {
	at := time.Date(2026, 3, 9, 15, 0, 0, 0, time.UTC)
	return appointment.HostedMeeting{Title: "Leçon", StartsAt: at, EndsAt: at.Add(45 * time.Minute)}
}

func TestAMeetingIsMadeChangedAndDeleted(t *testing.T) {
	t.Parallel()
	s := meetinghoststest.Start(t)
	zoom := s.Hosts()[appointment.Zoom]
	name, access, err := zoom.Connect(t.Context(), "good", redirect)
	if err != nil || name != "ada@example.com" {
		t.Fatalf("connected as %q, %v", name, err)
	}
	before := string(access)
	m, err := zoom.Create(t.Context(), &access, lesson())
	if err != nil || m.ProviderID != "1" || m.URL != s.URL+"/j/1" {
		t.Fatalf("made %+v, %v", m, err)
	}
	if string(access) == before {
		t.Error("the renewed access was not handed back")
	}
	asked := s.Meetings()["1"]
	for name, want := range map[string]any{
		"topic": "Leçon", "type": 2.0, "start_time": "2026-03-09T15:00:00Z", "duration": 45.0, "timezone": "UTC",
	} {
		if asked[name] != want {
			t.Errorf("%s is %v, want %v", name, asked[name], want)
		}
	}
	m.Title, m.StartsAt, m.EndsAt = strings.Repeat("é", 201), m.StartsAt.Add(time.Hour), m.EndsAt.Add(time.Hour)
	if err := zoom.Update(t.Context(), &access, m); err != nil {
		t.Fatal(err)
	}
	if changed := s.Meetings()["1"]; changed["start_time"] != "2026-03-09T16:00:00Z" ||
		changed["topic"] != strings.Repeat("é", 200) {
		t.Errorf("changed to %v", changed)
	}
	if err := zoom.Delete(t.Context(), &access, m); err != nil || len(s.Meetings()) != 0 {
		t.Errorf("deleted: %v, left %v", err, s.Meetings())
	}
	for name, err := range map[string]error{
		"changed": zoom.Update(t.Context(), &access, m), "deleted": zoom.Delete(t.Context(), &access, m),
	} {
		if !errors.Is(err, ports.ErrMeetingGone) {
			t.Errorf("what is gone was %s: %v", name, err)
		}
	}
}

func TestASpaceIsMade(t *testing.T) {
	t.Parallel()
	s := meetinghoststest.Start(t)
	google := s.Hosts()[appointment.GoogleMeet]
	name, access, err := google.Connect(t.Context(), "good", redirect)
	if err != nil || name != "" {
		t.Fatalf("connected as %q, %v", name, err)
	}
	m, err := google.Create(t.Context(), &access, lesson())
	if err != nil || m.ProviderID != "spaces/1" || m.URL != s.URL+"/spaces/1" {
		t.Errorf("made %+v, %v", m, err)
	}
	if err := errors.Join(google.Update(t.Context(), &access, m), google.Delete(t.Context(), &access, m)); err != nil {
		t.Errorf("a space has nothing to change: %v", err)
	}
}

func TestAnAccountThatIsRefused(t *testing.T) {
	t.Parallel()
	for provider, host := range meetinghoststest.Start(t).Hosts() {
		if _, _, err := host.Connect(t.Context(), "bad", redirect); !errors.Is(err, ports.ErrMeetingAccess) {
			t.Errorf("%s, a code that it did not give out: %v", provider, err)
		}
	}
	for _, provider := range appointment.AccountProviders {
		s := meetinghoststest.Start(t)
		host := s.Hosts()[provider]
		_, access, err := host.Connect(t.Context(), "good", redirect)
		if err != nil {
			t.Fatal(err)
		}
		s.Fail(http.StatusServiceUnavailable)
		if _, err := host.Create(t.Context(), &access, lesson()); err == nil || errors.Is(err, ports.ErrMeetingAccess) {
			t.Errorf("%s is down: %v, want an error that passes", provider, err)
		}
		s.Fail(0)
		if _, err := host.Create(t.Context(), &access, lesson()); err != nil {
			t.Errorf("%s is up again: %v", provider, err)
		}
		s.Refuse(true)
		if _, err := host.Create(t.Context(), &access, lesson()); !errors.Is(err, ports.ErrMeetingAccess) {
			t.Errorf("%s, revoked by its owner: %v", provider, err)
		}
	}
}

func TestTheConsentNamesWhatIsAskedFor(t *testing.T) {
	t.Parallel()
	hosts := meetinghoststest.Start(t).Hosts()
	for provider, want := range map[appointment.Provider]url.Values{
		appointment.Zoom: {"scope": nil, "access_type": nil},
		appointment.GoogleMeet: {
			"scope":       {"https://www.googleapis.com/auth/meetings.space.created"},
			"access_type": {"offline"}, "prompt": {"consent"},
		},
	} {
		u, err := url.Parse(hosts[provider].ConsentURL("mine", redirect))
		if err != nil {
			t.Fatal(err)
		}
		want.Set("state", "mine")
		want.Set("redirect_uri", redirect)
		want.Set("response_type", "code")
		for name := range want {
			if got := u.Query().Get(name); got != want.Get(name) {
				t.Errorf("%s: %s is %q, want %q", provider, name, got, want.Get(name))
			}
		}
	}
}
