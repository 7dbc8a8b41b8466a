package bootstrap

import (
	"sundry/adapters/httpapi"
	identityapi "sundry/adapters/httpapi/identity"
	"sundry/adapters/jobs"
	"sundry/adapters/passwords"
	"sundry/adapters/tokens"
	"sundry/modules/identity"
)

func (a *App) wireIdentity() *identity.Service {
	module := identity.New(
		identity.Config{
			Livemode: a.cfg.Livemode(), BaseURL: a.cfg.BaseURL, KeySecret: a.secrets.derive("api-keys"),
			RefreshSecret: a.secrets.derive("refresh-tokens"),
			WebSecret:     a.secrets.derive("web-sessions"),
		},
		identity.Deps{
			Store: a.store, Clock: a.clock, IDs: a.ids, Passwords: passwords.NewArgon2id(),
			Tokens:  tokens.NewJWT(a.cfg.BaseURL, "sundry:"+string(a.cfg.Environment), a.secrets.derive("access-tokens")),
			Limiter: a.limiter, Bus: a.bus,
		})
	a.closers = append(a.closers, module.Close)

	a.mux.Handle(identity.ResetTask, jobs.Default, module.MailPasswordReset)
	a.mux.Handle(identity.SweepTask, jobs.Default, module.Sweep)
	a.maintain(identity.SweepTask)
	return module
}

func (a *App) identityAPI(m modules) httpapi.Area {
	return httpapi.Area{Document: identityapi.Document, Routes: identityapi.Routes(identityapi.Deps{
		Sandbox: a.inSandbox(), BaseURL: a.cfg.BaseURL, Identity: m.Identity, Clock: a.clock,
		ClientAddress: a.clientAddress(),
	})}
}
