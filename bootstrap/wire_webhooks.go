package bootstrap

import (
	"sundry/adapters/httpapi"
	webhooksapi "sundry/adapters/httpapi/webhooks"
	"sundry/adapters/jobs"
	"sundry/adapters/telemetry"
	"sundry/adapters/webhookhttp"
	"sundry/core/webhook"
	"sundry/modules/webhooks"
	"sundry/ports"
)

func (a *App) wireWebhooks() *webhooks.Service {
	client := webhookhttp.New(a.receivers())
	a.metrics.MustRegister(client)
	var sender ports.Sender = client
	if a.tracer != nil {
		sender = telemetry.TraceSender(a.tracer, client)
	}
	module := webhooks.New(
		webhooks.Config{Live: a.live(), Receivers: a.receivers(), Invoices: a.invoicePages()},
		webhooks.Deps{
			Store: a.store, Deliveries: a.store, Clock: a.clock, IDs: a.ids, Bus: a.bus, Sender: sender,
			Encrypter: a.encrypter("webhook-secrets"), Standing: a.standing,
		})

	a.bus.subscribe(module.Subscriptions()...)
	a.mux.HandleWithKey(webhooks.TaskDeliver, jobs.Webhooks, webhooks.ConcurrencyKey, module.Deliver)
	a.mux.HandleFairly(webhooks.TaskWake, jobs.Webhooks, module.Wake)
	a.verify("webhooks", module.Verify)
	return module
}

func (a *App) webhooksAPI(m modules) httpapi.Area {
	return httpapi.Area{
		Document: webhooksapi.Document, Generated: webhooksapi.Messages,
		Routes: webhooksapi.Routes(webhooksapi.Deps{Live: a.live(), Webhooks: m.Webhooks}),
	}
}

// receivers describes where the addresses that accounts give may lead beside the public internet.
func (a *App) receivers() webhook.Policy {
	if a.live() {
		return webhook.Policy{}
	}
	return webhook.Policy{Loopback: a.cfg.WebhooksToLoopback(), Private: a.cfg.WebhooksToPrivate(),
		Setting: "WEBHOOK_ALLOW_PRIVATE"}
}
