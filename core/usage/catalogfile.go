package usage

import "encoding/json"

// File is the usage part of a catalog file: everything by names and nothing by id.
type File struct {
	Meters   []MeterDraft  `json:"meters"`
	Products []ProductFile `json:"products"`
}

// ProductFile is a product with its prices. Name and type are its key.
type ProductFile struct {
	Name   string      `json:"name"`
	Type   string      `json:"type"`
	Prices []PriceFile `json:"prices"`
}

// PriceFile is a price of a product. A price never changes, so all of it is its key.
type PriceFile struct {
	BillingScheme string `json:"billingScheme"`
	Currency      string `json:"currency"`
	// TiersMode is left out where it is graduated.
	TiersMode string      `json:"tiersMode,omitempty"`
	Tiers     []TierDraft `json:"tiers"`
	// PackageSize is left out unless the mode is package.
	PackageSize *int64 `json:"packageSize,omitempty"`
	// Minimum is left out where there is none.
	Minimum *int64 `json:"minimumAmountInCents,omitempty"`
	// Rates are left out where there are none.
	Rates     []RateDraft    `json:"rates,omitempty"`
	Recurring RecurringDraft `json:"recurring"`
}

// NewPriceFile returns a price as a file has it.
func NewPriceFile(p Price) PriceFile {
	file := PriceFile{
		BillingScheme: p.BillingScheme, Currency: string(p.Currency), Tiers: tiersFile(p.Tiers),
		Recurring: RecurringDraft{Interval: string(p.Interval)},
	}
	if p.TiersMode != Graduated {
		file.TiersMode = string(p.TiersMode)
	}
	if p.TiersMode == Package {
		file.PackageSize = &p.PackageSize
	}
	if p.MinimumMinor > 0 {
		file.Minimum = &p.MinimumMinor
	}
	for _, rate := range p.Rates {
		file.Rates = append(file.Rates, RateDraft{When: rate.When.Map(), Tiers: tiersFile(rate.Tiers)})
	}
	return file
}

func tiersFile(tiers Tiers) []TierDraft {
	drafts := make([]TierDraft, len(tiers))
	for i, tier := range tiers {
		unit := tier.Unit.String()
		drafts[i].UnitAmountDecimal = &unit
		if !tier.Unbounded {
			upTo := json.Number(tier.UpTo.String())
			drafts[i].UpTo = &upTo
		}
	}
	return drafts
}

// Draft returns the price as a request for a product writes it.
func (p PriceFile) Draft(productID string) PriceDraft {
	draft := PriceDraft{
		ProductID: productID, BillingScheme: p.BillingScheme, Currency: p.Currency, Tiers: p.Tiers,
		PackageSize: p.PackageSize, Minimum: p.Minimum, Rates: p.Rates, Recurring: &p.Recurring,
	}
	if p.TiersMode != "" {
		draft.TiersMode = &p.TiersMode
	}
	return draft
}
