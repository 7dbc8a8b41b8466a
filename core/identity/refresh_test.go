package identity_test

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
	"time"

	"sundry/core/fault"
	"sundry/core/id"
	"sundry/core/identity"
)

const day = 24 * time.Hour

func familyID() string { return id.New(identity.RefreshFamilyPrefix, [16]byte{1, 2, 3}) }

func begin() *identity.RefreshFamily {
	return identity.BeginFamily(familyID(), identity.User{CreatorID: "crt_1"}, noon)
}

func TestARefreshTokenNamesItsFamilyAndItsNumber(t *testing.T) {
	t.Parallel()
	mac := bytes.Repeat([]byte{0xfb}, 32) // encodes to - and _
	token := identity.RefreshToken{FamilyID: familyID(), Generation: 70000}
	text := token.Text(mac)
	if got, shown, ok := identity.ParseRefreshToken(text); !ok || got != token ||
		!bytes.Equal(shown, mac[:identity.RefreshMAC]) {
		t.Errorf("ParseRefreshToken(%q) = %+v, %x, %v", text, got, shown, ok)
	}
	if want := "rt_" + strings.TrimPrefix(familyID(), "rtf_") +
		"_AAERcPv7-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_s"; text != want || token.Subject() != familyID()+".70000" {
		t.Errorf("%q of %q; tokens that were issued must go on being recognized", text, token.Subject())
	}
	for _, other := range []string{"", "rt_", "rt__", "rt_x" + text[29:], text[:29], text[:len(text)-1] + "t", text[3:],
		text[1:], text[:len(text)-1], text + "A", text + "\n", strings.ToUpper(text), "rtf_" + text[3:], "sk_test_" + text} {
		if got, _, ok := identity.ParseRefreshToken(other); ok {
			t.Errorf("ParseRefreshToken(%q) = %+v", other, got)
		}
	}
}

func TestFamilyOfToken_IsThatOfItsSubject(t *testing.T) {
	t.Parallel()
	for _, u := range []identity.User{{CreatorID: "crt_1"}, {CreatorID: "crt_1", MemberID: memberID()}} {
		token := identity.BeginFamily(familyID(), u, noon).State().Token()
		if token.Member != (u.MemberID != "") {
			t.Errorf("the token of %+v is a member's: %v", u, token.Member)
		}
		if got, member := identity.FamilyOfToken(token.Subject()); got != familyID() || member != token.Member {
			t.Errorf("%q is of the family %q, a member's: %v", token.Subject(), got, member)
		}
	}
	if got := (identity.RefreshToken{FamilyID: "rtf_1", Generation: 2, Member: true}).Subject(); got != "member.rtf_1.2" {
		t.Errorf("a member's token is signed as %q", got)
	}
}

func FuzzParseRefreshToken(f *testing.F) {
	f.Add("")
	f.Add(identity.RefreshToken{FamilyID: familyID(), Generation: 1}.Text(make([]byte, 32)))
	f.Add("rt_01jqz5y2c4e6g8h0k2m4p6r8s0_" + strings.Repeat("=", 43))
	f.Fuzz(func(t *testing.T, text string) {
		token, mac, ok := identity.ParseRefreshToken(text)
		if ok && token.Text(mac) != text {
			t.Errorf("ParseRefreshToken(%q) = %+v, %x", text, token, mac)
		}
	})
}

