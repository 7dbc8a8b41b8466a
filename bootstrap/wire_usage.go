package bootstrap

import (
	"sundry/adapters/httpapi"
	usageapi "sundry/adapters/httpapi/usage"
	"sundry/adapters/jobs"
	"sundry/modules/usage"
)

func (a *App) wireUsage() *usage.Service {
	module := usage.New(usage.Deps{Store: a.store, Intake: a.store, Clock: a.clock, IDs: a.ids, Bus: a.bus,
		Rates: a.standing, LeastCharge: a.providers.LeastCharge})

	on(a.bus, module.OnSubscriptionCanceled)
	on(a.bus, module.OnSubscriptionExpired)
	on(a.bus, module.OnSubscriptionRenewed)
	on(a.bus, module.OnSubscriptionUpdated)
	on(a.bus, module.OnCheckoutPaid)
	on(a.bus, module.OnRefundCreated)
	on(a.bus, module.OnRefundFailed)
	on(a.bus, module.OnDisputeOpened)
	on(a.bus, module.OnDisputeClosed)
	on(a.bus, module.OnCustomerRenamed)
	a.mux.Handle(usage.TaskExpirePrepaid, jobs.Default, module.ExpireCredit)
	a.mux.Handle(usage.TaskClose, jobs.Payments, module.ClosePeriod)
	a.verifyInParts("usage", module.Verify, module.VerifyNew)
	return module
}

func (a *App) usageAPI(m modules) httpapi.Area {
	return httpapi.Area{Document: usageapi.Document,
		Routes: usageapi.Routes(usageapi.Deps{Live: a.live(), Usage: m.Usage})}
}
