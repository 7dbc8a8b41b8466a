package fakes

import (
	"bytes"
	"crypto/rand"
	"strings"

	"sundry/core/identity"
	"sundry/ports"
)

// Passkeys implements ports.Passkeys without keys: responses are the names of what they claim to prove.
type Passkeys struct{}

var _ ports.Passkeys = Passkeys{}

// BeginCreate implements ports.Passkeys.
func (Passkeys) BeginCreate(u ports.PasskeyUser, _ []identity.Passkey) (options, ceremony []byte, err error) {
	return []byte("{}"), []byte("new " + u.ID), nil
}

// Create implements ports.Passkeys: the response is the credential's id.
func (Passkeys) Create(u ports.PasskeyUser, ceremony, response []byte) (identity.Passkey, error) {
	if string(ceremony) != "new "+u.ID {
		return identity.Passkey{}, ports.ErrPasskeyRefused
	}
	return identity.Passkey{CredentialID: response, Credential: []byte("{}")}, nil
}

// BeginUse implements ports.Passkeys.
func (Passkeys) BeginUse(u ports.PasskeyUser, _ []identity.Passkey) (options, ceremony []byte, err error) {
	return []byte("{}"), []byte("use " + u.ID + " " + rand.Text()), nil
}

// Use implements ports.Passkeys: the response is "<user id> <credential id>".
func (Passkeys) Use(
	_, response []byte, find func(userID string) ([]identity.Passkey, error),
) (userID string, used identity.Passkey, err error) {
	userID, credential, _ := strings.Cut(string(response), " ")
	known, err := find(userID)
	if err != nil {
		return "", used, err
	}
	for _, k := range known {
		if bytes.Equal(k.CredentialID, []byte(credential)) {
			return userID, k, nil
		}
	}
	return "", used, ports.ErrPasskeyRefused
}
