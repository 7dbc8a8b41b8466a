package webhook_test

import (
	"bytes"
	"net/http"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"sundry/core/webhook"
)

func headers(at time.Time, body []byte, secrets ...[]byte) http.Header {
	h := http.Header{}
	for name, value := range webhook.Headers("evt_1", at, body, secrets...) {
		h.Set(name, value)
	}
	return h
}

func TestThePublicLibraryVerifiesWhatIsSigned(t *testing.T) {
	t.Parallel()
	older, newer := bytes.Repeat([]byte{1}, webhook.SecretBytes), bytes.Repeat([]byte{0xfe}, webhook.SecretBytes)
	body := []byte(`{"id":"evt_1","data":{"title":"Grüße"}}`)
	now := time.Now()
	for _, c := range []struct {
		name    string
		signing [][]byte
		secret  []byte
		body    []byte
		at      time.Time
		good    bool
	}{
		{"its only secret", [][]byte{older}, older, body, now, true},
		{"the new secret during a rotation", [][]byte{newer, older}, newer, body, now, true},
		{"the old secret during a rotation", [][]byte{newer, older}, older, body, now, true},
		{"the old secret after a rotation", [][]byte{newer}, older, body, now, false},
		{"a changed body", [][]byte{older}, older, []byte(`{}`), now, false},
		{"an old message", [][]byte{older}, older, body, now.Add(-time.Hour), false},
	} {
		verifier, err := standardwebhooks.NewWebhook(webhook.FormatSecret(c.secret))
		if err != nil {
			t.Fatal(err)
		}
		if err := verifier.Verify(c.body, headers(c.at, body, c.signing...)); (err == nil) != c.good {
			t.Errorf("%s: %v, want good %v", c.name, err, c.good)
		}
	}
}
