package keyring_test

import (
	"bytes"
	"context"
	"crypto/hkdf"
	"crypto/sha256"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"sundry/adapters/keyring"
	"sundry/ports"
)

// memory is a store of keys, and of values that are encrypted for one purpose.
type memory struct {
	keys   []ports.StoredKey
	check  string
	values [][]byte
	// failing makes the next renewal fail after a number of values, as a process does that ends.
	failing bool
	after   int
}

func (m *memory) ListKeys(context.Context) ([]ports.StoredKey, error) {
	all := slices.Clone(m.keys)
	slices.SortFunc(all, func(a, b ports.StoredKey) int {
		return strings.Compare(a.Group, b.Group)*2 + int(a.Generation-b.Generation)
	})
	slices.SortStableFunc(all, func(a, b ports.StoredKey) int { return strings.Compare(a.Group, b.Group) })
	return all, nil
}

func (m *memory) at(k ports.StoredKey) int {
	return slices.IndexFunc(m.keys, func(o ports.StoredKey) bool {
		return o.Group == k.Group && o.Generation == k.Generation
	})
}

func (m *memory) InsertKeys(_ context.Context, keys []ports.StoredKey) error {
	for _, k := range keys {
		if m.at(k) < 0 {
			m.keys = append(m.keys, k)
		}
	}
	return nil
}

func (m *memory) RewrapKeys(_ context.Context, keys []ports.StoredKey, check string) error {
	for _, k := range keys {
		m.keys[m.at(k)].Wrapped = k.Wrapped
	}
	m.check = check
	return nil
}

func (m *memory) DeleteKeys(_ context.Context, keys []ports.StoredKey) error {
	for _, k := range keys {
		m.keys = slices.Delete(m.keys, m.at(k), m.at(k)+1)
	}
	return nil
}

func (m *memory) Reencrypt(_ context.Context, renew func(string, []byte) ([]byte, error)) (changed int, err error) {
	for i, value := range m.values {
		if m.failing && i == m.after {
			m.failing = false
			return changed, errProcessEnds
		}
		renewed, err := renew("values", value)
		if err != nil {
			return changed, err
		}
		if renewed != nil {
			m.values[i] = renewed
			changed++
		}
	}
	return changed, nil
}

var errProcessEnds = errors.New("the process ends")

var (
	oldSecret = []byte(strings.Repeat("old secret ", 4))
	newSecret = []byte(strings.Repeat("new secret ", 4))
	silent    = func(string) {}
)

// world is a store, and the clock of its processes.
type world struct {
	memory
	now time.Time
}

func (w *world) open(t *testing.T, secret, previous, recorded []byte) *keyring.Ring {
	t.Helper()
	ring, err := keyring.Open(t.Context(), keyring.Config{
		Store: w, Secret: secret, Previous: previous, Recorded: recorded, Now: func() time.Time { return w.now },
	})
	if err != nil {
		t.Fatal(err)
	}
	return ring
}

func newWorld() *world { return &world{now: time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)} }

// sealed stands for a value encrypted with a key.
func sealed(key []byte) []byte { return append([]byte("sealed with "), key...) }

func renewing(r *keyring.Ring) keyring.Renew {
	return func(purpose string, value []byte) ([]byte, error) {
		keys := r.Sealing(purpose)()
		if bytes.Equal(value, sealed(keys[0])) {
			return nil, nil
		}
		for _, key := range keys[1:] {
			if bytes.Equal(value, sealed(key)) {
				return sealed(keys[0]), nil
			}
		}
		return nil, errors.New("no key opens it")
	}
}

func TestFirstKeysAreThoseFromBefore(t *testing.T) {
	t.Parallel()
	ring := newWorld().open(t, oldSecret, nil, oldSecret)
	want, err := hkdf.Key(sha256.New, oldSecret, nil, "sundry/checkout", 32)
	if err != nil {
		t.Fatal(err)
	}
	for name, got := range map[string][]byte{
		"lasting": ring.Lasting("checkout"), "links": ring.Links("checkout").Current(),
		"sealing": ring.Sealing("checkout").Current(), "tokens": ring.Tokens("checkout").Current(),
	} {
		if !bytes.Equal(got, want) {
			t.Errorf("the %s key is not the one that 0.1.0 derived", name)
		}
	}
}

func TestRotate(t *testing.T) {
	t.Parallel()
	w := newWorld()
	ring := w.open(t, oldSecret, nil, oldSecret)
	link, lasting := ring.Links("x").Current(), ring.Lasting("x")
	w.values = [][]byte{sealed(ring.Sealing("values").Current())}
	if err := ring.Rotate(t.Context(), 0, renewing(ring), silent); err != nil {
		t.Fatal(err)
	}
	if keys := ring.Links("x")(); len(keys) != 2 || bytes.Equal(keys[0], link) || !bytes.Equal(keys[1], link) {
		t.Errorf("%d keys of links, want a new one and the one before", len(keys))
	}
	if !bytes.Equal(ring.Lasting("x"), lasting) {
		t.Error("a lasting key was replaced")
	}
	if keys := ring.Sealing("values")(); len(keys) != 2 || !bytes.Equal(w.values[0], sealed(keys[0])) {
		t.Error("the value is not encrypted with the new key")
	}
	if err := ring.Retire(t.Context(), renewing(ring), silent); err != nil {
		t.Fatal(err)
	}
	if keys := ring.Links("x")(); len(keys) != 1 || bytes.Equal(keys[0], link) {
		t.Errorf("%d keys of links after the former ones were retired, want the new one", len(keys))
	}
	if !bytes.Equal(ring.Lasting("x"), lasting) {
		t.Error("a lasting key was retired")
	}
}

