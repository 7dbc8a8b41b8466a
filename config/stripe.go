package config

import "strings"

// Stripe reports whether Stripe takes the payments.
func (c Config) Stripe() bool { return c.StripeSecretKey != "" }

const stripeKeys = "STRIPE_SECRET_KEY, STRIPE_PUBLISHABLE_KEY and STRIPE_WEBHOOK_SECRET"

// stripeFaults checks the settings of Stripe: all three or none, of the deployment's own mode.
func (c Config) stripeFaults() (all faultList) {
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
		if v.value != "" {
			all.require(strings.HasPrefix(v.value, prefix) && len(v.value) > len(prefix),
				"%s must be a %s that begins with %s when ENVIRONMENT=%s", v.name, v.kind, prefix, c.Environment)
			continue
		}
		needed := c.Live() && !c.ownPayments
		all.require(!needed, "%s is required when ENVIRONMENT=live", v.name)
		all.require(needed || !given, "%s is missing: "+stripeKeys+" belong together", v.name)
	}
	if secret := c.StripeConnectWebhookSecret; secret != "" {
		all.require(strings.HasPrefix(secret, "whsec_") && secret != "whsec_",
			"STRIPE_CONNECT_WEBHOOK_SECRET must be a webhook signing secret that begins with whsec_")
		all.require(given, "STRIPE_CONNECT_WEBHOOK_SECRET needs "+stripeKeys)
	}
	if c.Live() {
		all.require(c.StripeScriptURL == "https://js.stripe.com/v3/",
			"STRIPE_SCRIPT_URL must not be set when ENVIRONMENT=live")
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
	all.require(given, "STRIPE_API_BASE needs "+stripeKeys)
	return all
}
