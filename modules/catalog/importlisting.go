package catalog

import (
	"context"
	"errors"

	"sundry/core/listing"
	"sundry/core/plan"
	"sundry/ports"
)

var _ ports.ListingImporter = (*Transfer)(nil)

// ImportListing implements ports.ListingImporter.
func (t *Transfer) ImportListing(
	ctx context.Context, creatorID string, l ports.ListingImport, dryRun bool,
) (made listing.State, plans []plan.State, err error) {
	wanted := newImportedListing(l)
	if !dryRun {
		if err := t.service.claimSlug(ctx, creatorID, &wanted.Slug); err != nil {
			return listing.State{}, nil, err
		}
	}
	err = t.service.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		if err := t.service.importListing(ctx, r, creatorID, wanted); err != nil {
			return err
		}
		if made, err = r.Catalog.Listings.GetByKey(ctx, creatorID, wanted.Key); err != nil {
			return err
		}
		set, err := planSet(ctx, r, made)
		if err != nil {
			return err
		}
		if plans = set.Live(); dryRun {
			return errPreview
		}
		return nil
	})
	if dryRun && errors.Is(err, errPreview) {
		err = nil
	}
	return made, plans, err
}

// newImportedListing is the listing as a document has it. Its own price is the first of the first plan.
func newImportedListing(l ports.ListingImport) DocumentListing {
	d := DocumentListing{
		Key: l.Key, Slug: l.Key, Type: l.Type, Status: listing.Active, Title: l.Title, Description: l.Description,
		TaxBehavior: l.TaxBehavior, Metadata: map[string]any{},
	}
	if l.Archived {
		d.Status = listing.Archived
	}
	for _, p := range l.Plans {
		d.Plans = append(d.Plans, DocumentPlan{
			Key: p.Key, Name: p.Name, IsDefault: p.IsDefault, TrialDays: p.TrialDays, Prices: p.Prices,
		})
	}
	if len(l.Plans) > 0 && len(l.Plans[0].Prices) > 0 {
		first := l.Plans[0].Prices[0]
		d.Currency, d.PriceInCents = first.Currency, first.AmountInCents
	}
	return d
}
