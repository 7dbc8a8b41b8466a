package identity_test

import (
	"errors"
	"testing"

	"sundry/ports"
)

func TestFindAccount(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, h *fixture) {
		find := func(address string) string {
			t.Helper()
			id, err := h.FindAccount(t.Context(), address)
			if err != nil && !errors.Is(err, ports.ErrNotFound) {
				t.Fatal(err)
			}
			return id
		}
		if got := find(""); got != "" {
			t.Errorf("without accounts the only one is %q", got)
		}
		ada := h.signUp(t, "ada@example.com").Creator.ID
		if got := find(""); got != ada {
			t.Errorf("the only account is %q, want %q", got, ada)
		}
		bob := h.signUp(t, "bob@example.com").Creator.ID
		for address, want := range map[string]string{
			"": "", " Bob@Example.com": bob, "ada@example.com": ada, "eve@example.com": "", "no address": "",
		} {
			if got := find(address); got != want {
				t.Errorf("%q: got %q, want %q", address, got, want)
			}
		}
	})
}
