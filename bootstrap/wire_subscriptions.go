package bootstrap

import (
	"sundry/adapters/httpapi"
	subscriptionsapi "sundry/adapters/httpapi/subscriptions"
	"sundry/adapters/jobs"
	"sundry/modules/access"
	"sundry/modules/catalog"
	"sundry/modules/customers"
	"sundry/modules/payments"
	"sundry/modules/subscriptions"
)

func (a *App) wireSubscriptions(
	offers *catalog.Service, buyers *customers.Service, cards *payments.Service, grants *access.Service,
	charges *payments.Attempts,
) *subscriptions.Service {
	module := subscriptions.New(subscriptions.Deps{
		Store: a.store, IDs: a.ids, Bus: a.bus, Charges: charges, Runner: charges, Offers: offers, Agreed: offers,
		Taxes: a.adapters.Taxes, Customers: buyers, Cards: cards, Access: grants,
		Portal: buyers,
	})

	on(a.bus, module.OnCheckoutPaid)
	on(a.bus, module.OnPaymentCompleted)
	on(a.bus, module.OnPaymentFailed)
	on(a.bus, module.OnRefundCreated)
	on(a.bus, module.OnRefundFailed)
	on(a.bus, module.OnDisputeOpened)
	on(a.bus, module.OnDisputeClosed)
	on(a.bus, module.OnCardSaved)
	on(a.bus, module.OnCardChosen)
	on(a.bus, module.OnCardRemoved)
	on(a.bus, module.OnCustomerRenamed)
	a.mux.HandleFairly(subscriptions.TaskDue, jobs.Payments, module.RunDue)
	a.mux.Handle(subscriptions.TaskNotice, jobs.Default, module.Notice)
	a.verify("subscriptions", module.Verify)
	return module
}

func (a *App) subscriptionsAPI(m modules) httpapi.Area {
	return httpapi.Area{Document: subscriptionsapi.Document, Routes: subscriptionsapi.Routes(subscriptionsapi.Deps{
		Live: a.live(), Subscriptions: m.Subscriptions, Customers: m.Customers,
	})}
}
