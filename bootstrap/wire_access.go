package bootstrap

import (
	"sundry/adapters/httpapi"
	accessapi "sundry/adapters/httpapi/access"
	"sundry/adapters/jobs"
	"sundry/adapters/system"
	"sundry/modules/access"
)

func (a *App) wireAccess() error {
	module := access.New(access.Deps{
		Store: a.store, Reader: a.store, Clock: a.clock, Sleeper: system.Clock{}, IDs: a.ids, Bus: a.bus, Terms: a.modules.Catalog,
		Meters: a.modules.Usage, Livemode: a.cfg.Livemode(),
	})
	a.modules.Access = module

	before(a.bus, module.BeforeCheckoutPaid)
	before(a.bus, module.BeforeSubscriptionRenewed)
	on(a.bus, module.OnCheckoutPaid)
	on(a.bus, module.OnSubscriptionCreated)
	on(a.bus, module.OnSubscriptionRenewed)
	on(a.bus, module.OnSubscriptionCancelScheduled)
	on(a.bus, module.OnSubscriptionCanceled)
	on(a.bus, module.OnSubscriptionUpdated)
	on(a.bus, module.OnSubscriptionExpired)
	on(a.bus, module.OnSubscriptionChargeFailed)
	on(a.bus, module.OnCustomerRenamed)
	on(a.bus, module.OnRefundCreated)
	on(a.bus, module.OnDisputeOpened)
	on(a.bus, module.OnDisputeClosed)
	on(a.bus, module.OnUsageCounted)
	on(a.bus, module.OnAllCanceled)
	a.mux.Handle(access.TaskExpire, jobs.Default, module.Expire)
	a.mux.Handle(access.TaskMeters, jobs.Default, module.RefreshMeters)
	a.verify(module.Verify)
	return nil
}

func (a *App) accessAPI() httpapi.Area {
	return httpapi.Area{Document: accessapi.Document, Routes: accessapi.Routes(accessapi.Deps{
		Sandbox: a.inSandbox(), Access: a.modules.Access,
	})}
}
