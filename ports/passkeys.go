package ports

import (
	"errors"

	"sundry/core/identity"
)

// ErrPasskeyRefused means that a browser's response proves nothing.
var ErrPasskeyRefused = errors.New("passkey refused")

// PasskeyUser is the user of a new passkey, as the browser shows them.
type PasskeyUser struct{ ID, Name, DisplayName string }

// Passkeys makes and checks passkeys by WebAuthn. What is handed to the browser and what the server keeps of it until
// the response comes are two texts: the second must come back unchanged, and only once.
type Passkeys interface {
	// BeginCreate returns what a browser makes a passkey with. known are those that the user has already.
	BeginCreate(u PasskeyUser, known []identity.Passkey) (options, ceremony []byte, err error)
	// Create checks the browser's response. ErrPasskeyRefused. The passkey has neither id nor name.
	Create(u PasskeyUser, ceremony, response []byte) (identity.Passkey, error)
	// BeginUse returns what a browser proves a passkey with: one of known or, where none is given, any that knows its
	// user and has checked that it is them.
	BeginUse(u PasskeyUser, known []identity.Passkey) (options, ceremony []byte, err error)
	// Use checks the browser's response and returns whose passkey it is, with the credential as it is since. find
	// returns the passkeys of a user. ErrPasskeyRefused, and what find reports.
	Use(
		ceremony, response []byte, find func(userID string) ([]identity.Passkey, error),
	) (userID string, used identity.Passkey, err error)
}
