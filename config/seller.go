package config

import (
	"errors"
	"fmt"
	"net/mail"
	"net/url"
	"strings"

	"sundry/core/country"
)

// sellerFaults checks the seller's email address and country, and the addresses that pages link to.
func (c Config) sellerFaults() []error {
	var all []error
	if !country.Valid(c.SellerCountry) {
		all = append(all, fmt.Errorf("SELLER_COUNTRY must be a country's two capital letters, such as IE, not %q",
			c.SellerCountry))
	}
	if c.SellerEmail != "" && !isBareAddress(c.SellerEmail) {
		all = append(all, errors.New("SELLER_EMAIL must be an email address such as help@example.com"))
	}
	for name, value := range map[string]string{"TERMS_URL": c.TermsURL, "PRIVACY_URL": c.PrivacyURL} {
		if u, err := url.Parse(value); value != "" &&
			(err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "") {
			all = append(all, fmt.Errorf("%s must be an absolute address such as https://example.com/%s", name,
				strings.ToLower(strings.TrimSuffix(name, "_URL"))))
		}
	}
	return all
}

// isBareAddress reports whether text is an email address and nothing else.
func isBareAddress(text string) bool {
	parsed, err := mail.ParseAddress(text)
	return err == nil && parsed.Address == text
}
