package catalog

import (
	"context"
	"time"

	"sundry/adapters/gormstore/repo"
	"sundry/core/discount"
	"sundry/ports"
)

type discountRow struct {
	repo.Revised
	CreatorID        string
	Code             string
	CodeKey          string
	PercentOff       int
	AmountOff        int64
	Currency         string
	Duration         string
	DurationInMonths int
	MaxRedemptions   int
	Redeemed         int
	ExpiresAt        repo.UnixMillis
	ListingIDs       repo.JSONColumn[[]string]
	CreatedAt        repo.UnixMillis `gorm:"autoCreateTime:false"`
	DeletedAt        repo.UnixMillis
}

// TableName implements gorm's tabler.
func (discountRow) TableName() string { return "discounts" }

func newDiscountRow(s discount.State) discountRow {
	return discountRow{
		Revised:   repo.Revised{ID: s.ID, Revision: s.Revision},
		CreatorID: s.CreatorID, Code: s.Code, CodeKey: s.Key, PercentOff: s.PercentOff,
		AmountOff: s.AmountOff.Minor, Currency: string(s.AmountOff.Currency), Duration: string(s.Duration),
		DurationInMonths: s.DurationInMonths, MaxRedemptions: s.MaxRedemptions, Redeemed: s.Redeemed,
		ExpiresAt: repo.UnixMillis(s.ExpiresAt), ListingIDs: repo.JSON(s.ListingIDs),
		CreatedAt: repo.UnixMillis(s.CreatedAt), DeletedAt: repo.UnixMillis(s.DeletedAt),
	}
}

func (r discountRow) toState() discount.State {
	return discount.State{
		ID: r.ID, CreatorID: r.CreatorID, Code: r.Code, Key: r.CodeKey, PercentOff: r.PercentOff,
		AmountOff: repo.Amount(r.AmountOff, r.Currency), Duration: discount.Duration(r.Duration),
		DurationInMonths: r.DurationInMonths, MaxRedemptions: r.MaxRedemptions, Redeemed: r.Redeemed,
		ExpiresAt: time.Time(r.ExpiresAt), ListingIDs: r.ListingIDs.V,
		CreatedAt: time.Time(r.CreatedAt), DeletedAt: time.Time(r.DeletedAt), Revision: r.Revision,
	}
}

var discountMapping = repo.Mapping[discountRow, discount.State]{
	Name: "discount", NewRow: newDiscountRow, ToState: discountRow.toState,
	Sorts: repo.Sorts{
		"code":      {SQL: "code_key", Text: true, Indexed: true},
		"redeemed":  {SQL: "redeemed"},
		"expiresAt": {SQL: "COALESCE(expires_at, 9223372036854775807)"}, // never is last
	},
}

type discounts struct {
	repo.Table[discountRow, discount.State]
}

// GetForUpdate implements ports.Discounts.
func (t discounts) GetForUpdate(ctx context.Context, creatorID, id string) (discount.State, error) {
	return discountMapping.On(t.ForUpdate()).Get(ctx, creatorID, id)
}

// GetByKey implements ports.Discounts.
func (t discounts) GetByKey(_ context.Context, creatorID, key string) (discount.State, error) {
	return t.GetBy("get discount by code", "creator_id = ? AND code_key = ? AND deleted_at IS NULL", creatorID, key)
}

// List implements ports.Discounts.
func (t discounts) List(_ context.Context, creatorID string, page ports.Page) (ports.List[discount.State], error) {
	return t.Page("list discounts of "+creatorID, t.DB.Where("creator_id = ? AND deleted_at IS NULL", creatorID), page)
}

type redemptionRow struct {
	CheckoutID string `gorm:"primaryKey"`
	CreatorID  string
	DiscountID string
	CreatedAt  repo.UnixMillis `gorm:"autoCreateTime:false"`
}

// TableName implements gorm's tabler.
func (redemptionRow) TableName() string { return "discount_redemptions" }

// InsertRedemption implements ports.Discounts.
func (t discounts) InsertRedemption(_ context.Context, d ports.DiscountRedemption) error {
	row := redemptionRow{CheckoutID: d.CheckoutID, CreatorID: d.CreatorID, DiscountID: d.DiscountID,
		CreatedAt: repo.UnixMillis(d.CreatedAt)}
	return t.InsertRowChecked("insert redemption by "+d.CheckoutID, &row, ports.ErrStale, repo.OrNothing)
}

// GetRedemption implements ports.Discounts.
func (t discounts) GetRedemption(_ context.Context, creatorID, checkoutID string) (ports.DiscountRedemption, error) {
	row, err := repo.TakeOne[redemptionRow](t.Base, "get redemption by "+checkoutID, "creator_id = ? AND checkout_id = ?",
		creatorID, checkoutID)
	return ports.DiscountRedemption{
		CheckoutID: row.CheckoutID, CreatorID: row.CreatorID, DiscountID: row.DiscountID, CreatedAt: time.Time(row.CreatedAt),
	}, err
}

// DeleteRedemption implements ports.Discounts.
func (t discounts) DeleteRedemption(_ context.Context, creatorID, checkoutID string) error {
	return t.Exec("delete redemption by "+checkoutID, "DELETE FROM discount_redemptions WHERE creator_id = ? AND "+
		"checkout_id = ?", creatorID, checkoutID)
}
