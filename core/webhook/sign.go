package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"strconv"
	"strings"
	"time"
)

// SecretPrefix marks a signing secret; what follows is base64 (Standard Webhooks).
const SecretPrefix = "whsec_"

// SecretBytes is the number of random bytes in a signing secret.
const SecretBytes = 32

// FormatSecret returns a secret as its owner sees it.
func FormatSecret(secret []byte) string {
	return SecretPrefix + base64.StdEncoding.EncodeToString(secret)
}

// Headers returns the three headers of Standard Webhooks. id is the event's, the same over all attempts; each secret
// signs once.
//
// Source: https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
func Headers(id string, at time.Time, body []byte, secrets ...[]byte) map[string]string {
	stamp := strconv.FormatInt(at.Unix(), 10)
	signatures := make([]string, len(secrets))
	for i, secret := range secrets {
		mac := hmac.New(sha256.New, secret)
		mac.Write([]byte(id + "." + stamp + "."))
		mac.Write(body)
		signatures[i] = "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	}
	return map[string]string{
		"webhook-id": id, "webhook-timestamp": stamp, "webhook-signature": strings.Join(signatures, " "),
	}
}
