package gormstore

import (
	"cmp"
	"context"
	"slices"
	"time"

	"gorm.io/gorm/clause"

	"sundry/core/appointment"
	"sundry/core/slot"
	"sundry/ports"
)

type claimRow struct {
	ID           string `gorm:"primaryKey"`
	CreatorID    string
	ListingID    string
	VariantID    string
	CheckoutID   string
	Position     int
	Status       string
	StartsAt     millis
	EndsAt       millis
	BlockedFrom  millis
	BlockedUntil millis
	Timezone     string
	DeliveryMode string
	CreatedAt    millis `gorm:"autoCreateTime:false"`
	Revision     int64
}

// TableName implements gorm's tabler.
func (claimRow) TableName() string { return "claims" }

func rowOfClaim(c appointment.ClaimState) claimRow {
	return claimRow{
		ID: c.ID, CreatorID: c.CreatorID, ListingID: c.ListingID, VariantID: c.VariantID, CheckoutID: c.CheckoutID, Position: c.Position,
		Status: string(c.Status), StartsAt: millis(c.StartsAt), EndsAt: millis(c.EndsAt),
		BlockedFrom: millis(c.Blocked.From), BlockedUntil: millis(c.Blocked.Until), Timezone: c.Timezone,
		DeliveryMode: string(c.DeliveryMode), CreatedAt: millis(c.CreatedAt), Revision: c.Revision,
	}
}

func (r claimRow) state() appointment.ClaimState {
	return appointment.ClaimState{
		ID: r.ID, CreatorID: r.CreatorID, ListingID: r.ListingID, VariantID: r.VariantID, CheckoutID: r.CheckoutID, Position: r.Position,
		Status: appointment.ClaimStatus(r.Status), StartsAt: time.Time(r.StartsAt), EndsAt: time.Time(r.EndsAt),
		Blocked:  slot.Interval{From: time.Time(r.BlockedFrom), Until: time.Time(r.BlockedUntil)},
		Timezone: r.Timezone, DeliveryMode: appointment.DeliveryMode(r.DeliveryMode), CreatedAt: time.Time(r.CreatedAt), Revision: r.Revision,
	}
}

type claims struct{ table }

// Lock implements ports.Claims.
func (t claims) Lock(_ context.Context, creatorID string) error {
	statement := t.dialect.lock()
	if statement == "" {
		return nil
	}
	return t.failure("lock the time of "+creatorID, t.db.Exec(statement, t.dialect.lockNumber("claims\x00"+creatorID)).Error)
}

// Take implements ports.Claims. Both engines leave out the rows that would overlap, PostgreSQL by its exclusion
// constraint and SQLite by a trigger. In order of time two transactions that want the same claims cannot wait for each
// other.
func (t claims) Take(_ context.Context, all []appointment.ClaimState) (bool, error) {
	rows, ids := make([]claimRow, len(all)), make([]string, len(all))
	for i, c := range all {
		rows[i], ids[i] = rowOfClaim(c), c.ID
	}
	slices.SortFunc(rows, func(a, b claimRow) int {
		return cmp.Compare(time.Time(a.BlockedFrom).UnixMilli(), time.Time(b.BlockedFrom).UnixMilli())
	})
	insert := t.db.Clauses(clause.OnConflict{DoNothing: true}).Create(&rows)
	if insert.Error != nil || insert.RowsAffected == int64(len(rows)) {
		return insert.Error == nil, t.failure("take claims", insert.Error)
	}
	return false, t.failure("give claims back", t.db.Where("id IN ?", ids).Delete(&claimRow{}).Error)
}

// Save implements ports.Claims.
func (t claims) Save(_ context.Context, c appointment.ClaimState) error {
	row := rowOfClaim(c)
	return t.update("save claim "+c.ID, &row, c.ID, c.Revision)
}

// OfCheckout implements ports.Claims.
func (t claims) OfCheckout(_ context.Context, creatorID, checkoutID string) ([]appointment.ClaimState, error) {
	var rows []claimRow
	err := t.db.Where("creator_id = ? AND checkout_id = ?", creatorID, checkoutID).Order("position, id").Find(&rows).Error
	states := make([]appointment.ClaimState, len(rows))
	for i, row := range rows {
		states[i] = row.state()
	}
	return states, t.failure("claims of session "+checkoutID, err)
}

// longestBlock is more than a session of a day blocks with a day's buffers around it. Bounding where a claim may begin
// from both sides is what keeps the read from looking at the past.
const longestBlock = 4 * 24 * time.Hour

// liveClaims reads live claims by the partial index alone, on both engines.
const liveClaims = `SELECT id, listing_id, starts_at, blocked_from, blocked_until FROM claims
	WHERE creator_id = ? AND status IN ('held', 'confirmed') AND blocked_from > ? AND blocked_from < ? AND blocked_until > ?
	ORDER BY blocked_from`

// Live implements ports.Claims.
func (t claims) Live(_ context.Context, creatorID string, during slot.Interval) ([]ports.LiveClaim, error) {
	var rows []struct {
		ID, ListingID                       string
		StartsAt, BlockedFrom, BlockedUntil millis
	}
	err := t.db.Raw(liveClaims, creatorID, millis(during.From.Add(-longestBlock)), millis(during.Until), millis(during.From)).Scan(&rows).Error
	live := make([]ports.LiveClaim, len(rows))
	for i, r := range rows {
		live[i] = ports.LiveClaim{
			ID: r.ID, ListingID: r.ListingID, StartsAt: time.Time(r.StartsAt),
			Blocked: slot.Interval{From: time.Time(r.BlockedFrom), Until: time.Time(r.BlockedUntil)},
		}
	}
	return live, t.failure("live claims of "+creatorID, err)
}
