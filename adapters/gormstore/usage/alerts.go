package usage

import (
	"context"
	"time"

	"gorm.io/gorm/clause"

	"sundry/adapters/gormstore/repo"
	core "sundry/core/usage"
	"sundry/ports"
)

type alertRow struct {
	repo.Unrevised
	CreatorID      string
	SubscriptionID string
	MeterID        string
	Percent        int
	Threshold      core.Quantity
	CreatedAt      repo.UnixMillis `gorm:"autoCreateTime:false"`
}

// TableName implements gorm's tabler.
func (alertRow) TableName() string { return "usage_alerts" }

func newAlertRow(a core.Alert) alertRow {
	return alertRow{
		Unrevised: repo.Unrevised{ID: a.ID}, CreatorID: a.CreatorID, SubscriptionID: a.SubscriptionID, MeterID: a.MeterID,
		Percent: a.Percent, Threshold: a.Threshold, CreatedAt: repo.UnixMillis(a.CreatedAt),
	}
}

func (r alertRow) toAlert() core.Alert {
	return core.Alert{
		ID: r.ID, CreatorID: r.CreatorID, SubscriptionID: r.SubscriptionID, MeterID: r.MeterID, Percent: r.Percent,
		Threshold: r.Threshold,
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

var alertMapping = repo.Mapping[alertRow, core.Alert]{
	Name: "usage alert", NewRow: newAlertRow, ToState: alertRow.toAlert,
}

type alerts struct {
	repo.Table[alertRow, core.Alert]
}

// ListFlushed implements ports.UsageAlerts.
func (t alerts) ListFlushed(ctx context.Context, step int64) ([]ports.AlertedUsage, error) {
	const op = "list alerts of flushed usage"
	var found []struct {
		ID          string
		CreatorID   string
		StreamID    int64
		PeriodStart repo.UnixMillis
	}
	err := t.DB.Raw(`
SELECT a.id, a.creator_id, s.id AS stream_id, u.period_start FROM usage_rollups u
JOIN usage_streams s ON s.id = u.stream_id
JOIN usage_alerts a ON a.creator_id = s.creator_id AND a.subscription_id = s.subscription_id AND a.meter_id = s.meter_id
WHERE u.step = ? ORDER BY a.id`, step).Scan(&found).Error
	if err != nil {
		return nil, t.Failure(op, err)
	}
	all := make([]ports.AlertedUsage, len(found))
	for i, f := range found {
		if all[i].Alert, err = t.Get(ctx, f.CreatorID, f.ID); err != nil {
			return nil, err
		}
		if all[i].Stream, err = (streams{t.Base}).GetByID(ctx, f.StreamID); err != nil {
			return nil, err
		}
		if all[i].Rollup, err = (rollups{t.Base}).get(all[i].Stream, time.Time(f.PeriodStart)); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// Delete implements ports.UsageAlerts.
func (t alerts) Delete(_ context.Context, creatorID, id string) error {
	res := t.DB.Exec("DELETE FROM usage_alerts WHERE creator_id = ? AND id = ?", creatorID, id)
	return t.Changed("delete usage alert "+id, res, ports.ErrNotFound)
}

// MarkReached implements ports.UsageAlerts.
func (t alerts) MarkReached(_ context.Context, a core.Alert, periodStart time.Time) (bool, error) {
	row := alertReachedRow{a.CreatorID, a.ID, repo.UnixMillis(periodStart)}
	res := t.DB.Clauses(clause.OnConflict{DoNothing: true}).Create(&row)
	return res.RowsAffected > 0, t.Failure("mark usage alert "+a.ID, res.Error)
}
