// Package sealer encrypts secrets at rest with AES-256-GCM under a key derived from the app secret.
package sealer

import (
	"crypto/aes"
	"crypto/cipher"
	"errors"
	"fmt"

	"sundry/ports"
)

// Sealer implements ports.Sealer.
type Sealer struct{ aead cipher.AEAD }

var _ ports.Sealer = Sealer{}

// New returns a sealer over a 32-byte key.
func New(key []byte) (Sealer, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return Sealer{}, fmt.Errorf("sealer key: %w", err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return Sealer{}, fmt.Errorf("sealer: %w", err)
	}
	return Sealer{aead}, nil
}

// Seal implements ports.Sealer. Each call makes a nonce of its own.
func (s Sealer) Seal(plain []byte) []byte { return s.aead.Seal(nil, nil, plain, nil) } //nolint:gosec // the AEAD makes its own random nonce

// Open implements ports.Sealer.
func (s Sealer) Open(sealed []byte) ([]byte, error) {
	plain, err := s.aead.Open(nil, nil, sealed, nil)
	if err != nil {
		return nil, errors.New("a sealed secret was not made with this app secret")
	}
	return plain, nil
}
