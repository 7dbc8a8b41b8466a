package config

import (
	"net/netip"
	"regexp"
	"strings"
)

// privateNetworks are the networks of a deployment's own reverse proxy: no address on the internet is in them.
var privateNetworks = []netip.Prefix{
	netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128"),
	netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("172.16.0.0/12"), netip.MustParsePrefix("192.168.0.0/16"),
	netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("fc00::/7"),
}

// Proxies returns the networks of TrustedProxies, without what is no address: the start has refused that.
func (c Config) Proxies() []netip.Prefix {
	var all []netip.Prefix
	for _, text := range c.TrustedProxies {
		networks, _ := parseNetworks(text)
		all = append(all, networks...)
	}
	return all
}

func (c Config) proxyFaults() (all faultList) {
	for _, text := range c.TrustedProxies {
		_, ok := parseNetworks(text)
		all.require(ok, "TRUSTED_PROXIES must list addresses, networks such as 10.0.0.0/8, private or none, not %q", text)
	}
	name := c.ClientCountryHeader
	all.require(name == "" || headerName.MatchString(name),
		"CLIENT_COUNTRY_HEADER must be a header's name such as CF-IPCountry, not %q", name)
	return all
}

// headerName matches the names of header fields that proxies use (RFC 9110, section 16.3.1).
var headerName = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

func parseNetworks(text string) ([]netip.Prefix, bool) {
	switch text = strings.TrimSpace(text); text {
	case "none":
		return nil, true
	case "private":
		return privateNetworks, true
	}
	if network, err := netip.ParsePrefix(text); err == nil {
		return []netip.Prefix{network.Masked()}, true
	}
	address, err := netip.ParseAddr(text)
	if err != nil {
		return nil, false
	}
	return []netip.Prefix{netip.PrefixFrom(address, address.BitLen())}, true
}
