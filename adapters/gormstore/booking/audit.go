package booking

import (
	"context"

	"sundry/adapters/gormstore/repo"
	"sundry/ports"
)

type audit struct{ *repo.Base }

// ListOverlaps implements ports.BookingAudit.
func (t audit) ListOverlaps(_ context.Context, limit int) ([]string, error) {
	return t.QueryIDs("audit reservations", `SELECT id FROM (
			SELECT id, blocked_until, LEAD(blocked_from) OVER (PARTITION BY creator_id ORDER BY blocked_from) AS next
			FROM reservations WHERE status IN ('held', 'confirmed')) AS live
		WHERE next < blocked_until ORDER BY id LIMIT ?`, limit)
}

// ListUnmatched implements ports.BookingAudit.
func (t audit) ListUnmatched(_ context.Context, limit int) ([]string, error) {
	return t.QueryIDs("audit appointments",
		`SELECT a.id AS id FROM appointments a LEFT JOIN reservations c ON c.id = a.reservation_id
		WHERE a.status = 'confirmed' AND (c.id IS NULL OR c.status <> 'confirmed' OR c.starts_at <> a.starts_at
		OR c.creator_id <> a.creator_id)
		UNION ALL SELECT c.id FROM reservations c LEFT JOIN appointments a ON a.reservation_id = c.id
		WHERE c.status = 'confirmed' AND (a.id IS NULL OR a.status <> 'confirmed') ORDER BY id LIMIT ?`, limit)
}

var _ ports.BookingAudit = audit{}
