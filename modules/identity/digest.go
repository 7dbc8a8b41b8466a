package identity

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"hash"
	"sync"
)

// digest is the HMAC-SHA256 of a secret: all of it that is stored or looked up by.
type digest = [sha256.Size]byte

// digester pools keyed hashes, because keying one costs as much as using it.
type digester struct{ pool *sync.Pool }

func newDigester(secret []byte) digester {
	return digester{&sync.Pool{New: func() any { return hmac.New(sha256.New, secret) }}}
}

func (d digester) sum(text string) (out digest) {
	h, _ := d.pool.Get().(hash.Hash) // New makes nothing else
	h.Reset()
	h.Write([]byte(text))
	h.Sum(out[:0])
	d.pool.Put(h)
	return out
}

// made says whether mac is the digest of text. It takes the same time for every mac.
func (d digester) made(mac []byte, text string) bool {
	want := d.sum(text)
	return subtle.ConstantTimeCompare(mac, want[:]) == 1
}
