package config

import (
	"net/mail"
	"net/url"
	"strings"

	"sundry/core/country"
)

// sellerFaults checks the seller's email address and country, and the addresses that pages link to.
func (c Config) sellerFaults() (all faultList) {
	all.require(country.Valid(c.SellerCountry),
		"SELLER_COUNTRY must be a country's two capital letters, such as IE, not %q", c.SellerCountry)
	all.require(c.SellerEmail == "" || isBareAddress(c.SellerEmail),
		"SELLER_EMAIL must be an email address such as help@example.com")
	for name, value := range map[string]string{"TERMS_URL": c.TermsURL, "PRIVACY_URL": c.PrivacyURL} {
		u, err := url.Parse(value)
		all.require(value == "" || err == nil && oneOf(u.Scheme, "https", "http") && u.Host != "",
			"%s must be an absolute address such as https://example.com/%s", name,
			strings.ToLower(strings.TrimSuffix(name, "_URL")))
	}
	return all
}

// isBareAddress reports whether text is an email address and nothing else.
func isBareAddress(text string) bool {
	parsed, err := mail.ParseAddress(text)
	return err == nil && parsed.Address == text
}
