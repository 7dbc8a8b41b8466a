package config_test

import (
	"testing"

	"sundry/config"
)

func TestStripeCalculatesTheTaxInLiveOnly(t *testing.T) {
	t.Parallel()
	if cfg, err := config.FromMap(nil); err != nil || cfg.StripeTax() {
		t.Errorf("without a setting: %v, %v", cfg.StripeTax(), err)
	}
	stripe := map[string]string{
		"TAX_PROVIDER": "stripe", "STRIPE_SECRET_KEY": "sk_test_1", "STRIPE_PUBLISHABLE_KEY": "pk_test_1",
		"STRIPE_WEBHOOK_SECRET": "whsec_1",
	}
	for name, c := range map[string]struct {
		vars map[string]string
		want []string
	}{
		"another word": {map[string]string{"TAX_PROVIDER": "avalara"},
			[]string{"TAX_PROVIDER must be table or stripe"}},
		"a sandbox": {stripe, []string{"TAX_PROVIDER=stripe needs ENVIRONMENT=live"}},
		"a sandbox without keys": {map[string]string{"TAX_PROVIDER": "stripe"},
			[]string{"TAX_PROVIDER=stripe needs ENVIRONMENT=live", "TAX_PROVIDER=stripe needs STRIPE_SECRET_KEY"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := config.FromMap(c.vars)
			wantLines(t, err, c.want)
		})
	}
}

func TestNoVATIDLeavesASandbox(t *testing.T) {
	t.Parallel()
	if cfg, err := config.FromMap(nil); err != nil || cfg.VIESEnabled {
		t.Errorf("without a setting: %v, %v", cfg.VIESEnabled, err)
	}
	for name, c := range map[string]struct {
		vars map[string]string
		want []string
	}{
		"in a sandbox": {map[string]string{"VIES_ENABLED": "true"},
			[]string{"VIES_ENABLED needs ENVIRONMENT=live"}},
		"only an address": {map[string]string{"VIES_API_BASE": "https://vies.example.com"},
			[]string{"VIES_API_BASE needs VIES_ENABLED"}},
		"an address in the clear": {map[string]string{"VIES_API_BASE": "http://vies.example.com"},
			[]string{"VIES_API_BASE must be", "VIES_API_BASE needs VIES_ENABLED"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := config.FromMap(c.vars)
			wantLines(t, err, c.want)
		})
	}
}
