package checkout

import (
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"sundry/core/fault"
)

// maxRedirectURL bounds a redirect URL, in characters: what every browser and proxy still carries.
const maxRedirectURL = 2048

// The query parameters every redirect ends with. They are ours: an integrator's own of these names are dropped.
const (
	paramCheckoutID  = "checkout_id"
	paramReturnToken = "return_token"
)

var (
	// sessionPlaceholder is {CHECKOUT_SESSION_ID} as integrators write it or as their URL library escapes it.
	sessionPlaceholder = regexp.MustCompile(`(?:\{|%7[Bb])CHECKOUT_SESSION_ID(?:\}|%7[Dd])`)
	hostLabel          = regexp.MustCompile(`^[A-Za-z0-9_-]{1,63}$`)
	numericLabel       = regexp.MustCompile(`^(?:[0-9]+|0[Xx][0-9A-Fa-f]*)$`)
)

// ValidateRedirectURL records in f, under field, what keeps raw from being a successUrl or cancelUrl: it must be
// absolute https, or plain http to this very machine in the sandbox, without user info. Only URLs that Go and
// every browser split alike pass, so that the origin checked here is the one the buyer arrives at. Characters
// outside ASCII may stand in path, query and fragment.
func ValidateRedirectURL(field, raw string, sandbox bool, f *fault.Violations) {
	if raw == "" {
		f.Add(field, fault.DetailRequired, "A URL is required, such as https://example.com/thanks.")
		return
	}
	if utf8.RuneCountInString(raw) > maxRedirectURL {
		f.Addf(field, fault.DetailTooLong, "The URL may have %d characters at most.", maxRedirectURL)
		return
	}
	if !utf8.ValidString(raw) || strings.ContainsFunc(raw, misread) {
		f.Add(field, fault.DetailInvalid, "The URL must not contain white space, control characters or backslashes; "+
			"percent-encode them.")
		return
	}
	scheme, authority, ok := splitURL(raw)
	if !ok {
		f.Add(field, fault.DetailInvalid, "Expected an absolute URL, such as https://example.com/thanks.")
		return
	}
	if at := strings.LastIndexByte(authority, '@'); at >= 0 {
		f.Add(field, fault.DetailInvalid, "The URL must not contain a user name or password.")
		authority = authority[at+1:]
	}
	host, _, fine := splitAuthority(authority)
	switch {
	case authority == "":
		f.Add(field, fault.DetailInvalid, "The URL has no host.")
	case sessionPlaceholder.MatchString(authority):
		f.Add(field, fault.DetailInvalid, "{CHECKOUT_SESSION_ID} may stand in the path and the query, not in the host.")
	case !fine:
		f.Add(field, fault.DetailInvalid, "The host or port is not valid; write an international name in its xn-- form.")
	case scheme == "https":
	case scheme == "http" && sandbox:
		f.Check(isLocalhost(host), field, fault.DetailInvalid, "The URL must use https; plain http is for localhost only.")
	default:
		f.Add(field, fault.DetailInvalid, "The URL must use https. To return to an app, use an https address that it "+
			"claims (a universal or app link).")
	}
	if _, err := url.Parse(raw); err != nil && fine {
		f.Add(field, fault.DetailInvalid, "The URL has a % that two hexadecimal digits do not follow; write it as %25.")
	}
}

// ValidateReturnURL is ValidateRedirectURL for an address that is used as it is, with no placeholder replaced.
func ValidateReturnURL(field, raw string, sandbox bool, f *fault.Violations) {
	if strings.ContainsAny(raw, "{}") {
		f.Add(field, fault.DetailInvalid, "The URL must not contain braces: nothing is replaced in it, as "+
			"{CHECKOUT_SESSION_ID} is in successUrl and cancelUrl. Percent-encode them as %7B and %7D.")
		return
	}
	ValidateRedirectURL(field, raw, sandbox, f)
}

// BuildRedirect returns raw, which ValidateRedirectURL accepted, as the buyer is sent to it: the placeholder in
// path and query becomes checkoutID, and checkout_id and return_token are the last parameters of the query, in
// place of any already there. Every other byte stays as the integrator wrote it.
func BuildRedirect(raw, checkoutID, returnToken string) string {
	rest, fragment, hasFragment := strings.Cut(raw, "#")
	base, query, _ := strings.Cut(rest, "?")

	base = sessionPlaceholder.ReplaceAllLiteralString(base, url.PathEscape(checkoutID)) // no accepted host contains it
	var parameters []string
	if query != "" {
		for parameter := range strings.SplitSeq(query, "&") {
			if !isOurs(parameter) {
				parameters = append(parameters, sessionPlaceholder.ReplaceAllLiteralString(parameter, url.QueryEscape(checkoutID)))
			}
		}
	}
	parameters = append(parameters,
		paramCheckoutID+"="+url.QueryEscape(checkoutID), paramReturnToken+"="+url.QueryEscape(returnToken))

	out := base + "?" + strings.Join(parameters, "&")
	if hasFragment {
		out += "#" + fragment
	}
	return out
}

