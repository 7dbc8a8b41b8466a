package catalog

import (
	"context"
	"errors"
	"fmt"

	"sundry/core/fault"
	"sundry/ports"
)

// Transfer exports what an account sells as a document, and imports it.
type Transfer struct {
	service *Service
	parts   ports.CatalogParts
}

// NewTransfer returns the transfer of a catalog and of the parts that other areas have.
func NewTransfer(service *Service, parts ports.CatalogParts) *Transfer {
	return &Transfer{service: service, parts: parts}
}

// Export returns the account's whole catalog without archived listings, in the order of the keys.
func (t *Transfer) Export(ctx context.Context, creatorID string) (Document, error) {
	var d Document
	err := t.service.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) (err error) {
		d, err = t.export(ctx, r, creatorID)
		return err
	})
	return d, err
}

func (t *Transfer) export(ctx context.Context, r ports.Repos, creatorID string) (Document, error) {
	d, err := listingsOf(ctx, r, creatorID)
	if err != nil {
		return Document{}, err
	}
	discounts, err := discountsOf(ctx, r, creatorID)
	if err != nil {
		return Document{}, err
	}
	d.Discounts = &discounts
	for _, export := range []func() error{
		func() error { return exportPart(ctx, r, creatorID, t.parts.Usage, &d.Usage) },
		func() error { return exportPart(ctx, r, creatorID, t.parts.Availability, &d.Availability) },
		func() error { return exportPart(ctx, r, creatorID, t.parts.Endpoints, &d.Endpoints) },
		func() error { return exportPart(ctx, r, creatorID, t.parts.Branding, &d.Branding) },
	} {
		if err := export(); err != nil {
			return Document{}, err
		}
	}
	return d, nil
}

func exportPart[T any](
	ctx context.Context, r ports.Repos, creatorID string, from ports.CatalogPart[T], into **T,
) error {
	if from == nil {
		return nil
	}
	part, err := from.ExportPart(ctx, r, creatorID)
	if err == nil {
		*into = &part
	}
	return err
}

// importParts hands each part of the document to its area.
func (t *Transfer) importParts(ctx context.Context, r ports.Repos, creatorID string, d Document) error {
	for _, change := range []func() error{
		func() error { return importPart(ctx, r, creatorID, "usage", t.parts.Usage, d.Usage) },
		func() error {
			return importPart(ctx, r, creatorID, "availability", t.parts.Availability, d.Availability)
		},
		func() error { return importPart(ctx, r, creatorID, "endpoints", t.parts.Endpoints, d.Endpoints) },
		func() error { return importPart(ctx, r, creatorID, "branding", t.parts.Branding, d.Branding) },
	} {
		if err := change(); err != nil {
			return err
		}
	}
	return nil
}

func importPart[T any](
	ctx context.Context, r ports.Repos, creatorID, name string, into ports.CatalogPart[T], part *T,
) error {
	if into == nil || part == nil {
		return nil
	}
	return nested(name, into.ImportPart(ctx, r, creatorID, *part))
}

// errPreview ends an import that was only a preview.
var errPreview = errors.New("preview")

// PreviewImport returns what Import would change, a line each, and changes nothing. Refuses as Import.
func (t *Transfer) PreviewImport(ctx context.Context, creatorID string, d Document) ([]string, error) {
	var changes []string
	err := t.service.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) (err error) {
		if changes, err = t.importInto(ctx, r, creatorID, d); err != nil {
			return err
		}
		return errPreview
	})
	if !errors.Is(err, errPreview) {
		return nil, err
	}
	return changes, nil
}

// Import makes the account match a document, all or none: variants, plans and prices of its listings that it does not
// name are removed or retired; everything else that it does not name is left alone. Again, it changes nothing. It
// returns what changed, a line each. Faults: those of the use cases, with the listing's key or the part as the path.
func (t *Transfer) Import(ctx context.Context, creatorID string, d Document) (changes []string, err error) {
	for _, wanted := range d.Listings {
		if err := t.service.claimSlug(ctx, creatorID, &wanted.Slug); err != nil {
			return nil, err
		}
	}
	err = t.service.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) (err error) {
		changes, err = t.importInto(ctx, r, creatorID, d)
		return err
	})
	return changes, err
}

func (t *Transfer) importInto(ctx context.Context, r ports.Repos, creatorID string, d Document) ([]string, error) {
	before, err := t.export(ctx, r, creatorID)
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for _, wanted := range d.Listings {
		if seen[wanted.Key] {
			return nil, fault.Invalid(fault.Detail{
				Field: wanted.Key, Code: fault.DetailDuplicate, Message: "Two listings of the document have this key.",
			})
		}
		seen[wanted.Key] = true
		if err := t.service.importListing(ctx, r, creatorID, wanted); err != nil {
			var f fault.Violations
			if err := f.Nest(wanted.Key).Merge(err); err != nil {
				return nil, fmt.Errorf("listing %s: %w", wanted.Key, err)
			}
			return nil, f.Err()
		}
	}
	if err := t.importDiscounts(ctx, r, creatorID, d.Discounts); err != nil {
		return nil, err
	}
	if err := t.importParts(ctx, r, creatorID, d); err != nil {
		return nil, err
	}
	after, err := t.export(ctx, r, creatorID)
	if err != nil {
		return nil, err
	}
	return difference(before, after), nil
}
