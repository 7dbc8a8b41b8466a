package tokens

import (
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"sundry/core/id"
	"sundry/core/secret"
	"sundry/ports"
)

const (
	issuer   = "https://pay.example.com"
	audience = "sundry:live"
	cell     = id.Cell(7)
)

var (
	now      = time.Date(2026, 3, 8, 12, 0, 0, 0, time.UTC)
	key      = []byte("0123456789abcdef0123456789abcdef")
	otherKey = []byte("fedcba9876543210fedcba9876543210")
	creator  = id.New(id.Creator, [16]byte{1, 2, 3})
)

func token() ports.AccessToken {
	return ports.AccessToken{ID: "rtf_1.1", CreatorID: creator, IssuedAt: now, ExpiresAt: now.Add(15 * time.Minute)}
}

func sign(t *testing.T, j *JWT) string {
	t.Helper()
	text, err := j.Sign(token())
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestASignedTokenIsReadBack(t *testing.T) {
	t.Parallel()
	j := NewJWT(issuer, audience, secret.Fixed(key), cell)
	for _, at := range []time.Time{now.Add(-skew), now, now.Add(15*time.Minute - time.Second)} {
		if got, ok := j.Verify(sign(t, j), at); !ok || got != token() {
			t.Errorf("at %v: %+v, %v", at, got, ok)
		}
	}
	if got, ok := j.Verify(sign(t, j), now.Add(15*time.Minute+skew)); ok || got != (ports.AccessToken{}) {
		t.Errorf("after its end: %+v, %v", got, ok)
	}
}

func TestAFormerKeyStillVerifies(t *testing.T) {
	t.Parallel()
	before, after := NewJWT(issuer, audience, secret.Fixed(key), cell), NewJWT(issuer, audience, func() [][]byte {
		return [][]byte{otherKey, key}
	}, cell)
	if _, ok := after.Verify(sign(t, before), now); !ok {
		t.Error("a token of the former key is refused")
	}
	if _, ok := before.Verify(sign(t, after), now); ok {
		t.Error("a token of the new key passes where nobody knows it")
	}
}

func TestATokenNamesItsCell(t *testing.T) {
	t.Parallel()
	for _, of := range []id.Cell{0, cell, id.MaxCell} {
		payload, err := base64.RawURLEncoding.DecodeString(strings.Split(sign(t, NewJWT(issuer, audience,
			secret.Fixed(key), of)), ".")[1])
		if want := fmt.Sprintf(`"cell":%d}`, of); err != nil || !strings.HasSuffix(string(payload), want) {
			t.Errorf("the claims of cell %d are %s, %v", of, payload, err)
		}
	}
}

// forge signs what an attacker, or a defect, would.
func forge(t *testing.T, method jwt.SigningMethod, signWith any, header map[string]any, claims jwt.MapClaims) string {
	t.Helper()
	all := jwt.MapClaims{
		"iss": issuer, "aud": audience, "sub": creator, "jti": "rtf_1.1", "iat": now.Unix(),
		"exp": now.Add(15 * time.Minute).Unix(),
	}
	for name, value := range claims {
		if value == nil {
			delete(all, name)
		} else {
			all[name] = value
		}
	}
	forged := jwt.NewWithClaims(method, all)
	forged.Header["kid"] = keyID(key)
	maps.Copy(forged.Header, header)
	text, err := forged.SignedString(signWith)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestForgedTokensAreRefused(t *testing.T) {
	t.Parallel()
	j := NewJWT(issuer, audience, secret.Fixed(key), cell)
	hs256 := jwt.SigningMethodHS256
	if _, ok := j.Verify(forge(t, hs256, key, nil, nil), now); !ok {
		t.Fatal("the forger's tool does not even make a good token")
	}
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	good := sign(t, j)
	parts := strings.Split(good, ".")
	withHeader := func(header string) string {
		return base64.RawURLEncoding.EncodeToString([]byte(header)) + "." + parts[1] + "." + parts[2]
	}
	cases := map[string]string{
		"nothing":                          "",
		"no signature":                     parts[0] + "." + parts[1] + ".",
		"two parts":                        parts[0] + "." + parts[1],
		"four parts":                       good + ".x",
		"alg none":                         forge(t, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, nil, nil),
		"alg None in the header only":      withHeader(`{"alg":"None","kid":"` + keyID(key) + `"}`),
		"HS384 with the right key":         forge(t, jwt.SigningMethodHS384, key, nil, nil),
		"HS512 with the right key":         forge(t, jwt.SigningMethodHS512, key, nil, nil),
		"RS256":                            forge(t, jwt.SigningMethodRS256, rsaKey, nil, nil),
		"another key":                      forge(t, hs256, otherKey, nil, nil),
		"the empty key":                    forge(t, hs256, []byte{}, nil, nil),
		"an unknown key id":                forge(t, hs256, key, map[string]any{"kid": "deadbeef"}, nil),
		"a key id that is a path":          forge(t, hs256, []byte{}, map[string]any{"kid": "../../dev/null"}, nil),
		"a key id that is no text":         forge(t, hs256, key, map[string]any{"kid": 1}, nil),
		"no key id":                        forge(t, hs256, key, map[string]any{"kid": nil}, nil),
		"another issuer":                   forge(t, hs256, key, nil, jwt.MapClaims{"iss": "https://evil.example.com"}),
		"no issuer":                        forge(t, hs256, key, nil, jwt.MapClaims{"iss": nil}),
		"the other environment's audience": forge(t, hs256, key, nil, jwt.MapClaims{"aud": "sundry:sandbox"}),
		"no audience":                      forge(t, hs256, key, nil, jwt.MapClaims{"aud": nil}),
		"expired": forge(t, hs256, key, nil,
			jwt.MapClaims{"exp": now.Add(-time.Minute).Unix()}),
		"no expiry":                    forge(t, hs256, key, nil, jwt.MapClaims{"exp": nil}),
		"an expiry that is no number":  forge(t, hs256, key, nil, jwt.MapClaims{"exp": "never"}),
		"issued in the future":         forge(t, hs256, key, nil, jwt.MapClaims{"iat": now.Add(time.Minute).Unix()}),
		"no time of issue":             forge(t, hs256, key, nil, jwt.MapClaims{"iat": nil}),
		"not yet good":                 forge(t, hs256, key, nil, jwt.MapClaims{"nbf": now.Add(time.Hour).Unix()}),
		"no subject":                   forge(t, hs256, key, nil, jwt.MapClaims{"sub": nil}),
		"a subject that is no creator": forge(t, hs256, key, nil, jwt.MapClaims{"sub": "cus_" + id.Body(creator)}),
		"a subject with a tail":        forge(t, hs256, key, nil, jwt.MapClaims{"sub": creator + "'--"}),
		"no id":                        forge(t, hs256, key, nil, jwt.MapClaims{"jti": nil}),
		"another cell":                 forge(t, hs256, key, nil, jwt.MapClaims{"cell": cell + 1}),
		"a changed payload": parts[0] + "." +
			base64.RawURLEncoding.EncodeToString([]byte(`{"sub":"crt_x"}`)) + "." + parts[2],
		"a signature with stray bits":           strayBits(good),
		"padding":                               good + "=",
		"a line break":                          good + "\n",
		"an API key":                            "sk_live_0TP9Fhapn73GVxZIsKUa8wDxZQmWTSjS2xq6yZ",
		"a good token with a megabyte in front": strings.Repeat("A", 1<<20) + good,
	}
	for name, text := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got, ok := j.Verify(text, now); ok || got != (ports.AccessToken{}) {
				t.Errorf("passes as %+v", got)
			}
		})
	}
}

// strayBits changes the two bits of the last character that encode nothing.
func strayBits(text string) string {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	last := strings.IndexByte(alphabet, text[len(text)-1])
	return text[:len(text)-1] + string(alphabet[last^1])
}

func FuzzVerify(f *testing.F) {
	j := NewJWT(issuer, audience, secret.Fixed(key), cell)
	good, err := j.Sign(token())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add("..")
	f.Add("eyJhbGciOiJub25lIn0.e30.")
	f.Fuzz(func(t *testing.T, text string) {
		if got, ok := j.Verify(text, now); ok && (text != good || got != token()) {
			t.Errorf("%q passes as %+v", text, got)
		}
	})
}
