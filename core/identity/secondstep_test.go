package identity_test

import (
	"net/url"
	"reflect"
	"slices"
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
	odd, err := url.Parse(identity.TOTPAddress("My Shop", "a?b@example.com", secret))
	if err != nil || odd.Path != "/My Shop:a?b@example.com" || odd.Query().Get("issuer") != "My Shop" {
		t.Errorf("the address of odd names is %v, %v", odd, err)
	}
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

func TestSecondStep_ChangesAreNewRevisions(t *testing.T) {
	t.Parallel()
	stored := withApp(t)
	stored.SetRecovery([][]byte{[]byte("one"), []byte("two")}, codeAt)
	for _, id := range []string{"a", "b", "c"} {
		if err := stored.AddPasskey(identity.Passkey{ID: id, Name: "Key " + id, CredentialID: []byte(id)}); err != nil {
			t.Fatal(err)
		}
	}
	later := codeAt.Add(10 * time.Minute)
	code := identity.TOTPCode(appSecret, later)
	pending := stored.State()
	pending.NewAppSecret, pending.NewAppAt = sealed, later
	for name, c := range map[string]struct {
		do   func(*identity.SecondStep) bool
		want func(*identity.SecondStepState)
	}{
		"an app is begun": {func(s *identity.SecondStep) bool { s.BeginApp([]byte("other"), later); return true },
			func(s *identity.SecondStepState) { s.NewAppSecret = []byte("other") }},
		"an app is confirmed": {func(s *identity.SecondStep) bool { return s.ConfirmApp(appSecret, code, later) == nil },
			func(s *identity.SecondStepState) {
				s.AppSecret, s.AppAddedAt, s.LastStep = sealed, later, later.Unix()/30
				s.NewAppSecret, s.NewAppAt = nil, time.Time{}
			}},
		"a code is used": {func(s *identity.SecondStep) bool { return s.UseCode(appSecret, code, later) },
			func(s *identity.SecondStepState) { s.LastStep = later.Unix() / 30 }},
		"the app is removed": {func(s *identity.SecondStep) bool { return s.RemoveApp() },
			func(s *identity.SecondStepState) { s.AppSecret, s.AppAddedAt = nil, time.Time{} }},
		"recovery codes are made": {func(s *identity.SecondStep) bool {
			s.SetRecovery([][]byte{[]byte("x")}, later)
			return true
		}, func(s *identity.SecondStepState) { s.Recovery, s.RecoveryMadeAt = [][]byte{[]byte("x")}, later }},
		"the first recovery code is used": {func(s *identity.SecondStep) bool { return s.UseRecovery([]byte("one")) },
			func(s *identity.SecondStepState) { s.Recovery = s.Recovery[1:] }},
		"the last recovery code is used": {func(s *identity.SecondStep) bool { return s.UseRecovery([]byte("two")) },
			func(s *identity.SecondStepState) { s.Recovery = s.Recovery[:1] }},
		"the first passkey is used": {func(s *identity.SecondStep) bool {
			return s.UsePasskey(identity.Passkey{CredentialID: []byte("a"), Credential: []byte("7")}, later)
		}, func(s *identity.SecondStepState) {
			s.Passkeys = slices.Clone(s.Passkeys)
			s.Passkeys[0].Credential, s.Passkeys[0].LastUsedAt = []byte("7"), later
		}},
		"the second passkey is removed": {func(s *identity.SecondStep) bool {
			name, ok := s.RemovePasskey("b")
			return ok && name == "Key b"
		}, func(s *identity.SecondStepState) { s.Passkeys = slices.Concat(s.Passkeys[:1], s.Passkeys[2:]) }},
		"a passkey is added": {func(s *identity.SecondStep) bool {
			return s.AddPasskey(identity.Passkey{ID: "d", Name: "Key d"}) == nil
		}, func(s *identity.SecondStepState) {
			s.Passkeys = append(slices.Clone(s.Passkeys), identity.Passkey{ID: "d", Name: "Key d"})
		}},
	} {
		from := pending
		from.Passkeys = slices.Grow(slices.Clone(pending.Passkeys), 1)
		from.Recovery = slices.Clone(pending.Recovery)
		want := from
		c.want(&want)
		want.Revision++
		before := from
		before.Passkeys, before.Recovery = slices.Clone(from.Passkeys), slices.Clone(from.Recovery)
		s := identity.RestoreSecondStep(from)
		if s.IsNew() {
			t.Errorf("%s: what is stored counts as new", name)
		}
		if !c.do(s) || !reflect.DeepEqual(s.State(), want) || s.IsNew() {
			t.Errorf("%s: %+v, new %v, want %+v", name, s.State(), s.IsNew(), want)
		}
		if !reflect.DeepEqual(from, before) || len(from.Passkeys[:4][3].ID) > 0 {
			t.Errorf("%s: what was read before changed to %+v", name, from)
		}
	}
	if s := withApp(t); s.State().Revision != 1 || s.IsNew() {
		t.Error("the first revision that is stored counts as new")
	}
	if s := identity.NewSecondStep(ada); s.IsNew() {
		t.Error("a second step that nobody has begun is to be stored")
	}
	last := identity.RestoreSecondStep(identity.SecondStepState{AppSecret: sealed, RecoveryMadeAt: codeAt})
	if !last.RemoveApp() || !last.State().RecoveryMadeAt.IsZero() {
		t.Errorf("without any: %+v", last.State())
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
	if p.Subject() != "second-step."+p.ResetLink.Subject() {
		t.Errorf("signed is %q: it can be taken for a link that sets a new password, or for another one's", p.Subject())
	}
	bob := identity.NewPendingSignIn(identity.User{CreatorID: "crt_1", MemberID: "mem_1", PasswordHash: "hash"}, codeAt)
	if p.CreatorID != "crt_1" || p.MemberID != "" || bob.MemberID != "mem_1" || bob.Subject() == p.Subject() {
		t.Errorf("the owner's is of %q, the member's of %q", p.UserID(), bob.UserID())
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
	empty := identity.Ceremony{ExpiresAt: c.ExpiresAt}
	if got, _, ok := identity.ParseCeremony("", "", empty.Text([]byte("mac"))); !ok || got.Subject() != empty.Subject() {
		t.Errorf("one without data is read as %+v, %v", got, ok)
	}
	payload, _, _ := strings.Cut(c.Text(nil), ".")
	for _, text := range []string{
		"", ".", "AAAA.AAAA", c.Text(nil) + "\n", "!" + c.Text(nil), payload, payload + "!.bWFj", payload + ".!",
		"AAAAAAAAAA.bWFj", // seven bytes
	} {
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
