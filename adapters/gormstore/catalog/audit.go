package catalog

import (
	"context"

	"sundry/adapters/gormstore/repo"
	"sundry/core/id"
)

type audit struct{ *repo.Base }

// OverusedDiscounts implements ports.CatalogAudit.
func (t audit) OverusedDiscounts(_ context.Context, limit int) ([]string, error) {
	return t.QueryIDs("audit discounts",
		`SELECT d.id FROM discounts d WHERE (d.max_redemptions > 0 AND d.redeemed > d.max_redemptions)
		OR d.redeemed <> (SELECT COUNT(*) FROM discount_redemptions r WHERE r.creator_id = d.creator_id
		AND r.discount_id = d.id)
		ORDER BY d.id LIMIT ?`, limit)
}

// UncountedDiscounts implements ports.CatalogAudit.
func (t audit) UncountedDiscounts(_ context.Context, limit int) ([]string, error) {
	return t.QueryIDs("audit redemptions", `SELECT s.id FROM sessions s
		WHERE `+t.Made("s.id", id.CheckoutSession)+` AND s.status = 'paid' AND s.discount > 0
		AND NOT EXISTS (SELECT 1 FROM discount_redemptions r WHERE r.creator_id = s.creator_id AND r.checkout_id = s.id)
		ORDER BY s.id LIMIT ?`, limit)
}
