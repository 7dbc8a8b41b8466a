package gormstore

import (
	"context"
	"time"

	"sundry/core/plan"
)

type planRow struct {
	ID        string `gorm:"primaryKey"`
	CreatorID string
	ListingID string
	Key       string
	Name      string
	IsDefault bool
	TrialDays int
	Prices    jsonOf[[]plan.Price]
	Terms     jsonOf[plan.Terms]
	Retired   bool
	CreatedAt millis `gorm:"autoCreateTime:false"`
	UpdatedAt millis `gorm:"autoUpdateTime:false"`
	Revision  int64
}

// TableName implements gorm's tabler.
func (planRow) TableName() string { return "plans" }

func rowOfPlan(s plan.State) *planRow {
	return &planRow{
		ID: s.ID, CreatorID: s.CreatorID, ListingID: s.ListingID, Key: s.Key, Name: s.Name, IsDefault: s.IsDefault,
		TrialDays: s.TrialDays, Prices: jsonOf[[]plan.Price]{s.Prices}, Terms: jsonOf[plan.Terms]{s.Terms}, Retired: s.Retired,
		CreatedAt: millis(s.CreatedAt), UpdatedAt: millis(s.UpdatedAt), Revision: s.Revision,
	}
}

func (r planRow) state() plan.State {
	return plan.State{
		ID: r.ID, CreatorID: r.CreatorID, ListingID: r.ListingID, Key: r.Key, Name: r.Name, IsDefault: r.IsDefault,
		TrialDays: r.TrialDays, Prices: r.Prices.V, Terms: r.Terms.V, Retired: r.Retired,
		CreatedAt: time.Time(r.CreatedAt), UpdatedAt: time.Time(r.UpdatedAt), Revision: r.Revision,
	}
}

type plans struct{ table }

// Of implements ports.Plans.
func (t plans) Of(_ context.Context, creatorID, listingID string) ([]plan.State, error) {
	var rows []planRow
	err := t.db.Where("creator_id = ? AND listing_id = ?", creatorID, listingID).Order("id").Find(&rows).Error
	states := make([]plan.State, len(rows))
	for i, row := range rows {
		states[i] = row.state()
	}
	return states, t.failure("plans of listing "+listingID, err)
}

// Save implements ports.Plans.
func (t plans) Save(_ context.Context, s plan.State) error {
	if s.Revision == 1 {
		return t.insert("insert plan "+s.ID, rowOfPlan(s))
	}
	return t.update("update plan "+s.ID, rowOfPlan(s), s.ID, s.Revision)
}
