package tax

import (
	"regexp"
	"strings"

	"sundry/core/fault"
)

// vatRule is the shape of a country's VAT ids after the prefix, and the checksum that their digits must satisfy.
type vatRule struct {
	prefix   string
	shape    *regexp.Regexp
	checksum func(body string) bool
}

func rule(prefix, shape string, checksum func(string) bool) vatRule {
	return vatRule{prefix, regexp.MustCompile(`^(?:` + shape + `)$`), checksum}
}

// vatRules are the countries of the rate table. The shapes are those of the European Commission's VIES and of the tax
// authorities of Norway, Switzerland and the United Kingdom.
var vatRules = map[string]vatRule{
	"AT": rule("AT", `U\d{8}`, austrian),
	"BE": rule("BE", `[01]\d{9}`, func(s string) bool { return 97-number(s[:8])%97 == number(s[8:]) }),
	"BG": rule("BG", `\d{9,10}`, bulgarian),
	"CH": rule("CHE", `\d{9}(?:MWST|TVA|IVA)?`, func(s string) bool {
		return weighted(s[:9], 5, 4, 3, 2, 7, 6, 5, 4, 1)%11 == 0
	}),
	"CY": rule("CY", `\d{8}[A-Z]`, cypriot),
	"CZ": rule("CZ", `\d{8,10}`, czech),
	"DE": rule("DE", `[1-9]\d{8}`, mod11x10),
	"DK": rule("DK", `[1-9]\d{7}`, func(s string) bool { return weighted(s, 2, 7, 6, 5, 4, 3, 2, 1)%11 == 0 }),
	"EE": rule("EE", `10\d{7}`, func(s string) bool { return weighted(s, 3, 7, 1, 3, 7, 1, 3, 7, 1)%10 == 0 }),
	"ES": rule("ES", `[A-Z]\d{7}[A-Z0-9]|\d{8}[A-Z]`, spanish),
	"FI": rule("FI", `\d{8}`, func(s string) bool { return weighted(s, 7, 9, 10, 5, 8, 4, 2, 1)%11 == 0 }),
	"FR": rule("FR", `[A-HJ-NP-Z0-9]{2}\d{9}`, french),
	"GB": rule("GB", `\d{9}(?:\d{3})?`, british),
	"GR": rule("EL", `\d{9}`, func(s string) bool {
		return weighted(s, 256, 128, 64, 32, 16, 8, 4, 2)%11%10 == digit(s[8])
	}),
	"HR": rule("HR", `\d{11}`, mod11x10),
	"HU": rule("HU", `\d{8}`, func(s string) bool { return weighted(s, 9, 7, 3, 1, 9, 7, 3, 1)%10 == 0 }),
	"IE": rule("IE", `\d{7}[A-W][A-IW]?|\d[A-Z+*]\d{5}[A-W]`, irish),
	"IT": rule("IT", `\d{11}`, luhn),
	"LT": rule("LT", `\d{7}1\d|\d{10}1\d`, lithuanian),
	"LU": rule("LU", `\d{8}`, func(s string) bool { return number(s[:6])%89 == number(s[6:]) }),
	"LV": rule("LV", `\d{11}`, func(s string) bool {
		return s[0] <= '3' || weighted(s, 9, 1, 4, 8, 3, 10, 2, 5, 7, 6, 1)%11 == 3
	}),
	"MT": rule("MT", `[1-9]\d{7}`, func(s string) bool { return weighted(s, 3, 4, 6, 7, 8, 9, 10, 1)%37 == 0 }),
	"NL": rule("NL", `\d{9}B\d{2}`, dutch),
	"NO": rule("NO", `\d{9}(?:MVA)?`, func(s string) bool { return weighted(s[:9], 3, 2, 7, 6, 5, 4, 3, 2, 1)%11 == 0 }),
	"PL": rule("PL", `\d{10}`, func(s string) bool {
		return weighted(s, 6, 5, 7, 2, 3, 4, 5, 6, 7)%11 == digit(s[9])
	}),
	"PT": rule("PT", `[1-9]\d{8}`, func(s string) bool {
		return (11-weighted(s, 9, 8, 7, 6, 5, 4, 3, 2)%11)%11%10 == digit(s[8])
	}),
	"RO": rule("RO", `[1-9]\d{1,9}`, romanian),
	"SE": rule("SE", `\d{10}01`, func(s string) bool { return luhn(s[:10]) }),
	"SI": rule("SI", `[1-9]\d{7}`, func(s string) bool {
		sum := weighted(s, 8, 7, 6, 5, 4, 3, 2) % 11
		return sum != 0 && (11-sum)%10 == digit(s[7])
	}),
	"SK": rule("SK", `[1-9]\d[2-47-9]\d{7}`, func(s string) bool { return number(s)%11 == 0 }),
}

// NormalizeVATID drops the spaces, dots and hyphens that people write, and capitalizes.
func NormalizeVATID(id string) string {
	return strings.ToUpper(separators.Replace(id))
}

var separators = strings.NewReplacer(" ", "", ".", "", "-", "", "\u00a0", "")

// CheckVATID refuses an id that cannot be one of the country's: another country's prefix, a wrong shape or a wrong
// checksum. The prefix may be left out. Whether the id is registered only VIES knows. The error is a VALIDATION_FAILED
// fault without a field, made for Violations.Merge.
func CheckVATID(country, id string) error {
	r, ok := vatRules[country]
	if !ok {
		return invalidVATID("VAT IDs of this country aren't supported.")
	}
	body := strings.TrimPrefix(NormalizeVATID(id), r.prefix)
	switch {
	case !r.shape.MatchString(body):
		return invalidVATID("Enter a VAT ID of the billing country. It starts with " + r.prefix + ".")
	case !r.checksum(body):
		return invalidVATID("The VAT ID's check digits don't match. Check it for a typing error.")
	}
	return nil
}

// SplitVATID parts an id of a country into its prefix and the number behind it, as registers are asked.
func SplitVATID(country, id string) (prefix, number string) {
	prefix = country
	if r, ok := vatRules[country]; ok {
		prefix = r.prefix
	}
	return prefix, strings.TrimPrefix(NormalizeVATID(id), prefix)
}

// SupportsVATID reports whether ids of the country can be checked.
func SupportsVATID(country string) bool {
	_, ok := vatRules[country]
	return ok
}

func invalidVATID(message string) error {
	return fault.Invalid(fault.Detail{Code: fault.DetailInvalid, Message: message})
}
