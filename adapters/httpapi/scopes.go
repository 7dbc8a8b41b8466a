package httpapi

import (
	"strings"

	"github.com/gofiber/fiber/v2"

	"sundry/core/identity"
)

// scopeRow gives the routes below a path the scope that a limited key needs for them.
type scopeRow struct {
	path  string
	scope identity.Scope
	// secret routes take the scope itself: where it is another, identity.ScopeRead is not enough.
	secret bool
}

// scopeTable covers every route that takes a secret key. The first row that a route is below of counts.
var scopeTable = []scopeRow{
	{path: "/v1/appointments", scope: identity.ScopeAppointments},
	{path: "/v1/audit-log", scope: identity.ScopeRead, secret: true},
	{path: "/v1/balance", scope: identity.ScopePayouts},
	{path: "/v1/card-setup-sessions", scope: identity.ScopeCustomers},
	{path: "/v1/catalog", scope: identity.ScopeCatalog},
	{path: "/v1/checkout-sessions", scope: identity.ScopeCheckout},
	{path: "/v1/customer-access", scope: identity.ScopeAccess},
	{path: "/v1/customer-portal-sessions", scope: identity.ScopeCustomers},
	{path: "/v1/customers/:id/export", scope: identity.ScopeRead, secret: true}, // of every area
	{path: "/v1/customers", scope: identity.ScopeCustomers},
	{path: "/v1/disputes", scope: identity.ScopeRefunds},
	{path: "/v1/event-types", scope: identity.ScopeWebhooks},
	{path: "/v1/events", scope: identity.ScopeWebhooks},
	{path: "/v1/export", scope: identity.ScopeRead, secret: true},
	{path: "/v1/invoices", scope: identity.ScopeInvoices},
	{path: "/v1/ledger", scope: identity.ScopePayouts},
	{path: "/v1/metrics/revenue", scope: identity.ScopePayouts},
	{path: "/v1/metrics/subscriptions", scope: identity.ScopeSubscriptions},
	{path: "/v1/metrics/usage", scope: identity.ScopeUsage},
	{path: "/v1/payments", scope: identity.ScopeCheckout},
	{path: "/v1/payout-account", scope: identity.ScopePayouts},
	{path: "/v1/payout-account-sessions", scope: identity.ScopePayouts},
	{path: "/v1/payouts", scope: identity.ScopePayouts},
	{path: "/v1/refunds", scope: identity.ScopeRefunds},
	{path: "/v1/sandbox/checkout-sessions", scope: identity.ScopeCheckout},
	{path: "/v1/sandbox/clock", scope: identity.ScopeSandbox},
	{path: "/v1/sandbox/customers", scope: identity.ScopeCustomers},
	{path: "/v1/subscriptions", scope: identity.ScopeSubscriptions},
	{path: "/v1/usage/meters", scope: identity.ScopeCatalog},
	{path: "/v1/usage/prices", scope: identity.ScopeCatalog},
	{path: "/v1/usage/products", scope: identity.ScopeCatalog},
	{path: "/v1/usage", scope: identity.ScopeUsage},
	{path: "/v1/webhook-endpoints/:id/secret", scope: identity.ScopeWebhooks, secret: true},
	{path: "/v1/webhook-endpoints", scope: identity.ScopeWebhooks},
}

// scopesFor returns the scopes of which a key needs one to call the route: none for a route that is not in the
// table, which only a key without limits may call.
func scopesFor(r Route) (enough []identity.Scope) {
	for _, row := range scopeTable {
		if r.Path != row.path && !strings.HasPrefix(r.Path, row.path+"/") {
			continue
		}
		if r.Method == fiber.MethodGet && !row.secret {
			return []identity.Scope{identity.ScopeRead, row.scope}
		}
		return []identity.Scope{row.scope}
	}
	return nil
}

// ScopesFor returns the scopes of which a key needs one to call the route; none for a route that takes no key.
func ScopesFor(r Route) []identity.Scope {
	if r.Auth == Public || r.Auth == AccessToken {
		return nil
	}
	return scopesFor(r)
}

// scopeNames joins alternatives to a phrase: "read or usage".
func scopeNames(scopes []identity.Scope) string {
	var names []string
	for _, s := range scopes {
		names = append(names, string(s))
	}
	if len(names) == 0 {
		return string(identity.ScopeAll)
	}
	return strings.Join(names, " or ")
}
