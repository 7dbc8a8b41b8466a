package usage

import (
	"context"
	"time"

	"gorm.io/gorm/clause"

	"sundry/adapters/gormstore/repo"
	"sundry/core/money"
	"sundry/core/period"
	core "sundry/core/usage"
	"sundry/ports"
)

type meterRow struct {
	ID          string `gorm:"primaryKey"`
	CreatorID   string
	Name        string
	EventName   string
	Aggregation string
	CreatedAt   repo.UnixMillis `gorm:"autoCreateTime:false"`
}

// TableName implements gorm's tabler.
func (meterRow) TableName() string { return "usage_meters" }

func newMeterRow(m core.Meter) meterRow {
	return meterRow{m.ID, m.CreatorID, m.Name, m.EventName, string(m.Aggregation), repo.UnixMillis(m.CreatedAt)}
}

func (r meterRow) toMeter() core.Meter {
	return core.Meter{
		ID: r.ID, CreatorID: r.CreatorID, Name: r.Name, EventName: r.EventName, Aggregation: core.Aggregation(r.Aggregation), CreatedAt: time.Time(r.CreatedAt),
	}
}

type productRow struct {
	ID        string `gorm:"primaryKey"`
	CreatorID string
	Name      string
	Type      string
	CreatedAt repo.UnixMillis `gorm:"autoCreateTime:false"`
}

// TableName implements gorm's tabler.
func (productRow) TableName() string { return "usage_products" }

func newProductRow(p core.Product) productRow {
	return productRow{p.ID, p.CreatorID, p.Name, p.Type, repo.UnixMillis(p.CreatedAt)}
}

func (r productRow) toProduct() core.Product {
	return core.Product{ID: r.ID, CreatorID: r.CreatorID, Name: r.Name, Type: r.Type, CreatedAt: time.Time(r.CreatedAt)}
}

type priceRow struct {
	ID              string `gorm:"primaryKey"`
	CreatorID       string
	ProductID       string
	BillingScheme   string
	Currency        string
	Tiers           repo.JSONColumn[core.Tiers]
	BillingInterval string
	CreatedAt       repo.UnixMillis `gorm:"autoCreateTime:false"`
}

// TableName implements gorm's tabler.
func (priceRow) TableName() string { return "usage_prices" }

func newPriceRow(p core.Price) priceRow {
	return priceRow{
		ID: p.ID, CreatorID: p.CreatorID, ProductID: p.ProductID, BillingScheme: p.BillingScheme, Currency: string(p.Currency),
		Tiers: repo.JSON(p.Tiers), BillingInterval: string(p.Interval), CreatedAt: repo.UnixMillis(p.CreatedAt),
	}
}

func (r priceRow) toPrice() core.Price {
	return core.Price{
		ID: r.ID, CreatorID: r.CreatorID, ProductID: r.ProductID, BillingScheme: r.BillingScheme, Currency: money.Currency(r.Currency),
		Tiers: r.Tiers.V, Interval: period.Interval(r.BillingInterval), CreatedAt: time.Time(r.CreatedAt),
	}
}

type catalog struct{ repo.Base }

const ofAccount = "creator_id = ? AND id = ?"

// InsertMeter implements ports.UsageCatalog.
func (t catalog) InsertMeter(_ context.Context, m core.Meter) error {
	row := newMeterRow(m)
	return t.InsertRow("insert meter "+m.ID, &row)
}

// GetMeter implements ports.UsageCatalog.
func (t catalog) GetMeter(_ context.Context, creatorID, id string) (core.Meter, error) {
	row, err := repo.TakeOne[meterRow](t.Base, "get meter "+id, ofAccount, creatorID, id)
	return row.toMeter(), err
}

// GetMeterByEvent implements ports.UsageCatalog.
func (t catalog) GetMeterByEvent(_ context.Context, creatorID, eventName string) (core.Meter, error) {
	row, err := repo.TakeOne[meterRow](t.Base, "get meter of event", "creator_id = ? AND event_name = ?", creatorID, eventName)
	return row.toMeter(), err
}

// ListMeters implements ports.UsageCatalog.
func (t catalog) ListMeters(_ context.Context, creatorID string, page ports.Page) (ports.List[core.Meter], error) {
	return repo.ListByIDDesc(t.Base, "list meters", t.DB.Where("creator_id = ?", creatorID), page, meterRow.toMeter, func(r meterRow) string { return r.ID })
}

// InsertProduct implements ports.UsageCatalog.
func (t catalog) InsertProduct(_ context.Context, p core.Product) error {
	row := newProductRow(p)
	return t.InsertRow("insert product "+p.ID, &row)
}

// GetProduct implements ports.UsageCatalog.
func (t catalog) GetProduct(_ context.Context, creatorID, id string) (core.Product, error) {
	row, err := repo.TakeOne[productRow](t.Base, "get product "+id, ofAccount, creatorID, id)
	return row.toProduct(), err
}

// ListProducts implements ports.UsageCatalog.
func (t catalog) ListProducts(_ context.Context, creatorID string, page ports.Page) (ports.List[core.Product], error) {
	return repo.ListByIDDesc(t.Base, "list products", t.DB.Where("creator_id = ?", creatorID), page, productRow.toProduct, func(r productRow) string { return r.ID })
}

