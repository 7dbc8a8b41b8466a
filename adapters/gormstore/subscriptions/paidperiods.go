package subscriptions

import (
	"context"
	"time"

	"sundry/adapters/gormstore/repo"
	"sundry/core/subscription"
	"sundry/ports"
)

type paidPeriodRow struct {
	PaymentID      string `gorm:"primaryKey"`
	CreatorID      string
	SubscriptionID string
	Kind           string
	PeriodStart    repo.UnixMillis
	PeriodEnd      repo.UnixMillis
	Due            int64
	Value          int64
}

// TableName implements gorm's tabler.
func (paidPeriodRow) TableName() string { return "subscription_periods" }

type paidPeriods struct{ *repo.Base }

// Insert implements ports.PaidPeriods.
func (t paidPeriods) Insert(_ context.Context, p ports.PaidPeriod) error {
	return t.InsertRow("insert period of "+p.SubscriptionID, &paidPeriodRow{
		PaymentID: p.PaymentID, CreatorID: p.CreatorID, SubscriptionID: p.SubscriptionID, Kind: string(p.Kind),
		PeriodStart: repo.UnixMillis(p.Start), PeriodEnd: repo.UnixMillis(p.End), Due: p.Due, Value: p.Value,
	})
}

// Get implements ports.PaidPeriods.
func (t paidPeriods) Get(_ context.Context, paymentID string) (ports.PaidPeriod, error) {
	row, err := repo.TakeOne[paidPeriodRow](t.Base, "get period of "+paymentID, "payment_id = ?", paymentID)
	return ports.PaidPeriod{
		PaymentID: row.PaymentID, CreatorID: row.CreatorID, SubscriptionID: row.SubscriptionID,
		Kind:  subscription.ChargeKind(row.Kind),
		Start: time.Time(row.PeriodStart), End: time.Time(row.PeriodEnd), Due: row.Due, Value: row.Value,
	}, err
}
