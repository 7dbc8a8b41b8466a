package identity_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"sundry/core/fault"
	"sundry/core/id"
	core "sundry/core/identity"
)

func TestRefreshRotates(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, h *fixture) {
		first := h.signUp(t, "ada@example.com")
		shown := first.RefreshToken
		for range 3 {
			next, err := h.Refresh(t.Context(), shown)
			if err != nil || next.RefreshToken == shown || next.Creator != first.Creator {
				t.Fatalf("got %+v, %v", next, err)
			}
			if got, err := h.AuthenticateToken(t.Context(), next.AccessToken); err != nil || got.CreatorID != first.Creator.ID {
				t.Fatalf("the new access token is of %q, %v", got, err)
			}
			shown = next.RefreshToken
		}
	})
}

func TestReuseEndsTheSignInAndNoOther(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, h *fixture) {
		stolen := h.signUp(t, "ada@example.com")
		other, err := h.SignIn(t.Context(), "ada@example.com", password, home)
		if err != nil {
			t.Fatal(err)
		}
		next, err := h.Refresh(t.Context(), stolen.RefreshToken)
		if err != nil {
			t.Fatal(err)
		}
		h.clock.Advance(10 * time.Second)
		_, reuse := h.Refresh(t.Context(), stolen.RefreshToken)
		wantCode(t, "the used token", reuse, fault.Unauthenticated)
		_, ended := h.Refresh(t.Context(), next.RefreshToken)
		wantCode(t, "the valid token", ended, fault.Unauthenticated)
		if _, err := h.Refresh(t.Context(), other.RefreshToken); err != nil {
			t.Errorf("another sign-in of the same creator: %v", err)
		}
	})
}

func TestRefreshesAtOnceWithOneTokenGetOnePair(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, h *fixture) {
		in := h.signUp(t, "ada@example.com")
		pairs := make(chan [2]string, 4)
		var all sync.WaitGroup
		for range cap(pairs) {
			all.Go(func() {
				next, err := h.Refresh(t.Context(), in.RefreshToken)
				if err != nil {
					t.Error(err)
				}
				pairs <- [2]string{next.RefreshToken, next.AccessToken}
			})
		}
		all.Wait()
		first := <-pairs
		for range cap(pairs) - 1 {
			if other := <-pairs; other != first || first[0] == in.RefreshToken {
				t.Fatalf("got %v and %v, want one new pair", first, other)
			}
		}
		if _, err := h.Refresh(t.Context(), first[0]); err != nil {
			t.Errorf("the new token: %v", err)
		}
	})
}

func TestAnInventedTokenOfAKnownFamilyChangesNothing(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, h *fixture) {
		in := h.signUp(t, "ada@example.com")
		issued, _, _ := core.ParseRefreshToken(in.RefreshToken)
		for _, generation := range []int64{0, 1, 2, 3} {
			invented := core.RefreshToken{FamilyID: issued.FamilyID, Generation: generation}.Text(make([]byte, 32))
			_, err := h.Refresh(t.Context(), invented)
			wantCode(t, "an invented token", err, fault.Unauthenticated)
			if err := h.SignOut(t.Context(), invented, ""); err != nil {
				t.Error(err)
			}
		}
		if _, err := h.Refresh(t.Context(), in.RefreshToken); err != nil {
			t.Errorf("the real one afterwards: %v", err)
		}
	})
}

func TestRefreshTokensEnd(t *testing.T) {
	t.Parallel()
	h := quickFixture(t, false)
	in := h.signUp(t, "ada@example.com")
	h.clock.Advance(30*24*time.Hour - time.Second)
	next, err := h.Refresh(t.Context(), in.RefreshToken)
	if err != nil {
		t.Fatal(err)
	}
	h.clock.Advance(30 * 24 * time.Hour)
	_, err = h.Refresh(t.Context(), next.RefreshToken)
	wantCode(t, "after thirty idle days", err, fault.Unauthenticated)
}

func TestForeignRefreshTokens(t *testing.T) {
	t.Parallel()
	h := quickFixture(t, false)
	in := h.signUp(t, "ada@example.com")
	h.store.reads.Store(0)
	h.store.writes.Store(0)
	for what, token := range map[string]string{
		"a word": "x", "an access token": in.AccessToken,
		"one character short": in.RefreshToken[:len(in.RefreshToken)-1],
	} {
		_, err := h.Refresh(t.Context(), token)
		wantCode(t, what, err, fault.Unauthenticated)
	}
	if h.store.reads.Load()+h.store.writes.Load() != 0 {
		t.Error("the database was asked about texts that are no tokens")
	}
	_, err := h.Refresh(t.Context(), "")
	wantCode(t, "nothing", err, fault.ValidationFailed)
	unknown := core.RefreshToken{FamilyID: id.New(core.RefreshFamilyPrefix, [16]byte{1}),
		Generation: 1}.Text(make([]byte, 32))
	_, err = h.Refresh(t.Context(), unknown)
	wantCode(t, "a token of no family", err, fault.Unauthenticated)
	if _, err := h.Refresh(t.Context(), in.RefreshToken); err != nil {
		t.Errorf("the real one afterwards: %v", err)
	}
}

func TestSignOut(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, h *fixture) {
		stays := h.signUp(t, "ada@example.com")
		byRefresh, err := h.SignIn(t.Context(), "ada@example.com", password, home)
		if err != nil {
			t.Fatal(err)
		}
		byAccess, err := h.SignIn(t.Context(), "ada@example.com", password, home)
		if err != nil {
			t.Fatal(err)
		}
		rotated, err := h.Refresh(t.Context(), byAccess.RefreshToken)
		if err != nil {
			t.Fatal(err)
		}
		for what, call := range map[string][2]string{
			"by refresh token":                       {byRefresh.RefreshToken, ""},
			"by access token, though it was renewed": {"", byAccess.AccessToken},
			"by a text that is no token":             {"x", ""},
			"by a token of no family": {
				core.RefreshToken{FamilyID: id.New(core.RefreshFamilyPrefix, [16]byte{1}), Generation: 1}.Text(make([]byte, 32)),
				"",
			},
		} {
			for range 2 {
				if err := h.SignOut(t.Context(), call[0], call[1]); err != nil {
					t.Errorf("%s: %v", what, err)
				}
			}
		}
		wantCode(t, "nothing shown", h.SignOut(t.Context(), "", ""), fault.ValidationFailed)
		wantCode(
			t, "a bad access token", h.SignOut(t.Context(), "", strings.ToLower(stays.AccessToken)),
			fault.Unauthenticated,
		)
		for what, token := range map[string]string{"by refresh token": byRefresh.RefreshToken,
			"by access token": rotated.RefreshToken} {
			_, err := h.Refresh(t.Context(), token)
			wantCode(t, "refreshing after signing out "+what, err, fault.Unauthenticated)
		}
		if _, err := h.Refresh(t.Context(), stays.RefreshToken); err != nil {
			t.Errorf("the sign-in that stays: %v", err)
		}
	})
}
