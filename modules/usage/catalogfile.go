package usage

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"sundry/core/fault"
	"sundry/core/usage"
	"sundry/ports"
)

var _ ports.CatalogPart[usage.File] = (*Service)(nil)

// ExportPart implements ports.CatalogPart. Products and prices that are alike are there once.
func (s *Service) ExportPart(ctx context.Context, r ports.Repos, creatorID string) (usage.File, error) {
	file := usage.File{Meters: []usage.MeterDraft{}, Products: []usage.ProductFile{}}
	meters, err := ports.AllPages(func(p ports.Page) (ports.List[usage.Meter], error) {
		return r.Usage.Catalog.ListMeters(ctx, creatorID, p)
	})
	if err != nil {
		return file, err
	}
	for _, m := range meters {
		file.Meters = append(file.Meters, newMeterFile(m))
	}
	slices.SortFunc(file.Meters, func(a, b usage.MeterDraft) int { return strings.Compare(a.EventName, b.EventName) })
	products, prices, err := productsOf(ctx, r, creatorID)
	if err != nil {
		return file, err
	}
	for _, p := range products {
		at := indexOfProduct(file.Products, p)
		if at < 0 {
			at = len(file.Products)
			file.Products = append(file.Products, usage.ProductFile{Name: p.Name, Type: p.Type, Prices: []usage.PriceFile{}})
		}
		product := &file.Products[at]
		for _, price := range prices {
			if price.ProductID == p.ID && !hasPrice(product.Prices, usage.NewPriceFile(price)) {
				product.Prices = append(product.Prices, usage.NewPriceFile(price))
			}
		}
		slices.SortFunc(product.Prices, func(a, b usage.PriceFile) int { return strings.Compare(priceKey(a), priceKey(b)) })
	}
	slices.SortFunc(file.Products, func(a, b usage.ProductFile) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Type, b.Type))
	})
	return file, nil
}

func newMeterFile(m usage.Meter) usage.MeterDraft {
	return usage.MeterDraft{
		Name: m.Name, EventName: m.EventName, Aggregation: string(m.Aggregation), UniqueProperty: m.UniqueProperty,
		Dimensions: m.Dimensions,
	}
}

func productsOf(ctx context.Context, r ports.Repos, creatorID string) ([]usage.Product, []usage.Price, error) {
	products, err := ports.AllPages(func(p ports.Page) (ports.List[usage.Product], error) {
		return r.Usage.Catalog.ListProducts(ctx, creatorID, p)
	})
	if err != nil {
		return nil, nil, err
	}
	prices, err := ports.AllPages(func(p ports.Page) (ports.List[usage.Price], error) {
		return r.Usage.Catalog.ListPrices(ctx, creatorID, p)
	})
	return products, prices, err
}

func indexOfProduct(all []usage.ProductFile, p usage.Product) int {
	return slices.IndexFunc(all, func(f usage.ProductFile) bool { return f.Name == p.Name && f.Type == p.Type })
}

// priceKey encodes a price as JSON. Equal prices have equal keys.
func priceKey(p usage.PriceFile) string {
	key, err := json.Marshal(p)
	if err != nil {
		return err.Error() // of a price that was parsed there is no such error
	}
	return string(key)
}

func hasPrice(all []usage.PriceFile, p usage.PriceFile) bool {
	return slices.ContainsFunc(all, func(other usage.PriceFile) bool { return priceKey(other) == priceKey(p) })
}

// ImportPart implements ports.CatalogPart. Meters, products and prices never change: what is not there is made, and
// what the file does not name is left alone.
func (s *Service) ImportPart(ctx context.Context, r ports.Repos, creatorID string, part usage.File) error {
	var f fault.Violations
	for i, draft := range part.Meters {
		if err := f.Item("meters", i).Merge(s.importMeter(ctx, r, creatorID, draft)); err != nil {
			return err
		}
	}
	for i, product := range part.Products {
		if err := s.importProduct(ctx, r, creatorID, product, f.Item("products", i)); err != nil {
			return err
		}
	}
	return f.Err()
}

func (s *Service) importMeter(ctx context.Context, r ports.Repos, creatorID string, draft usage.MeterDraft) error {
	found, err := r.Usage.Catalog.GetMeterByEvent(ctx, creatorID, draft.EventName)
	switch {
	case errors.Is(err, ports.ErrNotFound):
		_, err = s.CreateMeter(ctx, creatorID, draft)
		return err
	case err != nil:
		return err
	case !newMeterFile(found).Equal(draft):
		return fault.Invalid(fault.Detail{
			Code: fault.DetailNotAllowed, Message: "A meter never changes. Give the new one another eventName.",
		})
	}
	return nil
}

func (s *Service) importProduct(
	ctx context.Context, r ports.Repos, creatorID string, wanted usage.ProductFile, f *fault.Violations,
) error {
	products, prices, err := productsOf(ctx, r, creatorID)
	if err != nil {
		return err
	}
	var same []string // ids of products of the name and type
	for _, p := range products {
		if p.Name == wanted.Name && p.Type == wanted.Type {
			same = append(same, p.ID)
		}
	}
	if len(same) == 0 {
		made, err := s.CreateProduct(ctx, creatorID, usage.ProductDraft{Name: wanted.Name, Type: wanted.Type})
		if err != nil {
			return f.Merge(err)
		}
		same = []string{made.ID}
	}
	var there []usage.PriceFile
	for _, p := range prices {
		if slices.Contains(same, p.ProductID) {
			there = append(there, usage.NewPriceFile(p))
		}
	}
	for i, wanted := range wanted.Prices {
		draft := wanted.Draft(same[0])
		price, err := draft.Parse()
		if err != nil {
			if err := f.Item("prices", i).Merge(err); err != nil {
				return err
			}
			continue
		}
		file := usage.NewPriceFile(price) // as it will be stored: a price of 10 is one of 10.0
		if hasPrice(there, file) {
			continue
		}
		if _, err := s.CreatePrice(ctx, creatorID, draft); err != nil {
			return err
		}
		there = append(there, file)
	}
	return nil
}
