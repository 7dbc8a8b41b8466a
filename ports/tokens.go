package ports

import "time"

// AccessToken is the content of a signed access token, without issuer and audience, which the signer adds and checks.
type AccessToken struct {
	// ID is different for every token (jti).
	ID        string
	CreatorID string
	IssuedAt  time.Time
	ExpiresAt time.Time
}

// TokenSigner makes and checks the access tokens of creators.
type TokenSigner interface {
	// Sign returns the token's text.
	Sign(t AccessToken) (string, error)
	// Verify reads a text; ok is false unless this deployment signed it and it is valid at the given time.
	Verify(text string, now time.Time) (t AccessToken, ok bool)
}
