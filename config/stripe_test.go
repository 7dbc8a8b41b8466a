package config_test

import (
	"maps"
	"strings"
	"testing"

	"sundry/config"
)

func TestStripeIsSetWholeAndOfTheOwnMode(t *testing.T) {
	t.Parallel()
	whole := map[string]string{
		"STRIPE_SECRET_KEY": "sk_test_1", "STRIPE_PUBLISHABLE_KEY": "pk_test_1", "STRIPE_WEBHOOK_SECRET": "whsec_1",
	}
	cfg, err := config.FromMap(whole)
	if err != nil || !cfg.Stripe() {
		t.Fatalf("%v, %v", cfg.Stripe(), err)
	}
	if cfg, err := config.FromMap(nil); err != nil || cfg.Stripe() {
		t.Errorf("without any: %v, %v", cfg.Stripe(), err)
	}
	for name, c := range map[string]struct {
		change map[string]string
		want   []string // each line of the error begins so
	}{
		"the secret key alone": {map[string]string{"STRIPE_PUBLISHABLE_KEY": "", "STRIPE_WEBHOOK_SECRET": ""},
			[]string{"STRIPE_PUBLISHABLE_KEY is missing", "STRIPE_WEBHOOK_SECRET is missing"}},
		"no webhook secret": {map[string]string{"STRIPE_WEBHOOK_SECRET": ""},
			[]string{"STRIPE_WEBHOOK_SECRET is missing"}},
		"keys of live in a sandbox": {map[string]string{"STRIPE_SECRET_KEY": "sk_live_1",
			"STRIPE_PUBLISHABLE_KEY": "pk_live_1"}, []string{"STRIPE_SECRET_KEY must", "STRIPE_PUBLISHABLE_KEY must"}},
		"a connect secret that is none": {map[string]string{"STRIPE_CONNECT_WEBHOOK_SECRET": "sk_test_1"},
			[]string{"STRIPE_CONNECT_WEBHOOK_SECRET must"}},
		"only a connect secret": {map[string]string{"STRIPE_SECRET_KEY": "", "STRIPE_PUBLISHABLE_KEY": "",
			"STRIPE_WEBHOOK_SECRET": "", "STRIPE_CONNECT_WEBHOOK_SECRET": "whsec_2"},
			[]string{"STRIPE_CONNECT_WEBHOOK_SECRET needs"}},
		"a bare prefix": {map[string]string{"STRIPE_WEBHOOK_SECRET": "whsec_"},
			[]string{"STRIPE_WEBHOOK_SECRET must"}},
		"an address that is none": {map[string]string{"STRIPE_API_BASE": "stripe"}, []string{"STRIPE_API_BASE must"}},
		"only an address": {map[string]string{"STRIPE_SECRET_KEY": "", "STRIPE_PUBLISHABLE_KEY": "",
			"STRIPE_WEBHOOK_SECRET": "", "STRIPE_API_BASE": "http://127.0.0.1:1"}, []string{"STRIPE_API_BASE needs"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			vars := maps.Clone(whole)
			maps.Copy(vars, c.change)
			_, err := config.FromMap(vars)
			wantLines(t, err, c.want)
		})
	}
}

func TestLiveNeedsStripesLiveKeys(t *testing.T) {
	t.Parallel()
	_, err := config.FromMap(map[string]string{"ENVIRONMENT": "live", "STRIPE_SECRET_KEY": "sk_test_1",
		"STRIPE_API_BASE": "http://stripe.example.com"})
	var lines []string
	for line := range strings.Lines(err.Error()) {
		if strings.HasPrefix(line, "STRIPE_") {
			lines = append(lines, line)
		}
	}
	want := []string{"STRIPE_SECRET_KEY must", "STRIPE_PUBLISHABLE_KEY is required", "STRIPE_WEBHOOK_SECRET is required",
		"STRIPE_API_BASE must be https"}
	if len(lines) != len(want) {
		t.Fatalf("%q", lines)
	}
	for n, line := range lines {
		if !strings.HasPrefix(line, want[n]) {
			t.Errorf("%q, want %q", line, want[n])
		}
	}
}

func wantLines(t *testing.T, err error, want []string) {
	t.Helper()
	if err == nil {
		t.Fatal("accepted")
	}
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != len(want) {
		t.Fatalf("%d faults, want %d: %v", len(lines), len(want), err)
	}
	for n, line := range lines {
		if !strings.HasPrefix(line, want[n]) {
			t.Errorf("%q, want %q", line, want[n])
		}
	}
}