func TestRotationReplacesTheValidToken(t *testing.T) {
	t.Parallel()
	f := begin()
	if changed, err := f.Rotate(1, noon.Add(day)); err != nil || !changed {
		t.Fatal(changed, err)
	}
	got := f.State()
	want := identity.RefreshFamilyState{
		ID: familyID(), CreatorID: "crt_1", Generation: 2, CreatedAt: noon, RotatedAt: noon.Add(day),
		ExpiresAt: noon.Add(31 * day), Revision: 2,
	}
	if !reflect.DeepEqual(got, want) || got.Token() != (identity.RefreshToken{FamilyID: familyID(), Generation: 2}) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestATokenThatIsRetriedAtOnceChangesNothing(t *testing.T) {
	t.Parallel()
	f := begin()
	if _, err := f.Rotate(1, noon); err != nil {
		t.Fatal(err)
	}
	rotated := f.State()
	for _, later := range []time.Duration{0, time.Second, 10*time.Second - time.Millisecond} {
		if changed, err := f.Rotate(1, noon.Add(later)); changed || err != nil {
			t.Errorf("%v later: changed %v, %v", later, changed, err)
		}
	}
	if !reflect.DeepEqual(f.State(), rotated) {
		t.Errorf("a retry changed it to %+v", f.State())
	}
	if changed, err := f.Rotate(3, noon); changed || !fault.Is(err, fault.Unauthenticated) ||
		!reflect.DeepEqual(f.State(), rotated) {
		t.Errorf("a token that was never issued: changed %v, %v: %+v", changed, err, f.State())
	}
}

func TestAFormerTokenEndsTheFamily(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		rotations int
		later     time.Duration
	}{"the one before, too late": {1, 10 * time.Second}, "an older one, at once": {2, 0}} {
		f := begin()
		for i := range c.rotations {
			if _, err := f.Rotate(int64(i)+1, noon); err != nil {
				t.Fatal(name, err)
			}
		}
		changed, err := f.Rotate(1, noon.Add(c.later))
		if !changed || !fault.Is(err, fault.Unauthenticated) {
			t.Fatalf("%s: changed %v, %v", name, changed, err)
		}
		ended := f.State()
		if !ended.RevokedAt.Equal(noon.Add(c.later)) || ended.Generation != int64(c.rotations)+1 {
			t.Errorf("%s: %+v", name, ended)
		}
		for shown := range ended.Generation + 1 {
			if changed, err := f.Rotate(shown, noon.Add(c.later)); changed || !fault.Is(err, fault.Unauthenticated) {
				t.Errorf("%s, then %d: changed %v, %v", name, shown, changed, err)
			}
		}
		if !reflect.DeepEqual(f.State(), ended) {
			t.Errorf("%s: an ended family changed to %+v", name, f.State())
		}
	}
}

func TestAnAccessTokenOpensForAQuarterOfAnHour(t *testing.T) {
	t.Parallel()
	if identity.AccessTokenLifetime != 15*time.Minute {
		t.Errorf("%v", identity.AccessTokenLifetime)
	}
}

func TestARefreshTokenWaitsThirtyDays(t *testing.T) {
	t.Parallel()
	f := begin()
	if changed, err := f.Rotate(1, noon.Add(30*day)); changed || !fault.Is(err, fault.Unauthenticated) {
		t.Fatalf("at its end: changed %v, %v", changed, err)
	}
	if _, err := f.Rotate(1, noon.Add(30*day-time.Millisecond)); err != nil {
		t.Errorf("just before its end: %v", err)
	}
}

func TestEvenABusyFamilyEnds(t *testing.T) {
	t.Parallel()
	f, shown := begin(), int64(1)
	at := noon
	for ; at.Before(noon.Add(180 * day)); at = at.Add(20 * day) {
		if _, err := f.Rotate(shown, at); err != nil {
			t.Fatalf("%v: %v", at, err)
		}
		shown++
	}
	if ends := f.State().ExpiresAt; !ends.Equal(noon.Add(180 * day)) {
		t.Errorf("it ends at %v", ends)
	}
	if _, err := f.Rotate(shown, noon.Add(180*day)); !fault.Is(err, fault.Unauthenticated) {
		t.Errorf("after 180 days: %v", err)
	}
}

func TestSigningOutTwiceIsOnce(t *testing.T) {
	t.Parallel()
	f := begin()
	if !f.Revoke(noon) || f.Revoke(noon.Add(day)) || !f.State().RevokedAt.Equal(noon) || f.State().Revision != 2 {
		t.Errorf("got %+v", f.State())
	}
}
