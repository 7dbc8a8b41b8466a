package config

import "net/url"

// StripeTax reports whether Stripe calculates the tax.
func (c Config) StripeTax() bool { return c.TaxProvider == "stripe" }

// taxFaults checks the settings of the services that calculate tax and check VAT IDs. A sandbox sends them nothing.
func (c Config) taxFaults() (all faultList) {
	all.require(oneOf(c.TaxProvider, "table", "stripe"), "TAX_PROVIDER must be table or stripe, not %q", c.TaxProvider)
	if c.StripeTax() {
		all.require(c.Live(), "TAX_PROVIDER=stripe needs ENVIRONMENT=live: a sandbox uses the table")
		all.require(c.StripeSecretKey != "", "TAX_PROVIDER=stripe needs STRIPE_SECRET_KEY")
	}
	all.require(!c.VIESEnabled || c.Live(), "VIES_ENABLED needs ENVIRONMENT=live: a sandbox sends no VAT id anywhere")
	if c.VIESAPIBase == "" {
		return all
	}
	u, err := url.Parse(c.VIESAPIBase)
	all.require(err == nil && (u.Scheme == "https" || u.Scheme == "http" && thisMachine(u.Hostname())) && u.Host != "" &&
		u.User == nil, "VIES_API_BASE must be an absolute https address")
	all.require(c.VIESEnabled, "VIES_API_BASE needs VIES_ENABLED=true")
	return all
}
