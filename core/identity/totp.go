package identity

import (
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // RFC 6238 and every authenticator app: a MAC with SHA-1 is not broken
	"crypto/subtle"
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"net/url"
	"strings"
	"time"
)

const (
	// TOTPEntropy is the length of an app's secret, in bytes, as RFC 4226 recommends it.
	TOTPEntropy = 20
	// totpPeriod is the time step of RFC 6238 that every app has.
	totpPeriod = 30
	// totpSkew is the number of time steps by which a phone's clock may be ahead or behind.
	totpSkew = 1
)

var totpText = base32.StdEncoding.WithPadding(base32.NoPadding)

// TOTPCode returns the code of RFC 6238 that an authenticator app with the secret shows at a time: SHA-1, six digits,
// steps of 30 seconds.
func TOTPCode(secret []byte, at time.Time) string { return totpCode(secret, at.Unix()/totpPeriod) }

func totpCode(secret []byte, step int64) string {
	h := hmac.New(sha1.New, secret)
	h.Write(binary.BigEndian.AppendUint64(nil, uint64(step))) //nolint:gosec // time steps are not negative
	sum := h.Sum(nil)
	from := sum[len(sum)-1] & 0xf
	return fmt.Sprintf("%06d", binary.BigEndian.Uint32(sum[from:])&0x7fffffff%1_000_000)
}

// totpStepOf returns the time step around a moment whose code is shown; ok is false for no such step.
func totpStepOf(secret []byte, shown string, at time.Time) (step int64, ok bool) {
	now := at.Unix() / totpPeriod
	for candidate := now - totpSkew; candidate <= now+totpSkew; candidate++ {
		if subtle.ConstantTimeCompare([]byte(totpCode(secret, candidate)), []byte(shown)) == 1 {
			step, ok = candidate, true
		}
	}
	return step, ok
}

// TOTPSecretText returns a secret as people type it into an app.
func TOTPSecretText(secret []byte) string { return totpText.EncodeToString(secret) }

// TOTPAddress returns the otpauth address of a secret, which apps read from a QR code.
func TOTPAddress(issuer, account string, secret []byte) string {
	q := url.Values{"secret": {TOTPSecretText(secret)}, "issuer": {issuer}}
	// Apps take a plus for a plus.
	return "otpauth://totp/" + url.PathEscape(issuer+":"+account) + "?" + strings.ReplaceAll(q.Encode(), "+", "%20")
}
