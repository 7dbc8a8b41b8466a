// Package tokens signs and checks the access tokens of creators: JSON Web Tokens with one pinned algorithm.
package tokens

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"sundry/core/id"
	"sundry/ports"
)

const (
	// skew bounds the difference between the clocks of two replicas.
	skew = 5 * time.Second
	// maxLength is several times what Sign makes: longer texts are not worth parsing.
	maxLength = 2048
)

var method = jwt.SigningMethodHS256

var _ ports.TokenSigner = (*JWT)(nil)

// JWT implements ports.TokenSigner.
type JWT struct {
	issuer, audience string
	keyID            string
	keys             map[string][]byte // by key id
}

// NewJWT signs with the current key and still accepts what the former ones signed, so that a key is replaced without
// signing anybody out: make it a former one for as long as a token lasts.
func NewJWT(issuer, audience string, current []byte, former ...[]byte) *JWT {
	j := &JWT{issuer: issuer, audience: audience, keyID: keyID(current), keys: map[string][]byte{keyID(current): current}}
	for _, key := range former {
		j.keys[keyID(key)] = key
	}
	return j
}

// keyID names a key without revealing anything of it.
func keyID(key []byte) string {
	sum := sha256.Sum256(append([]byte("sundry access token key id\x00"), key...))
	return hex.EncodeToString(sum[:6])
}

// Sign implements ports.TokenSigner.
func (j *JWT) Sign(t ports.AccessToken) (string, error) {
	token := jwt.NewWithClaims(method, jwt.RegisteredClaims{
		Issuer: j.issuer, Audience: jwt.ClaimStrings{j.audience}, Subject: t.CreatorID, ID: t.ID,
		IssuedAt: jwt.NewNumericDate(t.IssuedAt), ExpiresAt: jwt.NewNumericDate(t.ExpiresAt),
	})
	token.Header["kid"] = j.keyID
	text, err := token.SignedString(j.keys[j.keyID])
	if err != nil {
		return "", fmt.Errorf("sign JWT: %w", err)
	}
	return text, nil
}

var errUnknownKey = errors.New("unknown key id")

// Verify implements ports.TokenSigner.
func (j *JWT) Verify(text string, now time.Time) (ports.AccessToken, bool) {
	if len(text) > maxLength || strings.ContainsAny(text, "\r\n") { // base64 would read past line breaks
		return ports.AccessToken{}, false
	}
	var claims jwt.RegisteredClaims
	_, err := jwt.ParseWithClaims(text, &claims, j.keyOf,
		jwt.WithValidMethods([]string{method.Alg()}), jwt.WithIssuer(j.issuer), jwt.WithAudience(j.audience),
		jwt.WithExpirationRequired(), jwt.WithIssuedAt(), jwt.WithLeeway(skew), jwt.WithStrictDecoding(),
		jwt.WithTimeFunc(func() time.Time { return now }))
	if err != nil || claims.ID == "" || claims.IssuedAt == nil || !id.Valid(id.Creator, claims.Subject) {
		return ports.AccessToken{}, false
	}
	return ports.AccessToken{
		ID: claims.ID, CreatorID: claims.Subject, IssuedAt: claims.IssuedAt.UTC(), ExpiresAt: claims.ExpiresAt.UTC(),
	}, true
}

func (j *JWT) keyOf(t *jwt.Token) (any, error) {
	name, _ := t.Header["kid"].(string)
	key, ok := j.keys[name]
	if !ok {
		return nil, errUnknownKey
	}
	return key, nil
}
