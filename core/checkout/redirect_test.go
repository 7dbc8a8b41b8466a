package checkout_test

import (
	"errors"
	"net/url"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sundry/core/checkout"
	"sundry/core/fault"
)

func redirectFaults(raw string, sandbox bool) []fault.Detail {
	var f fault.Violations
	checkout.ValidateRedirectURL("successUrl", raw, sandbox, &f)
	if e, ok := errors.AsType[*fault.Error](f.Err()); ok {
		return e.Details
	}
	return nil
}

func TestRedirectURLsAccepted(t *testing.T) {
	t.Parallel()
	const sandboxOnly, everywhere = true, false
	for name, c := range map[string]struct {
		raw         string
		sandboxOnly bool
	}{
		"plain":                            {"https://example.com", everywhere},
		"path, query and fragment":         {"https://example.com/a/b?c=d&e#f?g", everywhere},
		"a port":                           {"https://example.com:8443/", everywhere},
		"an upper-case scheme and host":    {"HTTPS://EXAMPLE.com/", everywhere},
		"a query without a path":           {"https://example.com?a=b", everywhere},
		"an international name":            {"https://xn--mnchen-3ya.de/", everywhere},
		"letters beyond ASCII in the path": {"https://example.com/grüße?naïve=ja", everywhere},
		"an at sign in path and query":     {"https://example.com/@me?mail=a@b.c#@", everywhere},
		"a bare percent in the query":      {"https://example.com/?off=100%", everywhere},
		"a placeholder in path and query":  {"https://example.com/{CHECKOUT_SESSION_ID}?s={CHECKOUT_SESSION_ID}", everywhere},
		"an escaped placeholder":           {"https://example.com/%7BCHECKOUT_SESSION_ID%7d", everywhere},
		"a host of 253 characters":         {"https://" + strings.Repeat("a.", 126) + "b/", everywhere},
		"a public address":                 {"https://203.0.113.7/", everywhere},
		"an IPv6 address":                  {"https://[2001:db8::1]:8443/", everywhere},
		"2048 characters, not bytes":       {"https://example.com/" + strings.Repeat("é", 2028), everywhere},
		"https to localhost":               {"https://localhost/", everywhere},
		"http to localhost":                {"http://localhost:3000/done", sandboxOnly},
		"http to Localhost":                {"http://LocalHost/", sandboxOnly},
		"http to 127.0.0.1":                {"http://127.0.0.1:8080/", sandboxOnly},
		"http to another 127 address":      {"http://127.9.8.7/", sandboxOnly},
		"http to ::1":                      {"http://[::1]:5173/", sandboxOnly},
		"http to ::1 in full":              {"http://[0:0:0:0:0:0:0:1]/", sandboxOnly},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := redirectFaults(c.raw, true); got != nil {
				t.Errorf("refused in the sandbox: %v", got)
			}
			if got := redirectFaults(c.raw, false); (got != nil) != c.sandboxOnly {
				t.Errorf("live: %v", got)
			}
		})
	}
}

func TestRedirectURLsRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ raw, message string }{
		"nothing":                              {"", "required"},
		"a path":                               {"/thanks", "absolute"},
		"no scheme":                            {"example.com/thanks", "absolute"},
		"a scheme-relative URL":                {"//example.com/", "absolute"},
		"a scheme without slashes":             {"https:example.com", "absolute"},
		"one slash":                            {"https:/example.com", "absolute"},
		"the scheme further on":                {"/x?to=https://example.com", "absolute"},
		"script":                               {"javascript:alert(1)", "absolute"},
		"script that looks absolute":           {"javascript://example.com/%0aalert(1)", "https"},
		"data":                                 {"data:text/html,x", "absolute"},
		"an app's scheme":                      {"myapp://done", "https"},
		"an app's scheme to this machine":      {"myapp://localhost/", "https"},
		"a host of 254 characters":             {"https://" + strings.Repeat("a.", 126) + "bc/", "host or port"},
		"an IPv6 address that a port ends":     {"https://[::1:8080/", "host or port"},
		"http to another machine":              {"http://example.com/", "localhost"},
		"http to a name below localhost":       {"http://localhost.example.com/", "localhost"},
		"http to a name that ends so":          {"http://evil-localhost/", "localhost"},
		"http to a private address":            {"http://192.168.0.1/", "localhost"},
		"http to a mapped loopback address":    {"http://[::ffff:127.0.0.1]/", "localhost"},
		"a user name":                          {"https://ada@example.com/", "user name"},
		"user name and password":               {"https://ada:secret@example.com/", "user name"},
		"empty user info":                      {"https://@example.com/", "user name"},
		"another host before the at sign":      {"https://example.com@evil.example/", "user name"},
		"no host":                              {"https:///path", "no host"},
		"no host but a query":                  {"https://?a=b", "no host"},
		"a port alone":                         {"https://:443/", "host or port"},
		"an empty port":                        {"https://example.com:/", "host or port"},
		"port zero":                            {"https://example.com:0/", "host or port"},
		"a port too high":                      {"https://example.com:65536/", "host or port"},
		"a port that is no number":             {"https://example.com:http/", "host or port"},
		"an empty label":                       {"https://example..com/", "host or port"},
		"a label too long":                     {"https://" + strings.Repeat("a", 64) + ".com/", "host or port"},
		"an escaped host":                      {"https://ex%61mple.com/", "host or port"},
		"an international name in plain":       {"https://münchen.de/", "xn--"},
		"a full-width dot":                     {"https://example。com/", "xn--"},
		"quotes in the host":                   {`https://exa"mple.com/`, "host or port"},
		"a policy smuggled into the host":      {"https://example.com;script-src/", "host or port"},
		"a short spelling of an address":       {"https://127.1/", "host or port"},
		"an address as one number":             {"https://2130706433/", "host or port"},
		"an address in hexadecimal":            {"https://0x7f.0.0.0x1/", "host or port"},
		"an IPv6 address without its end":      {"https://[::1/", "host or port"},
		"an IPv6 address with a zone":          {"https://[fe80::1%25eth0]/", "host or port"},
		"IPv4 in brackets":                     {"https://[127.0.0.1]/", "host or port"},
		"a space":                              {"https://example.com/a b", "white space"},
		"a leading space":                      {" https://example.com/", "white space"},
		"a line end":                           {"https://example.com/\r\nSet-Cookie: a=b", "white space"},
		"a tab within the scheme":              {"htt\tps://example.com/", "white space"},
		"a NUL":                                {"https://example.com/\x00", "white space"},
		"a delete character":                   {"https://example.com/\x7f", "white space"},
		"a no-break space":                     {"https://example.com/\u00a0", "white space"},
		"a change of writing direction":        {"https://example.com/\u202egpj.exe", "white space"},
		"invalid UTF-8":                        {"https://example.com/\xff", "white space"},
		"a backslash for the slash":            {`https:\\example.com\`, "backslash"},
		"a backslash before the at sign":       {`https://evil.example\@example.com/`, "backslash"},
		"2049 characters":                      {"https://example.com/" + strings.Repeat("a", 2029), "2048"},
		"a placeholder in the host":            {"https://{CHECKOUT_SESSION_ID}.example.com/", "not in the host"},
		"an escaped placeholder in the host":   {"https://%7BCHECKOUT_SESSION_ID%7D.example.com/", "not in the host"},
		"a percent without digits in the path": {"https://example.com/100%", "%25"},
		"a percent in the fragment":            {"https://example.com/#%zz", "%25"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, sandbox := range []bool{true, false} {
				got := redirectFaults(c.raw, sandbox)
				if len(got) == 0 {
					t.Fatalf("accepted (sandbox %t)", sandbox)
				}
				for _, d := range got {
					if d.Field != "successUrl" || strings.Contains(d.Message, "secret") {
						t.Errorf("detail %+v", d)
					}
				}
				if sandbox && !strings.Contains(got[0].Message, c.message) {
					t.Errorf("no %q in %q", c.message, got[0].Message)
				}
			}
		})
	}
	for raw, want := range map[string]int{"http://ada@example.com/%": 3, "https://a@b/": 1, "https://exa%zz.com/": 1} {
		if got := redirectFaults(raw, true); len(got) != want {
			t.Errorf("%s: %d faults are listed as %v", raw, want, got)
		}
	}
}

func TestReturnURLsHaveNoBraces(t *testing.T) {
	t.Parallel()
	for raw, good := range map[string]bool{
		"https://shop.example/back?id=1":                     true,
		"https://shop.example/back?id=%7Bid%7D":              true,
		"https://shop.example/back?id={CHECKOUT_SESSION_ID}": false,
		"https://shop.example/{id}":                          false,
		"shop://back":                                        false,
	} {
		var f fault.Violations
		checkout.ValidateReturnURL("returnUrl", raw, false, &f)
		if err := f.Err(); (err == nil) != good {
			t.Errorf("%s: %v", raw, err)
		}
	}
}

