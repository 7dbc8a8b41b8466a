package catalog

import (
	"context"
	"time"

	"sundry/adapters/gormstore/repo"
	"sundry/core/plan"
	"sundry/ports"
)

type planRow struct {
	repo.Revised
	CreatorID string
	ListingID string
	Key       string
	Name      string
	IsDefault bool
	TrialDays int
	Prices    repo.SharedJSON[[]plan.Price]
	Terms     repo.SharedJSON[plan.Terms]
	Retired   bool
	CreatedAt repo.UnixMillis `gorm:"autoCreateTime:false"`
	UpdatedAt repo.UnixMillis `gorm:"autoUpdateTime:false"`
}

// TableName implements gorm's tabler.
func (planRow) TableName() string { return "plans" }

func newPlanRow(s plan.State) planRow {
	return planRow{
		Revised:   repo.Revised{ID: s.ID, Revision: s.Revision},
		CreatorID: s.CreatorID, ListingID: s.ListingID, Key: s.Key, Name: s.Name, IsDefault: s.IsDefault,
		TrialDays: s.TrialDays, Prices: repo.Shared(s.Prices), Terms: repo.Shared(s.Terms), Retired: s.Retired,
		CreatedAt: repo.UnixMillis(s.CreatedAt), UpdatedAt: repo.UnixMillis(s.UpdatedAt),
	}
}

func (r planRow) toState() plan.State {
	return plan.State{
		ID: r.ID, CreatorID: r.CreatorID, ListingID: r.ListingID, Key: r.Key, Name: r.Name, IsDefault: r.IsDefault,
		TrialDays: r.TrialDays, Prices: r.Prices.V, Terms: r.Terms.V, Retired: r.Retired,
		CreatedAt: time.Time(r.CreatedAt), UpdatedAt: time.Time(r.UpdatedAt), Revision: r.Revision,
	}
}

var planMapping = repo.Mapping[planRow, plan.State]{
	Name: "plan", NewRow: newPlanRow, ToState: planRow.toState,
}

type plans struct {
	repo.Table[planRow, plan.State]
}

// List implements ports.Plans.
func (t plans) List(_ context.Context, creatorID, listingID string) ([]plan.State, error) {
	return t.ListBy("list plans of "+listingID, t.DB.Where("creator_id = ? AND listing_id = ?", creatorID,
		listingID).Order("id"))
}

// ListAll implements ports.Plans.
func (t plans) ListAll(_ context.Context, creatorID string) ([]plan.State, error) {
	return t.ListBy("list plans", t.DB.Where("creator_id = ?", creatorID).Order("id"))
}

// Upsert implements ports.Plans.
func (t plans) Upsert(ctx context.Context, s plan.State) error {
	if s.Revision > 1 {
		return t.Update(ctx, s)
	}
	row := newPlanRow(s)
	return t.InsertRowChecked("insert plan "+s.Key, &row, ports.ErrStale, repo.OrNothing)
}
