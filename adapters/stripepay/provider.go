package stripepay

import (
	"sundry/core/money"
	"sundry/ports"
)

// Name identifies Stripe in payments and saved cards.
const Name = "stripe"

// Open returns what opens a Stripe account as a payment provider. The form's script is loaded from scriptURL, with the
// account's publishable key.
func Open(config Config, publishableKey, scriptURL string) ports.OpenProvider {
	return func(ports.ProviderHost) (ports.Provider, error) {
		processor := New(config)
		return ports.Provider{
			Name: Name, Label: "Stripe", Processor: processor, Cards: processor, Fingerprints: processor,
			RefundLister:     processor,
			DisputeProcessor: processor, ChargeLister: processor, Billing: processor,
			Events: processor, SignatureHeader: "Stripe-Signature", PayoutRail: NewRail(processor),
			PayoutLister:   NewRail(processor),
			PayoutAccounts: true,
			PayoutOrigin:   "https://connect.stripe.com",
			LeastCharge:    money.Currency.LeastCharge,
			// Stripe requires its script, the frames of card fields and banks, its API, and the images of wallets.
			Form: ports.PaymentForm{Script: &ports.FormScript{
				URL: scriptURL, PublishableKey: publishableKey, Unit: Unit,
				Scripts: []string{"https://*.js.stripe.com"},
				Frames:  []string{"https://*.js.stripe.com", "https://hooks.stripe.com"},
				Calls:   []string{"https://api.stripe.com"},
				Images:  []string{"https://*.stripe.com"},
			}},
		}, nil
	}
}
