package identity

import (
	"encoding/base64"
	"strconv"
	"strings"
	"time"

	"sundry/core/email"
	"sundry/core/id"
)

const (
	// ConfirmationLifetime is the time for which a link that confirms an address is valid.
	ConfirmationLifetime = 7 * 24 * time.Hour
	// InvitationLifetime is the time for which an invitation is valid.
	InvitationLifetime = 14 * 24 * time.Hour
)

// ConfirmationLink is the proof that the owner of an account reads the mail of its address.
type ConfirmationLink struct {
	CreatorID string    `json:"creatorId"`
	ExpiresAt time.Time `json:"expiresAt"`
}

// Subject returns the text that the link's MAC signs.
func (l ConfirmationLink) Subject() string {
	return "email-confirmation." + l.CreatorID + "." + strconv.FormatInt(l.ExpiresAt.Unix(), 10)
}

// Text returns the link's part of an address: what it contains, and a MAC over it.
func (l ConfirmationLink) Text(mac []byte) string {
	return signedText(id.Body(l.CreatorID), l.ExpiresAt, mac)
}

// ParseConfirmationLink reads what a text claims to be, and the MAC that it shows for it.
func ParseConfirmationLink(text string) (l ConfirmationLink, mac []byte, ok bool) {
	body, expires, mac, ok := parseSignedText(text)
	l = ConfirmationLink{CreatorID: string(id.Creator) + "_" + body, ExpiresAt: expires}
	return l, mac, ok && id.Valid(id.Creator, l.CreatorID)
}

// Invitation is the right to make an account with an address, once: there is one account per address.
type Invitation struct {
	Email     string // normalized
	ExpiresAt time.Time
}

// Subject returns the text that the invitation's MAC signs.
func (i Invitation) Subject() string {
	return "invitation." + i.Email + "." + strconv.FormatInt(i.ExpiresAt.Unix(), 10)
}

// Text returns the invitation as it is sent: what it contains, and a MAC over it.
func (i Invitation) Text(mac []byte) string {
	return signedText(base64.RawURLEncoding.EncodeToString([]byte(i.Email)), i.ExpiresAt, mac)
}

// ParseInvitation reads what a text claims to be, and the MAC that it shows for it.
func ParseInvitation(text string) (i Invitation, mac []byte, ok bool) {
	body, expires, mac, ok := parseSignedText(text)
	if !ok {
		return i, nil, false
	}
	address, err := base64.RawURLEncoding.Strict().DecodeString(body)
	if err != nil {
		return i, nil, false
	}
	normalized, valid := email.Parse(string(address))
	return Invitation{Email: normalized, ExpiresAt: expires}, mac, valid && normalized == string(address)
}

func signedText(body string, expires time.Time, mac []byte) string {
	return body + "." + strconv.FormatInt(expires.Unix(), 10) + "." + base64.RawURLEncoding.EncodeToString(mac)
}

func parseSignedText(text string) (body string, expires time.Time, mac []byte, ok bool) {
	parts := strings.Split(text, ".")
	if len(parts) != 3 || strings.ContainsAny(text, "\r\n") {
		return "", time.Time{}, nil, false
	}
	seconds, err := strconv.ParseInt(parts[1], 10, 64)
	if err != nil {
		return "", time.Time{}, nil, false
	}
	mac, err = base64.RawURLEncoding.Strict().DecodeString(parts[2])
	return parts[0], time.Unix(seconds, 0).UTC(), mac, err == nil
}

// EmailConfirmationAsked is emitted when the owner of an account is to confirm its address.
type EmailConfirmationAsked struct {
	Link        ConfirmationLink
	Email, Name string
	At          time.Time // real time
}

// EventName implements event.Event.
func (EmailConfirmationAsked) EventName() string { return "identity.email_confirmation_asked" }

// RequireConfirmation keeps a creator who has just registered from selling until the address is confirmed.
func (c *Creator) RequireConfirmation() { c.s.EmailUnconfirmed = true }

// ConfirmEmail notes that the owner reads the mail of the address. It reports false, and changes nothing, when that is
// known.
func (c *Creator) ConfirmEmail() bool {
	if !c.s.EmailUnconfirmed {
		return false
	}
	c.s.EmailUnconfirmed = false
	c.s.Revision++
	return true
}
