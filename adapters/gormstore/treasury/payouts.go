package treasury

import (
	"context"
	"time"

	"sundry/adapters/gormstore/repo"
	"sundry/core/payout"
	"sundry/ports"
)

type payoutRow struct {
	repo.Revised
	CreatorID     string
	Currency      string
	Amount        int64
	Status        string
	FailureReason string
	RequestKey    string
	Destination   string
	CreatedAt     repo.UnixMillis `gorm:"autoCreateTime:false"`
	PaidAt        repo.UnixMillis
	FailedAt      repo.UnixMillis
}

// TableName implements gorm's tabler.
func (payoutRow) TableName() string { return "payouts" }

func newPayoutRow(p payout.State) payoutRow {
	return payoutRow{
		Revised:   repo.Revised{ID: p.ID, Revision: p.Revision},
		CreatorID: p.CreatorID, Currency: string(p.Amount.Currency), Amount: p.Amount.Minor,
		Status:        string(p.Status),
		FailureReason: p.FailureReason, RequestKey: p.RequestKey, Destination: p.Destination,
		CreatedAt: repo.UnixMillis(p.CreatedAt), PaidAt: repo.UnixMillis(p.PaidAt), FailedAt: repo.UnixMillis(p.FailedAt),
	}
}

func (r payoutRow) toState() payout.State {
	return payout.State{
		ID: r.ID, CreatorID: r.CreatorID, Amount: repo.Amount(r.Amount, r.Currency), Status: payout.Status(r.Status),
		FailureReason: r.FailureReason, RequestKey: r.RequestKey, Destination: r.Destination,
		CreatedAt: time.Time(r.CreatedAt), PaidAt: time.Time(r.PaidAt),
		FailedAt: time.Time(r.FailedAt), Revision: r.Revision,
	}
}

var payoutMapping = repo.Mapping[payoutRow, payout.State]{
	Name: "payout", NewRow: newPayoutRow, ToState: payoutRow.toState,
	Currency: "currency", Amount: "CASE WHEN status = 'failed' THEN 0 ELSE amount END",
	Sorts: repo.Sorts{
		"amount": {SQL: "amount"},
	},
}

type payouts struct {
	repo.ByID[payoutRow, payout.State]
}

// List implements ports.Payouts.
func (t payouts) List(_ context.Context, creatorID string, status payout.Status,
	page ports.Page) (ports.List[payout.State], error) {
	query := repo.Equal(t.DB.Where("creator_id = ?", creatorID), map[string]string{"status": string(status)})
	return t.Page("list payouts of "+creatorID, query, page)
}

// GetByRequest implements ports.Payouts.
func (t payouts) GetByRequest(_ context.Context, creatorID, key string, since time.Time) (payout.State, error) {
	return t.GetBy("get payout by request", "creator_id = ? AND request_key = ? AND created_at >= ?", creatorID, key,
		repo.UnixMillis(since))
}
