package identity_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sundry/adapters/encrypter"
	"sundry/adapters/gormstore"
	"sundry/adapters/memratelimit"
	"sundry/adapters/system"
	"sundry/adapters/tokens"
	"sundry/core/fault"
	"sundry/core/id"
	core "sundry/core/identity"
	"sundry/core/secret"
	"sundry/modules/identity"
	"sundry/ports"
	"sundry/tests/fakes"
	"sundry/tests/testdb"
)

// hasher hashes at no cost and remembers what it was asked.
type hasher struct {
	mu      sync.Mutex
	checked []string // the hashes that passwords were checked against
	busy    bool
	matched func() // called once, behind a password that was right
}

func (h *hasher) Hash(_ context.Context, password string) (string, error) {
	if h.busy {
		return "", ports.ErrBusy
	}
	return "hash of " + password, nil
}

func (h *hasher) Matches(_ context.Context, hash, password string) (bool, error) {
	h.mu.Lock()
	matches, then := hash == "hash of "+password, func() {}
	if h.checked = append(h.checked, hash); matches && h.matched != nil {
		then, h.matched = h.matched, nil
	}
	h.mu.Unlock()
	then()
	return matches, nil
}

func (h *hasher) checks() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.checked)
}

// countingStore counts reads outside transactions, and fails writes on demand.
type countingStore struct {
	ports.Store
	reads, writes atomic.Int64
	refuse        atomic.Bool
}

func (s *countingStore) Read(ctx context.Context) ports.Repos {
	s.reads.Add(1)
	return s.Store.Read(ctx)
}

var errDown = errors.New("the database is down")

func (s *countingStore) Atomically(ctx context.Context, fn func(ctx context.Context, r ports.Repos) error) error {
	s.writes.Add(1)
	if s.refuse.Load() {
		return errDown
	}
	return s.Store.Atomically(ctx, fn)
}

// fixture is the module over a new store.
type fixture struct {
	*identity.Service
	store  *countingStore
	clock  *testdb.Clock
	hasher *hasher
	ids    *system.IDs
	bus    *fakes.Bus
	// signUps is the setting of replicas.
	signUps core.SignUps
}

func open(store *gormstore.Store, livemode bool) *fixture {
	clock := testdb.NewClock(time.Date(2026, 3, 8, 12, 0, 0, 0, time.UTC))
	h := &fixture{
		store: &countingStore{Store: testdb.WithClock(store, clock)}, clock: clock,
		hasher: &hasher{}, ids: system.NewIDs(), bus: &fakes.Bus{},
	}
	h.Service = h.replica(livemode)
	return h
}

// replica is another process of the same deployment.
func (h *fixture) replica(livemode bool) *identity.Service {
	return identity.New(
		identity.Config{Live: livemode, SignUps: h.signUps, KeySecret: []byte("keys"), RefreshSecret: []byte("refresh")},
		identity.Deps{
			Store: h.store, Clock: h.clock, IDs: h.ids, Passwords: h.hasher,
			Tokens: tokens.NewJWT("https://pay.example.com", "sundry",
				secret.Fixed([]byte("0123456789abcdef0123456789abcdef")), 0),
			Limiter: memratelimit.New(h.clock.Real), Bus: h.bus, Standing: fakes.Standing{}, Names: fakes.OneCell(),
			Encrypter: encrypter.New(secret.Fixed(make([]byte, 32))), Passkeys: fakes.Passkeys{},
		})
}

func forEachEngine(t *testing.T, test func(t *testing.T, h *fixture)) {
	t.Helper()
	testdb.EachStore(t, func(t *testing.T, store *gormstore.Store) {
		h := open(store, false)
		test(t, h)
		_ = h.Close()
	})
}

// quickFixture is for rules in which the engine has no part.
func quickFixture(t *testing.T, livemode bool) *fixture {
	t.Helper()
	h := open(testdb.SQLite.Open(t), livemode)
	t.Cleanup(func() { _ = h.Close() })
	return h
}

const (
	password = "correct horse battery"
	home     = "192.0.2.1"
)