func TestCancelRedirect(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"":                                     "",
		"https://a.example/?a=+&x=100%#/route": "https://a.example/?a=+&x=100%#/route",
		"https://a.example/{CHECKOUT_SESSION_ID}?checkout_id=1":                    "https://a.example/cs_1?checkout_id=1",
		"https://a.example/%7BCHECKOUT_SESSION_ID%7d?s=%7bCHECKOUT_SESSION_ID%7D#": "https://a.example/cs_1?s=cs_1#",
		"https://a.example/#{CHECKOUT_SESSION_ID}":                                 "https://a.example/#{CHECKOUT_SESSION_ID}",
	} {
		if got := (checkout.State{ID: "cs_1", CancelURL: raw}).CancelRedirect(); got != want {
			t.Errorf("%s: %s, want %s", raw, got, want)
		}
	}
}

func TestBuildRedirect(t *testing.T) {
	t.Parallel()
	const ours = "checkout_id=cs_1&return_token=rt_2"
	for name, c := range map[string]struct{ raw, want string }{
		"a bare host":    {"https://a.example", "https://a.example?" + ours},
		"a path":         {"https://a.example/done", "https://a.example/done?" + ours},
		"an empty query": {"https://a.example/?", "https://a.example/?" + ours},
		"a query keeps order and encoding": {"https://a.example/?b=%20&a=+&b=%2f&flag",
			"https://a.example/?b=%20&a=+&b=%2f&flag&" + ours},
		"even empty and broken parameters": {"https://a.example/?a&&=&x=100%&y;z", "https://a.example/?a&&=&x=100%&y;z&" +
			ours},
		"a fragment stays last": {"https://a.example/p#/route?x=1", "https://a.example/p?" + ours +
			"#/route?x=1"},
		"an empty fragment stays": {"https://a.example/p#", "https://a.example/p?" + ours + "#"},
		"the placeholder in the path": {"https://a.example/o/{CHECKOUT_SESSION_ID}/x", "https://a.example/o/cs_1/x?" +
			ours},
		"the placeholder in the query": {"https://a.example/?s={CHECKOUT_SESSION_ID}", "https://a.example/?s=cs_1&" +
			ours},
		"the placeholder escaped": {"https://a.example/%7BCHECKOUT_SESSION_ID%7d?s=%7bCHECKOUT_SESSION_ID%7D",
			"https://a.example/cs_1?s=cs_1&" + ours},
		"the placeholder half escaped": {"https://a.example/%7BCHECKOUT_SESSION_ID}", "https://a.example/cs_1?" +
			ours},
		"the placeholder many times": {"https://a.example/{CHECKOUT_SESSION_ID}{CHECKOUT_SESSION_ID}",
			"https://a.example/cs_1cs_1?" + ours},
		"not in the fragment": {"https://a.example/#{CHECKOUT_SESSION_ID}", "https://a.example/?" + ours +
			"#{CHECKOUT_SESSION_ID}"},
		"not escaped twice": {"https://a.example/%257BCHECKOUT_SESSION_ID%257D",
			"https://a.example/%257BCHECKOUT_SESSION_ID%257D?" + ours},
		"not in another case": {"https://a.example/{checkout_session_id}",
			"https://a.example/{checkout_session_id}?" + ours},
		"parameters of ours are dropped": {"https://a.example/?checkout_id=x&a=b&return_token=y&checkout_id",
			"https://a.example/?a=b&" + ours},
		"in any escaping": {"https://a.example/?checkout%5Fid=x&%72eturn_token=y", "https://a.example/?" +
			ours},
		"even with the placeholder": {"https://a.example/?checkout_id={CHECKOUT_SESSION_ID}",
			"https://a.example/?" + ours},
		"but not their likes": {"https://a.example/?my_checkout_id=x&Checkout_id=y",
			"https://a.example/?my_checkout_id=x&Checkout_id=y&" + ours},
		"a question mark within the query": {"https://a.example/?a=b?c", "https://a.example/?a=b?c&" + ours},
		"a slash and colons within the query": {"https://a.example?to=http://b.example/",
			"https://a.example?to=http://b.example/&" + ours},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := checkout.BuildRedirect(c.raw, "cs_1", "rt_2"); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
	if got := checkout.BuildRedirect("https://a.example/{CHECKOUT_SESSION_ID}?{CHECKOUT_SESSION_ID}", "a/b&c",
		"d+e="); got !=
		"https://a.example/a%2Fb&c?a%2Fb%26c&checkout_id=a%2Fb%26c&return_token=d%2Be%3D" {
		t.Errorf("values are not escaped: %s", got)
	}
}

func TestOrigin(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"https://example.com":                       "https://example.com",
		"https://Example.com:8443/a?b#c":            "https://example.com:8443",
		"https://example.com:443/":                  "https://example.com",
		"https://example.com:0443/":                 "https://example.com",
		"http://localhost:80/":                      "http://localhost",
		"https://example.com:80/":                   "https://example.com:80",
		"https":                                     "",
		"http://localhost:443?x":                    "http://localhost:443",
		"HTTPS://[2001:DB8:0::1]:1/":                "https://[2001:db8::1]:1",
		"https://example.com/{CHECKOUT_SESSION_ID}": "https://example.com",
		"https://ada@example.com/":                  "",
		"https://exam ple.com/":                     "",
		"https://example.com;x/":                    "",
		"https://":                                  "",
		"ftp://example.com/":                        "",
		"javascript:alert(1)":                       "",
		"":                                          "",
	} {
		if got, ok := checkout.Origin(raw); got != want || ok != (want != "") {
			t.Errorf("Origin(%q) = %q, %t; want %q", raw, got, ok, want)
		}
	}
}

