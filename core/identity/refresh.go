package identity

import (
	"crypto/subtle"
	"encoding/base64"
	"strings"
	"time"

	"sundry/core/fault"
	"sundry/core/id"
)

const (
	// AccessTokenLifetime is how long an access token opens the account. It cannot be taken back earlier.
	AccessTokenLifetime = 15 * time.Minute
	// refreshIdle is how long a refresh token waits to be used; each rotation starts it afresh.
	refreshIdle = 30 * 24 * time.Hour
	// refreshMax is when even the busiest creator signs in again.
	refreshMax = 180 * 24 * time.Hour
)

// RefreshFamilyPrefix names a family of refresh tokens: everything that grew from one sign-in.
const RefreshFamilyPrefix id.Prefix = "rtf"

// RefreshEntropy is how many random bytes make a refresh token secret.
const RefreshEntropy = 32

const refreshPrefix = "rt_"

// A refresh token reads rt_, the body of its family's id, an underscore and the secret in base64url. Only the
// family's own tokens carry its id, so whoever shows it together with another secret than the current one shows a
// former token (or a damaged one): the family alone is enough to notice that a token is used twice.

// NewRefreshToken renders a token of the family from RefreshEntropy random bytes.
func NewRefreshToken(familyID string, random []byte) string {
	return refreshPrefix + id.Body(familyID) + "_" + base64.RawURLEncoding.EncodeToString(random)
}

// ParseRefreshToken returns the id of the family that the token claims to be of.
func ParseRefreshToken(text string) (familyID string, ok bool) {
	rest, ok := strings.CutPrefix(text, refreshPrefix)
	if !ok {
		return "", false
	}
	body, secret, ok := strings.Cut(rest, "_")
	familyID = string(RefreshFamilyPrefix) + "_" + body
	if !ok || !id.Valid(RefreshFamilyPrefix, familyID) {
		return "", false
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(secret)
	return familyID, err == nil && len(raw) == RefreshEntropy && !strings.ContainsAny(secret, "\r\n")
}

// RefusedRefresh is the one answer to every refresh token that is not in force.
func RefusedRefresh() error {
	return fault.New(fault.Unauthenticated, "The refresh token is not valid. Sign in again.")
}

// RefreshFamilyState is a family's data, as the store sees it.
type RefreshFamilyState struct {
	ID        string
	CreatorID string
	// TokenHash is the HMAC-SHA256 of the one token that is in force.
	TokenHash []byte
	// Generation counts the tokens issued, from 1.
	Generation int64
	CreatedAt  time.Time
	ExpiresAt  time.Time // of the token in force
	RevokedAt  time.Time // zero while the family lives
	Revision   int64
}

// RefreshFamily is one sign-in: at any time exactly one of its tokens is in force.
type RefreshFamily struct{ s RefreshFamilyState }

// BeginFamily starts a family with its first token.
func BeginFamily(familyID, creatorID string, tokenHash []byte, now time.Time) *RefreshFamily {
	return &RefreshFamily{RefreshFamilyState{
		ID: familyID, CreatorID: creatorID, TokenHash: tokenHash, Generation: 1, CreatedAt: now, ExpiresAt: now.Add(refreshIdle), Revision: 1,
	}}
}

// RestoreFamily rebuilds a family from the stored state.
func RestoreFamily(s RefreshFamilyState) *RefreshFamily { return &RefreshFamily{s} }

// State is a copy of the data.
func (f *RefreshFamily) State() RefreshFamilyState { return f.s }

// Rotate exchanges the token in force for the next one. A token that is not in force any more means that two parties
// hold the same tokens, one of them a thief: the family is revoked, for nobody can tell which. The refusal is always
// UNAUTHENTICATED; changed says whether the family must be saved although it refused.
func (f *RefreshFamily) Rotate(shown, next []byte, now time.Time) (changed bool, err error) {
	if !f.s.RevokedAt.IsZero() || !now.Before(f.s.ExpiresAt) {
		return false, RefusedRefresh()
	}
	if subtle.ConstantTimeCompare(shown, f.s.TokenHash) == 0 {
		return f.Revoke(now), RefusedRefresh()
	}
	f.s.TokenHash = next
	f.s.Generation++
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