func (h *fixture) signUp(t *testing.T, address string) identity.Session {
	t.Helper()
	in, err := h.SignUp(t.Context(), core.Registration{Email: address, Password: password, DisplayName: "Ada"}, home)
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// SignIn signs in at the service, without a code.
func (h *fixture) SignIn(ctx context.Context, email, password, address string) (identity.Session, error) {
	return h.Service.SignIn(ctx, core.Credentials{Email: email, Password: password}, address)
}

func wantCode(t *testing.T, what string, err error, code fault.Code) {
	t.Helper()
	if fault.CodeOf(err) != code {
		t.Errorf("%s: got %v, want %s", what, err, code)
	}
}

func TestSignUpThenSignIn(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, h *fixture) {
		up := h.signUp(t, " Ada@Example.com")
		if !id.Valid(id.Creator, up.Creator.ID) || up.Creator.Email != "ada@example.com" || up.ExpiresIn != 15*time.Minute {
			t.Errorf("signed up as %+v", up)
		}
		in, err := h.SignIn(t.Context(), "ADA@example.com", password, home)
		if err != nil || in.Creator.ID != up.Creator.ID || in.RefreshToken == up.RefreshToken ||
			in.AccessToken == up.AccessToken {
			t.Errorf("signed in as %+v, %v", in, err)
		}
		for _, token := range []string{up.AccessToken, in.AccessToken} {
			if got, err := h.AuthenticateToken(t.Context(), token); err != nil || got.CreatorID != up.Creator.ID {
				t.Errorf("the access token is of %q, %v", got, err)
			}
		}
	})
}

func TestOneAddressIsOneAccount(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, h *fixture) {
		var made, taken atomic.Int64
		var all sync.WaitGroup
		for i := range 6 {
			all.Go(func() {
				r := core.Registration{Email: "ada@example.com", Password: password, DisplayName: fmt.Sprint("Ada ", i)}
				switch _, err := h.SignUp(t.Context(), r, home); fault.CodeOf(err) {
				case "":
					made.Add(1)
				case fault.EmailTaken:
					taken.Add(1)
				default:
					t.Error(err)
				}
			})
		}
		all.Wait()
		if made.Load() != 1 || taken.Load() != 5 {
			t.Errorf("%d accounts were made, %d refused", made.Load(), taken.Load())
		}
	})
}

func TestABadRegistrationMakesNothing(t *testing.T) {
	t.Parallel()
	h := quickFixture(t, false)
	_, err := h.SignUp(t.Context(), core.Registration{Email: "ada@example.com", Password: "short"}, home)
	wantCode(t, "a short password and no name", err, fault.ValidationFailed)
	if h.store.writes.Load() != 0 {
		t.Error("something was written")
	}
	_, err = h.SignIn(t.Context(), "ada@example.com", "short", home)
	wantCode(t, "signing in to nothing", err, fault.Unauthenticated)
}

func TestAnUnknownAddressIsAnsweredLikeAWrongPassword(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, h *fixture) {
		h.signUp(t, "ada@example.com")
		_, wrong := h.SignIn(t.Context(), "ada@example.com", "wrong horse battery", home)
		_, unknown := h.SignIn(t.Context(), "bob@example.com", "wrong horse battery", home)
		wantCode(t, "a wrong password", wrong, fault.Unauthenticated)
		if wrong.Error() != unknown.Error() {
			t.Errorf("%q is not %q", wrong, unknown)
		}
		if got := strings.Join(h.hasher.checked, "|"); got != "hash of "+password+"|" {
			t.Errorf("the password was checked against %q: an unknown address must cost the same", got)
		}
	})
}

func TestABusyHasherAsksToWait(t *testing.T) {
	t.Parallel()
	h := quickFixture(t, false)
	h.hasher.busy = true
	_, err := h.SignUp(
		t.Context(), core.Registration{Email: "ada@example.com", Password: password, DisplayName: "Ada"}, home,
	)
	wantCode(t, "sign-up", err, fault.RateLimited)
}

func retryAfter(err error) time.Duration {
	var f *fault.Error
	if errors.As(err, &f) && f.Code == fault.RateLimited {
		return f.RetryAfter
	}
	return 0
}

func TestGuessingAtOneAccountIsLimited(t *testing.T) {
	t.Parallel()
	h := quickFixture(t, false)
	h.signUp(t, "ada@example.com")
	guess := func(i int, password string) error { // from ever new addresses
		_, err := h.SignIn(t.Context(), "ada@example.com", password, fmt.Sprint("192.0.2.", i))
		return err
	}
	for i := range 10 {
		wantCode(t, "a guess", guess(i, "wrong horse battery"), fault.Unauthenticated)
	}
	checks := h.hasher.checks()
	if wait := retryAfter(guess(10, password)); wait != 6*time.Second {
		t.Errorf("the eleventh, even with the right password, waits %v", wait)
	}
	if h.hasher.checks() != checks {
		t.Error("the password was checked although the limit was reached")
	}
	if _, err := h.SignIn(t.Context(), "bob@example.com", password, home); fault.CodeOf(err) != fault.Unauthenticated {
		t.Errorf("another account: %v", err)
	}
	h.clock.Advance(6 * time.Second)
	if err := guess(11, password); err != nil {
		t.Errorf("after the wait: %v", err)
	}
}