// Until everything is encrypted with the new key, the former one opens the rest and is not deleted.
func TestRetire_KeepsKeysThatSomethingNeeds(t *testing.T) {
	t.Parallel()
	w := newWorld()
	ring := w.open(t, oldSecret, nil, oldSecret)
	former := ring.Sealing("values").Current()
	w.values = [][]byte{sealed(former), sealed(former), sealed(former)}
	for i, interrupted := range []func(context.Context, *keyring.Ring) error{
		func(ctx context.Context, r *keyring.Ring) error { return r.Rotate(ctx, 0, renewing(r), silent) },
		func(ctx context.Context, r *keyring.Ring) error { return r.Retire(ctx, renewing(r), silent) },
	} {
		w.failing, w.after = true, i+1
		if err := interrupted(t.Context(), w.open(t, oldSecret, nil, oldSecret)); !errors.Is(err, errProcessEnds) {
			t.Fatalf("interrupted %d: %v", i, err)
		}
		next := w.open(t, oldSecret, nil, oldSecret) // after the crash
		keys := next.Sealing("values")()
		if len(keys) != 2 || !bytes.Equal(keys[1], former) || !bytes.Equal(w.values[i], sealed(keys[0])) ||
			!bytes.Equal(w.values[i+1], sealed(former)) {
			t.Fatalf("interrupted %d: %d keys, want the former one beside the new one, which has encrypted %d values", i,
				len(keys), i+1)
		}
	}
	next := w.open(t, oldSecret, nil, oldSecret)
	if err := next.Retire(t.Context(), renewing(next), silent); err != nil {
		t.Fatal(err)
	}
	keys := next.Sealing("values")()
	for i, value := range w.values {
		if len(keys) != 1 || !bytes.Equal(value, sealed(keys[0])) {
			t.Errorf("value %d is not encrypted with the only key of %d", i, len(keys))
		}
	}
}

// Of two processes, one learns of the keys later.
func TestRotate_UsesKeysThatAllProcessesKnow(t *testing.T) {
	t.Parallel()
	w := newWorld()
	one, other := w.open(t, oldSecret, nil, oldSecret), w.open(t, oldSecret, nil, oldSecret)
	before := one.Links("x").Current()
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // it ends while it waits
	if err := one.Rotate(ctx, time.Minute, renewing(one), silent); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if !bytes.Equal(one.Links("x").Current(), before) || len(one.Links("x")()) != 2 {
		t.Error("a key is used before the overlap is over, or is not accepted")
	}
	if err := other.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.now = w.now.Add(time.Minute)
	if got := other.Links("x").Current(); bytes.Equal(got, before) || !bytes.Equal(got, one.Links("x").Current()) {
		t.Error("after the overlap the processes do not use the new key")
	}
}

func TestRotate_ReplacesTheAppSecret(t *testing.T) {
	t.Parallel()
	w := newWorld()
	before := w.open(t, oldSecret, nil, oldSecret)
	link := before.Links("x").Current()
	w.values = [][]byte{sealed(before.Sealing("values").Current())}
	ring := w.open(t, newSecret, oldSecret, oldSecret)
	w.failing = true
	for _, want := range []error{errProcessEnds, nil} {
		if err := ring.Rotate(t.Context(), 0, renewing(ring), silent); !errors.Is(err, want) {
			t.Errorf("got %v, want %v", err, want)
		}
	}
	alone := w.open(t, newSecret, nil, newSecret)
	if keys := alone.Links("x")(); !bytes.Equal(keys[len(keys)-1], link) {
		t.Error("with the new secret alone, old links do not open")
	}
	_, err := keyring.Open(t.Context(), keyring.Config{
		Store: w, Secret: oldSecret, Recorded: oldSecret, Now: func() time.Time { return w.now },
	})
	if err == nil || !strings.Contains(err.Error(), "APP_SECRET") {
		t.Errorf("the old secret opens the keys: %v", err)
	}
}

func TestTokenKeysAreReplacedByThemselves(t *testing.T) {
	t.Parallel()
	w := newWorld()
	one, other := w.open(t, oldSecret, nil, oldSecret), w.open(t, oldSecret, nil, oldSecret)
	first := one.Tokens("x").Current()
	step := func(by time.Duration, want int, why string) {
		t.Helper()
		w.now = w.now.Add(by)
		for _, ring := range []*keyring.Ring{one, other} {
			if err := errors.Join(ring.Reload(t.Context()), ring.Maintain(t.Context())); err != nil {
				t.Fatal(err)
			}
		}
		if err := one.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := len(one.Tokens("x")()); got != want {
			t.Errorf("%s: %d keys, want %d", why, got, want)
		}
	}
	step(29*24*time.Hour, 1, "young")
	step(24*time.Hour, 2, "old, and replaced by one process of two")
	if !bytes.Equal(one.Tokens("x").Current(), first) {
		t.Error("a key is used before every process knows it")
	}
	step(keyring.Overlap, 2, "in use")
	if bytes.Equal(one.Tokens("x").Current(), first) {
		t.Error("the old key is still used after the overlap")
	}
	step(time.Hour, 1, "the old one rests no longer")
	if links := one.Links("x")(); len(links) != 1 {
		t.Errorf("%d keys of links, want those untouched", len(links))
	}
}
