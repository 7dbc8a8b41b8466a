package bootstrap

import (
	"sundry/adapters/httpapi"
	identityapi "sundry/adapters/httpapi/identity"
	"sundry/adapters/jobs"
	"sundry/adapters/passkeys"
	"sundry/adapters/tokens"
	core "sundry/core/identity"
	"sundry/modules/identity"
	"sundry/ports"
)

func (a *App) wireIdentity(names ports.UniqueNames) *identity.Service {
	module := identity.New(
		identity.Config{
			Live: a.live(), SignUps: core.SignUps(a.cfg.SignUps), BaseURL: a.cfg.BaseURL,
			KeySecret:     a.keys.Lasting("api-keys"),
			RefreshSecret: a.keys.Lasting("refresh-tokens"),
			WebSecret:     a.keys.Lasting("web-sessions"),
		},
		identity.Deps{
			Store: a.store, Clock: a.clock, IDs: a.ids, Passwords: a.adapters.Passwords,
			Tokens: tokens.NewJWT(a.cfg.BaseURL, "sundry:"+string(a.cfg.Environment), a.keys.Tokens("access-tokens"),
				a.ids.Cell()),
			Limiter: a.limiter, Bus: a.bus, Standing: a.standing, Names: names,
			Encrypter: a.encrypter("second-steps"), Passkeys: passkeysFor(a.cfg.BaseURL),
		})
	a.closers = append(a.closers, module.Close)

	on(a.bus, module.OnCustomerErased)
	on(a.bus, module.OnAudited)

	a.mux.Handle(identity.ResetTask, jobs.Default, module.MailPasswordReset)
	a.mux.Handle(identity.SweepTask, jobs.Default, module.Sweep)
	a.maintain(identity.SweepTask)
	return module
}

// passkeysFor returns the passkeys of an address; nil for one without a name, such as 127.0.0.1.
func passkeysFor(baseURL string) ports.Passkeys {
	p := passkeys.New(baseURL)
	if p == nil {
		return nil
	}
	return p
}

func (a *App) identityAPI(m modules) httpapi.Area {
	return httpapi.Area{Document: identityapi.Document, Routes: identityapi.Routes(identityapi.Deps{
		Live: a.live(), BaseURL: a.cfg.BaseURL, Identity: m.Identity, Clock: a.clock,
		ClientAddress: a.clientAddress(),
	})}
}
