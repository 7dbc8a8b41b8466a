package treasury

import (
	"context"
	"time"

	"sundry/adapters/gormstore/repo"
	"sundry/core/money"
	"sundry/ports"
)

const dayMillis = 24 * 60 * 60 * 1000

// SumByDay implements ports.Sales.
func (t sales) SumByDay(_ context.Context, creatorID string, between ports.Created) ([]ports.DaySales, error) {
	var rows []struct {
		Day                    int64
		Currency               string
		Count, Minor, Refunded int64
	}
	err := repo.CreatedIn(t.DB.Table("sales").Where("creator_id = ?", creatorID), between).
		Select("created_at / ? AS day, currency, COUNT(*) AS count, CAST(SUM(total) AS BIGINT) AS minor, "+
			"CAST(SUM(refunded) AS BIGINT) AS refunded", dayMillis).
		Group("1, currency").Order("day, currency").Scan(&rows).Error
	if err != nil {
		return nil, t.Failure("sum sales of "+creatorID, err)
	}
	days := make([]ports.DaySales, len(rows))
	for i, r := range rows {
		days[i] = ports.DaySales{
			Day: time.UnixMilli(r.Day * dayMillis).UTC(), Currency: money.Currency(r.Currency), Count: r.Count, Minor: r.Minor,
			Refunded: r.Refunded,
		}
	}
	return days, nil
}
