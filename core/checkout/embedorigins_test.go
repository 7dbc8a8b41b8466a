package checkout_test

import (
	"slices"
	"strings"
	"testing"

	"sundry/core/checkout"
	"sundry/core/fault"
	"sundry/core/fault/faulttest"
)

func TestEmbedOrigins(t *testing.T) {
	t.Parallel()
	many := make([]string, 21)
	for i := range many {
		many[i] = "https://" + strings.Repeat("a", i+1) + ".example"
	}
	for name, c := range map[string]struct {
		raw    []string
		want   string
		faults []string
	}{
		"none": {nil, "", nil},
		"as browsers write them": {
			[]string{"https://Shop.example:443/", "http://localhost:3000"}, "https://shop.example http://localhost:3000", nil,
		},
		"a path":               {[]string{"https://shop.example/checkout"}, "", []string{"embedOrigins[0] INVALID"}},
		"a query":              {[]string{"https://shop.example?a"}, "", []string{"embedOrigins[0] INVALID"}},
		"a bare domain":        {[]string{"shop.example"}, "", []string{"embedOrigins[0] INVALID"}},
		"plain http elsewhere": {[]string{"http://shop.example"}, "", []string{"embedOrigins[0] INVALID"}},
		"nothing":              {[]string{""}, "", []string{"embedOrigins[0] INVALID"}},
		"two wildcards": {
			[]string{"https://*.example", "https://*.example"}, "",
			[]string{"embedOrigins[0] INVALID", "embedOrigins[1] INVALID"},
		},
		"as many as a header carries": {many[:20], strings.Join(many[:20], " "), nil},
		"a wildcard":                  {[]string{"https://*.example"}, "", []string{"embedOrigins[0] INVALID"}},
		"another directive": {
			[]string{"https://a.example; script-src *"}, "", []string{"embedOrigins[0] INVALID"},
		},
		"a user's name": {[]string{"https://me@shop.example"}, "", []string{"embedOrigins[0] INVALID"}},
		"twice in other words": {
			[]string{"https://a.example", "https://A.example/"}, "", []string{"embedOrigins[1] DUPLICATE"},
		},
		"more than a header carries": {many, "", []string{"embedOrigins TOO_LONG"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var f fault.Violations
			got := checkout.JoinEmbedOrigins(checkout.CleanEmbedOrigins("embedOrigins", c.raw, &f))
			if faults := faulttest.Lines(t, f.Err()); !slices.Equal(faults, c.faults) {
				t.Errorf("got %q, want %q", faults, c.faults)
			}
			if c.faults == nil && (string(got) != c.want || strings.Join(got.List(), " ") != c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
