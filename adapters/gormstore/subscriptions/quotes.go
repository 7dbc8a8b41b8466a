package subscriptions

import (
	"context"
	"time"

	"sundry/adapters/gormstore/repo"
	"sundry/core/subscription"
)

type quoteRow struct {
	ID             string `gorm:"primaryKey"`
	CreatorID      string
	SubscriptionID string
	Quote          repo.JSONColumn[subscription.Quote]
	ExpiresAt      repo.UnixMillis
	UsedAt         repo.UnixMillis
}

// TableName implements gorm's tabler.
func (quoteRow) TableName() string { return "subscription_quotes" }

type quotes struct{ *repo.Base }

// Insert implements ports.Quotes.
func (t quotes) Insert(_ context.Context, q subscription.Quote) error {
	return t.InsertRow("insert quote "+q.ID, &quoteRow{
		ID: q.ID, CreatorID: q.CreatorID, SubscriptionID: q.SubscriptionID, Quote: repo.JSON(q),
		ExpiresAt: repo.UnixMillis(q.ExpiresAt), UsedAt: repo.UnixMillis(q.UsedAt),
	})
}

// Get implements ports.Quotes.
func (t quotes) Get(_ context.Context, id string) (subscription.Quote, error) {
	row, err := repo.TakeOne[quoteRow](t.ForUpdate(), "get quote "+id, "id = ?", id)
	q := row.Quote.V
	q.UsedAt = time.Time(row.UsedAt)
	return q, err
}

// Update implements ports.Quotes.
func (t quotes) Update(_ context.Context, q subscription.Quote) error {
	err := t.DB.Model(&quoteRow{}).Where("id = ?", q.ID).Update("used_at", repo.UnixMillis(q.UsedAt)).Error
	return t.Failure("update quote "+q.ID, err)
}
