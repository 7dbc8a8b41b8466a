package identity

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"sundry/core/fault"
	"sundry/core/id"
)

// ResetLifetime is the time for which a link that sets a new password is valid.
const ResetLifetime = time.Hour

// CheckNewPassword lists what is wrong with a password for the account of an address; field names the member.
func CheckNewPassword(f *fault.Violations, field, address, password string) {
	switch n := utf8.RuneCountInString(password); {
	case n == 0:
		f.Add(field, fault.DetailRequired, "A password is required.")
	case n < minPassword:
		f.Addf(field, fault.DetailTooShort, "A password needs at least %d characters.", minPassword)
	case n > maxPassword:
		f.Addf(field, fault.DetailTooLong, "A password may have at most %d characters.", maxPassword)
	case strings.EqualFold(strings.TrimSpace(password), address):
		f.Add(field, fault.DetailNotAllowed, "The password must not be the email address.")
	}
}

// ResetLink is the right to set a new password, once: it names the password that it replaces, so that any change of the
// password ends it.
type ResetLink struct {
	CreatorID string `json:"creatorId"`
	// MemberID is "" for the owner of the account. A link that was read names only one of the two.
	MemberID string `json:"memberId,omitempty"`
	// Replaces is PasswordMark of the password as it was when the link was asked for.
	Replaces  string    `json:"replaces"`
	ExpiresAt time.Time `json:"expiresAt"`
}

// PasswordMark distinguishes one password of an account from the next. It is of the hash, and reveals nothing of
// either.
func PasswordMark(passwordHash string) string {
	sum := sha256.Sum256([]byte("password-mark " + passwordHash))
	return hex.EncodeToString(sum[:8])
}

// UserID returns the id of whose password is set.
func (l ResetLink) UserID() string { return cmp.Or(l.MemberID, l.CreatorID) }

// Subject returns the text that the link's MAC signs.
func (l ResetLink) Subject() string {
	return "password-reset." + l.UserID() + "." + l.Replaces + "." + strconv.FormatInt(l.ExpiresAt.Unix(), 10)
}

// Text returns the link's part of an address: what it contains, and a MAC over it.
func (l ResetLink) Text(mac []byte) string {
	return resetMark(l.MemberID != "") + id.Body(l.UserID()) + "." + l.Replaces + "." +
		strconv.FormatInt(l.ExpiresAt.Unix(), 10) + "." + base64.RawURLEncoding.EncodeToString(mac)
}

// resetMark begins a member's link.
func resetMark(member bool) string {
	if member {
		return string(MemberPrefix) + "_"
	}
	return ""
}

// ParseResetLink reads what a text claims to be, and the MAC that it shows for it.
func ParseResetLink(text string) (l ResetLink, mac []byte, ok bool) {
	parts := strings.Split(text, ".")
	if len(parts) != 4 || strings.ContainsAny(text, "\r\n") {
		return l, nil, false
	}
	l.Replaces = parts[1]
	prefix := id.Creator
	if IsMember(parts[0]) {
		prefix, l.MemberID = MemberPrefix, parts[0]
	} else {
		l.CreatorID = string(id.Creator) + "_" + parts[0]
	}
	seconds, err := strconv.ParseInt(parts[2], 10, 64)
	if err != nil || !id.Valid(prefix, l.UserID()) {
		return l, nil, false
	}
	l.ExpiresAt = time.Unix(seconds, 0).UTC()
	mac, err = base64.RawURLEncoding.Strict().DecodeString(parts[3])
	return l, mac, err == nil
}

// Good reports whether the link still opens the account: it is not too old, and the password is the one that it
// replaces.
func (l ResetLink) Good(passwordHash string, now time.Time) bool {
	return now.Before(l.ExpiresAt) && l.Replaces == PasswordMark(passwordHash)
}

// PasswordResetAsked is emitted when somebody wants to set a new password.
type PasswordResetAsked struct {
	Link        ResetLink
	Email, Name string
	At          time.Time // real time
}

// EventName implements event.Event.
func (PasswordResetAsked) EventName() string { return "identity.password_reset_asked" }

// SetPassword replaces the password by that of its new hash.
func (c *Creator) SetPassword(passwordHash string) {
	c.s.PasswordHash = passwordHash
	c.s.Revision++
}
