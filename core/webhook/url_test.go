package webhook_test

import (
	"errors"
	"net/netip"
	"strings"
	"testing"

	"sundry/core/fault"
	"sundry/core/webhook"
)

func TestOnlyPublicHTTPSAddressesAreTaken(t *testing.T) {
	t.Parallel()
	for raw, good := range map[string]bool{
		"https://hooks.example.com/sundry":                 true,
		"https://hooks.example.com:8443/a?b=c":             true,
		"https://93.184.216.34/":                           true,
		"https://[2606:4700::1111]/":                       true,
		"http://hooks.example.com/":                        false,
		"https://hooks.example.com/{id}":                   false,
		"https://hooks.example.com/%7Bid%7D":               true,
		"ftp://hooks.example.com/":                         false,
		"https://user:pass@example.com/":                   false,
		"https://example.com/#part":                        false,
		"https://localhost/":                               false,
		"https://LOCALHOST./":                              false,
		"https://a.localhost/":                             false,
		"https://printer.local/":                           false,
		"https://metadata.google.internal/":                false,
		"https://intranet/":                                false,
		"https://wiki.intranet/":                           false,
		"https://nas.localdomain/":                         false,
		"https://nas.lan/":                                 false,
		"https://a.metadata/":                              false,
		"https://127.0.0.1/":                               false,
		"https://127.1/":                                   false,
		"https://0x7f.0.0.1/":                              false,
		"https://0177.0.0.1/":                              false,
		"https://2130706433/":                              false,
		"https://0x7f000001/":                              false,
		"https://10.1.2.3/":                                false,
		"https://169.254.169.254/latest":                   false,
		"https://[::1]/":                                   false,
		"https://[::ffff:127.0.0.1]/":                      false,
		"https://[::ffff:a9fe:a9fe]/":                      false,
		"https://[64:ff9b::7f00:1]/":                       false,
		"https://[64:ff9b:1:7f00:0:100:808:808]/":          false, // 127.0.0.1, by RFC 6052
		"https://[2002:7f00:1::]/":                         false,
		"https://[fe80::1]/":                               false,
		"https://[fd00::1]/":                               false,
		"https://0.0.0.0/":                                 false,
		"https://hooks.example.com./":                      true,
		"https://a_b.example.com/":                         true,
		"https://xn--mller-kva.example/":                   true,
		"https://müller.example/":                          false,
		"https://a.ｌocalhost/":                             false,
		"https://169.254.169.２54/":                         false,
		"https://127。0。0。1/":                               false,
		"https://a.loca\u00adlhost/":                       false,
		"https://%ef%bd%8c.example.com/":                   false,
		"https://localhost../":                             false,
		"https://127.0.0.1../":                             false,
		"https://127.0.0.1./":                              false,
		"https://a..example.com/":                          false,
		"https://.example.com/":                            false,
		"https://a-.example.com/":                          true,
		"https://a!b.example.com/":                         false,
		"https://1.2.3.4.5/":                               false,
		"https://127.0.0.4294967297/":                      false,
		"https://127.0.0.09/":                              false,
		"https://example.0x7f/":                            false,
		"https://example.0x/":                              false,
		"https://8.8.2056/":                                true, // 8.8.8.8, as inet_aton reads it
		"https://":                                         false,
		"//example.com":                                    false,
		"https://exam ple.com/":                            false,
		"https://example.com\\@evil.com/":                  false,
		"https://example.com:99999/":                       false,
		"https://example.com:65536/":                       false,
		"https://example.com:65535/":                       true,
		"https://example.com:1/":                           true,
		"https://example.com:0/":                           false,
		"https://example.com/a b":                          false,
		"https://example.com/a\\b":                         false,
		"https://example.com/" + strings.Repeat("a", 2028): true,
		"https://example.com/" + strings.Repeat("a", 2029): false,
		"https://" + strings.Repeat(strings.Repeat("a", 63)+".", 3) + strings.Repeat("b", 61) + "/": true, // 253 characters
		"https://" + strings.Repeat(strings.Repeat("a", 63)+".", 3) + strings.Repeat("b", 62) + "/": false,
		"https://" + strings.Repeat("a", 64) + ".example.com/":                                      false,
		"https://AZaz09-_.example.com/":                                                             true,
		"https://a;b.example.com/":                                                                  false,
		"https://a~b.example.com/":                                                                  false,
		"https://example.1-2/":                                                                      true,
		"https://example.0/":                                                                        false,
		"https://example.0xg/":                                                                      true,
		"https://example.0x_/":                                                                      true,
		"https://example.0xa/":                                                                      false,
		"https://example.cafe/":                                                                     true,
		"https://home.arpa/":                                                                        false,
		"https://a.b.c.example.com/":                                                                true,
		"https://0x8.8.8.8/":                                                                        true,
		// not octal, so 8.8.8.8
		"https://8.8.8.08/":                 true,
		"https://0169.254.1.1/":             false, // not octal, so 169.254.1.1
		"https://4429711368/":               false, // 8.8.8.8 after 32 bits
		"https://192.11010305/":             false, // 192.168.1.1
		"https://0xa.0.0.1/":                false,
		"https://0xac.16.0.1/":              false,
		"https://0xc6.51.100.1/":            false,
		"https://[2002:ac10:1::]/":          false,
		"https://192.0168.1.1/":             false, // not octal, so 192.168.1.1
		"https://168.63.33040/":             false, // 168.63.129.16
		"https://A.LOCALHOST/":              false,
		"https://Printer.Local./":           false,
		"https://Metadata.Google.INTERNAL/": false,
		"https://example.0XA/":              false,
		"https://example.0xA/":              false,
		"https://a[b.example.com/":          false,
	} {
		var f fault.Violations
		webhook.CheckURL("url", raw, webhook.Policy{}, &f)
		if (f.Err() == nil) != good {
			t.Errorf("%s: %v, want good %v", raw, f.Err(), good)
		}
	}
}

