package identity_test

import (
	"bytes"
	"hash/crc32"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sundry/core/fault/faulttest"
	"sundry/core/id"
	"sundry/core/identity"
)

var noon = time.Date(2026, 3, 8, 12, 0, 0, 0, time.UTC)

func randomBytes(r *rand.Rand, n int) []byte {
	out := make([]byte, n)
	for i := range out {
		out[i] = byte(r.Uint32())
	}
	return out
}

func TestNewKeyIsParsedBack(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	seen := map[string]bool{}
	for i := range 200 {
		livemode := i%2 == 0
		key := identity.NewKey(livemode, 0, randomBytes(r, identity.KeyEntropy))
		if len(key) != 8+32+6 || seen[key] {
			t.Fatalf("key %q has %d characters or came twice", key, len(key))
		}
		seen[key] = true
		if live, ok := identity.ParseKey(key); !ok || live != livemode {
			t.Fatalf("ParseKey(%q) = %v, %v", key, live, ok)
		}
	}
	lowest, highest := make([]byte, identity.KeyEntropy), bytes.Repeat([]byte{255}, identity.KeyEntropy)
	for _, random := range [][]byte{lowest, highest} {
		if _, ok := identity.ParseKey(identity.NewKey(false, 0, random)); !ok {
			t.Errorf("the key of %x is not one", random)
		}
	}
}

func TestAKeyNamesItsCell(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		cell := id.Cell(rapid.Uint16Range(0, uint16(id.MaxCell)).Draw(t, "cell"))
		random := rapid.SliceOfN(rapid.Byte(), identity.KeyEntropy, identity.KeyEntropy).Draw(t, "random")
		livemode := rapid.Bool().Draw(t, "livemode")
		key, zero := identity.NewKey(livemode, cell, random), identity.NewKey(livemode, 0, random)
		if got, ok := identity.KeyCell(key); !ok || got != cell || len(key) != 8+32+6 {
			t.Fatalf("%s is of cell %d, %t; want %d", key, got, ok, cell)
		}
		if live, ok := identity.ParseKey(key); !ok || live != livemode || key[10:40] != zero[10:40] || zero[8:10] != "00" {
			t.Fatalf("%s of cell %d beside %s of cell 0", key, cell, zero)
		}
	})
	if cell, ok := identity.KeyCell("sk_test_0TP9F"); ok || cell != 0 {
		t.Errorf("what is no key is of cell %d, %t", cell, ok)
	}
}

// A known result: keys that were issued must go on being recognized.
func TestTheFormatStays(t *testing.T) {
	t.Parallel()
	const key = "sk_test_0TP9Fhapn73GVxZIsKUa8wDxZQmWTSjS2xq6yZ"
	if live, ok := identity.ParseKey(key); live || !ok {
		t.Errorf("ParseKey(%q) = %v, %v", key, live, ok)
	}
}

func TestATypoIsNoKey(t *testing.T) {
	t.Parallel()
	key := identity.NewKey(false, 0, randomBytes(rand.New(rand.NewPCG(3, 4)), identity.KeyEntropy))
	for i := range len(key) {
		for _, c := range []byte("aZ0_") {
			typo := key[:i] + string(c) + key[i+1:]
			if _, ok := identity.ParseKey(typo); ok && typo != key {
				t.Errorf("%q passes for %q", typo, key)
			}
		}
		if i > 8 && key[i] != key[i-1] {
			swapped := key[:i-1] + string(key[i]) + string(key[i-1]) + key[i+1:]
			if _, ok := identity.ParseKey(swapped); ok {
				t.Errorf("%q passes for %q", swapped, key)
			}
		}
	}
	for _, other := range []string{"", "sk_test_", "sk_live_", "sk_live_" + key, key[:len(key)-1], key + "0", "sk_live_" +
		key[8:], " " + key, "pk" + key[2:], strings.Repeat("0", len(key))} {
		if live, ok := identity.ParseKey(other); ok || live {
			t.Errorf("%q passes for a key", other)
		}
	}
}

// withChecksum appends the checksum of a key to a text: its CRC-32 in base62.
func withChecksum(text string) string {
	const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	sum, end := crc32.ChecksumIEEE([]byte(text)), ""
	for range 6 {
		end, sum = string(digits[sum%62])+end, sum/62
	}
	return text + end
}

func TestTheRightChecksumAloneMakesNoKey(t *testing.T) {
	t.Parallel()
	body := strings.Repeat("0", 31)
	for _, c := range "09AZaz" {
		if _, ok := identity.ParseKey(withChecksum("sk_test_" + body + string(c))); !ok {
			t.Errorf("no key may contain %q", c)
		}
	}
	for _, text := range []string{
		"sk_prod_0" + body, "SK_LIVE_0" + body, "sk_live_" + body + "/", "sk_test_" + body + ":", "sk_test_" + body + "@",
		"sk_test_" + body + "[",
		"sk_test_" + body + "`", "sk_live_" + body + "{", "sk_live_/" + body,
	} {
		if live, ok := identity.ParseKey(withChecksum(text)); ok || live {
			t.Errorf("%q passes for a key", withChecksum(text))
		}
	}
}

func TestAKeyHoldsAllOfItsEntropy(t *testing.T) {
	t.Parallel()
	most := new(big.Int).Exp(big.NewInt(62), big.NewInt(30), nil)
	if bits := most.BitLen() - 1; bits/8 != identity.KeyEntropy {
		t.Errorf("30 characters hold %d bits, not %d bytes", bits, identity.KeyEntropy)
	}
}

