package identity

import (
	"encoding/base64"
	"strings"
	"time"

	"sundry/core/id"
)

const (
	// webIdle is the time for which an unused browser stays signed in. After webMax even the most active one signs in
	// again.
	webIdle = 14 * 24 * time.Hour
	webMax  = 90 * 24 * time.Hour
	// webTouch bounds the lag of the recorded use of a browser's sign-in.
	webTouch = 5 * time.Minute
	// webConfirmed is the time for which money and access are changed without another proof of who does it.
	webConfirmed = 10 * time.Minute
)

// WebSessionPrefix names the sign-in of a browser.
const WebSessionPrefix id.Prefix = "wse"

const webTokenPrefix = "ws_"

// Client is the origin of a request, as its account sees it later. Both members may be empty.
type Client struct {
	Address   string // the network address
	UserAgent string // as the browser names itself, at most maxUserAgent bytes of it
}

const maxUserAgent = 300

// NewClient bounds what a browser reports of itself.
func NewClient(address, userAgent string) Client {
	return Client{address, strings.ToValidUTF8(userAgent[:min(len(userAgent), maxUserAgent)], "")}
}

// WebSessionState is the data of a browser's sign-in.
type WebSessionState struct {
	ID        string
	CreatorID string
	MemberID  string // "" for the owner's
	Client
	CreatedAt  time.Time
	LastSeenAt time.Time // at most webTouch behind
	// ConfirmedAt is the last time at which the user proved who they are after the sign-in; zero unless they did.
	ConfirmedAt time.Time
	ExpiresAt   time.Time
	RevokedAt   time.Time // zero while it is valid
	Revision    int64
}

// IsOf reports whether it is a sign-in of the user.
func (s WebSessionState) IsOf(u User) bool {
	return s.CreatorID == u.CreatorID && s.MemberID == u.MemberID
}

// WebSession is an owner or a member signed in with a browser, whose cookie is WebToken of its id.
type WebSession struct{ s WebSessionState }

// BeginWebSession signs a browser in. The id is always a new one, so what a browser held before opens nothing.
func BeginWebSession(sessionID string, u User, from Client, now time.Time) *WebSession {
	return &WebSession{WebSessionState{
		ID: sessionID, CreatorID: u.CreatorID, MemberID: u.MemberID, Client: from, CreatedAt: now, LastSeenAt: now,
		ExpiresAt: now.Add(webIdle), Revision: 1,
	}}
}

// RestoreWebSession rebuilds a sign-in from the stored state.
func RestoreWebSession(s WebSessionState) *WebSession { return &WebSession{s} }

// State returns a copy of the data.
func (w *WebSession) State() WebSessionState { return w.s }

// Valid reports whether the browser is still signed in.
func (w *WebSession) Valid(now time.Time) bool {
	return w.s.RevokedAt.IsZero() && now.Before(w.s.ExpiresAt)
}

// Use records that the browser was used, and keeps it signed in. It changes nothing within webTouch of the last time.
func (w *WebSession) Use(now time.Time) (changed bool) {
	if !w.Valid(now) || now.Before(w.s.LastSeenAt.Add(webTouch)) {
		return false
	}
	w.s.LastSeenAt = now
	w.s.ExpiresAt = earlier(now.Add(webIdle), w.s.CreatedAt.Add(webMax))
	w.s.Revision++
	return true
}

// Revoke signs the browser out; changed is false when it was before.
func (w *WebSession) Revoke(now time.Time) (changed bool) {
	if !w.s.RevokedAt.IsZero() {
		return false
	}
	w.s.RevokedAt = now
	w.s.Revision++
	return true
}

// Confirmed reports whether the user proved who they are a moment ago, by the sign-in or since.
func (w *WebSession) Confirmed(now time.Time) bool {
	return now.Before(w.s.CreatedAt.Add(webConfirmed)) || now.Before(w.s.ConfirmedAt.Add(webConfirmed))
}

// Confirm records that the user has proved who they are.
func (w *WebSession) Confirm(now time.Time) {
	w.s.ConfirmedAt = now
	w.s.Revision++
}

// WebSubject returns the text signed by the MAC in the cookie of a sign-in, the owner's or a member's.
func WebSubject(sessionID string, member bool) string {
	return memberMark(member) + "web-session." + sessionID
}

// FormSubject returns the text signed by the MAC in the forms of a sign-in.
func FormSubject(sessionID string) string { return "web-form." + sessionID }

// WebToken returns the cookie of a sign-in: its id and the MAC of WebSubject. Nothing of it is stored.
func WebToken(sessionID string, mac []byte) string {
	return webTokenPrefix + id.Body(sessionID) + "_" + base64.RawURLEncoding.EncodeToString(mac)
}

// ParseWebToken returns which sign-in a cookie claims to be, and the MAC that it shows for it.
func ParseWebToken(text string) (sessionID string, mac []byte, ok bool) {
	rest, ok := strings.CutPrefix(text, webTokenPrefix)
	if !ok {
		return "", nil, false
	}
	body, secret, ok := strings.Cut(rest, "_")
	sessionID = string(WebSessionPrefix) + "_" + body
	if !ok || !id.Valid(WebSessionPrefix, sessionID) || strings.ContainsAny(secret, "\r\n") {
		return "", nil, false
	}
	mac, err := base64.RawURLEncoding.Strict().DecodeString(secret)
	return sessionID, mac, err == nil
}
