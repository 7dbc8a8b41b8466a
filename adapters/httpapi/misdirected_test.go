package httpapi

import (
	"encoding/base64"
	"testing"

	"sundry/core/identity"
)

func TestCellsAreReadFromRequests(t *testing.T) {
	t.Parallel()
	token := "e30." + base64.RawURLEncoding.EncodeToString([]byte(`{"sub":"crt_1","cell":7}`)) + ".c2ln"
	before := "e30." + base64.RawURLEncoding.EncodeToString([]byte(`{"sub":"crt_1"}`)) + ".c2ln"
	for credential, want := range map[string]int{
		identity.NewKey(false, 1023, make([]byte, identity.KeyEntropy)): 1023,
		token: 7, before: -1, "sk_test_x": -1, "a.b.c": -1, "": -1,
	} {
		if cell, ok := cellOfCredential(credential); ok != (want >= 0) || ok && int(cell) != want {
			t.Errorf("credential %q: cell %d, %t; want %d", credential, cell, ok, want)
		}
	}
	const random = "zzzzzzzzzzzzzz"
	for segment, want := range map[string]int{
		"cs_01hzzzzzzz07" + random: 7, "01hzzzzzzz10" + random + "01hzzzzzzzzzzzzzzzzzzzzzzz": 32, "0z" + random: 31,
		"poster": -1, "cs_01hzzzzzzz": -1, "uu" + random: -1, "01hzzzzzzz10" + random: -1,
	} {
		if cell, ok := cellOfSegment(segment); ok != (want >= 0) || ok && int(cell) != want {
			t.Errorf("segment %q: cell %d, %t; want %d", segment, cell, ok, want)
		}
	}
}
