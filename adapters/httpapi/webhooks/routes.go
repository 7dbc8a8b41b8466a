// Package webhooks is the API of events, webhook endpoints and their deliveries.
package webhooks

import (
	_ "embed"

	"sundry/adapters/httpapi"
	"sundry/modules/webhooks"
)

// Document is the area's part of the OpenAPI document. Messages continues it.
//
//go:embed openapi.yaml
var Document []byte

// Deps holds what the handlers depend on.
type Deps struct {
	Live     bool
	Webhooks *webhooks.Service
}

type handlers struct{ Deps }

// Routes returns the area's lines of the route table.
func Routes(d Deps) []httpapi.Route { return handlers{d}.webhookRoutes() }
