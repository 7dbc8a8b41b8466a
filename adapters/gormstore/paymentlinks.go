package gormstore

import (
	"context"
	"time"

	"sundry/core/paymentlink"
	"sundry/core/period"
	"sundry/ports"
)

type paymentLinkRow struct {
	ID         string `gorm:"primaryKey"`
	CreatorID  string
	Code       string
	ListingID  string
	VariantID  string
	PlanKey    string
	Interval   string
	SuccessURL string
	Active     bool
	CreatedAt  millis `gorm:"autoCreateTime:false"`
	UpdatedAt  millis `gorm:"autoUpdateTime:false"`
	Revision   int64
}

// TableName implements gorm's tabler.
func (paymentLinkRow) TableName() string { return "payment_links" }

func rowOfPaymentLink(s paymentlink.State) *paymentLinkRow {
	return &paymentLinkRow{
		ID: s.ID, CreatorID: s.CreatorID, Code: s.Code, ListingID: s.ListingID, VariantID: s.VariantID, PlanKey: s.PlanKey,
		Interval: string(s.Interval), SuccessURL: s.SuccessURL, Active: s.Active,
		CreatedAt: millis(s.CreatedAt), UpdatedAt: millis(s.UpdatedAt), Revision: s.Revision,
	}
}

func (r paymentLinkRow) state() paymentlink.State {
	return paymentlink.State{
		ID: r.ID, CreatorID: r.CreatorID, Code: r.Code, ListingID: r.ListingID, VariantID: r.VariantID, PlanKey: r.PlanKey,
		Interval: period.Interval(r.Interval), SuccessURL: r.SuccessURL, Active: r.Active,
		CreatedAt: time.Time(r.CreatedAt), UpdatedAt: time.Time(r.UpdatedAt), Revision: r.Revision,
	}
}

type paymentLinks struct{ table }

// Insert implements ports.PaymentLinks.
func (t paymentLinks) Insert(_ context.Context, s paymentlink.State) error {
	return t.insert("insert payment link "+s.ID, rowOfPaymentLink(s))
}

// Update implements ports.PaymentLinks.
func (t paymentLinks) Update(_ context.Context, s paymentlink.State) error {
	return t.update("update payment link "+s.ID, rowOfPaymentLink(s), s.ID, s.Revision)
}

// Find implements ports.PaymentLinks.
func (t paymentLinks) Find(_ context.Context, creatorID, id string) (paymentlink.State, error) {
	row, err := first[paymentLinkRow](t.table, "find payment link "+id, "creator_id = ? AND id = ?", creatorID, id)
	return row.state(), err
}

// FindByCode implements ports.PaymentLinks.
func (t paymentLinks) FindByCode(_ context.Context, code string) (paymentlink.State, error) {
	row, err := first[paymentLinkRow](t.table, "find payment link by code", "code = ?", code)
	return row.state(), err
}

// Mine implements ports.PaymentLinks.
func (t paymentLinks) Mine(_ context.Context, creatorID string, page ports.Page) (ports.List[paymentlink.State], error) {
	return newest(t.table, "list payment links of "+creatorID, t.db.Where("creator_id = ?", creatorID), page,
		paymentLinkRow.state, func(r paymentLinkRow) string { return r.ID })
}
