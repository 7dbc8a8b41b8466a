package bootstrap

import (
	"sundry/adapters/encrypter"
	"sundry/adapters/httpapi"
	webhooksapi "sundry/adapters/httpapi/webhooks"
	"sundry/adapters/jobs"
	"sundry/adapters/webhookhttp"
	core "sundry/core/checkout"
	"sundry/core/webhook"
	"sundry/modules/access"
	"sundry/modules/webhooks"
)

func (a *App) wireWebhooks(history *access.Service) (*webhooks.Service, error) {
	secrets, err := encrypter.New(a.secrets.derive("webhook-secrets"))
	if err != nil {
		return nil, err
	}
	sender := webhookhttp.New(a.receivers())
	a.metrics.MustRegister(sender)
	module := webhooks.New(
		webhooks.Config{Livemode: a.cfg.Livemode(), Receivers: a.receivers(), Invoices: a.invoicePages()},
		webhooks.Deps{
			Store: a.store, Deliveries: a.store, Clock: a.clock, IDs: a.ids, Bus: a.bus, History: history, Sender: sender,
			Encrypter: secrets,
		})

	for _, subscription := range module.Subscriptions() {
		if _, sale := subscription.Event.(core.Paid); sale {
			a.bus.subscribeFirst(subscription) // so that payment.completed precedes what follows from it
		} else {
			a.bus.subscribe(subscription)
		}
	}
	a.mux.Handle(webhooks.TaskAnnounce, jobs.Webhooks, module.Announce)
	a.mux.HandleWithKey(webhooks.TaskDeliver, jobs.Webhooks, webhooks.ConcurrencyKey, module.Deliver)
	a.verify(module.Verify)
	return module, nil
}

func (a *App) webhooksAPI(m modules) httpapi.Area {
	return httpapi.Area{Document: webhooksapi.Document, Routes: webhooksapi.Routes(webhooksapi.Deps{
		Sandbox: a.inSandbox(), Webhooks: m.Webhooks,
	})}
}

// receivers describes where the addresses that accounts give may lead beside the public internet.
func (a *App) receivers() webhook.Policy {
	if a.cfg.Livemode() {
		return webhook.Policy{}
	}
	return webhook.Policy{Loopback: a.cfg.WebhooksToLoopback(), Private: a.cfg.WebhooksToPrivate(),
		Setting: "WEBHOOK_ALLOW_PRIVATE"}
}
