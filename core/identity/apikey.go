package identity

import (
	"hash/crc32"
	"math/big"
	"strings"
	"time"

	"sundry/core/fault"
	"sundry/core/id"
)

// A key reads sk_test_ or sk_live_, 2 base62 characters of its cell, 30 of randomness, 6 of checksum. The checksum
// distinguishes a typo or a foreign string from a key without asking the database, and lets secret scanners recognize
// leaked keys. Keys that were made before there were cells have 32 characters of randomness.
const (
	testPrefix = "sk_test_"
	livePrefix = "sk_live_"
	bodyChars  = 32
	cellChars  = 2
	checkChars = 6
	keyLength  = len(testPrefix) + bodyChars + checkChars

	base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)

// KeyEntropy is the number of random bytes in a key: the most that 30 base62 characters can hold.
const KeyEntropy = 22

// NewKey renders an API key of a cell from KeyEntropy random bytes.
func NewKey(livemode bool, cell id.Cell, random []byte) string {
	text := keyPrefix(livemode) + KeyTag(cell) +
		inBase62(new(big.Int).SetBytes(random), bodyChars-cellChars)
	return text + checksum(text)
}

// KeyTag returns the two characters that name a cell in its keys.
func KeyTag(cell id.Cell) string { return inBase62(big.NewInt(int64(cell)), cellChars) }

// KeyCell returns the cell in which a key was made. ok is false when text is not a key. A key that was made before
// there were cells has any number, also above id.MaxCell.
func KeyCell(text string) (cell id.Cell, ok bool) {
	if _, ok := ParseKey(text); !ok {
		return 0, false
	}
	high := strings.IndexByte(base62, text[len(testPrefix)])
	low := strings.IndexByte(base62, text[len(testPrefix)+1])
	return id.Cell(high*len(base62) + low), true //nolint:gosec // below 62 squared
}

// ParseKey reports whether text is an API key, and of which environment. It does not report whether the key exists.
func ParseKey(text string) (livemode, ok bool) {
	if len(text) != keyLength {
		return false, false
	}
	livemode = strings.HasPrefix(text, livePrefix)
	if !livemode && !strings.HasPrefix(text, testPrefix) {
		return false, false
	}
	for i := len(testPrefix); i < keyLength; i++ {
		if !isBase62(text[i]) {
			return false, false
		}
	}
	signed := keyLength - checkChars
	ok = text[signed:] == checksum(text[:signed])
	return livemode && ok, ok
}

func keyPrefix(livemode bool) string {
	if livemode {
		return livePrefix
	}
	return testPrefix
}

func isBase62(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
}

// checksum is the CRC-32 of text in base62; 62^6 exceeds 2^32, so nothing is cut off.
func checksum(text string) string {
	var out [checkChars]byte
	sum := crc32.ChecksumIEEE([]byte(text))
	for i := checkChars - 1; i >= 0; i-- {
		out[i] = base62[sum%62]
		sum /= 62
	}
	return string(out[:])
}

// inBase62 renders n in exactly the given number of digits.
func inBase62(n *big.Int, digits int) string {
	out := make([]byte, digits)
	radix, digit := big.NewInt(62), new(big.Int)
	for i := digits - 1; i >= 0; i-- {
		n.DivMod(n, radix, digit)
		out[i] = base62[digit.Int64()]
	}
	return string(out)
}

// APIKeyState is an API key's data, as stores and views see it. The key itself is not among it.
type APIKeyState struct {
	ID        string
	CreatorID string
	Name      string
	// Hash is the HMAC-SHA256 of the key.
	Hash []byte
	// Prefix is sk_test_ or sk_live_; Last4 are the key's last characters. Together they let a person recognize it.
	Prefix, Last4 string
	Scopes        Scopes
	CreatedAt     time.Time
	ExpiresAt     time.Time // zero: never
	RevokedAt     time.Time // zero while it is valid
	LastUsedAt    time.Time // zero before the first use; at most a minute behind
	Revision      int64
}

// Label returns the name of the key with the part by which a person recognizes it.
func (s APIKeyState) Label() string { return s.Name + " (" + s.Prefix + "…" + s.Last4 + ")" }

// APIKey is a secret key of an account.
type APIKey struct{ s APIKeyState }

// NewKeyRequest is a creator's request for a key with a name and, optionally, limits and an end.
type NewKeyRequest struct {
	Name      string
	Scopes    Scopes
	ExpiresAt time.Time // zero: never
}

// Clean trims the name and lists everything that is wrong with the order.
func (o NewKeyRequest) Clean(now time.Time) (NewKeyRequest, error) {
	var f fault.Violations
	o.Name = checkName(&f, "name", o.Name)
	f.Check(o.ExpiresAt.IsZero() || o.ExpiresAt.After(now), "expiresAt", fault.DetailOutOfRange,
		"The end must be in the future.")
	return o, f.Err()
}

// IssueKey makes the record of the given key for a clean order.
func IssueKey(keyID, creatorID string, order NewKeyRequest, key string, hash []byte, now time.Time) *APIKey {
	return &APIKey{APIKeyState{
		ID: keyID, CreatorID: creatorID, Name: order.Name, Hash: hash, Prefix: key[:len(testPrefix)], Last4: key[len(key)-4:],
		Scopes: order.Scopes, CreatedAt: now, ExpiresAt: order.ExpiresAt, Revision: 1,
	}}
}

// KeyLabel returns the part of a key by which a person recognizes it: its prefix and its last characters.
func KeyLabel(key string) string {
	if len(key) != keyLength {
		return ""
	}
	return key[:len(testPrefix)] + "…" + key[len(key)-4:]
}

// RestoreAPIKey rebuilds a key from the stored state.
func RestoreAPIKey(s APIKeyState) *APIKey { return &APIKey{s} }

// State returns a copy of the data.
func (k *APIKey) State() APIKeyState { return k.s }

// Usable reports whether the key opens its account at the given time.
func (k *APIKey) Usable(now time.Time) bool {
	return k.s.RevokedAt.IsZero() && (k.s.ExpiresAt.IsZero() || now.Before(k.s.ExpiresAt))
}

// Revoke ends the key permanently. changed is false when it had ended before.
func (k *APIKey) Revoke(now time.Time) (changed bool) {
	if !k.s.RevokedAt.IsZero() {
		return false
	}
	k.s.RevokedAt = now
	k.s.Revision++
	return true
}

// useGranularity is the precision of LastUsedAt, which therefore costs at most one write in this time.
const useGranularity = time.Minute

// UseIsStale reports whether a use at the given time is worth recording.
func (k *APIKey) UseIsStale(now time.Time) bool { return now.Sub(k.s.LastUsedAt) >= useGranularity }
