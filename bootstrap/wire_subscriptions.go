package bootstrap

import (
	"sundry/adapters/httpapi"
	subscriptionsapi "sundry/adapters/httpapi/subscriptions"
	"sundry/adapters/jobs"
	"sundry/modules/subscriptions"
)

func (a *App) wireSubscriptions() error {
	module := subscriptions.New(subscriptions.Deps{
		Store: a.store, IDs: a.ids, Bus: a.bus, Charges: a.modules.Payments, Offers: a.modules.Catalog, Taxes: a.taxes,
		Customers: a.modules.Customers,
	})
	a.modules.Subscriptions = module

	before(a.bus, module.BeforePaymentCompleted)
	on(a.bus, module.OnCheckoutPaid)
	on(a.bus, module.OnPaymentCompleted)
	on(a.bus, module.OnPaymentFailed)
	on(a.bus, module.OnRefundCreated)
	on(a.bus, module.OnDisputeClosed)
	on(a.bus, module.OnCardSaved)
	on(a.bus, module.OnCardRemoved)
	on(a.bus, module.OnCustomerRenamed)
	a.mux.HandleFairly(subscriptions.TaskDue, jobs.Payments, module.Due)
	a.mux.Handle(subscriptions.TaskNotice, jobs.Default, module.Notice)
	a.verify(module.Verify)
	return nil
}

func (a *App) subscriptionsAPI() httpapi.Area {
	return httpapi.Area{Document: subscriptionsapi.Document, Routes: subscriptionsapi.Routes(subscriptionsapi.Deps{
		Livemode: a.cfg.Livemode(), Subscriptions: a.modules.Subscriptions,
	})}
}
