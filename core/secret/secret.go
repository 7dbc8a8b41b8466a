// Package secret derives unguessable link tokens from object ids and a key, so no token is stored and a replayed
// request returns the same link. A key can be replaced: what its predecessors gave out still opens.
package secret

import (
	"crypto/hmac"
	"crypto/sha256"
	"strings"

	"sundry/core/id"
)

const bodyLength = 26 // characters of an id behind its prefix

// MAC proves that the holder of the key (32 bytes, used for nothing else) signed the parts. Purposes keep one derived
// value from opening what another opens.
func MAC(key []byte, purpose string, parts ...string) [16]byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(purpose + "\x00" + strings.Join(parts, "\x00")))
	return [16]byte(h.Sum(nil))
}

// Derive returns the id's body and a proof that we gave it out, fit for a path. Further parts of what is opened, such
// as a number that rises when it is replaced, are proven too.
func Derive(keys Keys, purpose, objectID string, parts ...string) string {
	return derive(keys.Current(), purpose, objectID, parts)
}

func derive(key []byte, purpose, objectID string, parts []string) string {
	proof := MAC(key, purpose, append([]string{objectID}, parts...)...)
	return id.Body(objectID) + id.Body(id.New(id.CheckoutSession, proof)) // any prefix: only the body is kept
}

// UnverifiedID returns the id that a token claims to open, before anything is proven; ok is false when it cannot be
// one.
func UnverifiedID(prefix id.Prefix, token string) (objectID string, ok bool) {
	if len(token) != 2*bodyLength {
		return "", false
	}
	objectID = string(prefix) + "_" + token[:bodyLength]
	return objectID, id.Valid(prefix, objectID)
}

// Verify returns the id behind a token; ok is false for anything that we did not give out.
func Verify(keys Keys, purpose string, prefix id.Prefix, token string, parts ...string) (objectID string, ok bool) {
	objectID, ok = UnverifiedID(prefix, token)
	if !ok || !keys.Proves(token, func(key []byte) string { return derive(key, purpose, objectID, parts) }) {
		return "", false
	}
	return objectID, true
}
