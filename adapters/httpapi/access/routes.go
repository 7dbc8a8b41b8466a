// Package access is the API of what a customer may use: the snapshot, why it is so, manual grants and credits.
package access

import (
	_ "embed"

	"sundry/adapters/httpapi"
	"sundry/modules/access"
)

// Document is the area's part of the OpenAPI document.
//
//go:embed openapi.yaml
var Document []byte

// Deps holds what the handlers depend on.
type Deps struct {
	Live   bool
	Access *access.Service
}

type handlers struct{ Deps }

// Routes returns the area's lines of the route table.
func Routes(d Deps) []httpapi.Route { return handlers{d}.accessRoutes() }
