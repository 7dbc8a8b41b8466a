package id_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"strings"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"
	"pgregory.net/rapid"

	"sundry/core/id"
)

func body(t *rapid.T, label string) (b [16]byte) {
	copy(b[:], rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, label))
	return b
}

func TestNewRendersKnownValues(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ hex, want string }{
		"zero":         {"00000000000000000000000000000000", "lst_00000000000000000000000000"},
		"one":          {"00000000000000000000000000000001", "lst_00000000000000000000000001"},
		"all bits set": {"ffffffffffffffffffffffffffffffff", "lst_7zzzzzzzzzzzzzzzzzzzzzzzzz"},
		"highest bit":  {"80000000000000000000000000000000", "lst_40000000000000000000000000"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			raw, err := hex.DecodeString(c.hex)
			if err != nil {
				t.Fatal(err)
			}
			if got := id.New(id.Listing, [16]byte(raw)); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestIDsAreLowerCaseULIDs(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		b := body(t, "body")
		got := id.New(id.PaymentLink, b)
		if want := "plink_" + strings.ToLower(ulid.ULID(b).String()); got != want {
			t.Fatalf("got %s, want %s", got, want)
		}
		if !id.Valid(id.PaymentLink, got) || id.Valid(id.Plan, got) || id.Valid(id.PaymentLink, strings.ToUpper(got)) {
			t.Fatalf("%s is classified wrongly", got)
		}
		if id.Body(got) != strings.TrimPrefix(got, "plink_") {
			t.Fatalf("Body(%s) = %s", got, id.Body(got))
		}
	})
}

func TestIDsSortAsTheirValues(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := body(t, "a"), body(t, "b")
		if n := rapid.IntRange(0, 16).Draw(t, "shared bytes"); n > 0 {
			copy(b[:n], a[:n])
		}
		if want, got := bytes.Compare(a[:], b[:]), strings.Compare(id.New(id.Event, a), id.New(id.Event, b)); got != want {
			t.Fatalf("%x and %x: text order %d, value order %d", a, b, got, want)
		}
	})
}

func TestValidRefuses(t *testing.T) {
	t.Parallel()
	const good = "cs_01hzzzzzzzzzzzzzzzzzzzzzzz"
	if !id.Valid(id.CheckoutSession, good) {
		t.Fatalf("%s is refused", good)
	}
	for name, s := range map[string]string{
		"the empty string":            "",
		"the prefix alone":            "cs_",
		"no underscore":               "cs" + good[3:],
		"no prefix":                   good[3:],
		"another prefix":              "cus" + good[2:],
		"a body one short":            good[:len(good)-1],
		"a body one long":             good + "0",
		"more than 128 bits":          "cs_8" + good[4:],
		"a letter Crockford left out": "cs_0i" + good[5:],
		"upper case":                  "cs_" + strings.ToUpper(good[3:]),
		"a space before":              " " + good,
		"a line end":                  good[:len(good)-1] + "\n",
		"a NUL":                       good[:len(good)-1] + "\x00",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if id.Valid(id.CheckoutSession, s) {
				t.Errorf("%q is accepted", s)
			}
			prefix, _, _ := strings.Cut(s, "_")
			ofAnyKind := id.Valid(id.Prefix(prefix), s)
			if body := id.Body(s); (body != "") != ofAnyKind {
				t.Errorf("%q has the body %q", s, body)
			}
			if at, ok := id.Time(s); ok != ofAnyKind || at.IsZero() == ok {
				t.Errorf("%q was named at %v, %v", s, at, ok)
			}
		})
	}
}

func TestAnIDSaysWhenItWasNamed(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		b := body(t, "body")
		millis := int64(binary.BigEndian.Uint64(append([]byte{0, 0}, b[:6]...)))
		if at, ok := id.Time(id.New(id.Payment, b)); !ok || at.UnixMilli() != millis || at.Location() != time.UTC {
			t.Fatalf("named at %v, %v; want %d", at, ok, millis)
		}
	})
}

func FuzzValid(f *testing.F) {
	f.Add("lst_01hzzzzzzzzzzzzzzzzzzzzzzz")
	f.Add("lst_8zzzzzzzzzzzzzzzzzzzzzzzzz")
	f.Add("lst_")
	f.Fuzz(func(t *testing.T, s string) {
		valid := id.Valid(id.Listing, s)
		if body := id.Body(s); valid && (body == "" || s != "lst_"+body) {
			t.Errorf("Body(%q) = %q", s, body)
		}
		if !valid {
			return
		}
		parsed, err := ulid.ParseStrict(strings.ToUpper(id.Body(s)))
		if err != nil || id.New(id.Listing, parsed) != s {
			t.Errorf("%q does not come back: %v", s, err)
		}
	})
}

func TestFirstIsTheLeastIDOfItsTime(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		value := body(t, "id")
		value[0] &= 0x1f // the millisecond after it has ids, too
		made := id.New(id.Payment, value)
		at, _ := id.Time(made)
		if first := id.First(id.Payment, at); first > made {
			t.Errorf("%s of the time of %s is above it", first, made)
		}
		if next := id.First(id.Payment, at.Add(time.Millisecond)); next <= made {
			t.Errorf("%s of a millisecond after %s is not above it", next, made)
		}
	})
}