func TestSandboxPolicyAdmitsLoopbackAndPrivate(t *testing.T) {
	t.Parallel()
	for raw, good := range map[string]bool{
		"http://127.0.0.1:9999/hook":               true,
		"http://localhost/":                        true,
		"http://receiver:8000/":                    true,
		"http://[::1]/":                            true,
		"http://[::ffff:10.0.0.1]/":                true,
		"https://192.168.1.5/":                     true,
		"http://[fd00::1]/":                        true,
		"http://169.254.169.254/latest/meta-data/": false,
		"http://[::ffff:169.254.169.254]/":         false,
		"http://2852039166/":                       false,
		"http://[fd00:ec2::254]/":                  false,
		"http://168.63.129.16/metadata":            false,
		"http://[fe80::1]/":                        false,
		"http://224.0.0.1/":                        false,
		"http://0.0.0.0/":                          false,
		"http://user@localhost/":                   false,
		"ftp://localhost/":                         false,
	} {
		var f fault.Violations
		webhook.CheckURL("url", raw, webhook.Policy{Private: true}, &f)
		if (f.Err() == nil) != good {
			t.Errorf("%s: %v, want good %v", raw, f.Err(), good)
		}
	}
}

func TestPublicAddressesAreNotRefused(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"8.8.8.8", "1.1.1.1", "2606:4700::1111", "64:ff9b::808:808", "2002:808:808::1",
		"::ffff:8.8.8.8", "::808:808"} {
		if webhook.IsBlockedAddr(netip.MustParseAddr(s), webhook.Policy{}) {
			t.Errorf("%s is refused", s)
		}
	}
}

// The ranges are those of IANA's registries of special-purpose addresses.
func TestSpecialRangesAreRefusedFromEndToEnd(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ before, first, last, after string }{ // "" where the neighbor is refused, too
		{"", "0.0.0.0", "0.255.255.255", "1.0.0.0"},
		{"9.255.255.255", "10.0.0.0", "10.255.255.255", "11.0.0.0"},
		{"100.63.255.255", "100.64.0.0", "100.127.255.255", "100.128.0.0"},
		{"126.255.255.255", "127.0.0.0", "127.255.255.255", "128.0.0.0"},
		{"168.63.129.15", "168.63.129.16", "168.63.129.16", "168.63.129.17"},
		{"169.253.255.255", "169.254.0.0", "169.254.255.255", "169.255.0.0"},
		{"172.15.255.255", "172.16.0.0", "172.31.255.255", "172.32.0.0"},
		{"191.255.255.255", "192.0.0.0", "192.0.0.255", "192.0.1.0"},
		{"192.0.1.255", "192.0.2.0", "192.0.2.255", "192.0.3.0"},
		{"192.88.98.255", "192.88.99.0", "192.88.99.255", "192.88.100.0"},
		{"192.167.255.255", "192.168.0.0", "192.168.255.255", "192.169.0.0"},
		{"198.17.255.255", "198.18.0.0", "198.19.255.255", "198.20.0.0"},
		{"198.51.99.255", "198.51.100.0", "198.51.100.255", "198.51.101.0"},
		{"203.0.112.255", "203.0.113.0", "203.0.113.255", "203.0.114.0"},
		{"223.255.255.255", "224.0.0.0", "255.255.255.255", ""},
		{"", "::", "::1", ""},
		{"", "100::", "100::ffff:ffff:ffff:ffff", ""},
		{"", "2001::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", "2001:200::"},
		{"2001:db7:ffff::", "2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", "2001:db9::"},
		{"3ffe:ffff::", "3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", "3fff:1000::"},
		{"", "4000::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", ""}, // all but global unicast
	} {
		for address, refused := range map[string]bool{c.before: false, c.first: true, c.last: true, c.after: false} {
			if address == "" {
				continue
			}
			if got := webhook.IsBlockedAddr(netip.MustParseAddr(address), webhook.Policy{}); got != refused {
				t.Errorf("%s is refused: %v, want %v", address, got, refused)
			}
		}
	}
	for address, refused := range map[string]bool{
		"172.16.0.1": false, "172.32.0.1": false, "100.64.0.1": true, "192.0.2.1": true, "240.0.0.1": true,
		"168.63.129.16": true, "fc00::1": false, "fe80::1": true,
	} {
		got := webhook.IsBlockedAddr(netip.MustParseAddr(address), webhook.Policy{Private: true})
		if got != refused {
			t.Errorf("in a sandbox %s is refused: %v, want %v", address, got, refused)
		}
	}
}

