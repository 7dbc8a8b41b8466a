// Package keyring keeps the keys of a deployment: in its database, encrypted under APP_SECRET. Replacing APP_SECRET
// encrypts the same keys again, and a new generation of keys takes over from the last one while that still opens what
// it made. So neither breaks a link, a sign-in or a stored secret.
package keyring

import (
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"sundry/core/secret"
	"sundry/ports"
)

// The groups of keys, which are replaced apart.
const (
	// lasting keys are never replaced: what they made is stored as a digest, and looked up by it. They open nothing.
	lasting = "lasting"
	links   = "links"
	sealing = "sealing"
	tokens  = "tokens"
)

// groups are all of them.
var groups = []string{lasting, links, sealing, tokens}

const (
	// tokenKeyAge is the age at which the keys of access tokens are replaced.
	tokenKeyAge = 30 * 24 * time.Hour
	// tokenKeyRest is the time for which a replaced key of access tokens is kept: several times what a token lasts.
	tokenKeyRest = time.Hour
	// ReloadEvery is the pause between two reads of the stored keys.
	ReloadEvery = 30 * time.Second
	// Overlap is the time between the storing of a new key and its first use: several readings.
	Overlap = 4 * ReloadEvery
)

// Config is the configuration of a ring.
type Config struct {
	Store ports.KeyStore
	// Secret is APP_SECRET. Previous is the secret before it, nil for none.
	Secret, Previous []byte
	// Recorded is the one of these two secrets that the database belongs to.
	Recorded []byte
	Now      func() time.Time
}

// Ring holds the keys of the deployment. It is safe for concurrent use.
type Ring struct {
	config Config
	keys   atomic.Pointer[keySet]
}

// keySet holds the keys as they were stored once.
type keySet struct {
	stored []ports.StoredKey
	// byGroup has the generations of each group, newest first.
	byGroup map[string][]generation
	// derived caches the keys of a group for a purpose, in the order of the generations.
	derived sync.Map
}

type generation struct {
	number int64
	root   []byte
	from   time.Time
	made   time.Time
}

// Open reads the keys. In a database without any, the first generation is derived from its APP_SECRET, as all were
// before keys were stored.
func Open(ctx context.Context, c Config) (*Ring, error) {
	r := &Ring{config: c}
	stored, err := c.Store.ListKeys(ctx)
	if err != nil {
		return nil, err
	}
	if len(stored) == 0 {
		var first []ports.StoredKey
		for _, group := range groups {
			now := c.Now()
			key := ports.StoredKey{Group: group, CreatedAt: now, ActiveFrom: now}
			if key.Wrapped, err = wrap(c.Recorded, key, c.Recorded); err != nil {
				return nil, err
			}
			first = append(first, key)
		}
		if err := c.Store.InsertKeys(ctx, first); err != nil {
			return nil, err
		}
	}
	err = r.Reload(ctx)
	return r, err
}

// Reload reads the keys again. After an error the ring has those that it had.
func (r *Ring) Reload(ctx context.Context) error {
	stored, err := r.config.Store.ListKeys(ctx)
	if err != nil {
		return err
	}
	set := &keySet{stored: stored, byGroup: map[string][]generation{}}
	for _, key := range slices.Backward(stored) {
		root, err := r.unwrap(key)
		if err != nil {
			return err
		}
		set.byGroup[key.Group] = append(set.byGroup[key.Group],
			generation{key.Generation, root, key.ActiveFrom, key.CreatedAt})
	}
	for _, group := range groups {
		if len(set.byGroup[group]) == 0 {
			return fmt.Errorf("the database has lost its keys of the group %q: restore a backup", group)
		}
	}
	if was := r.keys.Load(); was == nil || !slices.EqualFunc(was.stored, stored, sameKey) {
		r.keys.Store(set)
	}
	return nil
}

func sameKey(a, b ports.StoredKey) bool {
	return a.Group == b.Group && a.Generation == b.Generation && a.ActiveFrom.Equal(b.ActiveFrom) &&
		bytes.Equal(a.Wrapped, b.Wrapped)
}

// Maintain replaces the keys of access tokens when they are old, and deletes those replaced long ago.
func (r *Ring) Maintain(ctx context.Context) error {
	all, now := r.keys.Load().byGroup[tokens], r.config.Now()
	if now.Sub(all[0].made) >= tokenKeyAge {
		if err := r.add(ctx, now.Add(Overlap), tokens); err != nil {
			return err
		}
		return r.Reload(ctx)
	}
	var past []ports.StoredKey
	for i := 1; i < len(all); i++ {
		if now.Sub(all[i-1].from) >= tokenKeyRest {
			past = append(past, ports.StoredKey{Group: tokens, Generation: all[i].number})
		}
	}
	if len(past) == 0 {
		return nil
	}
	if err := r.config.Store.DeleteKeys(ctx, past); err != nil {
		return err
	}
	return r.Reload(ctx)
}

