package bootstrap

import (
	"sundry/adapters/httpapi"
	accessapi "sundry/adapters/httpapi/access"
	"sundry/adapters/jobs"
	"sundry/adapters/system"
	"sundry/modules/access"
	"sundry/modules/catalog"
	"sundry/modules/customers"
	"sundry/modules/usage"
)

func (a *App) wireAccess(
	terms *catalog.Service, meters *usage.Service, buyers *customers.Service,
) *access.Service {
	module := access.New(access.Deps{
		Store: a.store, Reader: a.store, Clock: a.clock, Sleeper: system.Clock{}, IDs: a.ids, Bus: a.bus, Terms: terms,
		Meters: meters, Customers: buyers, Live: a.live(),
	})

	on(a.bus, module.OnCheckoutPaid)
	on(a.bus, module.OnSubscriptionCreated)
	on(a.bus, module.OnSubscriptionRenewed)
	on(a.bus, module.OnSubscriptionCancelScheduled)
	on(a.bus, module.OnSubscriptionCanceled)
	on(a.bus, module.OnSubscriptionUpdated)
	on(a.bus, module.OnSubscriptionExpired)
	on(a.bus, module.OnSubscriptionChargeFailed)
	on(a.bus, module.OnSubscriptionMoneyMoved)
	on(a.bus, module.OnCustomerRenamed)
	on(a.bus, module.OnCustomerErased)
	on(a.bus, module.OnRefundCreated)
	on(a.bus, module.OnRefundFailed)
	on(a.bus, module.OnDisputeOpened)
	on(a.bus, module.OnDisputeClosed)
	on(a.bus, module.OnUsageCounted)
	on(a.bus, module.OnAllCanceled)
	a.mux.Handle(access.TaskAnnounce, jobs.Webhooks, module.Announce)
	a.mux.Handle(access.TaskExpire, jobs.Default, module.Expire)
	a.mux.Handle(access.TaskMeters, jobs.Default, module.RefreshMeters)
	a.verify("access", module.Verify)
	return module
}

func (a *App) accessAPI(m modules) httpapi.Area {
	return httpapi.Area{Document: accessapi.Document, Routes: accessapi.Routes(accessapi.Deps{
		Live: a.live(), Access: m.Access,
	})}
}
