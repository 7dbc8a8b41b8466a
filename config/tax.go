package config

import (
	"errors"
	"net/url"
)

// taxFaults are what is wrong with the settings of services that are asked about tax. Nothing is sent to them from a sandbox.
func (c Config) taxFaults() []error {
	var all []error
	if c.VIESEnabled && !c.Livemode() {
		all = append(all, errors.New("VIES_ENABLED needs ENVIRONMENT=live: a sandbox sends no VAT id anywhere"))
	}
	if c.VIESAPIBase == "" {
		return all
	}
	if u, err := url.Parse(c.VIESAPIBase); err != nil || u.Scheme != "https" && !(u.Scheme == "http" && thisMachine(u.Hostname())) || u.Host == "" || u.User != nil {
		all = append(all, errors.New("VIES_API_BASE must be an absolute https address"))
	}
	if !c.VIESEnabled {
		all = append(all, errors.New("VIES_API_BASE needs VIES_ENABLED=true"))
	}
	return all
}