// InsertPrice implements ports.UsageCatalog.
func (t catalog) InsertPrice(_ context.Context, p core.Price) error {
	row := newPriceRow(p)
	return t.InsertRow("insert usage price "+p.ID, &row)
}

// GetPrice implements ports.UsageCatalog.
func (t catalog) GetPrice(_ context.Context, creatorID, id string) (core.Price, error) {
	row, err := repo.TakeOne[priceRow](t.Base, "get usage price "+id, ofAccount, creatorID, id)
	return row.toPrice(), err
}

// ListPrices implements ports.UsageCatalog.
func (t catalog) ListPrices(_ context.Context, creatorID string, page ports.Page) (ports.List[core.Price], error) {
	return repo.ListByIDDesc(t.Base, "list usage prices", t.DB.Where("creator_id = ?", creatorID), page, priceRow.toPrice, func(r priceRow) string { return r.ID })
}

type alertRow struct {
	ID             string `gorm:"primaryKey"`
	CreatorID      string
	SubscriptionID string
	MeterID        string
	Percent        int
	Threshold      core.Quantity
	CreatedAt      repo.UnixMillis `gorm:"autoCreateTime:false"`
}

// TableName implements gorm's tabler.
func (alertRow) TableName() string { return "usage_alerts" }

func (r alertRow) toAlert() core.Alert {
	return core.Alert{
		ID: r.ID, CreatorID: r.CreatorID, SubscriptionID: r.SubscriptionID, MeterID: r.MeterID, Percent: r.Percent, Threshold: r.Threshold,
		CreatedAt: time.Time(r.CreatedAt),
	}
}

type alertReachedRow struct {
	CreatorID   string
	AlertID     string          `gorm:"primaryKey"`
	PeriodStart repo.UnixMillis `gorm:"primaryKey"`
}

// TableName implements gorm's tabler.
func (alertReachedRow) TableName() string { return "usage_alerts_reached" }

type alerts struct{ repo.Base }

// Insert implements ports.UsageAlerts.
func (t alerts) Insert(_ context.Context, a core.Alert) error {
	row := alertRow{a.ID, a.CreatorID, a.SubscriptionID, a.MeterID, a.Percent, a.Threshold, repo.UnixMillis(a.CreatedAt)}
	return t.InsertRow("insert usage alert "+a.ID, &row)
}

// Get implements ports.UsageAlerts.
func (t alerts) Get(_ context.Context, creatorID, id string) (core.Alert, error) {
	row, err := repo.TakeOne[alertRow](t.Base, "get usage alert "+id, ofAccount, creatorID, id)
	return row.toAlert(), err
}

// List implements ports.UsageAlerts.
func (t alerts) List(_ context.Context, creatorID string, page ports.Page) (ports.List[core.Alert], error) {
	return repo.ListByIDDesc(t.Base, "list usage alerts", t.DB.Where("creator_id = ?", creatorID), page, alertRow.toAlert, func(r alertRow) string { return r.ID })
}

// ListFlushed implements ports.UsageAlerts.
func (t alerts) ListFlushed(ctx context.Context, step int64) ([]ports.AlertedUsage, error) {
	const doing = "list alerts of flushed usage"
	var found []struct {
		ID          string
		CreatorID   string
		StreamID    int64
		PeriodStart repo.UnixMillis
	}
	err := t.DB.Raw(`
SELECT a.id, a.creator_id, s.id AS stream_id, u.period_start FROM usage_rollups u JOIN usage_streams s ON s.id = u.stream_id
JOIN usage_alerts a ON a.creator_id = s.creator_id AND a.subscription_id = s.subscription_id AND a.meter_id = s.meter_id
WHERE u.step = ? ORDER BY a.id`, step).Scan(&found).Error
	if err != nil {
		return nil, t.Failure(doing, err)
	}
	all := make([]ports.AlertedUsage, len(found))
	for i, f := range found {
		if all[i].Alert, err = t.Get(ctx, f.CreatorID, f.ID); err != nil {
			return nil, err
		}
		if all[i].Stream, err = streams(t).GetByID(ctx, f.StreamID); err != nil {
			return nil, err
		}
		if all[i].Rollup, err = rollups(t).get(all[i].Stream, time.Time(f.PeriodStart)); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// Delete implements ports.UsageAlerts.
func (t alerts) Delete(_ context.Context, creatorID, id string) error {
	res := t.DB.Exec("DELETE FROM usage_alerts WHERE "+ofAccount, creatorID, id)
	if res.Error == nil && res.RowsAffected == 0 {
		return t.Failure("delete usage alert "+id, ports.ErrNotFound)
	}
	return t.Failure("delete usage alert "+id, res.Error)
}

// MarkReached implements ports.UsageAlerts.
func (t alerts) MarkReached(_ context.Context, a core.Alert, periodStart time.Time) (bool, error) {
	row := alertReachedRow{a.CreatorID, a.ID, repo.UnixMillis(periodStart)}
	res := t.DB.Clauses(clause.OnConflict{DoNothing: true}).Create(&row)
	return res.RowsAffected > 0, t.Failure("mark usage alert "+a.ID, res.Error)
}

// converted is every row as what it holds.
func converted[R, T any](rows []R, convert func(R) T) []T {
	all := make([]T, len(rows))
	for i, row := range rows {
		all[i] = convert(row)
	}
	return all
}