func TestGuessingFromOneAddressIsLimited(t *testing.T) {
	t.Parallel()
	h := quickFixture(t, false)
	guess := func(i int) error {
		_, err := h.SignIn(t.Context(), fmt.Sprintf("nobody%d@example.com", i), "wrong horse battery", home)
		return err
	}
	for i := range 30 {
		wantCode(t, "a guess", guess(i), fault.Unauthenticated)
	}
	if wait := retryAfter(guess(30)); wait != 2*time.Second {
		t.Errorf("the thirty-first waits %v", wait)
	}
	if _, err := h.SignIn(t.Context(), "nobody@example.com", "wrong horse battery",
		"192.0.2.2"); fault.CodeOf(err) != fault.Unauthenticated {
		t.Errorf("another address: %v", err)
	}
}

func TestSigningInWellIsNotCountedAgainstTheAddress(t *testing.T) {
	t.Parallel()
	h := quickFixture(t, false)
	for i := range 50 { // an office behind one address
		address := fmt.Sprintf("ada%d@example.com", i)
		h.signUp(t, address)
		if _, err := h.SignIn(t.Context(), address, password, home); err != nil {
			t.Fatalf("sign-in %d: %v", i+1, err)
		}
	}
}

func TestRightPasswordsDoNotCountAsGuesses(t *testing.T) {
	t.Parallel()
	h := quickFixture(t, false)
	h.signUp(t, "ada@example.com")
	for i := range 20 { // a test suite
		if _, err := h.SignIn(t.Context(), "ada@example.com", password, home); err != nil {
			t.Fatalf("sign-in %d: %v", i+1, err)
		}
	}
	for range 10 {
		_, err := h.SignIn(t.Context(), "ada@example.com", "wrong horse battery", home)
		wantCode(t, "a guess", err, fault.Unauthenticated)
	}
	_, err := h.SignIn(t.Context(), "ada@example.com", password, home)
	wantCode(t, "after ten guesses", err, fault.RateLimited)
}

func TestSignUpIsLimited(t *testing.T) {
	t.Parallel()
	for livemode, limit := range map[bool]int{true: 20, false: 600} {
		h := quickFixture(t, livemode)
		h.hasher.busy = true // counted all the same, and cheaper
		var last error
		for i := range limit + 1 {
			_, last = h.SignUp(
				t.Context(),
				core.Registration{Email: fmt.Sprintf("a%d@example.com", i), Password: password, DisplayName: "Ada"},
				home,
			)
			if i < limit && retryAfter(last) != time.Second {
				t.Fatalf("livemode %v: sign-up %d: %v", livemode, i+1, last)
			}
		}
		want := time.Minute / 600
		if livemode {
			want = time.Hour / 20
		}
		if wait := retryAfter(last); wait != want {
			t.Errorf("livemode %v: one more waits %v", livemode, wait)
		}
	}
}

func TestSweepForgetsWhatCannotBeRenewed(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, h *fixture) {
		old := h.signUp(t, "ada@example.com")
		h.clock.Advance(38 * 24 * time.Hour)
		fresh := h.signUp(t, "bob@example.com")
		store, ok := h.store.Store.(*testdb.ClockedStore)
		if !ok {
			t.Fatal("not the store")
		}
		err := store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
			return r.Tasks.Ensure(ctx, identity.SweepTask, "platform", "", h.clock.Real())
		})
		if err != nil {
			t.Fatal(err)
		}
		claimed, err := store.Claim(t.Context(), ports.DefaultTasks, h.clock.Real(), time.Minute, 10)
		if err != nil || len(claimed) != 1 {
			t.Fatalf("claimed %v, %v", claimed, err)
		}
		if err := h.Sweep(t.Context(), claimed[0]); err != nil {
			t.Fatal(err)
		}
		oldToken, _, _ := core.ParseRefreshToken(old.RefreshToken)
		if _, err := store.Read(t.Context()).Identity.RefreshFamilies.Get(t.Context(), oldToken.FamilyID); !errors.Is(err,
			ports.ErrNotFound) {
			t.Errorf("the old sign-in is still there: %v", err)
		}
		if _, err := h.Refresh(t.Context(), fresh.RefreshToken); err != nil {
			t.Errorf("the new sign-in: %v", err)
		}
		again, err := store.Claim(t.Context(), ports.DefaultTasks, h.clock.Real().Add(24*time.Hour), time.Minute, 10)
		if err != nil || len(again) != 1 || !again[0].DueAt.Equal(h.clock.Real().Add(24*time.Hour)) {
			t.Errorf("tomorrow's sweep: %v, %v", again, err)
		}
		if err := h.Sweep(t.Context(), claimed[0]); !errors.Is(err, ports.ErrFenced) {
			t.Errorf("a run that was overtaken: %v", err)
		}
	})
}
