package config_test

import (
	"testing"

	"sundry/config"
)

func TestNoVATIDLeavesASandbox(t *testing.T) {
	t.Parallel()
	if cfg, err := config.FromMap(nil); err != nil || cfg.VIESEnabled {
		t.Errorf("without a setting: %v, %v", cfg.VIESEnabled, err)
	}
	for name, c := range map[string]struct {
		vars map[string]string
		want []string
	}{
		"in a sandbox":            {map[string]string{"VIES_ENABLED": "true"}, []string{"VIES_ENABLED needs ENVIRONMENT=live"}},
		"only an address":         {map[string]string{"VIES_API_BASE": "https://vies.example.com"}, []string{"VIES_API_BASE needs VIES_ENABLED"}},
		"an address in the clear": {map[string]string{"VIES_API_BASE": "http://vies.example.com"}, []string{"VIES_API_BASE must be", "VIES_API_BASE needs VIES_ENABLED"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := config.FromMap(c.vars)
			wantLines(t, err, c.want)
		})
	}
}
