package bootstrap

import (
	"sundry/adapters/httpapi"
)

// wire builds the modules and says who hears which event and who runs which task: the whole program on one page.
func (a *App) wire() error {
	server := httpapi.New(
		httpapi.Config{Sandbox: !a.cfg.Livemode(), RateLimitPerMinute: a.cfg.RateLimit(), Ready: a.ready},
		a.modules, a.store, a.clock, a.ids, nil, a.log)
	server.NotFound()
	a.http = server.App()
	return nil
}
