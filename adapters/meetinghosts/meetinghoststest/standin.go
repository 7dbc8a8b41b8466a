// Package meetinghoststest stands in for Zoom and Google in tests: their consent, tokens and meetings.
package meetinghoststest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"sundry/adapters/meetinghosts"
	"sundry/core/appointment"
	"sundry/ports"
)

// The credentials of our application there.
const (
	clientID     = "sundry"
	clientSecret = "shh"
)

// StandIn is a server that does what both providers do. Its tokens last for no time, and each renewal replaces them
// all, so that who keeps an old one is refused.
type StandIn struct {
	*httptest.Server
	mu sync.Mutex
	// renewals counts the tokens that were given out, and refused means that none is taken any more.
	renewals int
	refused  bool
	// fails is the status of every request to the API; 0 while it works.
	fails    int
	made     int
	meetings map[string]map[string]any
}

// Start runs the server until the test ends.
func Start(t testing.TB) *StandIn {
	t.Helper()
	s := &StandIn{meetings: map[string]map[string]any{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /authorize", s.consent)
	mux.HandleFunc("POST /token", s.token)
	mux.HandleFunc("GET /api/users/me", s.api(func(w http.ResponseWriter, _ *http.Request) {
		respond(w, http.StatusOK, map[string]any{"email": "ada@example.com"})
	}))
	mux.HandleFunc("POST /api/users/me/meetings", s.api(s.makeMeeting))
	mux.HandleFunc("PATCH /api/meetings/{id}", s.api(s.changeMeeting))
	mux.HandleFunc("DELETE /api/meetings/{id}", s.api(s.deleteMeeting))
	mux.HandleFunc("POST /api/spaces", s.api(s.makeSpace))
	s.Server = httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

// Hosts are both providers' adapters on the stand-in.
func (s *StandIn) Hosts() map[appointment.Provider]ports.MeetingHost {
	c := meetinghosts.Config{
		ClientID: clientID, ClientSecret: clientSecret, AuthURL: s.URL + "/authorize", TokenURL: s.URL + "/token",
		APIURL: s.URL + "/api",
	}
	return map[appointment.Provider]ports.MeetingHost{
		appointment.Zoom: meetinghosts.NewZoom(c), appointment.GoogleMeet: meetinghosts.NewGoogleMeet(c),
	}
}

// Refuse has the provider take the account's tokens no longer, or again.
func (s *StandIn) Refuse(refused bool) { s.mu.Lock(); defer s.mu.Unlock(); s.refused = refused }

// Fail has every request to the API fail with a status; 0 ends that.
func (s *StandIn) Fail(status int) { s.mu.Lock(); defer s.mu.Unlock(); s.fails = status }

// Meetings are those that are there, by id, as they were asked for.
func (s *StandIn) Meetings() map[string]map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.meetings)
}

// Forget deletes all meetings, as their owner can.
func (s *StandIn) Forget() { s.mu.Lock(); defer s.mu.Unlock(); clear(s.meetings) }

func respond(w http.ResponseWriter, status int, body map[string]any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if written, err := json.Marshal(body); err == nil && body != nil {
		_, _ = w.Write(written)
	}
}

// consent agrees at once.
func (s *StandIn) consent(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if q.Get("client_id") != clientID || q.Get("response_type") != "code" {
		respond(w, http.StatusBadRequest, map[string]any{"error": "invalid_request"})
		return
	}
	back := q.Get("redirect_uri") + "?" + url.Values{"state": {q.Get("state")}, "code": {"good"}}.Encode()
	http.Redirect(w, r, back, http.StatusFound) //nolint:gosec // to the test's own program
}

func (s *StandIn) token(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id, secret, _ := r.BasicAuth()
	if id == "" {
		id, secret = r.PostFormValue("client_id"), r.PostFormValue("client_secret")
	}
	grant := r.PostFormValue("grant_type")
	known := grant == "authorization_code" && r.PostFormValue("code") == "good" && r.PostFormValue("redirect_uri") != "" ||
		grant == "refresh_token" && r.PostFormValue("refresh_token") == fmt.Sprint("refresh-", s.renewals)
	if id != clientID || secret != clientSecret || !known || s.refused {
		respond(w, http.StatusBadRequest, map[string]any{"error": "invalid_grant"})
		return
	}
	s.renewals++
	respond(w, http.StatusOK, map[string]any{
		"access_token": fmt.Sprint("access-", s.renewals), "refresh_token": fmt.Sprint("refresh-", s.renewals),
		"token_type": "bearer", "expires_in": 1,
	})
}

// api wraps what takes the newest token alone.
func (s *StandIn) api(handle http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		switch {
		case s.fails != 0:
			respond(w, s.fails, map[string]any{"message": "not now"})
		case s.refused || token != fmt.Sprint("access-", s.renewals):
			respond(w, http.StatusUnauthorized, map[string]any{"code": 124})
		default:
			handle(w, r)
		}
	}
}

func (s *StandIn) makeMeeting(w http.ResponseWriter, r *http.Request) {
	asked := read(r)
	s.made++
	id := fmt.Sprint(s.made)
	s.meetings[id] = asked
	respond(w, http.StatusCreated, map[string]any{"id": s.made, "join_url": s.URL + "/j/" + id})
}

func (s *StandIn) changeMeeting(w http.ResponseWriter, r *http.Request) {
	if s.meetings[r.PathValue("id")] == nil {
		respond(w, http.StatusNotFound, map[string]any{"code": 3001})
		return
	}
	s.meetings[r.PathValue("id")] = read(r)
	respond(w, http.StatusNoContent, nil)
}

func (s *StandIn) deleteMeeting(w http.ResponseWriter, r *http.Request) {
	if s.meetings[r.PathValue("id")] == nil {
		respond(w, http.StatusNotFound, map[string]any{"code": 3001})
		return
	}
	delete(s.meetings, r.PathValue("id"))
	respond(w, http.StatusNoContent, nil)
}

func (s *StandIn) makeSpace(w http.ResponseWriter, r *http.Request) {
	s.made++
	name := fmt.Sprint("spaces/", s.made)
	s.meetings[name] = read(r)
	respond(w, http.StatusOK, map[string]any{"name": name, "meetingUri": s.URL + "/" + name})
}

func read(r *http.Request) (body map[string]any) {
	_ = json.NewDecoder(r.Body).Decode(&body)
	return body
}
