package identity_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sundry/core/fault"
	"sundry/core/id"
	core "sundry/core/identity"
	"sundry/modules/identity"
	"sundry/ports"
	"sundry/tests/testdb"
)

func owner(creatorID string) core.User {
	return core.User{CreatorID: creatorID, Role: core.RoleOwner}
}

func (h *fixture) makeKey(t *testing.T, creatorID string, ends time.Time) (core.APIKeyState, string) {
	t.Helper()
	state, key, err := h.CreateKey(t.Context(), owner(creatorID), core.NewKeyRequest{Name: "Backend", ExpiresAt: ends})
	if err != nil {
		t.Fatal(err)
	}
	return state, key
}

func TestAKeyOpensItsAccountUntilRevoked(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, h *fixture) {
		ada := h.signUp(t, "ada@example.com").Creator.ID
		state, key := h.makeKey(t, ada, time.Time{})
		if state.Prefix != "sk_test_" || !strings.HasPrefix(key, "sk_test_") || state.Last4 != key[42:] ||
			strings.Contains(string(state.Hash), key[8:]) {
			t.Errorf("made %+v for %q", state, key)
		}
		for range 2 { // from the database, then from memory
			if got, err := h.AuthenticateKey(t.Context(), key); err != nil ||
				got != (identity.AuthenticatedKey{KeyID: state.ID, CreatorID: ada, Label: state.Label()}) {
				t.Fatalf("got %+v, %v", got, err)
			}
		}
		for range 2 {
			revoked, err := h.RevokeKey(t.Context(), ada, state.ID)
			if err != nil || !revoked.RevokedAt.Equal(h.clock.Real()) {
				t.Fatalf("revoked %+v, %v", revoked, err)
			}
			_, err = h.AuthenticateKey(t.Context(), key)
			wantCode(t, "the moment after", err, fault.Unauthenticated)
		}
	})
}

func TestARevocationReachesEveryReplica(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, h *fixture) {
		ada := h.signUp(t, "ada@example.com").Creator.ID
		state, key := h.makeKey(t, ada, time.Time{})
		replica := h.replica(false)
		defer func() { _ = replica.Close() }()
		if _, err := replica.AuthenticateKey(t.Context(), key); err != nil {
			t.Fatalf("a key made a moment ago elsewhere: %v", err)
		}
		if _, err := h.RevokeKey(t.Context(), ada, state.ID); err != nil {
			t.Fatal(err)
		}
		h.clock.Advance(2 * time.Second)
		_, err := replica.AuthenticateKey(t.Context(), key)
		wantCode(t, "two seconds later in another process", err, fault.Unauthenticated)
	})
}

func TestTheDatabaseIsAskedOnceInTwoSeconds(t *testing.T) {
	t.Parallel()
	h := quickFixture(t, false)
	_, key := h.makeKey(t, h.signUp(t, "ada@example.com").Creator.ID, time.Time{})
	h.store.reads.Store(0)
	for _, step := range []struct {
		wait time.Duration
		want int64
	}{{0, 1}, {0, 1}, {1999 * time.Millisecond, 1}, {time.Millisecond, 2}, {time.Second, 2}} {
		h.clock.Advance(step.wait)
		if _, err := h.AuthenticateKey(t.Context(), key); err != nil || h.store.reads.Load() != step.want {
			t.Errorf("after another %v: %d reads, %v; want %d", step.wait, h.store.reads.Load(), err, step.want)
		}
	}
	_, err := h.AuthenticateKey(t.Context(), key[:45]+"!")
	wantCode(t, "a typo", err, fault.Unauthenticated)
	if h.store.reads.Load() != 2 {
		t.Error("the database was asked about a typo")
	}
}

