package customer_test

import (
	"strings"
	"testing"
	"time"

	"sundry/core/customer"
	"sundry/core/secret"
)

func TestAPortalLinkOpensOnlyWhatWasSealed(t *testing.T) {
	t.Parallel()
	key, other := customer.PortalKeys(secret.Fixed(make([]byte, 32))),
		customer.PortalKeys(secret.Fixed([]byte(strings.Repeat("x", 32))))
	link := customer.PortalLink{CustomerID: "cus_1", ReturnURL: "https://shop.example/a?b=c", ExpiresAt: 1000}
	token, err := key.Sign(link)
	if err != nil {
		t.Fatal(err)
	}
	if got, ok := key.Open(token); !ok || got != link {
		t.Errorf("%+v, %v", got, ok)
	}
	if _, ok := other.Open(token); ok {
		t.Error("another key opens it")
	}
	for _, forged := range []string{"", ".", "x", token + "x", "x" + token, strings.Replace(token, ".", "", 1)} {
		if _, ok := key.Open(forged); ok {
			t.Errorf("%q opens", forged)
		}
	}
	if asks := (customer.PortalLink{CustomerID: "cus_1"}); link.Asks() || !asks.Asks() || !asks.Expired(time.Unix(1, 0)) {
		t.Error("only a link without an end is no key")
	}
	if link.Expired(time.Unix(999, 0)) || !link.Expired(time.Unix(1000, 0)) {
		t.Error("it does not end at its time")
	}
}
