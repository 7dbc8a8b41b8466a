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
	return identity.BeginFamily(familyID(), "crt_1", []byte("one"), noon)
}

func TestARefreshTokenNamesItsFamily(t *testing.T) {
	t.Parallel()
	token := identity.NewRefreshToken(familyID(), bytes.Repeat([]byte{0xfb}, identity.RefreshEntropy)) // encodes to - and _
	if got, ok := identity.ParseRefreshToken(token); !ok || got != familyID() {
		t.Errorf("ParseRefreshToken(%q) = %q, %v", token, got, ok)
	}
	for _, other := range []string{"", "rt_", "rt__", token[1:], token[:len(token)-1], token + "A", token + "\n", strings.ToUpper(token), "rtf_" + token[3:], "sk_test_" + token} {
		if got, ok := identity.ParseRefreshToken(other); ok {
			t.Errorf("ParseRefreshToken(%q) = %q", other, got)
		}
	}
}

func FuzzParseRefreshToken(f *testing.F) {
	f.Add("")
	f.Add(identity.NewRefreshToken(familyID(), make([]byte, identity.RefreshEntropy)))
	f.Add("rt_01jqz5y2c4e6g8h0k2m4p6r8s0_" + strings.Repeat("=", 43))
	f.Fuzz(func(t *testing.T, text string) {
		family, ok := identity.ParseRefreshToken(text)
		if ok && (!id.Valid(identity.RefreshFamilyPrefix, family) || !strings.HasPrefix(text, "rt_"+id.Body(family)+"_")) {
			t.Errorf("ParseRefreshToken(%q) = %q", text, family)
		}
	})
}

func TestRotationReplacesTheTokenInForce(t *testing.T) {
	t.Parallel()
	f := begin()
	if changed, err := f.Rotate([]byte("one"), []byte("two"), noon.Add(day)); err != nil || !changed {
		t.Fatal(changed, err)
	}
	got := f.State()
	want := identity.RefreshFamilyState{
		ID: familyID(), CreatorID: "crt_1", TokenHash: []byte("two"), Generation: 2, CreatedAt: noon, ExpiresAt: noon.Add(31 * day), Revision: 2,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestAFormerTokenEndsTheFamily(t *testing.T) {
	t.Parallel()
	f := begin()
	if _, err := f.Rotate([]byte("one"), []byte("two"), noon); err != nil {
		t.Fatal(err)
	}
	changed, err := f.Rotate([]byte("one"), []byte("three"), noon.Add(time.Second))
	if !changed || !fault.Is(err, fault.Unauthenticated) {
		t.Fatalf("reuse: changed %v, %v", changed, err)
	}
	ended := f.State()
	if !ended.RevokedAt.Equal(noon.Add(time.Second)) || string(ended.TokenHash) != "two" {
		t.Errorf("after reuse: %+v", ended)
	}
	for _, token := range []string{"one", "two", "three"} {
		if changed, err := f.Rotate([]byte(token), []byte("four"), noon.Add(time.Minute)); changed || !fault.Is(err, fault.Unauthenticated) {
			t.Errorf("%s after reuse: changed %v, %v", token, changed, err)
		}
	}
	if !reflect.DeepEqual(f.State(), ended) {
		t.Errorf("an ended family changed to %+v", f.State())
	}
}

func TestARefreshTokenWaitsThirtyDays(t *testing.T) {
	t.Parallel()
	f := begin()
	if changed, err := f.Rotate([]byte("one"), []byte("two"), noon.Add(30*day)); changed || !fault.Is(err, fault.Unauthenticated) {
		t.Fatalf("at its end: changed %v, %v", changed, err)
	}
	if _, err := f.Rotate([]byte("one"), []byte("two"), noon.Add(30*day-time.Millisecond)); err != nil {
		t.Errorf("just before its end: %v", err)
	}
}

func TestEvenABusyFamilyEnds(t *testing.T) {
	t.Parallel()
	f, shown := begin(), []byte("one")
	at := noon
	for ; at.Before(noon.Add(180 * day)); at = at.Add(20 * day) {
		next := []byte(at.String())
		if _, err := f.Rotate(shown, next, at); err != nil {
			t.Fatalf("%v: %v", at, err)
		}
		shown = next
	}
	if _, err := f.Rotate(shown, []byte("next"), noon.Add(180*day)); !fault.Is(err, fault.Unauthenticated) {
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