func TestAKeyEndsOnTime(t *testing.T) {
	t.Parallel()
	h := quickFixture(t, false)
	_, key := h.makeKey(t, h.signUp(t, "ada@example.com").Creator.ID, h.clock.Real().Add(time.Second))
	if _, err := h.AuthenticateKey(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	h.clock.Advance(time.Second) // still remembered
	_, err := h.AuthenticateKey(t.Context(), key)
	wantCode(t, "at its end, from memory", err, fault.Unauthenticated)
	h.clock.Advance(time.Minute)
	_, err = h.AuthenticateKey(t.Context(), key)
	wantCode(t, "after its end, from the database", err, fault.Unauthenticated)
}

func TestEveryWrongCredentialIsRefusedAlike(t *testing.T) {
	t.Parallel()
	store := testdb.SQLite.Open(t)
	sandbox := open(store, false)
	defer func() { _ = sandbox.Close() }()
	live := open(store, true) // one database for both: only the key's own prefix keeps them apart
	defer func() { _ = live.Close() }()
	in := sandbox.signUp(t, "ada@example.com")
	_, testKey := sandbox.makeKey(t, in.Creator.ID, time.Time{})
	_, liveKey := live.makeKey(t, in.Creator.ID, time.Time{})
	unknown := core.NewKey(false, 0, make([]byte, core.KeyEntropy))

	var words []string
	for what, err := range map[string]error{
		"a live key in the sandbox": second(sandbox.AuthenticateKey(t.Context(), liveKey)),
		"a test key in live":        second(live.AuthenticateKey(t.Context(), testKey)),
		"an unknown key":            second(sandbox.AuthenticateKey(t.Context(), unknown)),
		"no key":                    second(sandbox.AuthenticateKey(t.Context(), "")),
		"a token for a key":         second(sandbox.AuthenticateKey(t.Context(), in.AccessToken)),
		"a key for a token":         second(sandbox.AuthenticateToken(t.Context(), testKey)),
		"a refresh token":           second(sandbox.AuthenticateToken(t.Context(), in.RefreshToken)),
		"no token":                  second(sandbox.AuthenticateToken(t.Context(), "")),
	} {
		wantCode(t, what, err, fault.Unauthenticated)
		words = append(words, err.Error())
	}
	if words = slices.Compact(words); len(words) != 1 {
		t.Errorf("refusals differ: %q", words)
	}
	h := sandbox
	h.clock.Advance(15*time.Minute + 5*time.Second)
	wantCode(t, "an expired token", second(h.AuthenticateToken(t.Context(), in.AccessToken)), fault.Unauthenticated)
}

func second[T any](_ T, err error) error { return err }

func TestKeysAreListedNewestFirstWithoutTheRevoked(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, h *fixture) {
		ada, bob := h.signUp(t, "ada@example.com").Creator.ID, h.signUp(t, "bob@example.com").Creator.ID
		var made []string
		for range 3 {
			state, _ := h.makeKey(t, ada, time.Time{})
			made = append([]string{state.ID}, made...)
		}
		foreign, _ := h.makeKey(t, bob, time.Time{})
		_, err := h.RevokeKey(t.Context(), ada, foreign.ID)
		wantCode(t, "revoking another account's key", err, fault.NotFoundCode)
		_, err = h.RevokeKey(t.Context(), ada, h.ids.New(id.APIKey))
		wantCode(t, "revoking an unknown key", err, fault.NotFoundCode)
		if _, err := h.RevokeKey(t.Context(), ada, made[1]); err != nil {
			t.Fatal(err)
		}
		for creatorID, want := range map[string][]string{ada: {made[0], made[2]}, bob: {foreign.ID}} {
			list, err := h.ListKeys(t.Context(), creatorID, ports.Page{Limit: 10})
			var got []string
			for _, key := range list.Items {
				got = append(got, key.State().ID)
			}
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("listed %v, %v; want %v", got, err, want)
			}
		}
	})
}

func TestABadOrderMakesNoKey(t *testing.T) {
	t.Parallel()
	h := quickFixture(t, false)
	ada := h.signUp(t, "ada@example.com").Creator.ID
	_, key, err := h.CreateKey(t.Context(), owner(ada), core.NewKeyRequest{ExpiresAt: h.clock.Real()})
	wantCode(t, "no name, no future", err, fault.ValidationFailed)
	list, listErr := h.ListKeys(t.Context(), ada, ports.Page{Limit: 10})
	if key != "" || listErr != nil || len(list.Items) != 0 {
		t.Errorf("key %q, listed %v, %v", key, list.Items, listErr)
	}
}

