package identity_test

import (
	"strings"
	"testing"
	"time"

	"sundry/core/fault"
	"sundry/core/identity"
)

// Appendix B of RFC 6238, whose codes of eight digits end with those of six.
func TestTOTPCode_RFC6238(t *testing.T) {
	t.Parallel()
	secret := []byte("12345678901234567890")
	for unix, want := range map[int64]string{
		59: "287082", 1111111109: "081804", 1111111111: "050471", 1234567890: "005924", 2000000000: "279037",
		20000000000: "353130",
	} {
		if got := identity.TOTPCode(secret, time.Unix(unix, 0)); got != want {
			t.Errorf("at %d the code is %s, want %s", unix, got, want)
		}
	}
	if got := identity.TOTPSecretText(secret); got != "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ" {
		t.Errorf("the secret reads %s", got)
	}
	const address = "otpauth://totp/Sundry:ada@example.com?issuer=Sundry&secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
	if got := identity.TOTPAddress("Sundry", "ada@example.com", secret); got != address {
		t.Errorf("the address is %s, want %s", got, address)
	}
}

var (
	appSecret = []byte("12345678901234567890")
	sealed    = []byte("sealed")
	ada       = identity.User{CreatorID: "crt_1", PasswordHash: "hash"}
	// codeAt is in the middle of a time step.
	codeAt = time.Date(2026, 3, 8, 12, 0, 15, 0, time.UTC)
)

// withApp is a second step with an app that was added at codeAt.
func withApp(t *testing.T) *identity.SecondStep {
	t.Helper()
	s := identity.NewSecondStep(ada)
	s.BeginApp(sealed, codeAt)
	if err := s.ConfirmApp(appSecret, identity.TOTPCode(appSecret, codeAt), codeAt); err != nil {
		t.Fatal(err)
	}
	return identity.RestoreSecondStep(s.State())
}

func TestSecondStep_AppShowsACodeFirst(t *testing.T) {
	t.Parallel()
	s := identity.NewSecondStep(ada)
	s.BeginApp(sealed, codeAt)
	if s.State().On() || !s.IsNew() || string(s.State().NewApp(codeAt)) != "sealed" {
		t.Errorf("before its first code: %+v", s.State())
	}
	if s.State().NewApp(codeAt.Add(time.Hour)) != nil {
		t.Error("an app can be added an hour later")
	}
	before := s.State()
	if err := s.ConfirmApp(appSecret, "000000", codeAt); !fault.Is(err, fault.ValidationFailed) || s.State().On() {
		t.Errorf("a wrong code: %v, %+v", err, s.State())
	}
	if s.State().Revision != before.Revision {
		t.Error("a wrong code changes something")
	}
	code := identity.TOTPCode(appSecret, codeAt)
	if err := s.ConfirmApp(appSecret, code[:3]+" "+code[3:], codeAt); err != nil || !s.State().On() ||
		s.State().NewApp(codeAt) != nil || s.State().Revision != 1 {
		t.Errorf("the right code: %v, %+v", err, s.State())
	}
	if s.UseCode(appSecret, code, codeAt) {
		t.Error("the code that added the app signs in, too")
	}
}

func TestSecondStep_CodesWorkOnceAndInTime(t *testing.T) {
	t.Parallel()
	later := codeAt.Add(10 * time.Minute)
	for name, c := range map[string]struct {
		off time.Duration
		ok  bool
	}{
		"the code of now": {0, true}, "the one before": {-30 * time.Second, true},
		"the next one": {30 * time.Second, true}, "two steps ago": {-time.Minute, false},
		"in two steps": {time.Minute, false},
	} {
		s := withApp(t)
		code := identity.TOTPCode(appSecret, later.Add(c.off))
		if got := s.UseCode(appSecret, code, later); got != c.ok {
			t.Errorf("%s is accepted: %v, want %v", name, got, c.ok)
		}
		if s.UseCode(appSecret, code, later) {
			t.Errorf("%s is accepted twice", name)
		}
		if c.off == 30*time.Second && s.UseCode(appSecret, identity.TOTPCode(appSecret, later), later) {
			t.Error("a code is accepted after one of a later step")
		}
		if !c.ok && s.State().LastStep != withApp(t).State().LastStep {
			t.Errorf("%s changes something", name)
		}
	}
	if withApp(t).UseCode(appSecret, "", later) || withApp(t).UseCode(nil, identity.TOTPCode(nil, later), later) {
		t.Error("no code, or a code of no secret, is accepted")
	}
}

func TestSecondStep_RecoveryCodesWorkOnce(t *testing.T) {
	t.Parallel()
	s := withApp(t)
	s.SetRecovery([][]byte{[]byte("one"), []byte("two")}, codeAt)
	if s.UseRecovery([]byte("three")) || !s.UseRecovery([]byte("one")) || s.UseRecovery([]byte("one")) {
		t.Error("an unknown code works, a known one doesn’t, or twice")
	}
	if left := s.State().Recovery; len(left) != 1 || string(left[0]) != "two" {
		t.Errorf("left are %q", left)
	}
	if s.State().Revision != 2 {
		t.Errorf("the revision is %d, want one more than what was loaded", s.State().Revision)
	}
	if !s.RemoveApp() || s.RemoveApp() || s.State().On() || len(s.State().Recovery) != 0 {
		t.Errorf("without an app: %+v", s.State())
	}
}

