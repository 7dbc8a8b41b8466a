package identity

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"hash"
	"sync"
)

// digester pools keyed hashes, because keying one costs as much as using it.
type digester struct{ pool *sync.Pool }

func newDigester(secret []byte) digester {
	return digester{&sync.Pool{New: func() any { return hmac.New(sha256.New, secret) }}}
}

// sum returns the HMAC-SHA256 of a text.
func (d digester) sum(text string) []byte {
	h, _ := d.pool.Get().(hash.Hash) // New makes nothing else
	h.Reset()
	h.Write([]byte(text))
	mac := h.Sum(nil)
	d.pool.Put(h)
	return mac
}

// made says whether mac is the digest of text. It takes the same time for every mac.
func (d digester) made(mac []byte, text string) bool {
	return subtle.ConstantTimeCompare(mac, d.sum(text)) == 1
}
