package identity

import (
	"crypto/sha256"
	"sync"
	"time"

	"sundry/core/identity"
)

const (
	// keyCacheLifetime bounds how long a key that was revoked in another process still opens its account here; the
	// promise is 5 s.
	keyCacheLifetime = 2 * time.Second
	keyCacheSize     = 20_000
)

// digest is the HMAC-SHA256 of a key: all of it that is stored or looked up by.
type digest = [sha256.Size]byte

// knownKey is a key that was valid when it was read.
type knownKey struct {
	holder AuthenticatedKey
	end    time.Time // when the key expires; zero: never
	stale  time.Time // when it must be read again
}

// keyCache remembers valid keys for a moment. Keys that do not exist are not remembered: one made a moment ago in
// another process must work at once.
type keyCache struct {
	mu    sync.RWMutex
	known map[digest]knownKey
	// epoch rises with every revocation, so that a read from before one is not cached after it.
	epoch uint64
}

func newKeyCache() keyCache { return keyCache{known: map[digest]knownKey{}} }

// find returns a key that was read lately, or else the epoch to hand to keep.
func (c *keyCache) find(hash digest, now time.Time) (knownKey, uint64, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	k, ok := c.known[hash]
	return k, c.epoch, ok && now.Before(k.stale)
}

// keep remembers a key that was read after find returned epoch.
func (c *keyCache) keep(hash digest, s identity.APIKeyState, epoch uint64, now time.Time) knownKey {
	k := knownKey{
		holder: AuthenticatedKey{KeyID: s.ID, CreatorID: s.CreatorID, Scopes: s.Scopes, Label: s.Label()},
		end:    s.ExpiresAt, stale: now.Add(keyCacheLifetime),
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.epoch != epoch {
		return k
	}
	if len(c.known) >= keyCacheSize {
		c.evict(now)
	}
	c.known[hash] = k
	return k
}

// evict drops stale entries or, when there are none, everything: reading again costs little.
func (c *keyCache) evict(now time.Time) {
	for hash, k := range c.known {
		if !now.Before(k.stale) {
			delete(c.known, hash)
		}
	}
	if len(c.known) >= keyCacheSize {
		clear(c.known)
	}
}

func (c *keyCache) forget(hash digest) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.epoch++
	delete(c.known, hash)
}
