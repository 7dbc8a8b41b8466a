package bootstrap

import (
	"sundry/adapters/encrypter"
	"sundry/adapters/httpapi"
	webhooksapi "sundry/adapters/httpapi/webhooks"
	"sundry/adapters/jobs"
	"sundry/adapters/webhookhttp"
	"sundry/core/webhook"
	"sundry/modules/webhooks"
)

func (a *App) wireWebhooks() error {
	secrets, err := encrypter.New(a.secrets.derive("webhook-secrets"))
	if err != nil {
		return err
	}
	sender := webhookhttp.New(a.receivers())
	a.metrics.MustRegister(sender)
	module := webhooks.New(
		webhooks.Config{Livemode: a.cfg.Livemode(), Receivers: a.receivers()},
		webhooks.Deps{
			Store: a.store, Outbox: a.store, Clock: a.clock, IDs: a.ids, Bus: a.bus, History: a.modules.Access, Sender: sender,
			Encrypter: secrets,
		})
	a.modules.Webhooks = module

	before(a.bus, module.BeforeCheckoutPaid)
	before(a.bus, module.BeforePaymentCompleted)
	before(a.bus, module.BeforeSubscriptionRenewed)
	onFirst(a.bus, module.OnCheckoutPaid) // so that payment.completed precedes what follows from it
	on(a.bus, module.OnSubscriptionChargePaid)
	on(a.bus, module.OnSubscriptionCreated)
	on(a.bus, module.OnSubscriptionRenewed)
	on(a.bus, module.OnSubscriptionCancelScheduled)
	on(a.bus, module.OnSubscriptionCanceled)
	on(a.bus, module.OnSubscriptionUpdated)
	on(a.bus, module.OnSubscriptionExpired)
	on(a.bus, module.OnSubscriptionChargeFailed)
	on(a.bus, module.OnAccessChanged)
	on(a.bus, module.OnAppointmentBooked)
	on(a.bus, module.OnAppointmentRescheduled)
	on(a.bus, module.OnAppointmentCanceled)
	on(a.bus, module.OnRefundCreated)
	on(a.bus, module.OnDisputeOpened)
	on(a.bus, module.OnDisputeClosed)
	on(a.bus, module.OnPayoutPaid)
	on(a.bus, module.OnInvoiceCreated)
	on(a.bus, module.OnInvoiceFinalized)
	on(a.bus, module.OnInvoicePaid)
	on(a.bus, module.OnInvoicePaymentFailed)
	on(a.bus, module.OnUsageThresholdReached)
	a.mux.Handle(webhooks.TaskAnnounce, jobs.Webhooks, module.Announce)
	a.mux.HandleWithKey(webhooks.TaskDeliver, jobs.Webhooks, webhooks.ConcurrencyKey, module.Deliver)
	a.verify(module.Verify)
	return nil
}

func (a *App) webhooksAPI() httpapi.Area {
	return httpapi.Area{Document: webhooksapi.Document, Routes: webhooksapi.Routes(webhooksapi.Deps{
		Sandbox: a.inSandbox(), Webhooks: a.modules.Webhooks,
	})}
}

// receivers describes where the addresses that accounts give may lead beside the public internet.
func (a *App) receivers() webhook.Policy {
	if a.cfg.Livemode() {
		return webhook.Policy{}
	}
	return webhook.Policy{Loopback: a.cfg.WebhooksToLoopback(), Private: a.cfg.WebhooksToPrivate(), Setting: "WEBHOOK_ALLOW_PRIVATE"}
}
