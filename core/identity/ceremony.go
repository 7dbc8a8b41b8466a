package identity

import (
	"encoding/base64"
	"encoding/binary"
	"strings"
	"time"
)

// CeremonyLifetime is the time in which a browser has to respond with a passkey.
const CeremonyLifetime = 10 * time.Minute

// Ceremony is the server's state between a request to create or use a passkey and the browser's response. It is not
// stored: a form carries it, signed.
type Ceremony struct {
	// Purpose separates the forms, and Holder the browsers, so that what one was given is of no use in another.
	Purpose, Holder string
	Data            []byte
	ExpiresAt       time.Time
}

// payload encodes the expiry and the data.
func (c Ceremony) payload() string {
	raw := binary.BigEndian.AppendUint64(nil, uint64(c.ExpiresAt.Unix())) //nolint:gosec // times of our own
	return base64.RawURLEncoding.EncodeToString(append(raw, c.Data...))
}

// Subject returns the text that its MAC signs.
func (c Ceremony) Subject() string {
	return "passkey-ceremony." + c.Purpose + "." + c.Holder + "." + c.payload()
}

// Text returns the value of the form's field: the payload with its MAC.
func (c Ceremony) Text(mac []byte) string {
	return c.payload() + "." + base64.RawURLEncoding.EncodeToString(mac)
}

// ParseCeremony reads what a form's text claims to be, and the MAC that it shows for it.
func ParseCeremony(purpose, holder, text string) (c Ceremony, mac []byte, ok bool) {
	payload, shown, ok := strings.Cut(text, ".")
	raw, err := base64.RawURLEncoding.Strict().DecodeString(payload)
	if !ok || err != nil || len(raw) < 8 || strings.ContainsAny(text, "\r\n") {
		return c, nil, false
	}
	mac, err = base64.RawURLEncoding.Strict().DecodeString(shown)
	c = Ceremony{
		Purpose: purpose, Holder: holder, Data: raw[8:],
		ExpiresAt: time.Unix(int64(binary.BigEndian.Uint64(raw)), 0), //nolint:gosec // the MAC says that it is ours
	}
	return c, mac, err == nil
}
