package identity

import (
	"encoding/base64"
	"encoding/binary"
	"strconv"
	"strings"
	"time"

	"sundry/core/fault"
	"sundry/core/id"
)

const (
	// AccessTokenLifetime is the time for which an access token opens the account, unless its sign-in ends earlier.
	AccessTokenLifetime = 15 * time.Minute
	// refreshIdle is the time for which an unused refresh token stays valid; each rotation restarts it.
	refreshIdle = 30 * 24 * time.Hour
	// refreshRetry is the time after its use in which a refresh token may be shown again, by a caller whose response was
	// lost.
	refreshRetry = 10 * time.Second
	// refreshMax is the time after which even the most active creator signs in again.
	refreshMax = 180 * 24 * time.Hour
)

// RefreshFamilyPrefix names a family of refresh tokens: everything that grew from one sign-in.
const RefreshFamilyPrefix id.Prefix = "rtf"

// RefreshMAC is the number of bytes of the MAC in a refresh token.
const RefreshMAC = 28

const refreshPrefix = "rt_"

// A refresh token reads rt_, the body of its family's id, an underscore and, in base64url, the token's number in the
// family with a MAC over both. Nothing of it is stored: the family knows the number of the token that is valid, so that
// a former token is distinguished from an invented one, and a token that was handed out can be handed out again.

// RefreshToken names one token of a family.
type RefreshToken struct {
	FamilyID string
	// Generation counts the family's tokens, from 1.
	Generation int64
	// Member is set for a member's sign-in, whose MAC signs another text.
	Member bool
}

// Text renders the token with the first RefreshMAC bytes of a MAC over its Subject.
func (t RefreshToken) Text(mac []byte) string {
	secret := binary.BigEndian.AppendUint32(nil, uint32(t.Generation)) //nolint:gosec // one per quarter of an hour at most
	return refreshPrefix + id.Body(t.FamilyID) + "_" +
		base64.RawURLEncoding.EncodeToString(append(secret, mac[:RefreshMAC]...))
}

// Subject returns the text that the token's MAC signs.
func (t RefreshToken) Subject() string {
	return memberMark(t.Member) + t.FamilyID + "." + strconv.FormatInt(t.Generation, 10)
}

const memberSubject = "member."

// memberMark distinguishes members' credentials: a program of a version before members takes none of them for the
// owner's.
func memberMark(member bool) string {
	if member {
		return memberSubject
	}
	return ""
}

// FamilyOfToken returns the family that the id of an access token names, which is the Subject of a refresh token.
func FamilyOfToken(tokenID string) (familyID string, member bool) {
	rest, member := strings.CutPrefix(tokenID, memberSubject)
	familyID, _, _ = strings.Cut(rest, ".")
	return familyID, member
}

// ParseRefreshToken returns which token the text claims to be, and the MAC that it shows for it.
func ParseRefreshToken(text string) (t RefreshToken, mac []byte, ok bool) {
	rest, ok := strings.CutPrefix(text, refreshPrefix)
	if !ok {
		return t, nil, false
	}
	body, secret, _ := strings.Cut(rest, "_")
	familyID := string(RefreshFamilyPrefix) + "_" + body
	if !id.Valid(RefreshFamilyPrefix, familyID) || strings.ContainsAny(secret, "\r\n") {
		return t, nil, false
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(secret)
	if err != nil || len(raw) != 4+RefreshMAC {
		return t, nil, false
	}
	return RefreshToken{FamilyID: familyID, Generation: int64(binary.BigEndian.Uint32(raw))}, raw[4:], true
}

// ErrInvalidRefresh returns the error for every refresh token that is not valid, whatever the reason.
func ErrInvalidRefresh() error {
	return fault.New(fault.Unauthenticated, "The refresh token is not valid. Sign in again.")
}

// RefreshFamilyState is a family's data, as the store sees it.
type RefreshFamilyState struct {
	ID        string
	CreatorID string
	MemberID  string // "" for the owner's
	// Generation counts the tokens issued, from 1; the last of them is valid.
	Generation int64
	CreatedAt  time.Time
	RotatedAt  time.Time // when the valid token was issued
	ExpiresAt  time.Time // of the valid token
	RevokedAt  time.Time // zero while the family lives
	Revision   int64
}

// RefreshFamily is one sign-in: at any time exactly one of its tokens is valid.
type RefreshFamily struct{ s RefreshFamilyState }

// BeginFamily starts a family with its first token.
func BeginFamily(familyID string, u User, now time.Time) *RefreshFamily {
	return &RefreshFamily{RefreshFamilyState{
		ID: familyID, CreatorID: u.CreatorID, MemberID: u.MemberID, Generation: 1, CreatedAt: now, RotatedAt: now,
		ExpiresAt: now.Add(refreshIdle), Revision: 1,
	}}
}

// Token returns the family's valid token.
func (s RefreshFamilyState) Token() RefreshToken {
	return RefreshToken{FamilyID: s.ID, Generation: s.Generation, Member: s.MemberID != ""}
}

// RestoreFamily rebuilds a family from the stored state.
func RestoreFamily(s RefreshFamilyState) *RefreshFamily { return &RefreshFamily{s} }

// State returns a copy of the data.
func (f *RefreshFamily) State() RefreshFamilyState { return f.s }

// Rotate exchanges the valid token, which was shown, for the next one. The token before it, shown again within
// refreshRetry, changes nothing: the response was lost, and the caller gets the valid token once more. Any other former
// token means that two parties hold the same tokens, one of them a thief: the family is revoked, for nobody can know
// which. The refusal is always UNAUTHENTICATED; changed reports whether the family must be saved although it refused.
func (f *RefreshFamily) Rotate(shown int64, now time.Time) (changed bool, err error) {
	switch {
	case !f.s.RevokedAt.IsZero() || !now.Before(f.s.ExpiresAt) || shown > f.s.Generation:
		return false, ErrInvalidRefresh()
	case shown == f.s.Generation-1 && now.Before(f.s.RotatedAt.Add(refreshRetry)):
		return false, nil
	case shown < f.s.Generation:
		return f.Revoke(now), ErrInvalidRefresh()
	}
	f.s.Generation++
	f.s.RotatedAt = now
	f.s.ExpiresAt = earlier(now.Add(refreshIdle), f.s.CreatedAt.Add(refreshMax))
	f.s.Revision++
	return true, nil
}

// Revoke ends the family; changed is false when it had ended before.
func (f *RefreshFamily) Revoke(now time.Time) (changed bool) {
	if !f.s.RevokedAt.IsZero() {
		return false
	}
	f.s.RevokedAt = now
	f.s.Revision++
	return true
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
