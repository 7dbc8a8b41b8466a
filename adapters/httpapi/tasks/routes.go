// Package tasks is the API of an account's background work.
package tasks

import (
	_ "embed"

	"sundry/adapters/httpapi"
	"sundry/modules/tasks"
)

// Document is the area's part of the OpenAPI document.
//
//go:embed openapi.yaml
var Document []byte

// Deps holds what the handlers depend on.
type Deps struct {
	Tasks *tasks.Service
}

type handlers struct{ Deps }

// Routes returns the area's lines of the route table.
func Routes(d Deps) []httpapi.Route { return handlers{d}.taskRoutes() }
