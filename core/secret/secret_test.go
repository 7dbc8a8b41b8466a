package secret

import (
	"strings"
	"testing"

	"sundry/core/id"
)

func TestOnlyWhatWasSealedOpens(t *testing.T) {
	t.Parallel()
	key, other := Fixed([]byte(strings.Repeat("k", 32))), Fixed([]byte(strings.Repeat("l", 32)))
	one, two := id.New(id.Appointment, [16]byte{1}), id.New(id.Appointment, [16]byte{2})
	token := Derive(key, "manage", one, "7")
	if again := Derive(key, "manage", one, "7"); again != token || strings.Contains(token, "_") {
		t.Errorf("%s, again %s", token, again)
	}
	if got, ok := Verify(key, "manage", id.Appointment, token, "7"); !ok || got != one {
		t.Errorf("%s, %v", got, ok)
	}
	for name, open := range map[string]func() (string, bool){
		"another key":        func() (string, bool) { return Verify(other, "manage", id.Appointment, token, "7") },
		"another purpose":    func() (string, bool) { return Verify(key, "feed", id.Appointment, token, "7") },
		"another kind of id": func() (string, bool) { return Verify(key, "manage", id.Creator, token, "7") },
		"another part":       func() (string, bool) { return Verify(key, "manage", id.Appointment, token, "8") },
		"another id": func() (string, bool) {
			return Verify(key, "manage", id.Appointment, id.Body(two)+token[26:], "7")
		},
		"a changed proof": func() (string, bool) { return Verify(key, "manage", id.Appointment, token[:51]+"x", "7") },
		"a proof of no id": func() (string, bool) {
			return Verify(key, "manage", id.Appointment, Derive(key, "manage", "", "7"), "7")
		},
		"nothing": func() (string, bool) { return Verify(key, "manage", id.Appointment, "", "7") },
		"no letters of an id": func() (string, bool) {
			return Verify(key, "manage", id.Appointment, strings.Repeat("!", 52), "7")
		},
	} {
		if got, ok := open(); ok || got != "" {
			t.Errorf("%s opens %s", name, got)
		}
	}
	for claim, want := range map[string]string{token: one, token[:51]: "", token + "x": ""} {
		if got, ok := UnverifiedID(id.Appointment, claim); got != want || ok != (want != "") {
			t.Errorf("%s claims to open %s, %v", claim, got, ok)
		}
	}
}

func TestFormerKeysStillOpen(t *testing.T) {
	t.Parallel()
	former, current := []byte(strings.Repeat("k", 32)), []byte(strings.Repeat("l", 32))
	keys := Keys(func() [][]byte { return [][]byte{current, former} })
	subject := id.New(id.Appointment, [16]byte{1})
	before := Derive(Fixed(former), "manage", subject)
	for name, token := range map[string]string{"before": before, "after": Derive(keys, "manage", subject)} {
		if got, ok := Verify(keys, "manage", id.Appointment, token); !ok || got != subject {
			t.Errorf("a link of %s the replacement opens %q, %t", name, got, ok)
		}
	}
	if got := Derive(keys, "manage", subject); got != Derive(Fixed(current), "manage", subject) || got == before {
		t.Error("a new link is not made with the key in use")
	}
	if _, ok := Verify(Fixed(current), "manage", id.Appointment, before); ok {
		t.Error("a link of a key that was given up opens")
	}
}