// CancelRedirect returns CancelURL as the buyer is sent back to it: the placeholder in path and query becomes the
// session's id. "" for none.
func (s State) CancelRedirect() string {
	rest, fragment, hasFragment := strings.Cut(s.CancelURL, "#")
	out := sessionPlaceholder.ReplaceAllLiteralString(rest, url.QueryEscape(s.ID))
	if hasFragment {
		out += "#" + fragment
	}
	return out
}

// Origin returns the origin of an http or https URL as browsers write it, scheme://host[:port] without the
// scheme's own port; false when raw has none.
func Origin(raw string) (string, bool) {
	scheme, authority, _ := splitURL(raw) // what has no scheme has no authority, which is refused below
	if scheme != "https" && scheme != "http" {
		return "", false
	}
	host, port, ok := splitAuthority(authority)
	if !ok {
		return "", false
	}
	origin := scheme + "://" + host
	if port != "" && !(scheme == "https" && port == "443") && !(scheme == "http" && port == "80") {
		origin += ":" + port
	}
	return origin, true
}

// misread reports whether some reader of URLs drops or rewrites the character, so that two readers could see
// two different hosts.
func misread(r rune) bool {
	return r == '\\' || unicode.IsSpace(r) || !unicode.IsPrint(r)
}

// splitURL cuts an absolute URL by the bytes, as browsers do. The scheme is in lower case.
func splitURL(raw string) (scheme, authority string, ok bool) {
	scheme, authority, ok = strings.Cut(raw, "://")
	if end := strings.IndexAny(authority, "/?#"); end >= 0 {
		authority = authority[:end]
	}
	return strings.ToLower(scheme), authority, ok && !strings.ContainsAny(scheme, "/?#")
}

// splitAuthority cuts an authority without user info into host (in lower case, an IPv6 address in its shortest
// form and in brackets) and port; false when either is one that readers disagree on.
func splitAuthority(authority string) (host, port string, ok bool) {
	host = authority
	if colon := strings.LastIndexByte(authority, ':'); colon > strings.LastIndexByte(authority, ']') {
		host, port = authority[:colon], authority[colon+1:]
		number, err := strconv.ParseUint(port, 10, 16)
		if err != nil || number == 0 {
			return "", "", false
		}
		port = strconv.FormatUint(number, 10)
	}
	if inner, bracketed := strings.CutPrefix(host, "["); bracketed {
		inner, closed := strings.CutSuffix(inner, "]")
		address, _ := netip.ParseAddr(inner) // what is no address is not an IPv6 one
		if !closed || !address.Is6() || address.Zone() != "" {
			return "", "", false
		}
		return "[" + address.String() + "]", port, true
	}
	host = strings.ToLower(host)
	return host, port, isHostname(host)
}

// isHostname accepts DNS names and dotted IPv4 addresses. A name whose last label is a number is an address to
// browsers, in spellings (127.1, 0x7f.1) that nothing else understands: those are refused.
func isHostname(host string) bool {
	var last string
	for label := range strings.SplitSeq(host, ".") {
		if last = label; !hostLabel.MatchString(label) {
			return false
		}
	}
	if numericLabel.MatchString(last) {
		_, err := netip.ParseAddr(host) // without a colon it is IPv4 or none
		return err == nil
	}
	return len(host) <= 253
}

// isLocalhost reports whether a host as splitAuthority returns it is this machine by any reader's account.
func isLocalhost(host string) bool {
	address, err := netip.ParseAddr(strings.Trim(host, "[]"))
	if err != nil {
		return host == "localhost"
	}
	return address.Is4() && address.IsLoopback() || address == netip.IPv6Loopback()
}

// isOurs reports whether a query parameter has one of the names the redirect adds, in any escaping.
func isOurs(parameter string) bool {
	name, _, _ := strings.Cut(parameter, "=")
	name, _ = url.QueryUnescape(name) // a name that cannot be read is none of ours
	return name == paramCheckoutID || name == paramReturnToken
}
