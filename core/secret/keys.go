package secret

import "crypto/hmac"

// Keys are the keys of one purpose, the one in use first. The others are former ones, whose proofs stay good, and one
// that is about to be used. There is at least one.
type Keys func() [][]byte

// Fixed are keys of which there is one: 32 bytes, used for nothing else.
func Fixed(key []byte) Keys {
	all := [][]byte{key}
	return func() [][]byte { return all }
}

// Current returns the key in use.
func (k Keys) Current() []byte { return k()[0] }

// Proves reports whether derived returns the proof for any of the keys.
func (k Keys) Proves(proof string, derived func(key []byte) string) bool {
	for _, key := range k() {
		if hmac.Equal([]byte(derived(key)), []byte(proof)) {
			return true
		}
	}
	return false
}
