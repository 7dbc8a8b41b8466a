package config_test

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"sundry/config"
)

func TestTrustedProxies(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		text    string
		trusted string
		not     string
	}{
		"nobody by default": {"", "", "127.0.0.1 10.1.2.3 203.0.113.7"},
		"private networks": {"private", "127.0.0.1 ::1 10.1.2.3 172.31.0.1 192.168.1.1 100.64.0.1 fd00::1",
			"203.0.113.7 172.32.0.1 2001:db8::1"},
		"nobody":      {"none", "", "127.0.0.1 10.1.2.3"},
		"one address": {"203.0.113.7", "203.0.113.7", "203.0.113.8 127.0.0.1"},
		"networks and addresses in a list": {"203.0.113.0/24, 2001:db8::/32, private", "203.0.113.200 2001:db8::1 127.0.0.1",
			"203.0.114.1"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			vars := map[string]string{}
			if c.text != "" {
				vars["TRUSTED_PROXIES"] = c.text
			}
			cfg, err := config.FromMap(vars)
			if err != nil {
				t.Fatal(err)
			}
			trusts := func(address string) bool {
				for _, network := range cfg.Proxies() {
					if network.Contains(netip.MustParseAddr(address)) {
						return true
					}
				}
				return false
			}
			for address := range strings.FieldsSeq(c.trusted) {
				if !trusts(address) {
					t.Errorf("%s is not trusted", address)
				}
			}
			for address := range strings.FieldsSeq(c.not) {
				if trusts(address) {
					t.Errorf("%s is trusted", address)
				}
			}
		})
	}
}

func TestBadProxiesStopTheStart(t *testing.T) {
	t.Parallel()
	_, err := config.FromMap(map[string]string{"TRUSTED_PROXIES": "10.0.0.0/33,proxy.example.com"})
	if got := fmt.Sprint(err); strings.Count(got, "TRUSTED_PROXIES") != 2 || !strings.Contains(got, "10.0.0.0/33") ||
		!strings.Contains(got, "proxy.example.com") {
		t.Errorf("got %v", err)
	}
}
