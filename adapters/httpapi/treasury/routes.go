// Package treasury is the API of the account's money: balance, ledger and payouts.
package treasury

import (
	_ "embed"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/httpapi"
	"sundry/modules/invoicing"
	"sundry/modules/treasury"
)

// Document is the area's part of the OpenAPI document.
//
//go:embed openapi.yaml
var Document []byte

// Deps holds what the handlers depend on.
type Deps struct {
	Treasury  *treasury.Service
	Documents *invoicing.Documents
}

type handlers struct{ Deps }

// Routes returns the area's lines of the route table.
func Routes(d Deps) []httpapi.Route {
	h := handlers{d}
	return []httpapi.Route{
		{Method: fiber.MethodGet, Path: "/v1/balance", Auth: httpapi.SecretKey, Handle: h.getBalance},
		{
			Method: fiber.MethodGet, Path: "/v1/ledger/entries", Auth: httpapi.SecretKey, Handle: h.listEntries, MayBeStale: true,
		},
		{
			Method: fiber.MethodGet, Path: "/v1/metrics/revenue", Auth: httpapi.SecretKey, Handle: h.getRevenue, MayBeStale: true,
		},
		{Method: fiber.MethodGet, Path: "/v1/payouts", Auth: httpapi.SecretKey, Handle: h.listPayouts, MayBeStale: true},
		{
			Method: fiber.MethodPost, Path: "/v1/payouts", Auth: httpapi.SecretKey, Idempotency: httpapi.Leased,
			Handle: h.postPayout,
		},
		{Method: fiber.MethodGet, Path: "/v1/payouts/:id", Auth: httpapi.SecretKey, Handle: h.getPayout},
		{Method: fiber.MethodGet, Path: "/v1/payouts/:id/statement", Auth: httpapi.SecretKey, Handle: h.getStatement},
		{Method: fiber.MethodGet, Path: "/v1/payout-account", Auth: httpapi.SecretKey, Handle: h.getAccount},
		{
			Method: fiber.MethodPost, Path: "/v1/payout-account-sessions", Auth: httpapi.SecretKey,
			Idempotency: httpapi.Leased, Handle: h.postAccountSession,
		},
	}
}
