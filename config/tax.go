package config

import (
	"errors"
	"fmt"
	"net/url"
)

// StripeTax reports whether Stripe calculates the tax.
func (c Config) StripeTax() bool { return c.TaxProvider == "stripe" }

// taxFaults checks the settings of the services that calculate tax and check VAT IDs. A sandbox sends them nothing.
func (c Config) taxFaults() []error {
	var all []error
	if !oneOf(c.TaxProvider, "table", "stripe") {
		all = append(all, fmt.Errorf("TAX_PROVIDER must be table or stripe, not %q", c.TaxProvider))
	}
	if c.StripeTax() && !c.Live() {
		all = append(all, errors.New("TAX_PROVIDER=stripe needs ENVIRONMENT=live: a sandbox uses the table"))
	}
	if c.StripeTax() && c.StripeSecretKey == "" {
		all = append(all, errors.New("TAX_PROVIDER=stripe needs STRIPE_SECRET_KEY"))
	}
	if c.VIESEnabled && !c.Live() {
		all = append(all, errors.New("VIES_ENABLED needs ENVIRONMENT=live: a sandbox sends no VAT id anywhere"))
	}
	if c.VIESAPIBase == "" {
		return all
	}
	if u, err := url.Parse(c.VIESAPIBase); err != nil || u.Scheme != "https" &&
		!(u.Scheme == "http" && thisMachine(u.Hostname())) || u.Host == "" || u.User != nil {
		all = append(all, errors.New("VIES_API_BASE must be an absolute https address"))
	}
	if !c.VIESEnabled {
		all = append(all, errors.New("VIES_API_BASE needs VIES_ENABLED=true"))
	}
	return all
}
