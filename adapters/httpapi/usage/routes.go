// Package usage is the API of meters, usage prices, billing plans, reports of use and alerts.
package usage

import (
	_ "embed"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/httpapi"
	"sundry/modules/usage"
)

// Document is the area's part of the OpenAPI document.
//
//go:embed openapi.yaml
var Document []byte

// Deps holds what the handlers depend on.
type Deps struct {
	Live  bool
	Usage *usage.Service
}

type handlers struct{ Deps }

// Routes returns the area's lines of the route table. Reports have keys of their own, which never expire.
func Routes(d Deps) []httpapi.Route {
	h := handlers{d}
	const (
		meters, products, prices = "/v1/usage/meters", "/v1/usage/products", "/v1/usage/prices"
		plans, alerts, events    = "/v1/usage/billing-plans", "/v1/usage/alerts", "/v1/usage/events"
		get, post, key           = fiber.MethodGet, fiber.MethodPost, httpapi.SecretKey
	)
	return []httpapi.Route{
		{Method: post, Path: meters, Auth: key, Idempotency: httpapi.Transactional, Handle: h.createMeter},
		{Method: get, Path: meters, Auth: key, Handle: h.listMeters},
		{Method: get, Path: meters + "/:id", Auth: key, Handle: h.getMeter},
		{Method: post, Path: products, Auth: key, Idempotency: httpapi.Transactional, Handle: h.createProduct},
		{Method: get, Path: products, Auth: key, Handle: h.listProducts},
		{Method: get, Path: products + "/:id", Auth: key, Handle: h.getProduct},
		{Method: post, Path: prices, Auth: key, Idempotency: httpapi.Transactional, Handle: h.createPrice},
		{Method: get, Path: prices, Auth: key, Handle: h.listPrices},
		{Method: get, Path: prices + "/:id", Auth: key, Handle: h.getPrice},
		{Method: post, Path: plans, Auth: key, Idempotency: httpapi.Transactional, Handle: h.createPlan},
		{Method: get, Path: plans, Auth: key, Handle: h.listPlans},
		{Method: get, Path: plans + "/:id", Auth: key, Handle: h.getPlan},
		{Method: get, Path: plans + "/:id/preview", Auth: key, Handle: h.previewPlan},
		{Method: post, Path: plans + "/:id/change", Auth: key, Idempotency: httpapi.Transactional, Handle: h.changePlan},
		{
			Method: post, Path: plans + "/:id/end", Auth: key, Idempotency: httpapi.Transactional,
			Handle: httpapi.WithoutBody(h.endPlan),
		},
		{Method: post, Path: events, Auth: key, Idempotency: httpapi.Permanent, Handle: h.report},
		{Method: get, Path: events, Auth: key, Handle: h.listReports},
		{Method: post, Path: events + "/batch", Auth: key, Idempotency: httpapi.Leased, Handle: h.reportBatch},
		{
			Method: post, Path: events + "/:idempotencyKey/void", Auth: key, Idempotency: httpapi.Transactional,
			Handle: httpapi.WithoutBody(h.void),
		},
		{Method: get, Path: "/v1/usage/summary", Auth: key, Handle: h.summary},
		{Method: get, Path: "/v1/metrics/usage", Auth: key, Handle: h.figures, MayBeStale: true},
		{Method: get, Path: "/v1/usage/credits", Auth: key, Handle: h.listCredits},
		{Method: get, Path: "/v1/usage/credits/:id", Auth: key, Handle: h.getCredit},
		{Method: post, Path: alerts, Auth: key, Idempotency: httpapi.Transactional, Handle: h.createAlert},
		{Method: get, Path: alerts, Auth: key, Handle: h.listAlerts},
		{Method: get, Path: alerts + "/:id", Auth: key, Handle: h.getAlert},
		{Method: fiber.MethodDelete, Path: alerts + "/:id", Auth: key, Handle: h.deleteAlert},
	}
}
