package sandbox

import (
	"context"
	"time"

	"gorm.io/gorm/clause"

	"sundry/adapters/gormstore/repo"
	"sundry/core/dispute"
	"sundry/ports"
)

type disputeRow struct {
	ID        string `gorm:"primaryKey"`
	PaymentID string
	CreatorID string
	Currency  string
	Amount    int64
	Status    string
	RespondBy repo.UnixMillis
}

// TableName implements gorm's tabler.
func (disputeRow) TableName() string { return "sandbox_disputes" }

type disputes struct{ *repo.Base }

// NewDisputes returns the processor's memory of disputes over one connection.
func NewDisputes(b *repo.Base) ports.SandboxDisputes { return disputes{b} }

// Insert implements ports.SandboxDisputes.
func (t disputes) Insert(_ context.Context, d ports.DisputeReport) error {
	row := disputeRow{
		ID: d.ProcessorID, PaymentID: d.PaymentID, CreatorID: d.CreatorID, Currency: string(d.Amount.Currency),
		Amount: d.Amount.Minor,
		Status: string(d.Status), RespondBy: repo.UnixMillis(d.RespondBy),
	}
	return t.Failure("insert sandbox dispute "+d.ProcessorID,
		t.DB.Clauses(clause.OnConflict{DoNothing: true}).Create(&row).Error)
}

// Get implements ports.SandboxDisputes.
func (t disputes) Get(_ context.Context, id string) (ports.DisputeReport, error) {
	row, err := repo.TakeOne[disputeRow](t.ForUpdate(), "get sandbox dispute "+id, "id = ?", id)
	return ports.DisputeReport{
		ProcessorID: row.ID, PaymentID: row.PaymentID, CreatorID: row.CreatorID,
		Amount: repo.Amount(row.Amount, row.Currency),
		Reason: "fraudulent", Status: dispute.Status(row.Status), RespondBy: time.Time(row.RespondBy),
	}, err
}

// UpdateStatus implements ports.SandboxDisputes.
func (t disputes) UpdateStatus(_ context.Context, id string, status dispute.Status) error {
	err := t.DB.Model(&disputeRow{}).Where("id = ?", id).Update("status", string(status)).Error
	return t.Failure("update sandbox dispute "+id, err)
}