// add stores a new generation of each group. Of several processes that do so at once, one does.
func (r *Ring) add(ctx context.Context, from time.Time, into ...string) error {
	var made []ports.StoredKey
	for _, group := range into {
		root := make([]byte, 32)
		_, _ = rand.Read(root) // never fails: crypto/rand aborts the program instead
		key := ports.StoredKey{
			Group: group, Generation: r.keys.Load().byGroup[group][0].number + 1, CreatedAt: r.config.Now(), ActiveFrom: from,
		}
		recorded, err := r.recorded()
		if err != nil {
			return err
		}
		if key.Wrapped, err = wrap(recorded, key, root); err != nil {
			return err
		}
		made = append(made, key)
	}
	return r.config.Store.InsertKeys(ctx, made)
}

// recorded is the secret that the keys are encrypted under now.
func (r *Ring) recorded() ([]byte, error) {
	first := r.keys.Load().stored[0]
	for _, s := range r.secrets() {
		if _, err := open(s, first); err == nil {
			return s, nil
		}
	}
	return nil, errOtherSecret
}

// secrets are those that keys may be encrypted under.
func (r *Ring) secrets() [][]byte {
	if r.config.Previous == nil {
		return [][]byte{r.config.Secret}
	}
	return [][]byte{r.config.Secret, r.config.Previous}
}

// Lasting returns the 32-byte key for a purpose that is never replaced.
func (r *Ring) Lasting(purpose string) []byte { return r.forPurpose(lasting, purpose)[0] }

// Links returns the keys for a purpose whose proofs are given away and never stored.
func (r *Ring) Links(purpose string) secret.Keys {
	return func() [][]byte { return r.forPurpose(links, purpose) }
}

// Sealing returns the keys for what is stored encrypted.
func (r *Ring) Sealing(purpose string) secret.Keys {
	return func() [][]byte { return r.forPurpose(sealing, purpose) }
}

// Tokens returns the keys of access tokens.
func (r *Ring) Tokens(purpose string) secret.Keys {
	return func() [][]byte { return r.forPurpose(tokens, purpose) }
}

// forPurpose returns a group's keys for a purpose, the one in use first.
func (r *Ring) forPurpose(group, purpose string) [][]byte {
	set := r.keys.Load()
	generations := set.byGroup[group]
	var keys [][]byte
	if cached, ok := set.derived.Load(group + "/" + purpose); ok {
		keys, _ = cached.([][]byte) // nothing else is stored
	} else {
		keys = make([][]byte, len(generations))
		for i, g := range generations {
			keys[i] = derive(g.root, purpose)
		}
		set.derived.Store(group+"/"+purpose, keys)
	}
	now := r.config.Now()
	inUse := slices.IndexFunc(generations, func(g generation) bool { return !g.from.After(now) })
	if inUse <= 0 { // 0, unless the clock went back
		return keys
	}
	return slices.Concat(keys[inUse:inUse+1], keys[:inUse], keys[inUse+1:])
}

// derive returns the key of a purpose. Changing a purpose's name invalidates everything made with it.
func derive(root []byte, purpose string) []byte {
	key, err := hkdf.Key(sha256.New, root, nil, "sundry/"+purpose, 32)
	if err != nil {
		panic("keyring: hkdf refused 32 bytes: " + err.Error()) // impossible below 8160 bytes
	}
	return key
}

// Check returns the value by which a database knows the secret that it belongs to. It reveals nothing else of it.
func Check(appSecret []byte) []byte { return derive(appSecret, "database-check")[:16] }

var errOtherSecret = errors.New("the keys in this database are encrypted under another APP_SECRET: set that one, as " +
	"APP_SECRET_PREVIOUS beside a new one")

func (r *Ring) unwrap(key ports.StoredKey) ([]byte, error) {
	for _, s := range r.secrets() {
		if root, err := open(s, key); err == nil {
			return root, nil
		}
	}
	return nil, errOtherSecret
}

func aead(appSecret []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(derive(appSecret, "key-encryption"))
	if err != nil {
		return nil, fmt.Errorf("encrypt keys: %w", err)
	}
	return cipher.NewGCMWithRandomNonce(block)
}

// place binds an encrypted key to its row.
func place(key ports.StoredKey) []byte {
	return []byte(key.Group + "/" + strconv.FormatInt(key.Generation, 10))
}

func wrap(appSecret []byte, key ports.StoredKey, root []byte) ([]byte, error) {
	a, err := aead(appSecret)
	if err != nil {
		return nil, err
	}
	return a.Seal(nil, nil, root, place(key)), nil //nolint:gosec // the AEAD makes its own random nonce
}

func open(appSecret []byte, key ports.StoredKey) ([]byte, error) {
	a, err := aead(appSecret)
	if err != nil {
		return nil, err
	}
	return a.Open(nil, nil, key.Wrapped, place(key))
}
