package treasury

import (
	"context"
	"time"

	"sundry/adapters/gormstore/repo"
	"sundry/core/payout"
	"sundry/ports"
)

type payoutRow struct {
	ID            string `gorm:"primaryKey"`
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
	Revision      int64
}

// TableName implements gorm's tabler.
func (payoutRow) TableName() string { return "payouts" }

func newPayoutRow(p payout.State) payoutRow {
	return payoutRow{
		ID: p.ID, CreatorID: p.CreatorID, Currency: string(p.Amount.Currency), Amount: p.Amount.Minor, Status: string(p.Status),
		FailureReason: p.FailureReason, RequestKey: p.RequestKey, Destination: p.Destination,
		CreatedAt: repo.UnixMillis(p.CreatedAt), PaidAt: repo.UnixMillis(p.PaidAt), FailedAt: repo.UnixMillis(p.FailedAt),
		Revision: p.Revision,
	}
}

func (r payoutRow) toState() payout.State {
	return payout.State{
		ID: r.ID, CreatorID: r.CreatorID, Amount: amountOf(r.Amount, r.Currency), Status: payout.Status(r.Status),
		FailureReason: r.FailureReason, RequestKey: r.RequestKey, Destination: r.Destination, CreatedAt: time.Time(r.CreatedAt), PaidAt: time.Time(r.PaidAt),
		FailedAt: time.Time(r.FailedAt), Revision: r.Revision,
	}
}

type payouts struct{ repo.Base }

// Insert implements ports.Payouts.
func (t payouts) Insert(_ context.Context, p payout.State) error {
	row := newPayoutRow(p)
	return t.InsertRow("insert payout "+p.ID, &row)
}

// Get implements ports.Payouts.
func (t payouts) Get(_ context.Context, id string) (payout.State, error) {
	row, err := repo.TakeOne[payoutRow](t.Base, "get payout "+id, "id = ?", id)
	return row.toState(), err
}

// Update implements ports.Payouts.
func (t payouts) Update(_ context.Context, p payout.State) error {
	row := newPayoutRow(p)
	return t.UpdateRow("update payout "+p.ID, &row, p.ID, p.Revision)
}

// List implements ports.Payouts.
func (t payouts) List(_ context.Context, creatorID string, page ports.Page) (ports.List[payout.State], error) {
	return repo.ListByIDDesc(t.Base, "list payouts", t.DB.Where("creator_id = ?", creatorID), page, payoutRow.toState,
		func(r payoutRow) string { return r.ID })
}

// GetByRequest implements ports.Payouts.
func (t payouts) GetByRequest(_ context.Context, creatorID, key string, since time.Time) (payout.State, error) {
	row, err := repo.TakeOne[payoutRow](t.Base, "get payout by request", "creator_id = ? AND request_key = ? AND created_at >= ?",
		creatorID, key, repo.UnixMillis(since))
	return row.toState(), err
}