func TestRecoveryCode(t *testing.T) {
	t.Parallel()
	code := identity.RecoveryCode([]byte{0, 1, 2, 3, 4, 250, 251, 252, 253, 254})
	if len(code) != 19 || strings.ContainsAny(code, "lo01") || strings.Count(code, "-") != 3 {
		t.Errorf("the code is %q", code)
	}
	want := identity.RecoverySubject("crt_1", code)
	if want == "" || identity.RecoverySubject("crt_2", code) == want {
		t.Errorf("its subject is %q", want)
	}
	for _, typed := range []string{strings.ToUpper(code), strings.ReplaceAll(code, "-", " "), " " + code + " "} {
		if got := identity.RecoverySubject("crt_1", typed); got != want {
			t.Errorf("%q is %q", typed, got)
		}
	}
	for _, none := range []string{"", "123456", code[:18], code + "a", "llll-llll-llll-llll", strings.Repeat("é", 16)} {
		if got := identity.RecoverySubject("crt_1", none); got != "" {
			t.Errorf("%q is taken for the code %q", none, got)
		}
	}
}

func TestSecondStep_Passkeys(t *testing.T) {
	t.Parallel()
	s := identity.NewSecondStep(ada)
	if err := s.AddPasskey(identity.Passkey{ID: "psk_1", Name: " "}); !fault.Is(err, fault.ValidationFailed) {
		t.Errorf("a passkey without a name: %v", err)
	}
	for i := range 10 {
		id := string(rune('a' + i))
		if err := s.AddPasskey(identity.Passkey{ID: id, Name: " Phone ", CredentialID: []byte(id)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.AddPasskey(identity.Passkey{Name: "Key"}); !fault.Is(err, fault.LimitReached) {
		t.Errorf("the eleventh: %v", err)
	}
	used := identity.Passkey{CredentialID: []byte("b"), Credential: []byte("counter 7")}
	if !s.UsePasskey(used, codeAt) || s.UsePasskey(identity.Passkey{CredentialID: []byte("z")}, codeAt) {
		t.Error("a passkey can’t be used, or an unknown one can")
	}
	if k := s.State().Passkeys[1]; k.Name != "Phone" || string(k.Credential) != "counter 7" || !k.LastUsedAt.Equal(codeAt) {
		t.Errorf("the used one is %+v", k)
	}
	s.SetRecovery([][]byte{[]byte("one")}, codeAt)
	for _, k := range s.State().Passkeys {
		if !s.State().On() || len(s.State().Recovery) != 1 {
			t.Error("it is off while a passkey is left")
		}
		if name, ok := s.RemovePasskey(k.ID); !ok || name != "Phone" {
			t.Errorf("removed %q, %v", name, ok)
		}
	}
	if _, ok := s.RemovePasskey("a"); ok || s.State().On() || len(s.State().Recovery) != 0 || s.State().Revision != 1 {
		t.Errorf("without passkeys: %+v", s.State())
	}
}

func TestPendingSignIn(t *testing.T) {
	t.Parallel()
	p := identity.NewPendingSignIn(ada, codeAt)
	if p.Subject() == p.ResetLink.Subject() {
		t.Error("it can be taken for a link that sets a new password")
	}
	if !p.Good("hash", codeAt.Add(9*time.Minute)) || p.Good("hash", codeAt.Add(10*time.Minute)) || p.Good("other", codeAt) {
		t.Error("it outlives ten minutes or the password")
	}
}

func TestCeremony(t *testing.T) {
	t.Parallel()
	c := identity.Ceremony{Purpose: "sign-in", Holder: "a", Data: []byte("state"), ExpiresAt: time.Unix(1_800_000_000, 0)}
	got, mac, ok := identity.ParseCeremony("sign-in", "a", c.Text([]byte("mac")))
	if !ok || string(mac) != "mac" || string(got.Data) != "state" || !got.ExpiresAt.Equal(c.ExpiresAt) ||
		got.Subject() != c.Subject() {
		t.Errorf("read %+v, %q, %v", got, mac, ok)
	}
	for _, other := range [][2]string{{"create", "a"}, {"sign-in", "b"}} {
		if got, _, _ := identity.ParseCeremony(other[0], other[1], c.Text(nil)); got.Subject() == c.Subject() {
			t.Errorf("the MAC holds for %q, too", other)
		}
	}
	for _, text := range []string{"", ".", "AAAA.AAAA", c.Text(nil) + "\n", "!" + c.Text(nil)} {
		if _, _, ok := identity.ParseCeremony("sign-in", "a", text); ok {
			t.Errorf("%q is taken for one", text)
		}
	}
}

func TestRequireSecondStep(t *testing.T) {
	t.Parallel()
	c := identity.Register("crt_1", identity.Registration{Email: "ada@example.com"}, "hash", codeAt)
	if err := c.State().CheckSecondStep(false); err != nil {
		t.Errorf("not required: %v", err)
	}
	if !c.RequireSecondStep(true) || c.RequireSecondStep(true) || c.State().Revision != 2 {
		t.Errorf("required: %+v", c.State())
	}
	if err := c.State().CheckSecondStep(false); !fault.Is(err, fault.Forbidden) {
		t.Errorf("required and off: %v", err)
	}
	if err := c.State().CheckSecondStep(true); err != nil {
		t.Errorf("required and on: %v", err)
	}
}
