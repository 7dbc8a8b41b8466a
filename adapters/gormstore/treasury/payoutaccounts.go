package treasury

import (
	"context"
	"time"

	"sundry/adapters/gormstore/repo"
	"sundry/core/payout"
)

type payoutAccountRow struct {
	repo.Revised    // of the creator
	CreatorID       string
	RailID          string
	Country         string
	Status          string
	RequirementsDue repo.JSONColumn[[]string]
	DisabledReason  string
	CreatedAt       repo.UnixMillis `gorm:"autoCreateTime:false"`
	UpdatedAt       repo.UnixMillis `gorm:"autoUpdateTime:false"`
}

// TableName implements gorm's tabler.
func (payoutAccountRow) TableName() string { return "payout_accounts" }

func newPayoutAccountRow(a payout.AccountState) payoutAccountRow {
	return payoutAccountRow{
		Revised:   repo.Revised{ID: a.CreatorID, Revision: a.Revision},
		CreatorID: a.CreatorID, RailID: a.ID, Country: a.Country, Status: string(a.Status),
		RequirementsDue: repo.JSON(a.RequirementsDue), DisabledReason: a.DisabledReason,
		CreatedAt: repo.UnixMillis(a.CreatedAt), UpdatedAt: repo.UnixMillis(a.UpdatedAt),
	}
}

func (r payoutAccountRow) toState() payout.AccountState {
	return payout.AccountState{
		AccountReport: payout.AccountReport{
			ID: r.RailID, Country: r.Country, Status: payout.AccountStatus(r.Status), RequirementsDue: r.RequirementsDue.V,
			DisabledReason: r.DisabledReason,
		},
		CreatorID: r.CreatorID, CreatedAt: time.Time(r.CreatedAt), UpdatedAt: time.Time(r.UpdatedAt), Revision: r.Revision,
	}
}

var payoutAccountMapping = repo.Mapping[payoutAccountRow, payout.AccountState]{
	Name: "payout account", NewRow: newPayoutAccountRow, ToState: payoutAccountRow.toState,
}

type payoutAccounts struct {
	repo.Table[payoutAccountRow, payout.AccountState]
}

// Get implements ports.PayoutAccounts.
func (t payoutAccounts) Get(ctx context.Context, creatorID string) (payout.AccountState, error) {
	return t.Table.Get(ctx, creatorID, creatorID)
}

// GetByRailID implements ports.PayoutAccounts.
func (t payoutAccounts) GetByRailID(_ context.Context, railID string) (payout.AccountState, error) {
	return t.GetBy("get payout account "+railID, "rail_id = ?", railID)
}
