// Package checkout is the API of checkout sessions, receipts and what the hosted page calls.
package checkout

import (
	_ "embed"
	"slices"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/httpapi"
	"sundry/modules/checkout"
)

// Document is the area's part of the OpenAPI document.
//
//go:embed openapi.yaml
var Document []byte

// Deps holds what the handlers depend on.
type Deps struct {
	Live     bool
	Checkout *checkout.Service
	// ClientAddress is the network that visitors are counted by.
	ClientAddress func(*fiber.Ctx) string
	// ClientCountry returns the buyer's country as a trusted proxy reports it; "" when none does.
	ClientCountry func(*fiber.Ctx) string
}

type handlers struct{ Deps }

// Routes returns the area's lines of the route table.
func Routes(d Deps) []httpapi.Route {
	h := handlers{d}
	return slices.Concat(h.sessionRoutes(), h.pageRoutes())
}
