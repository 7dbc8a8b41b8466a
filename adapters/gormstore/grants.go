package gormstore

import (
	"context"
	"time"

	"gorm.io/gorm"

	"sundry/core/access"
	"sundry/core/plan"
)

type grantRow struct {
	ID                 string `gorm:"primaryKey"`
	CreatorID          string
	ExternalCustomerID string
	Source             access.Source
	SourceID           string
	CheckoutID         string
	Plan               jsonOf[*access.Plan]
	Entitlements       jsonOf[[]plan.Entitlement]
	Credits            jsonOf[[]access.Lot]
	Note               string
	StartedAt          millis
	ExpiresAt          millis
	EndedAt            millis
	EndReason          access.End
	Revision           int64
}

// TableName implements gorm's tabler.
func (grantRow) TableName() string { return "grants" }

func rowOfGrant(g *access.Grant) *grantRow {
	s := g.State()
	return &grantRow{
		ID: s.ID, CreatorID: s.CreatorID, ExternalCustomerID: s.ExternalCustomerID, Source: s.Source, SourceID: s.SourceID,
		CheckoutID: s.CheckoutID, Plan: jsonOf[*access.Plan]{s.Plan}, Entitlements: jsonOf[[]plan.Entitlement]{s.Entitlements},
		Credits: jsonOf[[]access.Lot]{s.Credits}, Note: s.Note, StartedAt: millis(s.StartedAt), ExpiresAt: millis(s.ExpiresAt),
		EndedAt: millis(s.EndedAt), EndReason: s.End, Revision: s.Revision,
	}
}

func (r grantRow) grant() *access.Grant {
	return access.Restore(access.State{
		ID: r.ID, CreatorID: r.CreatorID, ExternalCustomerID: r.ExternalCustomerID, Source: r.Source, SourceID: r.SourceID,
		CheckoutID: r.CheckoutID, Plan: r.Plan.V, Entitlements: r.Entitlements.V, Credits: r.Credits.V, Note: r.Note,
		StartedAt: time.Time(r.StartedAt), ExpiresAt: time.Time(r.ExpiresAt), EndedAt: time.Time(r.EndedAt), End: r.EndReason,
		Revision: r.Revision,
	})
}

type grants struct{ table }

// Insert implements ports.Grants.
func (t grants) Insert(_ context.Context, g *access.Grant) error {
	return t.insert("insert grant "+g.State().ID, rowOfGrant(g))
}

// Update implements ports.Grants.
func (t grants) Update(_ context.Context, g *access.Grant) error {
	row := rowOfGrant(g)
	return t.update("update grant "+row.ID, row, row.ID, row.Revision)
}

// Find implements ports.Grants.
func (t grants) Find(_ context.Context, creatorID, grantID string) (*access.Grant, error) {
	row, err := first[grantRow](t.table, "find grant "+grantID, "creator_id = ? AND id = ?", creatorID, grantID)
	return row.grant(), err
}

// BySource implements ports.Grants.
func (t grants) BySource(_ context.Context, creatorID string, source access.Source, sourceID string) (*access.Grant, error) {
	row, err := first[grantRow](t.table, "find grant of "+sourceID,
		"creator_id = ? AND source = ? AND source_id = ?", creatorID, source, sourceID)
	return row.grant(), err
}

// Running implements ports.Grants.
func (t grants) Running(_ context.Context, creatorID, externalCustomerID string) ([]*access.Grant, error) {
	return t.list("list running grants", t.db.Order("id"),
		"creator_id = ? AND external_customer_id = ? AND end_reason = ''", creatorID, externalCustomerID)
}

// Ended implements ports.Grants.
func (t grants) Ended(_ context.Context, creatorID, externalCustomerID string, limit int) ([]*access.Grant, error) {
	return t.list("list ended grants", t.db.Order("ended_at DESC, id DESC").Limit(limit),
		"creator_id = ? AND external_customer_id = ? AND end_reason <> ''", creatorID, externalCustomerID)
}

func (t grants) list(doing string, query *gorm.DB, where string, args ...any) ([]*access.Grant, error) {
	var rows []grantRow
	if err := query.Where(where, args...).Find(&rows).Error; err != nil {
		return nil, t.failure(doing, err)
	}
	list := make([]*access.Grant, len(rows))
	for i, row := range rows {
		list[i] = row.grant()
	}
	return list, nil
}

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
	At                 millis
}

// TableName implements gorm's tabler.
func (creditUseRow) TableName() string { return "credit_uses" }

type creditUses struct{ table }

// Find implements ports.CreditUses.
func (t creditUses) Find(_ context.Context, creatorID, externalCustomerID, idempotencyKey string) (access.CreditUse, error) {
	row, err := first[creditUseRow](t.table, "find credit use",
		"creator_id = ? AND external_customer_id = ? AND idempotency_key = ?", creatorID, externalCustomerID, idempotencyKey)
	return access.CreditUse{
		CreatorID: row.CreatorID, ExternalCustomerID: row.ExternalCustomerID, IdempotencyKey: row.IdempotencyKey,
		Asked: access.Draw{Key: row.CreditKey, Unit: row.AskedUnit, Amount: row.Amount},
		Answer: access.Balance{
			Key: row.CreditKey, Unit: row.Unit, Amount: row.Amount, Granted: row.Granted, Used: row.Used, Balance: row.Balance,
			Version: row.Version,
		},
		At: time.Time(row.At),
	}, err
}

// Insert implements ports.CreditUses.
func (t creditUses) Insert(_ context.Context, u access.CreditUse) error {
	return t.insert("insert credit use", &creditUseRow{
		CreatorID: u.CreatorID, ExternalCustomerID: u.ExternalCustomerID, IdempotencyKey: u.IdempotencyKey, CreditKey: u.Asked.Key,
		AskedUnit: u.Asked.Unit, Amount: u.Asked.Amount, Unit: u.Answer.Unit, Granted: u.Answer.Granted, Used: u.Answer.Used,
		Balance: u.Answer.Balance, Version: u.Answer.Version, At: millis(u.At),
	})
}
