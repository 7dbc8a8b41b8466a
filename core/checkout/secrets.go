package checkout

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"strconv"
	"time"

	"sundry/core/id"
	"sundry/core/secret"
)

// returnTokenLifetime is the time for which a return token opens the receipt. It may be used any number of times.
const returnTokenLifetime = 24 * time.Hour

// previewLifetime is the time for which a preview link opens.
const previewLifetime = 24 * time.Hour

// Secrets derives the tokens of session links from the ids of sessions (package secret).
type Secrets struct {
	// Keys are used for nothing else.
	Keys secret.Keys
	// Lasting is a key of 32 bytes that is never replaced, for what is stored and compared later. It opens nothing.
	Lasting []byte
}

// Purposes keep one derived value from opening what another opens.
const (
	purposeCheckout = "checkout"
	purposeReceipt  = "receipt"
	purposeReturn   = "return"
	purposeTrial    = "trial"
	purposePreview  = "preview"
)

// TrialCard recognizes a card among those that had a trial of a listing, by what its processor calls it. It says
// nothing about the card, and nothing at another listing. "" for a card that is not known.
func (s Secrets) TrialCard(creatorID, listingID, fingerprint string) string {
	if fingerprint == "" {
		return ""
	}
	mac := secret.MAC(s.Lasting, purposeTrial, creatorID, listingID, fingerprint)
	return hex.EncodeToString(mac[:])
}

// Checkout returns the secret of /c/{secret}: the id's body and a proof that we gave it out.
func (s Secrets) Checkout(sessionID string) string { return s.derive(purposeCheckout, sessionID) }

// Receipt returns the secret of /r/{secret}.
func (s Secrets) Receipt(sessionID string) string { return s.derive(purposeReceipt, sessionID) }

// OpenCheckout returns the session's id behind a /c/ secret; ok is false for anything that we did not give out.
func (s Secrets) OpenCheckout(token string) (sessionID string, ok bool) {
	return s.verify(purposeCheckout, token)
}

// OpenReceipt returns the session's id behind a /r/ secret.
func (s Secrets) OpenReceipt(token string) (sessionID string, ok bool) {
	return s.verify(purposeReceipt, token)
}

// Preview returns the path of a listing's preview, for previewLifetime after now (real time).
func (s Secrets) Preview(listingID string, now time.Time) string {
	until := strconv.FormatInt(now.Add(previewLifetime).Unix(), 10)
	return "/preview/" + secret.Derive(s.Keys, purposePreview, listingID, until) + "/" + until
}

// OpenPreview returns the listing behind the two segments of a preview's path; ok is false for anything that we did not
// give out, and after its end.
func (s Secrets) OpenPreview(token, until string, now time.Time) (listingID string, ok bool) {
	seconds, _ := strconv.ParseInt(until, 10, 64) // we gave out nothing for what is no number
	if now.Unix() >= seconds {
		return "", false
	}
	return secret.Verify(s.Keys, purposePreview, id.Listing, token, until)
}

func (s Secrets) derive(purpose, sessionID string) string {
	return secret.Derive(s.Keys, purpose, sessionID)
}

func (s Secrets) verify(purpose, token string) (string, bool) {
	return secret.Verify(s.Keys, purpose, id.CheckoutSession, token)
}

// ReturnToken proves the buyer's return for one session until 24 hours after now (real time).
func (s Secrets) ReturnToken(sessionID string, now time.Time) string {
	return returnToken(s.Keys.Current(), sessionID, now.Add(returnTokenLifetime).Unix())
}

func returnToken(key []byte, sessionID string, expires int64) string {
	stamp := binary.BigEndian.AppendUint64(nil, uint64(expires)) //nolint:gosec // a time after 1970
	mac := secret.MAC(key, purposeReturn, sessionID, string(stamp))
	return base64.RawURLEncoding.EncodeToString(append(stamp, mac[:]...))
}

// CheckReturnToken reports whether the token was made for this session and is still good.
func (s Secrets) CheckReturnToken(sessionID, token string, now time.Time) bool {
	raw, _ := base64.RawURLEncoding.DecodeString(token) // the comparison below is with the text
	if len(raw) != 8+16 {
		return false
	}
	expires := int64(binary.BigEndian.Uint64(raw)) //nolint:gosec // compared below, whatever it is
	proven := s.Keys.Proves(token, func(key []byte) string { return returnToken(key, sessionID, expires) })
	return proven && now.Unix() < expires
}
