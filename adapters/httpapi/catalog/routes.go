// Package catalog is the API of the catalog: listings, variants, plans, payment links and the recipe.
package catalog

import (
	_ "embed"
	"slices"

	"sundry/adapters/httpapi"
	"sundry/modules/catalog"
	"sundry/modules/files"
)

// Document is the area's part of the OpenAPI document.
//
//go:embed openapi.yaml
var Document []byte

// Deps holds what the handlers depend on.
type Deps struct {
	Live bool
	// BaseURL is the public origin of this deployment, without a trailing slash.
	BaseURL  string
	Catalog  *catalog.Service
	Transfer *catalog.Transfer
	Files    *files.Service
}

type handlers struct{ Deps }

// Routes returns the area's lines of the route table.
func Routes(d Deps) []httpapi.Route {
	h := handlers{d}
	return slices.Concat(h.listingRoutes(), h.planRoutes(), h.paymentLinkRoutes(), h.discountRoutes(), h.transferRoutes(),
		h.fileRoutes())
}
