package checkout

import (
	"slices"
	"strings"

	"sundry/core/fault"
)

// maxEmbedOrigins bounds the sites that may show an account's checkouts in a frame: each is in a header of the page.
const maxEmbedOrigins = 20

// EmbedOrigins are the origins of sites that may show an embedded checkout in a frame, beside those of the session's
// own addresses: scheme://host[:port], separated by spaces. "" is none.
type EmbedOrigins string

// List returns the origins, each by itself.
func (o EmbedOrigins) List() []string { return append([]string{}, strings.Fields(string(o))...) }

// ParseEmbedOrigins reads a list of origins as a creator writes them, and records in f, under field, what is wrong with
// it: each must be https, or plain http to this very machine, without a path.
func ParseEmbedOrigins(field string, raw []string, f *fault.Violations) EmbedOrigins {
	f.Check(len(raw) <= maxEmbedOrigins, field, fault.DetailTooLong, "At most 20 origins are allowed.")
	var all []string
	for i, text := range raw {
		item := f.Item(field, i)
		_, authority, absolute := splitURL(text)
		if !absolute || strings.TrimSuffix(text[strings.Index(text, "://")+3:], "/") != authority {
			item.Add("", fault.DetailInvalid, "Expected the origin of a site, such as https://shop.example, without a path.")
			continue
		}
		ValidateRedirectURL("", text, true, item)
		if origin, ok := Origin(text); ok && item.Check(!slices.Contains(all, origin), "", fault.DetailDuplicate,
			"The origin is listed twice.") {
			all = append(all, origin)
		}
	}
	return EmbedOrigins(strings.Join(all, " "))
}
