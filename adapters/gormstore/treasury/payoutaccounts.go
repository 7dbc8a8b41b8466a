package treasury

import (
	"context"
	"time"

	"sundry/adapters/gormstore/repo"
	"sundry/core/payout"
)

type payoutAccountRow struct {
	ID              string `gorm:"primaryKey"` // of the creator
	CreatorID       string
	RailID          string
	Country         string
	Status          string
	RequirementsDue repo.JSONColumn[[]string]
	DisabledReason  string
	CreatedAt       repo.UnixMillis `gorm:"autoCreateTime:false"`
	UpdatedAt       repo.UnixMillis `gorm:"autoUpdateTime:false"`
	Revision        int64
}

// TableName implements gorm's tabler.
func (payoutAccountRow) TableName() string { return "payout_accounts" }

func newPayoutAccountRow(a payout.AccountState) payoutAccountRow {
	return payoutAccountRow{
		ID: a.CreatorID, CreatorID: a.CreatorID, RailID: a.ID, Country: a.Country, Status: string(a.Status),
		RequirementsDue: repo.JSON(a.RequirementsDue), DisabledReason: a.DisabledReason,
		CreatedAt: repo.UnixMillis(a.CreatedAt), UpdatedAt: repo.UnixMillis(a.UpdatedAt), Revision: a.Revision,
	}
}

func (r payoutAccountRow) toState() payout.AccountState {
	return payout.AccountState{
		AccountReport: payout.AccountReport{
			ID: r.RailID, Country: r.Country, Status: payout.AccountStatus(r.Status), RequirementsDue: r.RequirementsDue.V, DisabledReason: r.DisabledReason,
		},
		CreatorID: r.CreatorID, CreatedAt: time.Time(r.CreatedAt), UpdatedAt: time.Time(r.UpdatedAt), Revision: r.Revision,
	}
}

type payoutAccounts struct{ repo.Base }

// Insert implements ports.PayoutAccounts.
func (t payoutAccounts) Insert(_ context.Context, a payout.AccountState) error {
	row := newPayoutAccountRow(a)
	return t.InsertRow("insert payout account of "+a.CreatorID, &row)
}

// Get implements ports.PayoutAccounts.
func (t payoutAccounts) Get(_ context.Context, creatorID string) (payout.AccountState, error) {
	row, err := repo.TakeOne[payoutAccountRow](t.Base, "get payout account of "+creatorID, "creator_id = ?", creatorID)
	return row.toState(), err
}

// GetByRailID implements ports.PayoutAccounts.
func (t payoutAccounts) GetByRailID(_ context.Context, railID string) (payout.AccountState, error) {
	row, err := repo.TakeOne[payoutAccountRow](t.Base, "get payout account "+railID, "rail_id = ?", railID)
	return row.toState(), err
}

// Update implements ports.PayoutAccounts.
func (t payoutAccounts) Update(_ context.Context, a payout.AccountState) error {
	row := newPayoutAccountRow(a)
	return t.UpdateRow("update payout account of "+a.CreatorID, &row, a.CreatorID, a.Revision)
}
