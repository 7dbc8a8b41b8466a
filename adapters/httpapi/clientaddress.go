package httpapi

import (
	"net/netip"
	"strings"

	"github.com/gofiber/fiber/v2"
)

// clientAddress is what attempts are counted by: the network that the request came from.
func (s *Server) clientAddress(c *fiber.Ctx) string {
	peer, ok := parseAddress(c.Context().RemoteAddr().String())
	if !ok {
		return ""
	}
	return network(origin(peer, c.GetReqHeaders()[fiber.HeaderXForwardedFor], s.trusts)).String()
}

// trusts reports whether what a peer at the address says of its own peer may be believed.
func (s *Server) trusts(address netip.Addr) bool {
	for _, proxy := range s.cfg.TrustedProxies {
		if proxy.Contains(address) {
			return true
		}
	}
	return false
}

// origin walks X-Forwarded-For from its end, where the nearest proxy wrote, to the first address that is no proxy of
// ours. What stands before that may be invented.
func origin(peer netip.Addr, forwarded []string, trusts func(netip.Addr) bool) netip.Addr {
	hops := strings.Split(strings.Join(forwarded, ","), ",")
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
