package usage

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"sundry/adapters/gormstore/repo"
	"sundry/core/metadata"
	"sundry/core/money"
	"sundry/core/period"
	core "sundry/core/usage"
	"sundry/ports"
)

type meterRow struct {
	repo.Unrevised
	CreatorID      string
	Name           string
	EventName      string
	Aggregation    string
	UniqueProperty string
	Dimensions     repo.JSONColumn[[]string]
	CreatedAt      repo.UnixMillis `gorm:"autoCreateTime:false"`
}

// TableName implements gorm's tabler.
func (meterRow) TableName() string { return "usage_meters" }

func newMeterRow(m core.Meter) meterRow {
	row := meterRow{
		Unrevised: repo.Unrevised{ID: m.ID}, CreatorID: m.CreatorID, Name: m.Name, EventName: m.EventName,
		Aggregation: string(m.Aggregation), UniqueProperty: m.UniqueProperty, CreatedAt: repo.UnixMillis(m.CreatedAt),
	}
	if len(m.Dimensions) > 0 {
		row.Dimensions = repo.JSON(m.Dimensions)
	}
	return row
}

func (r meterRow) toMeter() core.Meter {
	return core.Meter{
		ID: r.ID, CreatorID: r.CreatorID, Name: r.Name, EventName: r.EventName, Aggregation: core.Aggregation(r.Aggregation),
		UniqueProperty: r.UniqueProperty, Dimensions: r.Dimensions.V, CreatedAt: time.Time(r.CreatedAt),
	}
}

type productRow struct {
	repo.Unrevised
	CreatorID string
	Name      string
	Type      string
	CreatedAt repo.UnixMillis `gorm:"autoCreateTime:false"`
}

// TableName implements gorm's tabler.
func (productRow) TableName() string { return "usage_products" }

func newProductRow(p core.Product) productRow {
	return productRow{repo.Unrevised{ID: p.ID}, p.CreatorID, p.Name, p.Type, repo.UnixMillis(p.CreatedAt)}
}

func (r productRow) toProduct() core.Product {
	return core.Product{ID: r.ID, CreatorID: r.CreatorID, Name: r.Name, Type: r.Type, CreatedAt: time.Time(r.CreatedAt)}
}

// storedTiers are tiers with what they are applied by: an array where that is graduated, as ever. Of another mode they
// are an object, which no earlier version takes for an array, and with more than a mode one of the mode extended, which
// no earlier version knows; with rates of the mode rated, which none knows that has no rates.
type storedTiers struct {
	mode        core.TiersMode
	tiers       core.Tiers
	packageSize int64
	minimum     int64
	rates       []storedRate
}

// extended is in the place of the mode where a price has more than its mode says, and rated where it has rates.
const (
	extended core.TiersMode = "extended"
	rated    core.TiersMode = "rated"
)

type storedRate struct {
	When  map[string]string `json:"when"`
	Tiers core.Tiers        `json:"tiers"`
}

func newStoredRates(rates []core.Rate) []storedRate {
	var stored []storedRate
	for _, r := range rates {
		stored = append(stored, storedRate{r.When.Map(), r.Tiers})
	}
	return stored
}

func (s storedTiers) toRates() []core.Rate {
	var rates []core.Rate
	for _, r := range s.rates {
		rates = append(rates, core.Rate{When: metadata.New(r.When), Tiers: r.Tiers})
	}
	return rates
}

type tiersObject struct {
	Mode        core.TiersMode `json:"mode"`
	Extends     core.TiersMode `json:"extends,omitempty"` // the mode of one that is extended or rated
	Tiers       core.Tiers     `json:"tiers"`
	PackageSize int64          `json:"packageSize,omitzero"`
	Minimum     int64          `json:"minimum,omitzero"`
	Rates       []storedRate   `json:"rates,omitempty"`
}

// MarshalJSON implements json.Marshaler.
func (s storedTiers) MarshalJSON() ([]byte, error) {
	if s.minimum > 0 || len(s.rates) > 0 {
		out := tiersObject{
			Mode: extended, Extends: cmp.Or(s.mode, core.Graduated), Tiers: s.tiers, PackageSize: s.packageSize,
			Minimum: s.minimum, Rates: s.rates,
		}
		if len(s.rates) > 0 {
			out.Mode = rated
		}
		return json.Marshal(out)
	}
	if s.mode == core.Graduated || s.mode == "" {
		return json.Marshal(s.tiers)
	}
	return json.Marshal(tiersObject{Mode: s.mode, Tiers: s.tiers, PackageSize: s.packageSize})
}

// UnmarshalJSON implements json.Unmarshaler. A mode that a later version has made is an error: nothing is billed by it.
func (s *storedTiers) UnmarshalJSON(raw []byte) error {
	if bytes.HasPrefix(raw, []byte("{")) {
		var in tiersObject
		if err := json.Unmarshal(raw, &in); err != nil {
			return err
		}
		mode, extends := in.Mode, in.Mode == extended || in.Mode == rated
		if extends {
			mode = in.Extends
		}
		if mode != core.Volume && mode != core.Package && (mode != core.Graduated || !extends) {
			return fmt.Errorf("usage: stored tiers of the unknown mode %q", mode)
		}
		*s = storedTiers{mode, in.Tiers, in.PackageSize, in.Minimum, in.Rates}
		return nil
	}
	s.mode = core.Graduated
	return json.Unmarshal(raw, &s.tiers)
}

type priceRow struct {
	repo.Unrevised
	CreatorID       string
	ProductID       string
	BillingScheme   string
	Currency        string
	Tiers           repo.JSONColumn[storedTiers]
	BillingInterval string
	CreatedAt       repo.UnixMillis `gorm:"autoCreateTime:false"`
}

