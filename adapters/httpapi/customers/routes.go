// Package customers is the API of customers and their saved cards.
package customers

import (
	_ "embed"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/httpapi"
	"sundry/modules/customers"
	"sundry/modules/payments"
)

// Document is the area's part of the OpenAPI document.
//
//go:embed openapi.yaml
var Document []byte

// Deps holds what the handlers depend on.
type Deps struct {
	Live      bool
	Customers *customers.Service
	Payments  *payments.Service
}

type handlers struct{ Deps }

// Routes returns the area's lines of the route table.
func Routes(d Deps) []httpapi.Route {
	h := handlers{d}
	const one = "/v1/customers/:id"
	return []httpapi.Route{
		{Method: fiber.MethodGet, Path: "/v1/customers", Auth: httpapi.SecretKey, Handle: h.list, MayBeStale: true},
		{
			Method: fiber.MethodPost, Path: "/v1/customers", Auth: httpapi.SecretKey,
			Idempotency: httpapi.Transactional, Handle: h.post,
		},
		{Method: fiber.MethodGet, Path: one, Auth: httpapi.SecretKey, Handle: h.get},
		{Method: fiber.MethodPatch, Path: one, Auth: httpapi.SecretKey, Handle: h.patch},
		{
			Method: fiber.MethodPost, Path: one + "/erase", Auth: httpapi.SecretKey, Idempotency: httpapi.Transactional,
			WhileSuspended: true, Handle: httpapi.WithoutBody(h.postErasure),
		},
		{Method: fiber.MethodGet, Path: one + "/payment-methods", Auth: httpapi.SecretKey, Handle: h.listCards},
		{
			Method: fiber.MethodDelete, Path: one + "/payment-methods/:pmId", Auth: httpapi.SecretKey,
			Handle: h.deleteCard,
		},
		{
			Method: fiber.MethodPost, Path: "/v1/card-setup-sessions", Auth: httpapi.SecretKey,
			Idempotency: httpapi.Transactional, Handle: h.postSetup,
		},
		{
			Method: fiber.MethodPost, Path: "/v1/customer-portal-sessions", Auth: httpapi.SecretKey,
			Idempotency: httpapi.Transactional, WhileSuspended: true, Handle: h.postPortal,
		},
		{
			Method: fiber.MethodPost, Path: "/v1/sandbox/customers/:id/cards", Auth: httpapi.SecretKey,
			Idempotency: httpapi.Leased, Handle: h.postCard, SandboxOnly: true,
		},
	}
}
