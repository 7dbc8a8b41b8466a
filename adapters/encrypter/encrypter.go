// Package encrypter encrypts secrets at rest with AES-256-GCM under a key derived from the app secret.
package encrypter

import (
	"crypto/aes"
	"crypto/cipher"
	"errors"
	"fmt"

	"sundry/ports"
)

// Encrypter implements ports.Encrypter.
type Encrypter struct{ aead cipher.AEAD }

var _ ports.Encrypter = Encrypter{}

// New returns an encrypter over a 32-byte key.
func New(key []byte) (Encrypter, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return Encrypter{}, fmt.Errorf("encrypter key: %w", err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return Encrypter{}, fmt.Errorf("encrypter: %w", err)
	}
	return Encrypter{aead}, nil
}

// Encrypt implements ports.Encrypter. Each call makes a nonce of its own.
func (s Encrypter) Encrypt(plain []byte) []byte {
	return s.aead.Seal(nil, nil, plain, nil) //nolint:gosec // the AEAD makes its own random nonce
}

// Decrypt implements ports.Encrypter.
func (s Encrypter) Decrypt(ciphertext []byte) ([]byte, error) {
	plain, err := s.aead.Open(nil, nil, ciphertext, nil)
	if err != nil {
		return nil, errors.New("an encrypted secret was not made with this app secret")
	}
	return plain, nil
}
