package ports

import (
	"context"

	"sundry/core/appointment"
	"sundry/core/identity"
	"sundry/core/usage"
	"sundry/core/webhook"
)

// CatalogPart is the part of a catalog file that belongs to an area other than the catalog.
type CatalogPart[T any] interface {
	// ExportPart returns the account's part.
	ExportPart(ctx context.Context, r Repos, creatorID string) (T, error)
	// ImportPart makes the account match the part, in the transaction. Again, it changes nothing. VALIDATION_FAILED with
	// paths within the part, and the refusals of the area's use cases.
	ImportPart(ctx context.Context, r Repos, creatorID string, part T) error
}

// CatalogParts are the parts of a catalog file beside listings and discounts; nil for none.
type CatalogParts struct {
	Usage        CatalogPart[usage.File]
	Availability CatalogPart[appointment.File]
	Endpoints    CatalogPart[[]webhook.EndpointFile]
	Branding     CatalogPart[identity.ProfileFile]
}
