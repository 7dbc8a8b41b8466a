package passkeys_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"

	"sundry/adapters/passkeys"
	"sundry/core/identity"
	"sundry/ports"
)

func TestNew_NeedsAHostWithAName(t *testing.T) {
	t.Parallel()
	for origin, want := range map[string]bool{
		"https://pay.example.com": true, "http://localhost:8080": true, "http://127.0.0.1:8080": false,
		"https://[2001:db8::1]": false, "": false, "://": false,
	} {
		if got := passkeys.New(origin) != nil; got != want {
			t.Errorf("%q has passkeys: %v, want %v", origin, got, want)
		}
	}
}

// What a browser does with the options is tested in tests/browser, with an authenticator.
func TestPasskeys_OptionsAndGarbage(t *testing.T) {
	t.Parallel()
	p := passkeys.New("https://pay.example.com")
	ada := ports.PasskeyUser{ID: "crt_1", Name: "ada@example.com", DisplayName: "Ada"}
	options, ceremony, err := p.BeginCreate(ada, nil)
	if err != nil || !bytes.Contains(options, []byte(`"residentKey":"required"`)) ||
		!bytes.Contains(options, []byte(`"id":"pay.example.com"`)) {
		t.Fatalf("the options are %s, %v", options, err)
	}
	var begun struct{ Challenge string }
	if err := json.Unmarshal(ceremony, &begun); err != nil || len(begun.Challenge) < 22 {
		t.Errorf("the challenge is %q, %v", begun.Challenge, err)
	}
	unverified := []byte(`{"id":"AA","rawId":"AA","type":"public-key","response":{"clientDataJSON":"e30","attestationObject":"oA"}}`)
	for _, response := range [][]byte{nil, []byte("{}"), []byte("null"), unverified} {
		if _, err := p.Create(ada, ceremony, response); !errors.Is(err, ports.ErrPasskeyRefused) {
			t.Errorf("%s makes a passkey: %v", response, err)
		}
	}
	options, ceremony, err = p.BeginUse(ports.PasskeyUser{}, nil)
	if err != nil || !bytes.Contains(options, []byte(`"userVerification":"required"`)) {
		t.Fatalf("the options are %s, %v", options, err)
	}
	none := func(string) ([]identity.Passkey, error) { return nil, nil }
	for _, response := range [][]byte{nil, []byte("{}"), []byte("null"), unverified} {
		if _, _, err := p.Use(ceremony, response, none); !errors.Is(err, ports.ErrPasskeyRefused) {
			t.Errorf("%s proves a passkey: %v", response, err)
		}
	}
}
