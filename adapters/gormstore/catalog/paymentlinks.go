package catalog

import (
	"context"
	"time"

	"sundry/adapters/gormstore/repo"
	"sundry/core/money"
	"sundry/core/paymentlink"
	"sundry/core/period"
	"sundry/core/plan"
)

type paymentLinkRow struct {
	repo.Revised
	CreatorID      string
	Code           string
	ListingID      string
	VariantID      string
	PlanKey        string
	Interval       string
	Currency       string
	BuyerMayChange repo.JSONColumn[plan.Changes]
	SuccessURL     string
	Active         bool
	CreatedAt      repo.UnixMillis `gorm:"autoCreateTime:false"`
	UpdatedAt      repo.UnixMillis `gorm:"autoUpdateTime:false"`
}

// TableName implements gorm's tabler.
func (paymentLinkRow) TableName() string { return "payment_links" }

func newPaymentLinkRow(s paymentlink.State) paymentLinkRow {
	return paymentLinkRow{
		Revised:   repo.Revised{ID: s.ID, Revision: s.Revision},
		CreatorID: s.CreatorID, Code: s.Code, ListingID: s.ListingID, VariantID: s.VariantID, PlanKey: s.PlanKey,
		Interval: string(s.Every), Currency: string(s.Currency), BuyerMayChange: repo.JSON(s.BuyerMayChange),
		SuccessURL: s.SuccessURL, Active: s.Active,
		CreatedAt: repo.UnixMillis(s.CreatedAt), UpdatedAt: repo.UnixMillis(s.UpdatedAt),
	}
}

func (r paymentLinkRow) toState() paymentlink.State {
	return paymentlink.State{
		ID: r.ID, CreatorID: r.CreatorID, Code: r.Code, ListingID: r.ListingID, VariantID: r.VariantID, PlanKey: r.PlanKey,
		Every: period.Cadence(r.Interval), Currency: money.Currency(r.Currency), SuccessURL: r.SuccessURL,
		BuyerMayChange: r.BuyerMayChange.V, Active: r.Active, CreatedAt: time.Time(r.CreatedAt),
		UpdatedAt: time.Time(r.UpdatedAt), Revision: r.Revision,
	}
}

var paymentLinkMapping = repo.Mapping[paymentLinkRow, paymentlink.State]{
	Name: "payment link", NewRow: newPaymentLinkRow, ToState: paymentLinkRow.toState,
}

type paymentLinks struct {
	repo.Table[paymentLinkRow, paymentlink.State]
}

// GetByCode implements ports.PaymentLinks.
func (t paymentLinks) GetByCode(_ context.Context, code string) (paymentlink.State, error) {
	return t.GetBy("get payment link by code", "code = ?", code)
}
