package customer

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"time"

	"sundry/core/secret"
)

// How long a link to the portal opens it: one that the integrator asked for, and one in a mail.
const (
	PortalSession = 24 * time.Hour
	PortalMail    = 30 * 24 * time.Hour
)

// PortalLink is the signed content of a link to the portal of one customer.
type PortalLink struct {
	CustomerID string `json:"c"`
	// ReturnURL is the page that the portal leads back to; empty for none.
	ReturnURL string `json:"r,omitempty"`
	// ExpiresAt is real time, in seconds; 0 for a link that never was a key and only leads to the page that mails one.
	ExpiresAt int64 `json:"e"`
	// MailedTo proves to which address the link was mailed, see PortalKeys.Address; "" for a link that was not.
	MailedTo string `json:"m,omitempty"`
}

// Asks reports whether the link is on a page that others may see, such as a receipt: all it can do is to have a key
// mailed to the customer.
func (l PortalLink) Asks() bool { return l.ExpiresAt == 0 }

// Expired reports whether the link's time is over. An expired one still proves whose portal it led to.
func (l PortalLink) Expired(now time.Time) bool { return now.Unix() >= l.ExpiresAt }

// PortalKeys sign links, and are used for nothing else.
type PortalKeys secret.Keys

const (
	purposePortal  = "portal"
	purposeAddress = "portal_address"
)

// Sign returns the link's part of an address.
func (k PortalKeys) Sign(l PortalLink) (string, error) {
	raw, err := json.Marshal(l)
	if err != nil {
		return "", err
	}
	payload := base64.RawURLEncoding.EncodeToString(raw)
	return payload + "." + portalProof(secret.Keys(k).Current(), payload), nil
}

// Address returns the proof that a link was mailed to an address, in any case. It does not reveal the address.
func (k PortalKeys) Address(address string) string {
	return addressProofOf(secret.Keys(k).Current(), address)
}

func addressProofOf(key []byte, address string) string {
	mac := secret.MAC(key, purposeAddress, strings.ToLower(address))
	return base64.RawURLEncoding.EncodeToString(mac[:addressProof])
}

// addressProof is the length of the proof in bytes.
const addressProof = 12

// ReachesAll reports whether the person who opens the link reads the mail of the customer, so that everything bought
// with the customer's address may be shown. A guest types any address, and a link that an app asked for proves nothing
// about it.
func (k PortalKeys) ReachesAll(l PortalLink, address string) bool {
	return address != "" && l.MailedTo != "" && secret.Keys(k).Proves(l.MailedTo, func(key []byte) string {
		return addressProofOf(key, address)
	})
}

// Open returns the link behind a token; ok is false for anything that we did not give out.
func (k PortalKeys) Open(token string) (l PortalLink, ok bool) {
	payload, proof, _ := strings.Cut(token, ".")
	if !secret.Keys(k).Proves(proof, func(key []byte) string { return portalProof(key, payload) }) {
		return PortalLink{}, false
	}
	raw, err := base64.RawURLEncoding.DecodeString(payload)
	ok = err == nil && json.Unmarshal(raw, &l) == nil
	return l, ok
}

func portalProof(key []byte, payload string) string {
	mac := secret.MAC(key, purposePortal, payload)
	return base64.RawURLEncoding.EncodeToString(mac[:])
}
