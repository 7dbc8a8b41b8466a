// Package encrypter encrypts secrets at rest with AES-256-GCM.
package encrypter

import (
	"crypto/aes"
	"crypto/cipher"
	"errors"
	"sync"

	"sundry/core/secret"
	"sundry/ports"
)

// Encrypter implements ports.Encrypter.
type Encrypter struct {
	keys secret.Keys
	// ciphers maps a key to its cipher.
	ciphers *sync.Map
}

var _ ports.Encrypter = Encrypter{}

// New returns an encrypter over keys of 32 bytes: the one in use encrypts, any of them decrypts.
func New(keys secret.Keys) Encrypter { return Encrypter{keys, &sync.Map{}} }

func (s Encrypter) cipher(key []byte) cipher.AEAD {
	if known, ok := s.ciphers.Load([32]byte(key)); ok {
		aead, _ := known.(cipher.AEAD) // nothing else is stored
		return aead
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		panic("encrypter: AES refused 32 bytes: " + err.Error())
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		panic("encrypter: GCM refused AES: " + err.Error())
	}
	s.ciphers.Store([32]byte(key), aead)
	return aead
}

// Encrypt implements ports.Encrypter. Each call makes a nonce of its own.
func (s Encrypter) Encrypt(plain []byte) []byte {
	return s.cipher(s.keys.Current()).Seal(nil, nil, plain, nil) //nolint:gosec // the AEAD makes its own random nonce
}

// Decrypt implements ports.Encrypter.
func (s Encrypter) Decrypt(ciphertext []byte) ([]byte, error) {
	plain, _, err := s.decrypt(ciphertext)
	return plain, err
}

// Renew encrypts a value again with the key in use; nil if it is already.
func (s Encrypter) Renew(ciphertext []byte) ([]byte, error) {
	plain, current, err := s.decrypt(ciphertext)
	if err != nil || current {
		return nil, err
	}
	return s.Encrypt(plain), nil
}

// decrypt reports with current whether the key in use has encrypted the value.
func (s Encrypter) decrypt(ciphertext []byte) (plain []byte, current bool, err error) {
	for i, key := range s.keys() {
		if plain, err = s.cipher(key).Open(nil, nil, ciphertext, nil); err == nil {
			return plain, i == 0, nil
		}
	}
	return nil, false, errors.New("an encrypted secret was not made with a key of this deployment")
}
