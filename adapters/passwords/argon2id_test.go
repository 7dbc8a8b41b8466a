package passwords

import (
	"context"
	"errors"
	"strings"
	"testing"

	"sundry/ports"
)

func TestAPasswordMatchesItsHashOnly(t *testing.T) {
	t.Parallel()
	hasher, ctx := NewArgon2id(Recommended), t.Context()
	hash, err := hasher.Hash(ctx, "correct horse battery")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(hash, "$argon2id$v=19$m=19456,t=2,p=1$") || strings.Contains(hash, "horse") {
		t.Errorf("hash %q", hash)
	}
	again, err := hasher.Hash(ctx, "correct horse battery")
	if err != nil || again == hash {
		t.Errorf("two hashes of one password are the same (%v)", err)
	}
	for password, want := range map[string]bool{"correct horse battery": true, "correct horse batterz": false,
		"Correct horse battery": false, "correct horse battery ": false, "": false} {
		if got, err := hasher.Matches(ctx, hash, password); err != nil || got != want {
			t.Errorf("Matches(%q) = %v, %v", password, got, err)
		}
	}
}

// A known result of the reference implementation: `echo -n password | argon2 somesalt -id -t 2 -k 65536 -p 1`.
func TestHashesOfOtherCostsStayGood(t *testing.T) {
	t.Parallel()
	const known = "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc"
	if got, err := NewArgon2id(Recommended).Matches(t.Context(), known, "password"); err != nil || !got {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestOnePasswordInTwoSpellingsOfUnicode(t *testing.T) {
	t.Parallel()
	hasher := NewArgon2id(Recommended)
	hash, err := hasher.Hash(t.Context(), "caf\u00e9 caf\u00e9 caf\u00e9")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := hasher.Matches(t.Context(), hash, "cafe\u0301 cafe\u0301 cafe\u0301"); err != nil || !got {
		t.Errorf("the decomposed spelling does not match: %v, %v", got, err)
	}
}

func TestTheEmptyHashMatchesNothing(t *testing.T) {
	t.Parallel()
	for _, password := range []string{"", "correct horse battery"} {
		if got, err := NewArgon2id(Recommended).Matches(t.Context(), "", password); got || err != nil {
			t.Errorf("Matches of %q = %v, %v", password, got, err)
		}
	}
}

func TestForeignHashesAreErrors(t *testing.T) {
	t.Parallel()
	for _, hash := range []string{
		"x",
		"$2a$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy",
		"$argon2i$v=19$m=19456,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc",
		"$argon2id$v=16$m=19456,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc",
		"$argon2id$v=19$m=4294967295,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc",
		"$argon2id$v=19$m=19456,t=0,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc",
		"$argon2id$v=19$m=19456,t=2,p=0$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc",
		"$argon2id$v=19$m=19456,t=2,p=1$!$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc",
		"$argon2id$v=19$m=19456,t=2,p=1$c29tZXNhbHQ$",
	} {
		if got, err := NewArgon2id(Recommended).Matches(t.Context(), hash, "password"); got || err == nil ||
			errors.Is(err, ports.ErrBusy) {
			t.Errorf("Matches(%q) = %v, %v", hash, got, err)
		}
	}
}

func TestWaitingForATurnEndsWithTheCaller(t *testing.T) {
	t.Parallel()
	hasher := NewArgon2id(Recommended)
	for range cap(hasher.turns) {
		hasher.turns <- struct{}{}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := hasher.Hash(ctx, "correct horse battery"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if len(hasher.turns) != cap(hasher.turns) {
		t.Error("giving up released another caller's place")
	}
}
