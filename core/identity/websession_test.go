package identity_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"sundry/core/id"
	"sundry/core/identity"
)

func TestABrowserStaysSignedInWhileItIsUsed(t *testing.T) {
	t.Parallel()
	w := identity.BeginWebSession("wse_1", identity.User{CreatorID: "crt_1"}, identity.Client{}, noon)
	if begun := w.State(); begun.Revision != 1 || !begun.ExpiresAt.Equal(noon.Add(14*day)) ||
		w.Use(noon.Add(5*time.Minute-1)) || w.State() != begun {
		t.Errorf("a use within five minutes left %+v of %+v", w.State(), begun)
	}
	at := noon.Add(5 * time.Minute)
	if used := w.Use(at); !used || w.State().Revision != 2 || !w.State().LastSeenAt.Equal(at) ||
		!w.State().ExpiresAt.Equal(at.Add(14*day)) {
		t.Errorf("a use was recorded %v as %+v", used, w.State())
	}
	for last := at.Add(13 * day); w.Valid(last); last = last.Add(13 * day) {
		w.Use(last)
	}
	if ends := w.State().ExpiresAt; !ends.Equal(noon.Add(90*day)) || !w.Valid(ends.Add(-1)) || w.Valid(ends) {
		t.Errorf("the busiest browser is signed in until %v", ends)
	}
	idle := identity.BeginWebSession("wse_1", identity.User{CreatorID: "crt_1"}, identity.Client{}, noon)
	if idle.Valid(noon.Add(14*day)) || idle.Use(noon.Add(14*day)) {
		t.Error("an unused browser stays signed in for two weeks")
	}
	if !idle.Revoke(noon) || idle.State().Revision != 2 || idle.Valid(noon) || idle.Revoke(noon) ||
		idle.Use(noon.Add(time.Hour)) || idle.State().Revision != 2 {
		t.Error("a browser that was signed out still counts")
	}
}

func TestWhatABrowserReportsOfItselfIsBounded(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"":                             "",
		strings.Repeat("a", 300):       strings.Repeat("a", 300),
		strings.Repeat("a", 301):       strings.Repeat("a", 300),
		strings.Repeat("a", 299) + "é": strings.Repeat("a", 299),
	} {
		if got := identity.NewClient("192.0.2.1", given); got != (identity.Client{Address: "192.0.2.1", UserAgent: want}) {
			t.Errorf("%d bytes became %+v", len(given), got)
		}
	}
}

func TestCookiesAndFormsAreSignedApart(t *testing.T) {
	t.Parallel()
	if cookie, form := identity.WebSubject("wse_1", false), identity.FormSubject("wse_1"); cookie != "web-session.wse_1" ||
		form != "web-form.wse_1" {
		t.Errorf("%q, %q", cookie, form)
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
	for _, bad := range []string{"", "ws_", "ws_x_bWFj", token[:29], token[3:], token + "\n",
		strings.Replace(token, "ws_", "rt_", 1), token[:20], token + "!"} {
		if _, _, ok := identity.ParseWebToken(bad); ok {
			t.Errorf("%q is taken", bad)
		}
	}
}

func TestAResetLinkIsGoodForOnePassword(t *testing.T) {
	t.Parallel()
	now := noon
	l := identity.ResetLink{CreatorID: id.New(id.Creator, [16]byte{9}), Replaces: identity.PasswordMark("old"),
		ExpiresAt: now.Add(time.Hour)}
	got, mac, ok := identity.ParseResetLink(l.Text([]byte("mac")))
	if !ok || got != l || string(mac) != "mac" {
		t.Errorf("reads %+v, %q, %v", got, mac, ok)
	}
	if !l.Good("old", now) || l.Good("new", now) || l.Good("old", now.Add(time.Hour)) {
		t.Error("it is good for another password, or too long")
	}
	if want := "password-reset." + l.CreatorID + "." + l.Replaces + ".1772974800"; l.Subject() != want ||
		len(l.Replaces) != 16 {
		t.Errorf("%q; links that were sent must go on being recognized", l.Subject())
	}
	parts := strings.Split(l.Text([]byte("mac")), ".")
	for i, part := range []string{"x", "", "noon"} {
		if part == "" {
			continue // any mark may be asked about
		}
		bad := slices.Clone(parts)
		bad[i] = part
		if _, _, ok := identity.ParseResetLink(strings.Join(bad, ".")); ok {
			t.Errorf("%v is taken", bad)
		}
	}
	for _, other := range []identity.ResetLink{
		{CreatorID: l.CreatorID, Replaces: identity.PasswordMark("x"), ExpiresAt: l.ExpiresAt},
		{CreatorID: l.CreatorID, Replaces: l.Replaces, ExpiresAt: now},
	} {
		if other.Subject() == l.Subject() {
			t.Errorf("%+v has the same MAC", other)
		}
	}
	for _, bad := range []string{"", "a.b.c.d", l.Text(nil) + ".x", "\n" + l.Text(nil), l.Text([]byte("mac")) + "\n",
		strings.Join(parts[:3], ".") + ".!"} {
		if _, _, ok := identity.ParseResetLink(bad); ok {
			t.Errorf("%q is taken", bad)
		}
	}
}

func TestAMembersResetLinkIsNotTheOwners(t *testing.T) {
	t.Parallel()
	l := identity.ResetLink{MemberID: memberID(), Replaces: identity.PasswordMark("old"), ExpiresAt: noon}
	got, _, ok := identity.ParseResetLink(l.Text([]byte("mac")))
	if !ok || got != l || got.UserID() != memberID() {
		t.Errorf("%q is %+v, %v", l.Text([]byte("mac")), got, ok)
	}
	if text := l.Text([]byte("mac")); !strings.HasPrefix(text, memberID()+".") {
		t.Errorf("%q does not begin with the member", text)
	}
	if want := "password-reset." + memberID() + "." + l.Replaces + ".1772971200"; l.Subject() != want {
		t.Errorf("signed is %q, want %q", l.Subject(), want)
	}
}

func TestASignInIsOfOneUser(t *testing.T) {
	t.Parallel()
	owner, member := identity.User{CreatorID: "crt_1"}, identity.User{CreatorID: "crt_1", MemberID: "mbr_1"}
	other := identity.User{CreatorID: "crt_2", MemberID: "mbr_1"}
	for _, u := range []identity.User{owner, member, other} {
		s := identity.BeginWebSession("wse_1", u, identity.Client{}, noon).State()
		for _, of := range []identity.User{owner, member, other} {
			if got := s.IsOf(of); got != (of == u) {
				t.Errorf("a sign-in of %+v is one of %+v: %v", u, of, got)
			}
		}
	}
	if got := identity.WebSubject("wse_1", true); got != "member.web-session.wse_1" {
		t.Errorf("a member's cookie is signed as %q", got)
	}
}

func TestAProofCountsForTenMinutes(t *testing.T) {
	t.Parallel()
	w := identity.BeginWebSession("wse_1", identity.User{CreatorID: "crt_1"}, identity.Client{}, noon)
	later := noon.Add(time.Hour)
	for at, want := range map[time.Time]bool{
		noon: true, noon.Add(10*time.Minute - 1): true, noon.Add(10 * time.Minute): false, later: false,
	} {
		if got := w.Confirmed(at); got != want {
			t.Errorf("confirmed %v after the sign-in: %v", at.Sub(noon), got)
		}
	}
	w.Confirm(later)
	if w.State().Revision != 2 || !w.Confirmed(later.Add(10*time.Minute-1)) || w.Confirmed(later.Add(10*time.Minute)) {
		t.Errorf("a proof after an hour left %+v", w.State())
	}
}
