package bootstrap

import (
	"sundry/adapters/httpapi"
	treasuryapi "sundry/adapters/httpapi/treasury"
	"sundry/adapters/jobs"
	"sundry/modules/identity"
	"sundry/modules/treasury"
)

// wireTreasury keeps the ledger of every payment.
func (a *App) wireTreasury(accounts *identity.Service) *treasury.Service {
	paying, _ := a.providers.PaidOutBy()
	module := treasury.New(
		treasury.Config{
			FeeBasisPoints: a.cfg.PlatformFeeBasisPoints, FeeFixed: a.cfg.PlatformFeeFixed, PayoutMinimum: a.cfg.PayoutMinimum,
			Links: a.documentLinks(), NeedsAccounts: paying.PayoutAccounts, AccountPage: a.cfg.BaseURL + "/dashboard/balance",
			Live: a.live(),
		},
		treasury.Deps{
			Store: a.store, Clock: a.clock, IDs: a.ids, Bus: a.bus, Rail: paying.PayoutRail, Accounts: accounts,
			Creators: accounts, Standing: a.standing,
		})

	on(a.bus, module.OnPaymentCompleted)
	on(a.bus, module.OnPaymentReversed)
	on(a.bus, module.OnPayoutScheduleChanged)

	a.mux.Handle(treasury.TaskRelease, jobs.Payments, module.Release)
	a.mux.Handle(treasury.TaskPayout, jobs.Payments, module.Payout)
	a.mux.HandleFairly(treasury.TaskScheduledPayouts, jobs.Payments, module.ScheduledPayouts)
	a.verify("treasury", module.Verify)
	return module
}

func (a *App) treasuryAPI(m modules) httpapi.Area {
	return httpapi.Area{Document: treasuryapi.Document, Routes: treasuryapi.Routes(treasuryapi.Deps{
		Treasury: m.Treasury, Documents: m.Documents,
	})}
}
