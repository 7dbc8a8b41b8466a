package bootstrap

import (
	"sundry/adapters/httpapi"
	treasuryapi "sundry/adapters/httpapi/treasury"
	"sundry/adapters/jobs"
	"sundry/modules/treasury"
)

// wireTreasury keeps the books of every payment. It comes before the areas that give money back.
func (a *App) wireTreasury() error {
	books := treasury.New(
		treasury.Config{
			FeeBasisPoints: a.cfg.PlatformFeeBasisPoints, FeeFixed: a.cfg.PlatformFeeFixed, PayoutMinimum: a.cfg.PayoutMinimum,
			Links: a.documentLinks(), NeedsAccounts: a.cfg.Stripe(), AccountPage: a.cfg.BaseURL + "/dashboard/balance", Sandbox: a.inSandbox(),
		},
		treasury.Deps{
			Store: a.store, Clock: a.clock, IDs: a.ids, Bus: a.bus, Rail: a.payoutRail(), Accounts: a.modules.Identity, Creators: a.modules.Identity,
		})
	a.modules.Treasury = books

	on(a.bus, books.OnPaymentCompleted)
	on(a.bus, books.OnPaymentReversed)
	on(a.bus, books.OnPayoutScheduleChanged)

	a.mux.Handle(treasury.TaskRelease, jobs.Payments, books.Release)
	a.mux.Handle(treasury.TaskPayout, jobs.Payments, books.Payout)
	a.mux.HandleFairly(treasury.TaskScheduledPayouts, jobs.Payments, books.ScheduledPayouts)
	a.verify(books.Verify)
	return nil
}

func (a *App) treasuryAPI() httpapi.Area {
	return httpapi.Area{Document: treasuryapi.Document, Routes: treasuryapi.Routes(treasuryapi.Deps{
		Treasury: a.modules.Treasury, Documents: a.modules.Documents,
	})}
}
