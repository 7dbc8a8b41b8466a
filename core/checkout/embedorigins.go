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

// JoinEmbedOrigins returns origins as they are stored.
func JoinEmbedOrigins(all []string) EmbedOrigins { return EmbedOrigins(strings.Join(all, " ")) }

// List returns the origins, each by itself.
func (o EmbedOrigins) List() []string { return append([]string{}, strings.Fields(string(o))...) }

// CleanEmbedOrigins returns origins that a creator wrote as browsers write them, and records in f, under field, what is
// wrong with them: each must be https, or plain http to this very machine, without a path.
func CleanEmbedOrigins(field string, raw []string, f *fault.Violations) []string {
	f.Check(len(raw) <= maxEmbedOrigins, field, fault.DetailTooLong, "At most 20 origins are allowed.")
	all := []string{}
	for i, text := range raw {
		item := f.Item(field, i)
		_, authority, absolute := splitURL(text)
		if _, rest, _ := strings.Cut(text, "://"); !absolute || strings.TrimSuffix(rest, "/") != authority {
			item.Add("", fault.DetailInvalid, "Expected the origin of a site, such as https://shop.example, without a path.")
			continue
		}
		ValidateRedirectURL("", text, true, item)
		if origin, ok := Origin(text); ok && item.Check(!slices.Contains(all, origin), "", fault.DetailDuplicate,
			"The origin is listed twice.") {
			all = append(all, origin)
		}
	}
	return all
}
