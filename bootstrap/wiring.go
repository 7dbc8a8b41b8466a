package bootstrap

import (
	"sundry/adapters/httpapi"
	"sundry/adapters/jobs"
	"sundry/adapters/passwords"
	"sundry/adapters/system"
	"sundry/adapters/tokens"
	"sundry/modules/catalog"
	"sundry/modules/entitlement"
	"sundry/modules/identity"
)

// wire builds the modules and says who hears which event and who runs which task: the whole program on one page.
func (a *App) wire() error {
	throttle := a.throttle()
	a.modules.Identity = identity.New(
		identity.Config{Livemode: a.cfg.Livemode(), KeySecret: a.secrets.derive("api-keys"), RefreshSecret: a.secrets.derive("refresh-tokens")},
		a.store, a.clock, a.ids, passwords.NewArgon2id(),
		tokens.NewJWT(a.cfg.BaseURL, "sundry:"+string(a.cfg.Environment), a.secrets.derive("access-tokens")), throttle)
	a.closers = append(a.closers, a.modules.Identity.Close)
	a.modules.Catalog = catalog.New(a.store, a.clock, a.ids, !a.cfg.Livemode())

	a.mux.Handle(identity.SweepTask, jobs.Rest, a.modules.Identity.Sweep)
	a.mux.Handle(idempotencySweepTask, jobs.Rest, a.sweepIdempotencyKeys)

	events := newBus()
	a.modules.Entitlement = entitlement.New(a.store, a.store, a.clock, system.Clock{}, a.ids, events, a.cfg.Livemode())
	on(events, a.modules.Entitlement.OnCheckoutPaid)
	on(events, a.modules.Entitlement.OnSubscriptionStarted)
	on(events, a.modules.Entitlement.OnSubscriptionEnded)
	a.mux.Handle(entitlement.TaskExpire, jobs.Rest, a.modules.Entitlement.Expire)

	server := httpapi.New(
		httpapi.Config{
			Sandbox: !a.cfg.Livemode(), BaseURL: a.cfg.BaseURL, RateLimitPerMinute: a.cfg.RateLimit(), Ready: a.ready,
			Metrics: a.metrics, MetricsElsewhere: a.cfg.MetricsAddr != "",
		},
		a.modules, a.store, a.clock, a.ids, throttle, a.log)
	server.NotFound()
	a.http = server.App()
	a.operations = server.Operations()
	return nil
}
