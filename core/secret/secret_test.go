package secret

import (
	"strings"
	"testing"

	"sundry/core/id"
)

func TestOnlyWhatWasSealedOpens(t *testing.T) {
	t.Parallel()
	key, other := []byte(strings.Repeat("k", 32)), []byte(strings.Repeat("l", 32))
	one, two := id.New(id.Appointment, [16]byte{1}), id.New(id.Appointment, [16]byte{2})
	token := Derive(key, "manage", one, "7")
	if again := Derive(key, "manage", one, "7"); again != token || strings.Contains(token, "_") {
		t.Errorf("%s, again %s", token, again)
	}
	if got, ok := Verify(key, "manage", id.Appointment, token, "7"); !ok || got != one {
		t.Errorf("%s, %v", got, ok)
	}
	for name, open := range map[string]func() (string, bool){
		"another key":         func() (string, bool) { return Verify(other, "manage", id.Appointment, token, "7") },
		"another purpose":     func() (string, bool) { return Verify(key, "feed", id.Appointment, token, "7") },
		"another kind of id":  func() (string, bool) { return Verify(key, "manage", id.Creator, token, "7") },
		"another part":        func() (string, bool) { return Verify(key, "manage", id.Appointment, token, "8") },
		"another id":          func() (string, bool) { return Verify(key, "manage", id.Appointment, id.Body(two)+token[26:], "7") },
		"a changed proof":     func() (string, bool) { return Verify(key, "manage", id.Appointment, token[:51]+"x", "7") },
		"nothing":             func() (string, bool) { return Verify(key, "manage", id.Appointment, "", "7") },
		"no letters of an id": func() (string, bool) { return Verify(key, "manage", id.Appointment, strings.Repeat("!", 52), "7") },
	} {
		if got, ok := open(); ok || got != "" {
			t.Errorf("%s opens %s", name, got)
		}
	}
}
