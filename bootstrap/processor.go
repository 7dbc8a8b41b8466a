package bootstrap

import (
	"context"

	"sundry/adapters/jobs"
	"sundry/adapters/sandboxpay"
	"sundry/adapters/stripepay"
	"sundry/adapters/taxtable"
	"sundry/adapters/web/layout"
	"sundry/ports"
)

// processor is every side of a card processor.
type processor interface {
	ports.Processor
	ports.CardForm
	ports.DisputeProcessor
	ports.RefundLister
}

// openProcessor picks Stripe where its keys are set. The sandbox's own moves no money and is never picked in live,
// because the configuration demands the keys there.
func (a *App) openProcessor() {
	if !a.cfg.Stripe() {
		sandbox := sandboxpay.New(a.store)
		a.processor = sandbox
		a.verify(sandbox.Verify)
		return
	}
	a.processor = a.stripe()
}

func (a *App) stripe() *stripepay.Processor {
	return stripepay.New(stripepay.Config{
		SecretKey: a.cfg.StripeSecretKey, WebhookSecret: a.cfg.StripeWebhookSecret,
		ConnectWebhookSecret: a.cfg.StripeConnectWebhookSecret, APIBase: a.cfg.StripeAPIBase, Livemode: a.cfg.Livemode(),
	})
}

// processorEvents verifies what the processor reports. The sandbox's sends it itself, to the given receiver.
func (a *App) processorEvents() (events ports.EventVerifier,
	sendTo func(receive func(ctx context.Context, payload []byte, signature string) error)) {
	if a.cfg.Stripe() {
		return a.stripe(), func(func(context.Context, []byte, string) error) {}
	}
	sandbox := sandboxpay.NewEvents(a.secrets.derive("processor-events"), a.store, a.clock)
	a.mux.Handle(sandboxpay.TaskEmit, jobs.Payments, sandbox.Emit)
	return sandbox, sandbox.SendTo
}

// payoutRail moves money to creators.
func (a *App) payoutRail() ports.PayoutRail {
	if !a.cfg.Stripe() {
		return sandboxpay.Rail{}
	}
	return stripepay.NewRail(a.stripe())
}

// taxCalculator is Stripe Tax or the program's own table, for every area that sells.
func (a *App) taxCalculator() (ports.TaxCalculator, error) {
	if a.cfg.StripeTax() {
		return stripepay.NewTaxes(a.stripe(), a.clock.Real), nil
	}
	return taxtable.New(a.cfg.SellerCountry)
}

// cardForm returns the settings with which pages take cards; the zero value where our own form takes the sandbox's.
func (a *App) cardForm() layout.CardForm {
	if !a.cfg.Stripe() {
		return layout.CardForm{}
	}
	return layout.CardForm{PublishableKey: a.cfg.StripePublishableKey, ScriptURL: a.cfg.StripeScriptURL,
		Unit: stripepay.Unit}
}
