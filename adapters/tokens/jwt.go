// Package tokens signs and checks the access tokens of creators: JSON Web Tokens with one pinned algorithm.
package tokens

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"sundry/core/id"
	"sundry/core/secret"
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
	keys             secret.Keys
	cell             id.Cell
	// ids maps a key to its id.
	ids *sync.Map
}

// NewJWT signs with the key in use and accepts what any of the keys of 32 bytes signed, so that a key is replaced
// without signing anybody out.
func NewJWT(issuer, audience string, keys secret.Keys, cell id.Cell) *JWT {
	return &JWT{issuer: issuer, audience: audience, keys: keys, cell: cell, ids: &sync.Map{}}
}

// claims holds the claims of an access token.
type claims struct {
	jwt.RegisteredClaims
	// Cell is the cell of the account, for routers; nil in a token that was made before there were cells.
	Cell *id.Cell `json:"cell,omitempty"`
}

// idOf returns the id of a key, which is worked out once.
func (j *JWT) idOf(key []byte) string {
	if known, ok := j.ids.Load([32]byte(key)); ok {
		name, _ := known.(string) // nothing else is stored
		return name
	}
	name := keyID(key)
	j.ids.Store([32]byte(key), name)
	return name
}

// keyID names a key without revealing anything of it.
func keyID(key []byte) string {
	sum := sha256.Sum256(append([]byte("sundry access token key id\x00"), key...))
	return hex.EncodeToString(sum[:6])
}

// Sign implements ports.TokenSigner.
func (j *JWT) Sign(t ports.AccessToken) (string, error) {
	token := jwt.NewWithClaims(method, claims{jwt.RegisteredClaims{
		Issuer: j.issuer, Audience: jwt.ClaimStrings{j.audience}, Subject: t.CreatorID, ID: t.ID,
		IssuedAt: jwt.NewNumericDate(t.IssuedAt), ExpiresAt: jwt.NewNumericDate(t.ExpiresAt),
	}, &j.cell})
	key := j.keys.Current()
	token.Header["kid"] = j.idOf(key)
	text, err := token.SignedString(key)
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
	var found claims
	_, err := jwt.ParseWithClaims(text, &found, j.keyOf,
		jwt.WithValidMethods([]string{method.Alg()}), jwt.WithIssuer(j.issuer), jwt.WithAudience(j.audience),
		jwt.WithExpirationRequired(), jwt.WithIssuedAt(), jwt.WithLeeway(skew), jwt.WithStrictDecoding(),
		jwt.WithTimeFunc(func() time.Time { return now }))
	if err != nil || found.ID == "" || found.IssuedAt == nil || !id.Valid(id.Creator, found.Subject) ||
		found.Cell != nil && *found.Cell != j.cell {
		return ports.AccessToken{}, false
	}
	return ports.AccessToken{
		ID: found.ID, CreatorID: found.Subject, IssuedAt: found.IssuedAt.UTC(), ExpiresAt: found.ExpiresAt.UTC(),
	}, true
}

func (j *JWT) keyOf(t *jwt.Token) (any, error) {
	name, _ := t.Header["kid"].(string)
	for _, key := range j.keys() {
		if j.idOf(key) == name {
			return key, nil
		}
	}
	return nil, errUnknownKey
}
