package access

import (
	"context"
	"time"

	"sundry/adapters/gormstore/repo"
	"sundry/core/access"
)

type creditUseRow struct {
	CreatorID          string `gorm:"primaryKey"`
	ExternalCustomerID string `gorm:"primaryKey"`
	IdempotencyKey     string `gorm:"primaryKey"`
	CreditKey          string
	AskedUnit          string
	Amount             int64
	Unit               string
	Granted            int64
	Used               int64
	Balance            int64
	Version            int64
	At                 repo.UnixMillis
}

// TableName implements gorm's tabler.
func (creditUseRow) TableName() string { return "credit_uses" }

type creditUses struct{ *repo.Base }

// Get implements ports.CreditUses.
func (t creditUses) Get(_ context.Context, creatorID, externalCustomerID,
	idempotencyKey string) (access.CreditUse, error) {
	row, err := repo.TakeOne[creditUseRow](t.Base, "get credit use",
		ofCustomer+" AND idempotency_key = ?", creatorID, externalCustomerID, idempotencyKey)
	return access.CreditUse{
		CreatorID: row.CreatorID, ExternalCustomerID: row.ExternalCustomerID, IdempotencyKey: row.IdempotencyKey,
		Request: access.ConsumeRequest{Key: row.CreditKey, Unit: row.AskedUnit, Amount: row.Amount},
		Result: access.Balance{
			Key: row.CreditKey, Unit: row.Unit, Amount: row.Amount, Granted: row.Granted, Used: row.Used, Balance: row.Balance,
			Version: row.Version,
		},
		At: time.Time(row.At),
	}, err
}

// Insert implements ports.CreditUses.
func (t creditUses) Insert(_ context.Context, u access.CreditUse) error {
	return t.InsertRow("insert credit use", &creditUseRow{
		CreatorID: u.CreatorID, ExternalCustomerID: u.ExternalCustomerID, IdempotencyKey: u.IdempotencyKey,
		CreditKey: u.Request.Key,
		AskedUnit: u.Request.Unit, Amount: u.Request.Amount, Unit: u.Result.Unit, Granted: u.Result.Granted,
		Used:    u.Result.Used,
		Balance: u.Result.Balance, Version: u.Result.Version, At: repo.UnixMillis(u.At),
	})
}

// Copy implements ports.CreditUses.
func (t creditUses) Copy(_ context.Context, creatorID, from, to string) error {
	const same = "idempotency_key, credit_key, asked_unit, amount, unit, granted, used, balance, version, at"
	return t.Exec("copy credit uses of "+from, "INSERT INTO credit_uses (creator_id, external_customer_id, "+same+`)
		SELECT creator_id, CAST(? AS TEXT), `+same+" FROM credit_uses WHERE "+ofCustomer+" ON CONFLICT DO NOTHING",
		to, creatorID, from)
}
