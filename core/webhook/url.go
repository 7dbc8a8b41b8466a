package webhook

import (
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"sundry/core/fault"
)

const (
	maxURL = 2048
	// maxHost and maxLabel bound a name in the DNS (RFC 1035, section 2.3.4).
	maxHost  = 253
	maxLabel = 63
)

// specialNames lead inside whatever a resolver reports (RFC 6761, RFC 6762, RFC 8375, clouds' metadata).
var specialNames = []string{"localhost", "local", "internal", "intranet", "home.arpa", "localdomain", "lan", "metadata"}

// Policy specifies what else than the public internet receivers may be: nothing, for the zero value. Only sandboxes
// have another.
type Policy struct {
	// Loopback admits this machine by its address or as localhost, over http too.
	Loopback bool
	// Private admits any name, loopback and private networks, over http too.
	Private bool
	// Setting names the setting that would admit the refused address; "" where there is none.
	Setting string
}

// CheckURL checks where events are to be sent: https, no user info, and no literal address or special name of the
// refused ranges in any spelling, except for what the policy admits. What a name resolves to is checked again at every
// dial.
func CheckURL(field, raw string, policy Policy, f *fault.Violations) {
	u, err := url.Parse(raw)
	if err != nil || len(raw) > maxURL || u.Host == "" || strings.ContainsAny(raw, ` \`) {
		f.Add(field, fault.DetailInvalid, "Give an absolute https URL of at most 2,048 characters.")
		return
	}
	f.Check(!strings.ContainsAny(raw, "{}"), field, fault.DetailInvalid,
		"The URL must not contain braces: nothing is replaced in it. Percent-encode them as %7B and %7D.")
	plain := u.Scheme == "http" && (policy.Private || policy.Loopback && isLoopbackHost(u.Hostname()))
	f.Check(u.Scheme == "https" || plain, field, fault.DetailNotAllowed, "The URL must be https."+policy.hint())
	f.Check(u.User == nil, field, fault.DetailNotAllowed, "The URL must not carry a user name or password.")
	f.Check(u.Fragment == "", field, fault.DetailNotAllowed, "The URL must not have a fragment.")
	if port := u.Port(); port != "" {
		n, _ := strconv.Atoi(port) // digits, by url.Parse; the largest integer when there are too many
		f.Check(n > 0 && n < 65536, field, fault.DetailInvalid, "The port must be from 1 to 65535.")
	}
	if message := invalidHost(u.Hostname()); message != "" {
		f.Add(field, fault.DetailInvalid, message)
		return
	}
	f.Check(!isInternalHost(u.Hostname(), policy), field, fault.DetailNotAllowed,
		"The URL must lead to a public host by name: private, loopback, link-local and metadata addresses are refused."+
			policy.hint())
}

// hint describes how to admit what was refused.
func (p Policy) hint() string {
	if p.Setting == "" || p.Private {
		return ""
	}
	return " Set " + p.Setting + "=true to allow your own machine and network over http."
}

// isLoopbackHost reports whether a host is this machine whatever a resolver reports.
func isLoopbackHost(host string) bool {
	name := strings.ToLower(strings.TrimSuffix(host, "."))
	if addr, ok := literal(name); ok {
		return addr.WithZone("").Unmap().IsLoopback()
	}
	return name == "localhost" || strings.HasSuffix(name, ".localhost")
}

// invalidHost describes why a host can be neither a name nor an address that every resolver reads alike; "" when it
// can. Beyond ASCII there are many spellings of one name: full-width letters and digits, other dots, signs that nobody
// sees.
func invalidHost(host string) string {
	name := strings.TrimSuffix(host, ".")
	if _, err := netip.ParseAddr(name); err == nil {
		return ""
	}
	if strings.ContainsFunc(host, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return "Write the host name in ASCII: an international name begins with xn--."
	}
	labels := strings.Split(name, ".")
	if len(name) > maxHost || slices.ContainsFunc(labels, func(label string) bool { return !validLabel(label) }) {
		return "The host name is not valid."
	}
	if _, ok := literal(strings.ToLower(name)); !ok && isNumber(labels[len(labels)-1]) {
		return "A host that ends in a number must be an IPv4 address."
	}
	return ""
}

// validLabel takes what resolvers look up: letters, digits, hyphens, and underscores, which some names have.
func validLabel(label string) bool {
	return label != "" && len(label) <= maxLabel &&
		!strings.ContainsFunc(label, func(r rune) bool {
			return r != '-' && r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
		})
}

// isNumber reports whether a label is digits, or hexadecimal: the last label of no name is.
func isNumber(label string) bool {
	digits, hex := strings.CutPrefix(strings.ToLower(label), "0x")
	return !strings.ContainsFunc(digits, func(r rune) bool { return (r < '0' || r > '9') && (!hex || r < 'a' || r > 'f') })
}

// isInternalHost reports whether the host is a special name, a bare name (resolved by the local network) or a literal
// address of a refused range.
func isInternalHost(host string, policy Policy) bool {
	name := strings.ToLower(strings.TrimSuffix(host, "."))
	if addr, ok := literal(name); ok {
		return IsBlockedAddr(addr, policy)
	}
	if policy.Private || policy.Loopback && isLoopbackHost(name) {
		return false
	}
	for _, special := range specialNames {
		if name == special || strings.HasSuffix(name, "."+special) {
			return true
		}
	}
	return !strings.Contains(name, ".")
}

// literal reads an address in any spelling that some resolver takes for one: 127.1, 0x7f.1, 017700000001, 2130706433.
// ok is also true for a number that is no valid address.
func literal(name string) (netip.Addr, bool) {
	if addr, err := netip.ParseAddr(name); err == nil {
		return addr, true
	}
	labels := strings.Split(name, ".")
	if len(labels) > 4 {
		return netip.Addr{}, false
	}
	var value uint64
	for i, label := range labels {
		n, err := strconv.ParseUint(label, 0, 32) // 0 as base: decimal, 0x hexadecimal, leading 0 octal
		if err != nil {
			if n, err = strconv.ParseUint(label, 10, 32); err != nil {
				return netip.Addr{}, false
			}
		}
		if i == len(labels)-1 {
			value |= n // the last number fills what is left, as inet_aton does
			break
		}
		value |= n & 0xff << (8 * (3 - i))
	}
	return netip.AddrFrom4([4]byte{byte(value >> 24), byte(value >> 16), byte(value >> 8), byte(value)}), true
}

// blockedRanges are the ranges that are not the public internet (IANA special-purpose registries), and 168.63.129.16,
// at which Azure's machines reach their host: it tells them secrets over http, as a metadata service does.
var blockedRanges = func() []netip.Prefix {
	var all []netip.Prefix
	for _, p := range []string{
		"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "168.63.129.16/32", "169.254.0.0/16", "172.16.0.0/12",
		"192.0.0.0/24",
		"192.0.2.0/24",
		"192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4",
		"240.0.0.0/4",
		"::/128", "::1/128", "100::/64", "2001::/23", "2001:db8::/32", "3fff::/20", "5f00::/16", "fc00::/7", "fe80::/10",
		"ff00::/8",
	} {
		all = append(all, netip.MustParsePrefix(p))
	}
	return all
}()

// privateRanges are the refused ranges that a sandbox may be configured to admit: its own machine and network, and
// never a cloud's metadata, link-local neighbours or groups.
var privateRanges = []netip.Prefix{
	netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128"), netip.MustParsePrefix("10.0.0.0/8"),
	netip.MustParsePrefix("172.16.0.0/12"), netip.MustParsePrefix("192.168.0.0/16"), netip.MustParsePrefix("fc00::/7"),
}

// metadataHost is AWS's metadata service, the only one that has an address in a private range.
var metadataHost = netip.MustParseAddr("fd00:ec2::254")

// Prefixes whose addresses carry an IPv4 address, and where in the 16 bytes it is.
var embedding = map[netip.Prefix]int{
	netip.MustParsePrefix("64:ff9b::/96"): 12, // NAT64
	netip.MustParsePrefix("2002::/16"):    2,  // 6to4
	netip.MustParsePrefix("::/96"):        12, // IPv4-compatible
}

// IsBlockedAddr reports whether an address is not on the public internet: loopback, private, link-local, multicast,
// metadata and the rest of the special ranges, also when mapped or embedded in IPv6. The policy may admit loopback and
// private networks.
func IsBlockedAddr(addr netip.Addr, policy Policy) bool {
	addr = addr.WithZone("").Unmap()
	if policy.Loopback && addr.IsLoopback() {
		return false
	}
	if policy.Private && addr != metadataHost && slices.ContainsFunc(privateRanges, func(p netip.Prefix) bool {
		return p.Contains(addr)
	}) {
		return false
	}
	for _, p := range blockedRanges {
		if p.Contains(addr) {
			return true
		}
	}
	if addr.Is4() {
		return false
	}
	bytes := addr.As16()
	for p, at := range embedding {
		if p.Contains(addr) {
			return IsBlockedAddr(netip.AddrFrom4([4]byte(bytes[at:at+4])), policy)
		}
	}
	// Only global unicast is public. In a network's own NAT64 (64:ff9b:1::/48, RFC 8215) only that network knows where the
	// IPv4 address is.
	return !netip.MustParsePrefix("2000::/3").Contains(addr)
}