func TestAKeyIsNamedByItsEnds(t *testing.T) {
	t.Parallel()
	key := identity.NewKey(true, 0, bytes.Repeat([]byte{7}, identity.KeyEntropy))
	for text, want := range map[string]string{key: "sk_live_…" + key[len(key)-4:], key[:len(key)-1]: "", key + "0": "",
		"": ""} {
		if got := identity.KeyLabel(text); got != want {
			t.Errorf("%q is named %q, want %q", text, got, want)
		}
	}
}

func TestAUseIsRecordedOnceAMinute(t *testing.T) {
	t.Parallel()
	state := issue(time.Time{}).State()
	state.LastUsedAt = noon
	key := identity.RestoreAPIKey(state)
	for later, want := range map[time.Duration]bool{0: false, time.Minute - time.Millisecond: false, time.Minute: true,
		time.Hour: true} {
		if got := key.UseIsStale(noon.Add(later)); got != want {
			t.Errorf("%v after the last use: stale %v", later, got)
		}
	}
}

func FuzzParseKey(f *testing.F) {
	f.Add("")
	f.Add("sk_test_0TP9Fhapn73GVxZIsKUa8wDxZQmWTSjS2xq6yZ")
	f.Add("sk_live_0TP9Fhapn73GVxZIsKUa8wDxZQmWTSjS2xq6yZ")
	f.Add("sk_test_" + strings.Repeat("\xff", 38))
	f.Add(strings.Repeat("z", 46))
	f.Fuzz(func(t *testing.T, text string) {
		live, ok := identity.ParseKey(text)
		if !ok {
			return
		}
		if want := map[bool]string{true: "sk_live_", false: "sk_test_"}[live]; !strings.HasPrefix(text, want) ||
			len(text) != 46 {
			t.Errorf("ParseKey(%q) = %v", text, live)
		}
	})
}

func TestNewKeyRequestListsEveryFault(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		order identity.NewKeyRequest
		want  []string
	}{
		"a name is enough":             {identity.NewKeyRequest{Name: "Backend"}, nil},
		"an end in the future is good": {identity.NewKeyRequest{Name: "Backend", ExpiresAt: noon.Add(time.Millisecond)}, nil},
		"an end now is none": {identity.NewKeyRequest{Name: "Backend", ExpiresAt: noon},
			[]string{"expiresAt OUT_OF_RANGE"}},
		"both may be wrong": {identity.NewKeyRequest{Name: " ", ExpiresAt: noon.Add(-time.Hour)},
			[]string{"name REQUIRED", "expiresAt OUT_OF_RANGE"}},
		"a name has an end too": {identity.NewKeyRequest{Name: strings.Repeat("n", 101)}, []string{"name TOO_LONG"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := c.order.Clean(noon)
			if got := faulttest.Lines(t, err); !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestAKeyIsCalledByItsNameAndEnds(t *testing.T) {
	t.Parallel()
	s := identity.APIKeyState{Name: "Shop", Prefix: "sk_live_", Last4: "wxyz"}
	if got := s.Label(); got != "Shop (sk_live_…wxyz)" {
		t.Errorf("got %q", got)
	}
}

func issue(ends time.Time) *identity.APIKey {
	key := identity.NewKey(false, 0, make([]byte, identity.KeyEntropy))
	return identity.IssueKey("key_1", "crt_1", identity.NewKeyRequest{Name: "Backend", ExpiresAt: ends}, key,
		[]byte("hash"), noon)
}

func TestAKeyIsUsableUntilItsEndOrItsRevocation(t *testing.T) {
	t.Parallel()
	endless, ending := issue(time.Time{}), issue(noon.Add(time.Hour))
	for name, c := range map[string]struct {
		key  *identity.APIKey
		at   time.Time
		want bool
	}{
		"endless, in a century":       {endless, noon.AddDate(100, 0, 0), true},
		"the moment before its end":   {ending, noon.Add(time.Hour - time.Millisecond), true},
		"at its end it is over":       {ending, noon.Add(time.Hour), false},
		"and stays over from then on": {ending, noon.AddDate(1, 0, 0), false},
	} {
		if got := c.key.Usable(c.at); got != c.want {
			t.Errorf("%s: usable %v", name, got)
		}
	}
	if !endless.Revoke(noon) || endless.Usable(noon) || endless.State().Revision != 2 {
		t.Error("a revoked key is usable")
	}
	before := endless.State()
	if endless.Revoke(noon.Add(time.Hour)) || !endless.State().RevokedAt.Equal(before.RevokedAt) ||
		endless.State().Revision != before.Revision {
		t.Errorf("revoking again changed %+v to %+v", before, endless.State())
	}
}

func TestAKeyIsRecognisedByItsEndsOnly(t *testing.T) {
	t.Parallel()
	key := identity.NewKey(true, 0, bytes.Repeat([]byte{7}, identity.KeyEntropy))
	s := identity.IssueKey("key_1", "crt_1", identity.NewKeyRequest{Name: "n"}, key, []byte("hash"), noon).State()
	if s.Prefix != "sk_live_" || s.Last4 != key[len(key)-4:] || s.Revision != 1 || !s.CreatedAt.Equal(noon) {
		t.Errorf("got %+v for %q", s, key)
	}
}
