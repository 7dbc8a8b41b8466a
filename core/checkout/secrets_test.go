package checkout_test

import (
	"strings"
	"testing"
	"time"

	"sundry/core/checkout"
	"sundry/core/secret"
)

func TestAReturnTokenIsGoodForItsSessionAndADay(t *testing.T) {
	t.Parallel()
	secrets := checkout.Secrets{
		Keys:    secret.Fixed([]byte("0123456789abcdef0123456789abcdef")),
		Lasting: []byte("0123456789abcdef0123456789abcdef"),
	}
	const session, other = "cs_01h00000000000000000000000", "cs_01h00000000000000000000001"
	token := secrets.ReturnToken(session, opened)
	end := opened.Add(86400 * time.Second)
	for name, c := range map[string]struct {
		session, token string
		at             time.Time
		want           bool
	}{
		"at once":              {session, token, opened, true},
		"in the last second":   {session, token, end.Add(-time.Second), true},
		"after a day":          {session, token, end, false},
		"for another session":  {other, token, opened, false},
		"changed at its end":   {session, token[:len(token)-2] + "xx", opened, false},
		"longer":               {session, token + "AAAA", opened, false},
		"cut":                  {session, token[:len(token)-4], opened, false},
		"not base64":           {session, strings.Repeat("!", len(token)), opened, false},
		"an end made up later": {session, secrets.ReturnToken(other, opened), opened, false},
		"nothing":              {session, "", opened, false},
	} {
		if got := secrets.CheckReturnToken(c.session, c.token, c.at); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	forged := checkout.Secrets{Keys: secret.Fixed([]byte("another key of thirty-two bytes."))}.ReturnToken(session, opened)
	if secrets.CheckReturnToken(session, forged, opened) {
		t.Error("a token under another key passes")
	}
}

func TestAReceiptSecretOpensItsReceipt(t *testing.T) {
	t.Parallel()
	secrets := checkout.Secrets{
		Keys:    secret.Fixed([]byte("0123456789abcdef0123456789abcdef")),
		Lasting: []byte("0123456789abcdef0123456789abcdef"),
	}
	const session = "cs_01h00000000000000000000000"
	if id, ok := secrets.OpenReceipt(secrets.Receipt(session)); !ok || id != session {
		t.Errorf("%q, %v", id, ok)
	}
}
