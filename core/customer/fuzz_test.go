package customer

import (
	"testing"

	"sundry/core/secret"
)

func FuzzOpen(f *testing.F) {
	keys := PortalKeys(secret.Fixed(make([]byte, 32)))
	given, err := keys.Sign(PortalLink{CustomerID: "cus_1", ExpiresAt: 1})
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{given, "", ".", given + ".", "e30." + portalProof([]byte{1}, "e30")} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, token string) {
		if link, ok := keys.Open(token); ok && token != given {
			t.Errorf("%q opens %+v", token, link)
		}
	})
}
