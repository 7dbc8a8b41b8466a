package imports

import (
	"context"
	"slices"

	"sundry/core/id"
	"sundry/core/imports"
	"sundry/core/money"
	"sundry/core/plan"
	"sundry/ports"
)

// products carries products over that are on sale, and those that subscriptions are to.
func (r *run) products(ctx context.Context) error {
	return eachPage(ctx, r.source.ListProducts, func(page []imports.Product) error {
		for _, one := range page {
			if !one.Active && !r.sold[one.ID] {
				continue
			}
			if err := r.product(ctx, one); err != nil {
				return err
			}
		}
		return nil
	})
}

func (r *run) product(ctx context.Context, p imports.Product) error {
	ids := []string{p.ID}
	for _, price := range p.Prices {
		r.prices[price.ID] = agreed{Price: price}
		if price.Obstacle != "" && (price.Active || r.sold[p.ID]) {
			if err := r.refuse(imports.Prices, price.ID, price.Obstacle); err != nil {
				return err
			}
		}
		for _, amount := range price.Amounts {
			ids = append(ids, priceID(price.ID, amount.Currency))
		}
	}
	if len(p.Carried()) == 0 {
		return r.refuse(imports.Products, p.ID, "None of its prices can be carried over.")
	}
	known, err := r.known(ctx, ids...)
	if err != nil {
		return err
	}
	listingID, before := known[p.ID]
	var plans []plan.State
	if !before {
		made, of, err := r.deps.Catalog.ImportListing(ctx, r.creatorID, listingOf(p), r.options.DryRun)
		if err != nil {
			return r.refused(imports.Products, p.ID, err)
		}
		listingID, plans = made.ID, of
	}
	if err := r.placePrices(ctx, p, listingID, plans, known); err != nil {
		return err
	}
	if before {
		r.summary[imports.Products].Before++
	} else {
		r.summary[imports.Products].Carried++
	}
	return nil
}

// placePrices notes the product, and under which id each of its prices goes on: that of the same price of a plan, or of
// one that is no longer on sale. A price that was added to a product after its import is for the integrator to put on
// sale.
func (r *run) placePrices(
	ctx context.Context, p imports.Product, listingID string, plans []plan.State, known map[string]string,
) error {
	notes := map[string]string{}
	if known[p.ID] == "" {
		notes[p.ID] = listingID
	}
	for _, price := range p.Carried() {
		r.prices[price.ID] = agreed{Price: price, carried: true, listingID: listingID}
		isNew := false
		for _, amount := range price.Amounts {
			sourceID := priceID(price.ID, amount.Currency)
			if known[sourceID] != "" {
				continue
			}
			terms, _ := price.At(amount.Currency)
			if notes[sourceID] = sameIn(plans, terms); notes[sourceID] == "" {
				notes[sourceID] = r.deps.IDs.New(id.Price)
			}
			isNew = true
		}
		if !isNew {
			r.summary[imports.Prices].Before++
			continue
		}
		r.summary[imports.Prices].Carried++
		if known[p.ID] != "" && price.Active {
			if err := r.note(imports.Prices, price.ID, "It is newer than the import of its product: add it to the listing "+
				listingID+" to sell it."); err != nil {
				return err
			}
		}
	}
	if r.options.DryRun || len(notes) == 0 {
		return nil
	}
	return r.deps.Store.Atomically(ctx, func(ctx context.Context, repos ports.Repos) error {
		for sourceID, objectID := range notes {
			if err := r.remember(ctx, repos, sourceID, objectID); err != nil {
				return err
			}
		}
		return nil
	})
}

// priceID names a price in one currency among imported objects.
func priceID(sourceID string, currency money.Currency) string {
	return sourceID + ":" + string(currency)
}

// sameIn returns the id of the price of a plan that asks for the same; "" for none.
func sameIn(plans []plan.State, terms plan.Price) string {
	for _, p := range plans {
		i := slices.IndexFunc(p.Prices, func(one plan.Price) bool {
			return one.Interval == terms.Interval && one.IntervalCount == terms.IntervalCount && one.Amount == terms.Amount
		})
		if i >= 0 {
			return p.Prices[i].ID
		}
	}
	return ""
}

func listingOf(p imports.Product) ports.ListingImport {
	return ports.ListingImport{
		Key: p.Key(), Title: p.Title(), Description: p.Description, Type: p.Type(), Archived: !p.Active,
		TaxBehavior: p.TaxBehavior, Plans: p.Plans(),
	}
}