func TestASandboxOnThisMachineAdmitsThisMachineOnly(t *testing.T) {
	t.Parallel()
	policy := webhook.Policy{Loopback: true, Setting: "ALLOW"}
	for raw, good := range map[string]bool{
		"http://127.0.0.1:9999/hook":       true,
		"http://localhost:3000/":           true,
		"http://app.localhost/":            true,
		"http://LOCALHOST/":                true,
		"http://localhost./":               true,
		"https://localhost/":               true,
		"http://[::1]/":                    true,
		"http://[::ffff:127.0.0.1]/":       true,
		"https://hooks.example.com/":       true,
		"http://hooks.example.com/":        false,
		"http://10.0.0.1/":                 false,
		"https://192.168.1.5/":             false,
		"http://receiver:8000/":            false,
		"https://printer.local/":           false,
		"http://169.254.169.254/":          false,
		"http://localhost.example.com/":    false,
		"http://user@localhost/":           false,
		"https://notlocalhost/":            false,
		"http://0.0.0.0/":                  false,
		"https://[::ffff:192.168.1.5]/":    false,
		"http://2130706433/":               true, // 127.0.0.1
		"https://[64:ff9b::a00:1]/":        false,
		"https://metadata.google.internal": false,
	} {
		var f fault.Violations
		webhook.CheckURL("url", raw, policy, &f)
		err := f.Err()
		if (err == nil) != good {
			t.Errorf("%s: %v, want good %v", raw, err, good)
		}
		if err != nil && !strings.Contains(raw, "user@") && !strings.Contains(err.Error(), "Set ALLOW=true") {
			t.Errorf("%s: the refusal does not name the setting: %v", raw, err)
		}
	}
}

func TestARefusedAddressIsRefusedForItsReasons(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		raw     string
		policy  webhook.Policy
		reasons []string // a part of each message, in order
		silent  string   // what no message has
	}{
		"no host": {"https:///hook", webhook.Policy{}, []string{"absolute"}, ""},
		"http to this machine": {"http://localhost/", webhook.Policy{}, []string{"must be https", "public host"},
			"Set "},
		"a setting that would help": {"http://10.0.0.1/", webhook.Policy{Setting: "ALLOW"},
			[]string{"must be https. Set ALLOW=true", "public host"}, ""},
		"a setting that is on": {"ftp://10.0.0.1/", webhook.Policy{Private: true, Setting: "ALLOW"},
			[]string{"must be https"}, "Set "},
		"beyond ASCII":     {"https://a\u0080.example.com/", webhook.Policy{}, []string{"xn--"}, ""},
		"the end of ASCII": {"https://a~.example.com/", webhook.Policy{}, []string{"not valid"}, "xn--"},
	} {
		var f fault.Violations
		webhook.CheckURL("url", c.raw, c.policy, &f)
		var refusal *fault.Error
		if !errors.As(f.Err(), &refusal) || len(refusal.Details) != len(c.reasons) {
			t.Errorf("%s: %v, want %d reasons", name, f.Err(), len(c.reasons))
			continue
		}
		for i, want := range c.reasons {
			if got := refusal.Details[i].Message; !strings.Contains(got, want) || c.silent != "" &&
				strings.Contains(got, c.silent) {
				t.Errorf("%s: %q, want %q", name, got, want)
			}
		}
	}
}
