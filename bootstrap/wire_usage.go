package bootstrap

import (
	"sundry/adapters/httpapi"
	usageapi "sundry/adapters/httpapi/usage"
	"sundry/adapters/jobs"
	"sundry/modules/usage"
)

func (a *App) wireUsage() error {
	module := usage.New(usage.Deps{Store: a.store, Intake: a.store, Clock: a.clock, IDs: a.ids, Bus: a.bus})
	a.modules.Usage = module

	on(a.bus, module.OnSubscriptionCanceled)
	on(a.bus, module.OnSubscriptionExpired)
	a.mux.Handle(usage.TaskClose, jobs.Payments, module.ClosePeriod)
	a.beforeAdvance = append(a.beforeAdvance, module.FlushBefore)
	a.verifyInParts(module.Verify, module.VerifyNew)
	return nil
}

func (a *App) usageAPI() httpapi.Area {
	return httpapi.Area{Document: usageapi.Document, Routes: usageapi.Routes(usageapi.Deps{Sandbox: a.inSandbox(), Usage: a.modules.Usage})}
}
