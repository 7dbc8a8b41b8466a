package stripepay_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"testing"
	"time"

	"sundry/adapters/stripepay"
)

// Nothing that is not signed is read, and what is signed never breaks the reader.
func FuzzVerify(f *testing.F) {
	for _, seed := range []string{
		`{"id":"evt_1","type":"refund.updated","data":{"object":{"id":"re_1","metadata":{"payment_id":"pay_1"}}}}`,
		`{"id":"evt_1","account":"acct_1","type":"account.updated"}`, `{"id":"","data":null}`, `[]`, ``, `{"data":{"object":1}}`,
	} {
		f.Add([]byte(seed), "t=1,v1=00")
	}
	now := time.Unix(1_800_000_000, 0)
	p := stripepay.New(stripepay.Config{WebhookSecret: "whsec_1", ConnectWebhookSecret: "whsec_2"})
	f.Fuzz(func(t *testing.T, payload []byte, signature string) {
		if e, ok, err := p.Verify(payload, signature, now); ok || err == nil {
			t.Errorf("%q with %q is read as %+v", payload, signature, e)
		}
		mac := hmac.New(sha256.New, []byte("whsec_1"))
		_, _ = fmt.Fprintf(mac, "%d.%s", now.Unix(), payload)
		signed := fmt.Sprintf("t=%d,v1=%s", now.Unix(), hex.EncodeToString(mac.Sum(nil)))
		if e, ok, err := p.Verify(payload, signed, now); ok && (err != nil || e.ID == "" || e.Kind == "") {
			t.Errorf("%q is taken as %+v, %v", payload, e, err)
		}
	})
}
