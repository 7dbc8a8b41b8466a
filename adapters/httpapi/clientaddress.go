package httpapi

import (
	"bytes"
	"net"
	"net/netip"
	"strings"

	"github.com/gofiber/fiber/v2"

	"sundry/core/country"
)

// TrustedProxies are the networks whose X-Forwarded-For is trusted.
type TrustedProxies []netip.Prefix

// ClientAddress returns the network from which a request came. Rate limits count by it.
func (t TrustedProxies) ClientAddress(c *fiber.Ctx) string {
	peer, ok := peerOf(c)
	if !ok {
		return ""
	}
	if t.contain(peer) {
		forwarded := bytes.Join(c.Request().Header.PeekAll(fiber.HeaderXForwardedFor), []byte(","))
		peer = origin(peer, string(forwarded), t.contain)
	}
	return network(peer).String()
}

// peerOf returns the other end of the connection.
func peerOf(c *fiber.Ctx) (peer netip.Addr, ok bool) {
	if address, ok := c.Context().RemoteAddr().(*net.TCPAddr); ok {
		return address.AddrPort().Addr().Unmap().WithZone(""), true
	}
	return parseAddress(c.Context().RemoteAddr().String())
}

// ClientCountry reads the country that a trusted proxy names in a header; "" for none, and for any other sender.
func (t TrustedProxies) ClientCountry(header string) func(*fiber.Ctx) string {
	return func(c *fiber.Ctx) string {
		peer, ok := peerOf(c)
		code := strings.ToUpper(strings.TrimSpace(c.Get(header)))
		if header == "" || !ok || !t.contain(peer) || !country.Valid(code) {
			return ""
		}
		return code
	}
}

// contain reports whether the address is a trusted proxy, so that its report of its own peer is trusted.
func (t TrustedProxies) contain(address netip.Addr) bool {
	for _, proxy := range t {
		if proxy.Contains(address) {
			return true
		}
	}
	return false
}

// origin walks X-Forwarded-For from its end, where the nearest proxy wrote, to the first address that is no proxy of
// ours. What comes before that may be invented.
func origin(peer netip.Addr, forwarded string, trusts func(netip.Addr) bool) netip.Addr {
	hops := strings.Split(forwarded, ",")
	for i := len(hops) - 1; i >= 0 && trusts(peer); i-- {
		hop, ok := parseAddress(strings.TrimSpace(hops[i]))
		if !ok {
			break
		}
		peer = hop
	}
	return peer
}

// parseAddress reads an address with or without a port.
func parseAddress(text string) (netip.Addr, bool) {
	address, err := netip.ParseAddr(text)
	if err != nil {
		withPort, err := netip.ParseAddrPort(text)
		if err != nil {
			return netip.Addr{}, false
		}
		address = withPort.Addr()
	}
	return address.Unmap().WithZone(""), true
}

// network is the address itself or, for IPv6, its /64: everyone there has that many addresses to come from.
func network(address netip.Addr) netip.Prefix {
	bits := address.BitLen()
	if address.Is6() {
		bits = 64
	}
	prefix, _ := address.Prefix(bits) // never longer than the address
	return prefix
}
