package email_test

import (
	"strings"
	"testing"

	"sundry/core/email"
)

func TestParse(t *testing.T) {
	t.Parallel()
	label := strings.Repeat("a", 63)
	cases := map[string]struct {
		text string
		want string // "" when it is no address
	}{
		"a plain address is one":                  {"ada@example.com", "ada@example.com"},
		"case and surrounding space do not count": {"  Ada.Lovelace@Example.COM\n", "ada.lovelace@example.com"},
		"tags and odd characters of providers pass": {"a+b_c-d.e'f!#$%&*/=?^`{|}~@example.co.uk",
			"a+b_c-d.e'f!#$%&*/=?^`{|}~@example.co.uk"},
		"letters of other scripts pass":       {"дмитрий@пример.рф", "дмитрий@пример.рф"},
		"letters may be composed":             {"a@cafe\u0301.fr", "a@cafe\u0301.fr"},
		"a domain may be written in punycode": {"a@xn--e1afmkfd.xn--p1ai", "a@xn--e1afmkfd.xn--p1ai"},
		"254 bytes are an address": {"a@" + strings.Repeat(label+".", 3) + strings.Repeat("b", 60), "a@" +
			strings.Repeat(label+".", 3) + strings.Repeat("b", 60)},
		"255 bytes are not":                          {"a@" + strings.Repeat(label+".", 3) + strings.Repeat("b", 61), ""},
		"64 bytes before the at sign are an address": {strings.Repeat("a", 64) + "@b.c", strings.Repeat("a", 64) + "@b.c"},
		"65 bytes before the at sign are not":        {strings.Repeat("a", 65) + "@b.c", ""},
		"nothing is not an address":                  {"", ""},
		"a name alone is not":                        {"ada", ""},
		"a domain alone is not":                      {"@example.com", ""},
		"a missing domain is not":                    {"ada@", ""},
		"a domain of one label is not":               {"ada@localhost", ""},
		"two at signs are not":                       {"ada@home@example.com", ""},
		"inner space is not":                         {"ada lovelace@example.com", ""},
		"a no-break space is not":                    {"ada\u00a0lovelace@example.com", ""},
		"a line break is not":                        {"ada\r\nbcc:eve@example.com", ""},
		"a control character is not":                 {"ada\x00@example.com", ""},
		"invalid UTF-8 is not":                       {"ada\xff@example.com", ""},
		"a display name is not":                      {"Ada <ada@example.com>", ""},
		"two addresses are not":                      {"ada@example.com,bob@example.com", ""},
		"an empty label is not":                      {"ada@example..com", ""},
		"a trailing dot is not":                      {"ada@example.com.", ""},
		"a label that begins with a hyphen is not":   {"ada@-example.com", ""},
		"a label that ends with a hyphen is not":     {"ada@example-.com", ""},
		"a label of 64 bytes is not":                 {"ada@" + label + "a.com", ""},
		"an underscore in the domain is not":         {"ada@ex_ample.com", ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, ok := email.Parse(c.text)
			if ok != (c.want != "") || ok && got != c.want {
				t.Errorf("Parse(%q) = %q, %v; want %q", c.text, got, ok, c.want)
			}
			if normal := strings.ToLower(strings.TrimSpace(c.text)); got != normal {
				t.Errorf("Parse(%q) = %q, want %q, address or not", c.text, got, normal)
			}
		})
	}
}

// An address that was accepted is its own normal form and is safe in a mail header.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"", "ada@example.com", " A@B.C ", "İ@example.com", "a@b.c\r\n", "ſ@K.c", "@@",
		"a@\u0301.c"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		address, ok := email.Parse(text)
		if !ok {
			return
		}
		if again, ok := email.Parse(address); !ok || again != address {
			t.Errorf("Parse(%q) = %q, whose own normal form is %q, %v", text, address, again, ok)
		}
		if len(address) > email.MaxLength || strings.ContainsAny(address, "\r\n\x00 <>,;") ||
			strings.Count(address, "@") != 1 {
			t.Errorf("Parse(%q) accepted %q", text, address)
		}
	})
}
