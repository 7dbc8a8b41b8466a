package identity_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"sundry/core/id"
	"sundry/core/identity"
)

func TestABrowserStaysSignedInWhileItIsUsed(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 3, 8, 12, 0, 0, 0, time.UTC)
	w := identity.BeginWebSession("wse_1", "crt_1", identity.Client{}, start)
	if w.Use(start.Add(time.Minute)) {
		t.Error("a use is recorded within five minutes")
	}
	at := start
	for w.Valid(at.Add(13 * 24 * time.Hour)) {
		at = at.Add(13 * 24 * time.Hour)
		w.Use(at)
	}
	if days := at.Sub(start) / (24 * time.Hour); days < 77 || days > 90 {
		t.Errorf("the busiest browser was signed in for %d days", days)
	}
	idle := identity.BeginWebSession("wse_1", "crt_1", identity.Client{}, start)
	if idle.Valid(start.Add(14 * 24 * time.Hour)) {
		t.Error("an unused browser stays signed in for two weeks")
	}
	if !idle.Revoke(start) || idle.Valid(start) || idle.Revoke(start) || idle.Use(start.Add(time.Hour)) {
		t.Error("a browser that was signed out still counts")
	}
}

func TestACookieNamesItsSignIn(t *testing.T) {
	t.Parallel()
	sessionID := id.New(identity.WebSessionPrefix, [16]byte{1, 2, 3})
	mac := bytes.Repeat([]byte{7}, 32)
	token := identity.WebToken(sessionID, mac)
	if got, shown, ok := identity.ParseWebToken(token); !ok || got != sessionID || !bytes.Equal(shown, mac) {
		t.Errorf("%q reads as %q, %v", token, got, ok)
	}
	for _, bad := range []string{"", "ws_", token[3:], token + "\n", strings.Replace(token, "ws_", "rt_", 1), token[:20], token + "!"} {
		if _, _, ok := identity.ParseWebToken(bad); ok {
			t.Errorf("%q is taken", bad)
		}
	}
}

func TestAResetLinkIsGoodForOnePassword(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 8, 12, 0, 0, 0, time.UTC)
	l := identity.ResetLink{CreatorID: id.New(id.Creator, [16]byte{9}), Replaces: identity.PasswordMark("old"), ExpiresAt: now.Add(time.Hour)}
	got, mac, ok := identity.ParseResetLink(l.Text([]byte("mac")))
	if !ok || got != l || string(mac) != "mac" {
		t.Errorf("reads %+v, %q, %v", got, mac, ok)
	}
	if !l.Good("old", now) || l.Good("new", now) || l.Good("old", now.Add(time.Hour)) {
		t.Error("it is good for another password, or too long")
	}
	for _, other := range []identity.ResetLink{
		{CreatorID: l.CreatorID, Replaces: identity.PasswordMark("x"), ExpiresAt: l.ExpiresAt}, {CreatorID: l.CreatorID, Replaces: l.Replaces, ExpiresAt: now},
	} {
		if other.Subject() == l.Subject() {
			t.Errorf("%+v has the same MAC", other)
		}
	}
	for _, bad := range []string{"", "a.b.c.d", l.Text(nil) + ".x", "\n" + l.Text(nil)} {
		if _, _, ok := identity.ParseResetLink(bad); ok {
			t.Errorf("%q is taken", bad)
		}
	}
}
