// Package sandbox keeps the sandbox processor's own memory.
package sandbox

import (
	"context"
	"time"

	"gorm.io/gorm/clause"

	"sundry/adapters/gormstore/repo"
	"sundry/core/money"
	"sundry/core/payment"
	"sundry/ports"
)

// NewCharges returns the sandbox processor's charges over one connection.
func NewCharges(b *repo.Base) ports.SandboxCharges { return charges{b} }

type chargeRow struct {
	PaymentID  string `gorm:"primaryKey"`
	CheckoutID string
	CreatorID  string
	Method     string
	Outcome    repo.JSONColumn[payment.Outcome]
	OffsetMs   int64
}

// TableName implements gorm's tabler.
func (chargeRow) TableName() string { return "sandbox_charges" }

func (r chargeRow) toCharge() ports.SandboxCharge {
	return ports.SandboxCharge{
		PaymentID: r.PaymentID, CheckoutID: r.CheckoutID, CreatorID: r.CreatorID, Method: r.Method, Outcome: r.Outcome.V,
		ClockOffset: time.Duration(r.OffsetMs) * time.Millisecond,
	}
}

type charges struct{ *repo.Base }

// Get implements ports.SandboxCharges.
func (t charges) Get(_ context.Context, paymentID string) (ports.SandboxCharge, error) {
	row, err := repo.TakeOne[chargeRow](t.ForUpdate(), "get sandbox charge "+paymentID, "payment_id = ?", paymentID)
	return row.toCharge(), err
}

// Insert implements ports.SandboxCharges.
func (t charges) Insert(_ context.Context, c ports.SandboxCharge) error {
	row := chargeRow{
		PaymentID: c.PaymentID, CheckoutID: c.CheckoutID, CreatorID: c.CreatorID, Method: c.Method,
		Outcome: repo.JSON(c.Outcome), OffsetMs: c.ClockOffset.Milliseconds(),
	}
	return t.InsertRowChecked("insert sandbox charge "+c.PaymentID, &row, ports.ErrDuplicate, repo.OrNothing)
}

// UpdateOutcome implements ports.SandboxCharges.
func (t charges) UpdateOutcome(_ context.Context, paymentID string, o payment.Outcome) error {
	err := t.DB.Model(&chargeRow{}).Where("payment_id = ?", paymentID).Update("outcome", repo.JSON(o)).Error
	return t.Failure("set sandbox outcome "+paymentID, err)
}

type refundRow struct {
	RefundID  string `gorm:"primaryKey"`
	PaymentID string
	Currency  string
	Amount    int64
}

// TableName implements gorm's tabler.
func (refundRow) TableName() string { return "sandbox_refunds" }

// InsertRefund implements ports.SandboxCharges.
func (t charges) InsertRefund(_ context.Context, refundID, paymentID string, amount money.Amount) error {
	row := refundRow{RefundID: refundID, PaymentID: paymentID, Currency: string(amount.Currency), Amount: amount.Minor}
	return t.Failure("add sandbox refund "+refundID, t.DB.Clauses(clause.OnConflict{DoNothing: true}).Create(&row).Error)
}
