package checkout

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"strings"
	"time"

	"sundry/core/id"
)

// ReturnTokenLifetime is how long a return token opens the receipt. It may be used any number of times.
const ReturnTokenLifetime = 24 * time.Hour

// Secrets derives what opens a session from its id, so that nothing secret is stored and a replayed request is
// answered with the same address.
type Secrets struct {
	// Key is 32 bytes, used for nothing else.
	Key []byte
}

// Purposes keep one derived value from opening what another opens.
const (
	purposeCheckout = "checkout"
	purposeReceipt  = "receipt"
	purposeReturn   = "return"
)

const bodyLength = 26 // characters of an id behind its prefix

func (s Secrets) mac(purpose string, parts ...string) [16]byte {
	h := hmac.New(sha256.New, s.Key)
	h.Write([]byte(purpose + "\x00" + strings.Join(parts, "\x00")))
	return [16]byte(h.Sum(nil))
}

// Checkout is the secret of /c/{secret}: the id's body and a proof that we gave it out.
func (s Secrets) Checkout(sessionID string) string { return s.seal(purposeCheckout, sessionID) }

// Receipt is the secret of /r/{secret}.
func (s Secrets) Receipt(sessionID string) string { return s.seal(purposeReceipt, sessionID) }

// OpenCheckout is the session's id behind a /c/ secret; ok is false for anything that we did not give out.
func (s Secrets) OpenCheckout(secret string) (sessionID string, ok bool) {
	return s.unseal(purposeCheckout, secret)
}

// OpenReceipt is the session's id behind a /r/ secret.
func (s Secrets) OpenReceipt(secret string) (sessionID string, ok bool) {
	return s.unseal(purposeReceipt, secret)
}

func (s Secrets) seal(purpose, sessionID string) string {
	return id.Body(sessionID) + id.Body(id.New(id.CheckoutSession, s.mac(purpose, sessionID)))
}

func (s Secrets) unseal(purpose, secret string) (string, bool) {
	if len(secret) != 2*bodyLength {
		return "", false
	}
	sessionID := string(id.CheckoutSession) + "_" + secret[:bodyLength]
	if !id.Valid(id.CheckoutSession, sessionID) || !hmac.Equal([]byte(s.seal(purpose, sessionID)), []byte(secret)) {
		return "", false
	}
	return sessionID, true
}

// ReturnToken proves the buyer's arrival for one session until 24 hours after now (real time).
func (s Secrets) ReturnToken(sessionID string, now time.Time) string {
	return s.returnToken(sessionID, now.Add(ReturnTokenLifetime).Unix())
}

func (s Secrets) returnToken(sessionID string, expires int64) string {
	stamp := binary.BigEndian.AppendUint64(nil, uint64(expires)) //nolint:gosec // a time after 1970
	mac := s.mac(purposeReturn, sessionID, string(stamp))
	return base64.RawURLEncoding.EncodeToString(append(stamp, mac[:]...))
}

// CheckReturnToken reports whether the token was made for this session and is still good.
func (s Secrets) CheckReturnToken(sessionID, token string, now time.Time) bool {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil || len(raw) != 8+16 {
		return false
	}
	expires := int64(binary.BigEndian.Uint64(raw)) //nolint:gosec // compared below, whatever it is
	return hmac.Equal([]byte(s.returnToken(sessionID, expires)), []byte(token)) && now.Unix() < expires
}
