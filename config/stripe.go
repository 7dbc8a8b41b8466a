package config

import (
	"errors"
	"fmt"
	"strings"
)

// Stripe reports whether Stripe takes the payments.
func (c Config) Stripe() bool { return c.StripeSecretKey != "" }

// stripeFaults checks the settings of Stripe: all three or none, of the deployment's own mode.
func (c Config) stripeFaults() []error {
	var all []error
	values := []struct{ name, value, kind, test, live string }{
		{"STRIPE_SECRET_KEY", c.StripeSecretKey, "secret key", "sk_test_", "sk_live_"},
		{"STRIPE_PUBLISHABLE_KEY", c.StripePublishableKey, "publishable key", "pk_test_", "pk_live_"},
		{"STRIPE_WEBHOOK_SECRET", c.StripeWebhookSecret, "webhook signing secret", "whsec_", "whsec_"},
	}
	given := c.StripeSecretKey != "" || c.StripePublishableKey != "" || c.StripeWebhookSecret != ""
	for _, v := range values {
		prefix := v.test
		if c.Live() {
			prefix = v.live
		}
		switch {
		case v.value == "" && c.Live() && !c.ownPayments:
			all = append(all, fmt.Errorf("%s is required when ENVIRONMENT=live", v.name))
		case v.value == "" && given:
			all = append(all, fmt.Errorf("%s is missing: STRIPE_SECRET_KEY, STRIPE_PUBLISHABLE_KEY and STRIPE_WEBHOOK_SECRET belong together", v.name))
		case v.value != "" && (!strings.HasPrefix(v.value, prefix) || len(v.value) == len(prefix)):
			all = append(all, fmt.Errorf("%s must be a %s that begins with %s when ENVIRONMENT=%s", v.name, v.kind, prefix,
				c.Environment))
		}
	}
	if secret := c.StripeConnectWebhookSecret; secret != "" {
		if !strings.HasPrefix(secret, "whsec_") || secret == "whsec_" {
			all = append(all, errors.New("STRIPE_CONNECT_WEBHOOK_SECRET must be a webhook signing secret that begins with whsec_"))
		}
		if !given {
			all = append(all, errors.New("STRIPE_CONNECT_WEBHOOK_SECRET needs STRIPE_SECRET_KEY, STRIPE_PUBLISHABLE_KEY and STRIPE_WEBHOOK_SECRET"))
		}
	}
	if c.Live() && c.StripeScriptURL != "https://js.stripe.com/v3/" {
		all = append(all, errors.New("STRIPE_SCRIPT_URL must not be set when ENVIRONMENT=live"))
	} else {
		all = append(all, c.serviceFaults(
			"STRIPE_SCRIPT_URL", c.StripeScriptURL, "an absolute address such as https://js.stripe.com/v3/",
		)...)
	}
	if c.StripeAPIBase == "" {
		return all
	}
	all = append(all, c.serviceFaults(
		"STRIPE_API_BASE", c.StripeAPIBase, "an absolute address such as https://api.stripe.com",
	)...)
	if !given {
		all = append(all, errors.New("STRIPE_API_BASE needs STRIPE_SECRET_KEY, STRIPE_PUBLISHABLE_KEY and STRIPE_WEBHOOK_SECRET"))
	}
	return all
}
