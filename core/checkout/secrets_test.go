package checkout_test

import (
	"strconv"
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

func TestAPreviewOpensItsListingForADay(t *testing.T) {
	t.Parallel()
	secrets := checkout.Secrets{Keys: secret.Fixed([]byte("0123456789abcdef0123456789abcdef"))}
	const listing, other = "lst_01h00000000000000000000000", "lst_01h00000000000000000000001"
	segments := func(s checkout.Secrets, listing string) (token, until string) {
		all := strings.Split(s.Preview(listing, opened), "/")
		return all[2], all[3]
	}
	token, until := segments(secrets, listing)
	otherToken, _ := segments(secrets, other)
	forged, _ := segments(checkout.Secrets{Keys: secret.Fixed([]byte("another key of thirty-two bytes."))}, listing)
	end := opened.Add(86400 * time.Second)
	later := strconv.FormatInt(end.Unix()+1, 10)
	for name, c := range map[string]struct {
		token, until string
		at           time.Time
		want         string
	}{
		"at once":                         {token, until, opened, listing},
		"in the last second":              {token, until, end.Add(-time.Second), listing},
		"after a day":                     {token, until, end, ""},
		"another listing's":               {otherToken, until, opened, other},
		"of a listing with another proof": {token[:26] + otherToken[26:], until, opened, ""},
		"of another listing by one's own": {otherToken[:26] + token[26:], until, opened, ""},
		"with an end made up later":       {token, later, opened, ""},
		"under another key":               {forged, until, opened, ""},
		"with an end that is no number":   {token, "never", opened, ""},
		"with an end beyond numbers":      {token, "99999999999999999999", opened, ""},
		"nothing":                         {"", until, opened, ""},
		"a session's secret":              {secrets.Checkout("cs_01h00000000000000000000000"), until, opened, ""},
	} {
		if got, ok := secrets.OpenPreview(c.token, c.until, c.at); got != c.want || ok != (c.want != "") {
			t.Errorf("%s: opens %q, want %q", name, got, c.want)
		}
	}
}

// Cards are stored as this and compared for as long as the account exists.
func TestTrialCard_IsOfOneListing(t *testing.T) {
	t.Parallel()
	secrets := checkout.Secrets{
		Keys:    secret.Fixed([]byte("another key of thirty-two bytes.")),
		Lasting: []byte("0123456789abcdef0123456789abcdef"),
	}
	if got := secrets.TrialCard("crt_1", "lst_1", ""); got != "" {
		t.Errorf("a card that is not known: %q", got)
	}
	const want = "7c28df146e1d14f140b7b1837e63f3b1"
	if got := secrets.TrialCard("crt_1", "lst_1", "fp_1"); got != want {
		t.Errorf("got %s, want %s as it is stored", got, want)
	}
	for name, other := range map[string]string{
		"another account": secrets.TrialCard("crt_2", "lst_1", "fp_1"),
		"another listing": secrets.TrialCard("crt_1", "lst_2", "fp_1"),
		"another card":    secrets.TrialCard("crt_1", "lst_1", "fp_2"),
		"another key":     checkout.Secrets{Lasting: make([]byte, 32)}.TrialCard("crt_1", "lst_1", "fp_1"),
	} {
		if other == want {
			t.Errorf("%s has the same card", name)
		}
	}
}