func TestTheLastUseIsKeptCoarsely(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, h *fixture) {
		ada := h.signUp(t, "ada@example.com").Creator.ID
		state, key := h.makeKey(t, ada, time.Time{})
		began := h.clock.Real()
		h.store.writes.Store(0)
		for _, step := range []struct {
			wait   time.Duration
			writes int64
			seen   time.Duration
		}{{0, 1, 0}, {30 * time.Second, 1, 0}, {30 * time.Second, 2, time.Minute}, {59 * time.Second, 2, time.Minute}} {
			h.clock.Advance(step.wait)
			if _, err := h.AuthenticateKey(t.Context(), key); err != nil {
				t.Fatal(err)
			}
			_ = h.Close() // wait for what is written beside the request
			got, err := h.store.Store.Read(t.Context()).Identity.APIKeys.Get(t.Context(), ada, state.ID)
			if err != nil || h.store.writes.Load() != step.writes || !got.State().LastUsedAt.Equal(began.Add(step.seen)) {
				t.Fatalf(
					"after another %v: %d writes, last use %v, %v", step.wait, h.store.writes.Load(),
					got.State().LastUsedAt, err,
				)
			}
		}
	})
}

func TestARequestDoesNotFailWithTheNoteOfItsUse(t *testing.T) {
	t.Parallel()
	h := quickFixture(t, false)
	_, key := h.makeKey(t, h.signUp(t, "ada@example.com").Creator.ID, time.Time{})
	h.store.refuse.Store(true)
	for range 3 {
		ctx, cancel := context.WithCancel(t.Context())
		if _, err := h.AuthenticateKey(ctx, key); err != nil {
			t.Error(err)
		}
		cancel()
		h.clock.Advance(5 * time.Second)
	}
}

// Readers, revokers and makers at once: for the race detector on a machine that has time for it, and for the promise
// that after RevokeKey has returned no later request of this process passes.
func TestARevocationIsNeverOvertakenByARead(t *testing.T) {
	t.Parallel()
	h := quickFixture(t, false)
	ada := h.signUp(t, "ada@example.com").Creator.ID
	for range 20 {
		state, key := h.makeKey(t, ada, time.Time{})
		stop := make(chan struct{})
		var readers sync.WaitGroup
		for range 4 {
			readers.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
						h.clock.Advance(700 * time.Millisecond) // go to the database often
						_, _ = h.AuthenticateKey(t.Context(), key)
					}
				}
			})
		}
		if _, err := h.RevokeKey(t.Context(), ada, state.ID); err != nil {
			t.Error(err)
		}
		_, err := h.AuthenticateKey(t.Context(), key)
		close(stop)
		readers.Wait()
		wantCode(t, "after the revocation", err, fault.Unauthenticated)
	}
}

func BenchmarkAuthenticateKey(b *testing.B) {
	h := open(nil, false)
	h.store.Store = oneKey{key: new(core.APIKey)}
	_, key, err := h.CreateKey(b.Context(), owner("crt_1"), core.NewKeyRequest{Name: "Backend"})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := h.AuthenticateKey(b.Context(), key); err != nil {
				b.Error(err)
			}
		}
	})
}

// oneKey is a store that holds one key in memory.
type oneKey struct {
	ports.Store
	key *core.APIKey
}

func (s oneKey) Atomically(ctx context.Context, fn func(ctx context.Context, r ports.Repos) error) error {
	return fn(ctx, s.Read(ctx))
}

func (s oneKey) Read(context.Context) ports.Repos {
	return ports.Repos{Identity: ports.IdentityRepos{APIKeys: keyInMemory{key: s.key}}}
}

type keyInMemory struct {
	ports.APIKeys
	key *core.APIKey
}

func (r keyInMemory) Insert(_ context.Context, k *core.APIKey) error {
	*r.key = *k
	return nil
}

func (r keyInMemory) GetByHash(context.Context, []byte) (*core.APIKey, error) { return r.key, nil }

func (r keyInMemory) Touch(context.Context, string, time.Time) error { return nil }
