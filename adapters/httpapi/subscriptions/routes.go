// Package subscriptions is the API of recurring purchases.
package subscriptions

import (
	_ "embed"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/httpapi"
	"sundry/modules/customers"
	"sundry/modules/subscriptions"
)

// Document is the area's part of the OpenAPI document.
//
//go:embed openapi.yaml
var Document []byte

// Deps holds what the handlers depend on.
type Deps struct {
	Live          bool
	Subscriptions *subscriptions.Service
	Customers     *customers.Service
}

type handlers struct{ Deps }

// Routes returns the area's lines of the route table.
func Routes(d Deps) []httpapi.Route {
	h := handlers{d}
	const one = "/v1/subscriptions/:id"
	return []httpapi.Route{
		{
			Method: fiber.MethodGet, Path: "/v1/metrics/subscriptions", Auth: httpapi.SecretKey, Handle: h.getFigures,
			MayBeStale: true,
		},
		{Method: fiber.MethodGet, Path: "/v1/subscriptions", Auth: httpapi.SecretKey, Handle: h.list, MayBeStale: true},
		{
			Method: fiber.MethodPost, Path: "/v1/subscriptions", Auth: httpapi.SecretKey,
			Idempotency: httpapi.Transactional, Handle: h.post,
		},
		{Method: fiber.MethodGet, Path: one, Auth: httpapi.SecretKey, Handle: h.get},
		{Method: fiber.MethodPatch, Path: one, Auth: httpapi.SecretKey, Handle: h.patch},
		{
			Method: fiber.MethodPost, Path: one + "/cancel", Auth: httpapi.SecretKey,
			Idempotency: httpapi.Transactional, WhileSuspended: true, Handle: h.cancel,
		},
		{
			Method: fiber.MethodPost, Path: one + "/pause", Auth: httpapi.SecretKey, Idempotency: httpapi.Transactional,
			Handle: httpapi.WithoutBody(h.pause),
		},
		{
			Method: fiber.MethodPost, Path: one + "/resume", Auth: httpapi.SecretKey, Idempotency: httpapi.Leased,
			Handle: httpapi.WithoutBody(h.resume),
		},
		{
			Method: fiber.MethodPost, Path: one + "/change/preview", Auth: httpapi.SecretKey,
			Idempotency: httpapi.Transactional, Handle: h.preview,
		},
		{
			Method: fiber.MethodPost, Path: one + "/change", Auth: httpapi.SecretKey, Idempotency: httpapi.Leased,
			Handle: h.change,
		},
	}
}
