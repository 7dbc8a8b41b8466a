package subscriptions

import (
	"context"
	"encoding/json"
	"time"

	"sundry/adapters/gormstore/repo"
	"sundry/core/civil"
	"sundry/core/money"
	"sundry/core/plan"
	"sundry/core/subscription"
	"sundry/ports"
)

// movements keeps the movements of subscriptions by day.
type movements struct{ *repo.Base }

// ListUnrolled implements ports.Movements.
func (t movements) ListUnrolled(_ context.Context, limit int) ([]ports.UnrolledSubscription, error) {
	var rows []struct {
		Row    subscriptionRow `gorm:"embedded"`
		Rolled int64
	}
	err := t.DB.Table("subscriptions").Where("last_movement > rolled").Order("creator_id, id").Limit(limit).
		Find(&rows).Error
	list := make([]ports.UnrolledSubscription, len(rows))
	for i, r := range rows {
		list[i] = ports.UnrolledSubscription{State: r.Row.toState(), Rolled: r.Rolled}
	}
	return list, t.Failure("list movements", err)
}

// SetRolled implements ports.Movements.
func (t movements) SetRolled(_ context.Context, s ports.UnrolledSubscription) (bool, error) {
	res := t.DB.Exec("UPDATE subscriptions SET rolled = ? WHERE id = ? AND rolled = ?", s.LastMovement, s.ID, s.Rolled)
	return res.RowsAffected == 1, t.Failure("note movements of "+s.ID, res.Error)
}

// Add implements ports.Movements.
func (t movements) Add(_ context.Context, days []ports.MovementDay) error {
	for _, d := range days {
		err := t.Exec("add movements of "+d.CreatorID, `INSERT INTO mrr_days (creator_id, day, currency, kind, minor, count)
			VALUES (?, ?, ?, ?, ?, ?)
			ON CONFLICT (creator_id, day, currency, kind) DO UPDATE SET minor = mrr_days.minor + excluded.minor,
				count = mrr_days.count + excluded.count`, d.CreatorID, d.Day, string(d.Currency), string(d.Kind), d.Minor,
			d.Count)
		if err != nil {
			return err
		}
	}
	return nil
}

// maxUnrolled bounds the subscriptions that Sum reads beside the days: the sweep runs once a minute.
const maxUnrolled = 10_000

// Sum implements ports.Movements. One statement reads both, so that no movement is counted twice or not at all while
// the sweep runs. A subscription from before there were movements counts once the sweep has seen it.
func (t movements) Sum(_ context.Context, creatorID string, from, to civil.Date) ([]ports.MovementDay, error) {
	var rows []struct {
		Day                       int32
		Currency, Kind            string
		Minor, Count              int64
		Movements, Counted, Offer string
		StartedAt                 repo.UnixMillis
		Rolled                    int64
	}
	err := t.DB.Raw(`SELECT day, currency, kind, CAST(SUM(minor) AS BIGINT) AS minor, CAST(SUM(count) AS BIGINT) AS count,
			'' AS movements, '' AS counted, '' AS offer, 0 AS started_at, 0 AS rolled
		FROM (SELECT CASE WHEN day < ? THEN ? ELSE day END AS day, currency, kind, minor, count FROM mrr_days
			WHERE creator_id = ? AND day <= ?) days
		GROUP BY day, currency, kind
		UNION ALL
		SELECT 0, '', '', 0, 0, movements, counted, offer, started_at, rolled FROM (SELECT movements, counted, offer,
			started_at, rolled FROM subscriptions WHERE creator_id = ? AND last_movement > rolled AND counted <> ''
			LIMIT ?) unrolled`, from, from-1, creatorID, to, creatorID, maxUnrolled).Scan(&rows).Error
	if err != nil {
		return nil, t.Failure("sum movements of "+creatorID, err)
	}
	var days []ports.MovementDay
	for _, r := range rows {
		if r.Movements == "" {
			days = append(days, ports.MovementDay{
				CreatorID: creatorID, Day: civil.Date(r.Day), Currency: money.Currency(r.Currency),
				Kind: subscription.MovementKind(r.Kind), Minor: r.Minor, Count: r.Count,
			})
			continue
		}
		state := subscription.State{StartedAt: time.Time(r.StartedAt)}
		var offer plan.Offer
		for text, into := range map[string]any{r.Movements: &state.Movements, r.Counted: &state.Counted, r.Offer: &offer} {
			if err := json.Unmarshal([]byte(text), into); err != nil {
				return nil, t.Failure("read movements of "+creatorID, err)
			}
		}
		for _, m := range state.Unrolled(r.Rolled) {
			if day := max(civil.DateIn(time.UTC, m.At), from-1); day <= to {
				days = append(days, ports.MovementDay{
					CreatorID: creatorID, Day: day, Currency: offer.Price.Currency, Kind: m.Kind, Minor: m.Minor, Count: 1,
				})
			}
		}
	}
	return days, nil
}