// checkRedirect fails unless the redirect built from an accepted URL is sound.
func checkRedirect(t interface{ Fatalf(string, ...any) }, raw, checkoutID, token string) {
	built := checkout.BuildRedirect(raw, checkoutID, token)
	before, err := url.Parse(raw)
	if err != nil {
		t.Fatalf("%q was accepted but does not parse: %v", raw, err)
	}
	after, err := url.Parse(built)
	if err != nil {
		t.Fatalf("%q becomes %q: %v", raw, built, err)
	}
	if before.Scheme != after.Scheme || before.Host != after.Host || after.User != nil ||
		before.EscapedFragment() != after.EscapedFragment() {
		t.Fatalf("%q becomes %q: scheme, host or fragment changed", raw, built)
	}
	query := after.Query()
	if ids := query["checkout_id"]; len(ids) != 1 || ids[0] != checkoutID {
		t.Fatalf("%q becomes %q: checkout_id %q", raw, built, ids)
	}
	if tokens := query["return_token"]; len(tokens) != 1 || tokens[0] != token {
		t.Fatalf("%q becomes %q: return_token %q", raw, built, tokens)
	}
	if again := checkout.BuildRedirect(built, checkoutID, token); again != built {
		t.Fatalf("%q becomes %q, and then %q", raw, built, again)
	}
	a, okA := checkout.Origin(raw)
	b, okB := checkout.Origin(built)
	if !okA || !okB || a != b {
		t.Fatalf("the origin of %q is %q, of %q %q", raw, a, built, b)
	}
}

func TestRedirectsAreSound(t *testing.T) {
	t.Parallel()
	part := rapid.SampledFrom([]string{"a", "=", "&", "&&", "/", "%20", "%7B", "{CHECKOUT_SESSION_ID}",
		"%7bCHECKOUT_SESSION_ID%7D",
		"checkout_id", "return_token", "checkout%5fid=1", "&checkout_id=2&", "é", "+", ";", ":", "@", "?", "://", ".", "[]",
		"'"})
	text := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(part, 0, 12).Draw(t, "parts"), "")
	})
	rapid.Check(t, func(t *rapid.T) {
		raw := rapid.SampledFrom([]string{"https://", "HTTPS://", "http://"}).Draw(t, "scheme") +
			rapid.SampledFrom([]string{"localhost", "127.0.0.1:8080", "[::1]", "LOCALHOST:443"}).Draw(t, "host")
		if rapid.Bool().Draw(t, "has path") {
			raw += "/" + strings.ReplaceAll(text.Draw(t, "path"), "?", "")
		}
		if rapid.Bool().Draw(t, "has query") {
			raw += "?" + text.Draw(t, "query")
		}
		if rapid.Bool().Draw(t, "has fragment") {
			raw += "#" + text.Draw(t, "fragment")
		}
		if faults := redirectFaults(raw, true); faults != nil {
			t.Fatalf("%q is refused: %v", raw, faults)
		}
		checkRedirect(t, raw, rapid.StringMatching(`cs_[0-9a-z]{26}`).Draw(t, "id"), rapid.String().Draw(t, "token"))
	})
}

func FuzzRedirect(f *testing.F) {
	for _, seed := range []string{
		"https://example.com/{CHECKOUT_SESSION_ID}?a=b#c", "http://localhost:3000/?checkout%5fid=1", "https://[::1]:443",
		"https://a@b", "https://example.com\\@evil", "https://example.com/%7bCHECKOUT_SESSION_ID%7D?%zz", "//x",
		"https://1.2",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		_ = checkout.BuildRedirect(raw, "cs_1", "rt_1")
		_, _ = checkout.Origin(raw)
		if redirectFaults(raw, true) == nil {
			checkRedirect(t, raw, "cs_1", "rt_1")
		}
	})
}