// TableName implements gorm's tabler.
func (priceRow) TableName() string { return "usage_prices" }

func newPriceRow(p core.Price) priceRow {
	return priceRow{
		Unrevised: repo.Unrevised{ID: p.ID}, CreatorID: p.CreatorID, ProductID: p.ProductID,
		BillingScheme: p.BillingScheme, Currency: string(p.Currency),
		Tiers:           repo.JSON(storedTiers{p.TiersMode, p.Tiers, p.PackageSize, p.MinimumMinor, newStoredRates(p.Rates)}),
		BillingInterval: string(p.Interval), CreatedAt: repo.UnixMillis(p.CreatedAt),
	}
}

func (r priceRow) toPrice() core.Price {
	return core.Price{
		ID: r.ID, CreatorID: r.CreatorID, ProductID: r.ProductID, BillingScheme: r.BillingScheme,
		Currency:  money.Currency(r.Currency),
		TiersMode: r.Tiers.V.mode, Tiers: r.Tiers.V.tiers, PackageSize: r.Tiers.V.packageSize,
		MinimumMinor: r.Tiers.V.minimum, Rates: r.Tiers.V.toRates(),
		Interval: period.Interval(r.BillingInterval), CreatedAt: time.Time(r.CreatedAt),
	}
}

var (
	meterMapping = repo.Mapping[meterRow, core.Meter]{
		Name: "meter", NewRow: newMeterRow, ToState: meterRow.toMeter,
	}
	productMapping = repo.Mapping[productRow, core.Product]{
		Name: "product", NewRow: newProductRow, ToState: productRow.toProduct,
	}
	priceMapping = repo.Mapping[priceRow, core.Price]{
		Name: "usage price", NewRow: newPriceRow, ToState: priceRow.toPrice,
	}
)

// catalog holds what never changes once it is made.
type catalog struct {
	meters   repo.Table[meterRow, core.Meter]
	products repo.Table[productRow, core.Product]
	prices   repo.Table[priceRow, core.Price]
}

func newCatalog(b *repo.Base) catalog {
	return catalog{meters: meterMapping.On(b), products: productMapping.On(b), prices: priceMapping.On(b)}
}

// InsertMeter implements ports.UsageCatalog.
func (t catalog) InsertMeter(ctx context.Context, m core.Meter) error { return t.meters.Insert(ctx, m) }

// GetMeter implements ports.UsageCatalog.
func (t catalog) GetMeter(ctx context.Context, creatorID, id string) (core.Meter, error) {
	return cachedMeters.Get(t.meters.Base, creatorID+"/"+id, func() (core.Meter, error) {
		return t.meters.Get(ctx, creatorID, id)
	})
}

// GetMeterByEvent implements ports.UsageCatalog.
func (t catalog) GetMeterByEvent(_ context.Context, creatorID, eventName string) (core.Meter, error) {
	return t.meters.GetBy("get meter of event", "creator_id = ? AND event_name = ?", creatorID, eventName)
}

// ListMeters implements ports.UsageCatalog.
func (t catalog) ListMeters(ctx context.Context, creatorID string, page ports.Page) (ports.List[core.Meter], error) {
	return t.meters.List(ctx, creatorID, page)
}

// InsertProduct implements ports.UsageCatalog.
func (t catalog) InsertProduct(ctx context.Context, p core.Product) error {
	return t.products.Insert(ctx, p)
}

// GetProduct implements ports.UsageCatalog.
func (t catalog) GetProduct(ctx context.Context, creatorID, id string) (core.Product, error) {
	return t.products.Get(ctx, creatorID, id)
}

// ListProducts implements ports.UsageCatalog.
func (t catalog) ListProducts(ctx context.Context, creatorID string,
	page ports.Page) (ports.List[core.Product], error) {
	return t.products.List(ctx, creatorID, page)
}

// InsertPrice implements ports.UsageCatalog.
func (t catalog) InsertPrice(ctx context.Context, p core.Price) error { return t.prices.Insert(ctx, p) }

// GetPrice implements ports.UsageCatalog.
func (t catalog) GetPrice(ctx context.Context, creatorID, id string) (core.Price, error) {
	return cachedPrices.Get(t.prices.Base, creatorID+"/"+id, func() (core.Price, error) {
		return t.prices.Get(ctx, creatorID, id)
	})
}

var (
	cachedMeters = repo.NewSlot[core.Meter]("usage_meters")
	cachedPrices = repo.NewSlot[core.Price]("usage_prices")
)

// PreloadRating reads the meter and the price of a billing plan.
func PreloadRating(b *repo.Base, planID string) {
	repo.PreloadRow(b, cachedMeters, "get meter of "+planID,
		"SELECT * FROM usage_meters WHERE id = (SELECT meter_id FROM usage_billing_plans WHERE id = ?)", []any{planID},
		meterRow.toMeter, func(r meterRow) string { return r.CreatorID + "/" + r.ID })
	repo.PreloadRow(b, cachedPrices, "get usage price of "+planID,
		"SELECT * FROM usage_prices WHERE id = (SELECT price_id FROM usage_billing_plans WHERE id = ?)", []any{planID},
		priceRow.toPrice, func(r priceRow) string { return r.CreatorID + "/" + r.ID })
}

// ListPrices implements ports.UsageCatalog.
func (t catalog) ListPrices(ctx context.Context, creatorID string, page ports.Page) (ports.List[core.Price], error) {
	return t.prices.List(ctx, creatorID, page)
}
