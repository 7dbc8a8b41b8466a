package usage

import (
	"context"
	"errors"

	"sundry/core/fault"
	"sundry/core/id"
	"sundry/core/identity"
	"sundry/core/usage"
	"sundry/ports"
)

// CreateMeter makes a meter. VALIDATION_FAILED, STATE_CONFLICT when another one has the event name.
func (s *Service) CreateMeter(ctx context.Context, creatorID string, draft usage.MeterDraft) (usage.Meter, error) {
	m, err := draft.Parse()
	if err != nil {
		return usage.Meter{}, err
	}
	m.ID, m.CreatorID = s.deps.IDs.New(id.Meter), creatorID
	err = s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) (err error) {
		if m.CreatedAt, err = r.Clock.Now(ctx, creatorID); err != nil {
			return err
		}
		return r.Usage.Catalog.InsertMeter(ctx, m)
	})
	if errors.Is(err, ports.ErrDuplicate) {
		return usage.Meter{}, fault.New(fault.StateConflict, "Another meter has the event name "+m.EventName+".")
	}
	return m, err
}

// Meter loads a meter. NOT_FOUND.
func (s *Service) Meter(ctx context.Context, creatorID, meterID string) (usage.Meter, error) {
	m, err := s.deps.Store.Read(ctx).Usage.Catalog.GetMeter(ctx, creatorID, meterID)
	return m, ports.Missing(err, "meter")
}

// Meters lists the account's meters.
func (s *Service) Meters(ctx context.Context, creatorID string, page ports.Page) (ports.List[usage.Meter], error) {
	return s.deps.Store.Read(ctx).Usage.Catalog.ListMeters(ctx, creatorID, page)
}

// CreateProduct makes a product. VALIDATION_FAILED.
func (s *Service) CreateProduct(
	ctx context.Context, creatorID string, draft usage.ProductDraft,
) (usage.Product, error) {
	p, err := draft.Parse()
	if err != nil {
		return usage.Product{}, err
	}
	p.ID, p.CreatorID = s.deps.IDs.New(id.Product), creatorID
	return p, s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) (err error) {
		if p.CreatedAt, err = r.Clock.Now(ctx, creatorID); err != nil {
			return err
		}
		return r.Usage.Catalog.InsertProduct(ctx, p)
	})
}

// Product loads a product. NOT_FOUND.
func (s *Service) Product(ctx context.Context, creatorID, productID string) (usage.Product, error) {
	p, err := s.deps.Store.Read(ctx).Usage.Catalog.GetProduct(ctx, creatorID, productID)
	return p, ports.Missing(err, "product")
}

// Products lists the account's products.
func (s *Service) Products(ctx context.Context, creatorID string, page ports.Page) (ports.List[usage.Product], error) {
	return s.deps.Store.Read(ctx).Usage.Catalog.ListProducts(ctx, creatorID, page)
}

// CreatePrice makes a price of a product. VALIDATION_FAILED, NOT_FOUND for the product.
func (s *Service) CreatePrice(ctx context.Context, creatorID string, draft usage.PriceDraft) (usage.Price, error) {
	p, err := draft.Parse()
	if err != nil {
		return usage.Price{}, err
	}
	p.ID, p.CreatorID = s.deps.IDs.New(id.Price), creatorID
	return p, s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) (err error) {
		if _, err = r.Usage.Catalog.GetProduct(ctx, creatorID, p.ProductID); err != nil {
			return ports.Missing(err, "product")
		}
		if p.CreatedAt, err = r.Clock.Now(ctx, creatorID); err != nil {
			return err
		}
		if err := r.Usage.Catalog.InsertPrice(ctx, p); err != nil {
			return err
		}
		return ports.PublishAudited(ctx, r, s.deps.Bus, identity.Audited{
			CreatorID: creatorID, Kind: identity.PriceChanged, ObjectID: p.ID, Note: "usage price",
		})
	})
}

// Price loads a price. NOT_FOUND.
func (s *Service) Price(ctx context.Context, creatorID, priceID string) (usage.Price, error) {
	p, err := s.deps.Store.Read(ctx).Usage.Catalog.GetPrice(ctx, creatorID, priceID)
	return p, ports.Missing(err, "usage price")
}

// Prices lists the account's prices.
func (s *Service) Prices(ctx context.Context, creatorID string, page ports.Page) (ports.List[usage.Price], error) {
	return s.deps.Store.Read(ctx).Usage.Catalog.ListPrices(ctx, creatorID, page)
}
