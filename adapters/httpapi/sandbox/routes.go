// Package sandbox is the API of the sandbox's own helpers. None of its routes exists in live.
package sandbox

import (
	_ "embed"

	"sundry/adapters/httpapi"
	"sundry/modules/sandbox"
)

// Document is the area's part of the OpenAPI document.
//
//go:embed openapi.yaml
var Document []byte

// Deps holds what the handlers depend on.
type Deps struct {
	Sandbox *sandbox.Service // nil in live
}

type handlers struct{ Deps }

// Routes returns the area's lines of the route table.
func Routes(d Deps) []httpapi.Route { return handlers{d}.clockRoutes() }
