package config

import (
	"fmt"
	"net/url"

	"sundry/core/country"
)

// sellerFaults checks the seller's country and the addresses that pages link to.
func (c Config) sellerFaults() []error {
	var all []error
	if !country.Valid(c.SellerCountry) {
		all = append(all, fmt.Errorf("SELLER_COUNTRY must be a country's two capital letters, such as IE, not %q",
			c.SellerCountry))
	}
	for name, value := range map[string]string{"TERMS_URL": c.TermsURL, "PRIVACY_URL": c.PrivacyURL} {
		if u, err := url.Parse(value); value != "" &&
			(err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "") {
			all = append(all, fmt.Errorf("%s must be an absolute address such as https://example.com/terms", name))
		}
	}
	return all
}
