package bootstrap

import (
	"strings"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/httpapi"
	accessapi "sundry/adapters/httpapi/access"
	identityapi "sundry/adapters/httpapi/identity"
	"sundry/adapters/web/layout"
)

// clientAddress is the network that a request comes from, as far as the proxies before us are trusted.
func (a *App) clientAddress() func(*fiber.Ctx) string {
	return httpapi.TrustedProxies(a.cfg.Proxies()).ClientAddress
}

// clientCountry is the country that a trusted proxy reports a request to come from.
func (a *App) clientCountry() func(*fiber.Ctx) string {
	return httpapi.TrustedProxies(a.cfg.Proxies()).ClientCountry(a.cfg.ClientCountryHeader)
}

// mountHTTP puts the API and the pages in front of the modules.
func (a *App) mountHTTP(m modules) error {
	shared, err := a.newLayout(m.Images)
	if err != nil {
		return err
	}
	server := httpapi.New(httpapi.Deps{
		Live: a.live(), Encrypted: strings.HasPrefix(a.cfg.BaseURL, "https:"), RateLimitPerMinute: a.cfg.RateLimit(),
		Accounts:    m.Operator,
		Auth:        identityapi.Authenticator{Service: m.Identity},
		Idempotency: m.Idempotency, RateLimiter: a.limiter, IDs: a.ids, Log: a.log, Requests: m.Requests, Ready: a.ready,
		ClientAddress: a.clientAddress(), Exports: m.Identity, Grants: accessapi.ExportGrants(m.Access),
		RefusedPage: shared.Refused,
		SendFixed:   func(body []byte) fiber.Handler { return layout.NewEncoded(body).Send },
		Tracer:      a.tracer, OtherCell: m.Directory.IsOther, Delay: a.store.Delay, Outdated: a.isOutdated,
		Metrics: a.metrics, MetricsElsewhere: a.cfg.MetricsAddr != "",
	}, a.apiAreas(m)...)
	if err := a.mountPages(m, server.App(), shared, server.Document().YAML); err != nil {
		return err
	}
	a.http = server.App()
	a.operations = server.Operations()
	return nil
}
