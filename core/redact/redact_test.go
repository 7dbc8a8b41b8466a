package redact_test

import (
	"strings"
	"testing"

	"sundry/core/redact"
)

func TestWhatOpensSomethingIsHidden(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, secret string }{
		"a password in an address":    {`connect to "postgres://ada:hunter2@db:5432/sundry": refused`, "hunter2"},
		"a password with an at sign":  {"smtp://ada:hunt@er2@mail.example.com failed", "er2@"},
		"a user alone in an address":  {"redis://hunter2@cache:6379", "hunter2"},
		"a secret key":                {"key sk_test_4eC39HqLyjWDarjtT1zdp7dc9aB2 is revoked", "4eC39"},
		"a live key of the processor": {"Invalid API Key provided: rk_live_51H8aaaa", "51H8"},
		"a signing secret":            {"sign with whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD/=", "C2FV"},
		"a refresh token":             {"rt_01jqz5y2c4e6g8h0k2m4p6r8s0_abcDEF-_9", "abcDEF"},
		"a client secret":             {"pi_3MtwBw_secret_YrKJUKribcBjcG8HVhfZluoGH", "YrKJ"},
		"an access token": {"token eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJjcnRfMSJ9.c2lnbmF0dXJl expired",
			"c2ln"},
		"a header":                          {"Authorization: Bearer abcdefgh.12345678", "abcdefgh"},
		"a header of the other kind":        {"authorization: basic YWRhOmh1bnRlcjI=", "YWRh"},
		"a password of a connection string": {"host=db user=ada password=hunter2 dbname=sundry", "hunter2"},
		"a token in a query": {"GET https://shop.example/back?return_token=AAAB-x_y&checkout_id=cs_1",
			"AAAB"},
		"a value in JSON": {`{"client_secret": "hunter2", "id": 1}`, "hunter2"},
		"a checkout's link": {"https://pay.example.com/c/" + strings.Repeat("01jqz5y2c4e6g8h0k2m4p6r8s0",
			2), "01jqz5y2c4e6g8h0k2m4p6r8s001jqz5y2c4e6g8h0k2m4p6r8s0"},
		"a card number":                         {"card 4242424242424242 declined", "42424242"},
		"a card number in groups":               {"card 4000-0000 0000 0002 declined", "0000 0000"},
		"an address of the operator's":          {"dial tcp 10.0.0.3:5432: connect: connection refused", "10.0.0.3"},
		"both addresses of a connection":        {"read tcp 10.0.0.2:4000->10.0.0.3:5432: i/o timeout", "10.0.0"},
		"a secret beside one that is masked":    {"whsec_AAAAAAAA and sk_live_BBBBBBBB", "BBBB"},
		"a password that looks like markup":     {"password='<b>hunter2'", "hunter2"},
		"an upper-case name":                    {"APP_SECRET=0123456789abcdef is short", "0123"},
		"a name within a name":                  {"STRIPE_WEBHOOK_SECRET: hunter2", "hunter2"},
		"a feed address with a signed response": {"https://pay.example.com/a/apt_1?signature=deadbeef", "deadbeef"},
	} {
		got := redact.Text(c.text)
		if strings.Contains(got, c.secret) || !strings.Contains(got, "[hidden]") {
			t.Errorf("%s: %s", name, got)
		}
		if again := redact.Text(got); strings.Count(again, "[hidden]") != strings.Count(got, "[hidden]") {
			t.Errorf("%s: hidden again, %s", name, again)
		}
	}
}

func TestWhatOpensNothingStays(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "reconcile pay_01jqz5y2c4e6g8h0k2m4p6r8s0: the card processor does not respond",
		"deliver dlv_01jqz5y2c4e6g8h0k2m4p6r8s0: ERROR: deadlock detected (SQLSTATE 40P01)",
		`no handler for task kind "x"`, "send mail mail_01jqz5y2c4e6g8h0k2m4p6r8s0: the mail server: sending SMTP RCPT TO " +
			"command: 451 \"4.7.1 later\"",
		"https://hooks.example.com/in?shop=1 responded with 500", "task webhook.deliver:we_1/dlv_1 panicked: index out of " +
			"range [3] with length 3",
		"task fenced", "due at 1767225600000", "the bearer of this letter",
	} {
		if got := redact.Text(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}
