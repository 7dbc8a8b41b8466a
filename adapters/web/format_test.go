package web

import "testing"

func TestFormats(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ got, want string }{
		"a month":                           {formatInterval("month", 1), "per month"},
		"three months":                      {formatInterval("month", 3), "every 3 months"},
		"a billed year":                     {formatBilled("year", 1), "Billed yearly"},
		"one day":                           {formatDays(1), "1 day"},
		"a fortnight":                       {formatDays(14), "14 days"},
		"yen have no decimals":              {formatMoney(1200, "jpy"), "¥1200"},
		"host without www":                  {hostOf("https://www.shop.example/a?b"), "shop.example"},
		"host keeps a port":                 {hostOf("http://127.0.0.1:3000/x"), "127.0.0.1:3000"},
		"origin of an address":              {originOf("https://shop.example:8443/a#b"), "https://shop.example:8443"},
		"origin drops user info":            {originOf("https://u:p@shop.example/"), "https://shop.example"},
		"no origin of a script":             {originOf("javascript:alert(1)"), ""},
		"no origin of a path":               {originOf("/a"), ""},
		"no origin that would widen policy": {originOf("https://*;script-src/"), ""},
		"origin of an IPv6 address":         {originOf("http://[::1]:3000/a"), "http://[::1]:3000"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.got != c.want {
				t.Errorf("got %q, want %q", c.got, c.want)
			}
		})
	}
}
