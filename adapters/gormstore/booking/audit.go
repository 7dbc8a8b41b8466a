package booking

import (
	"context"

	"sundry/adapters/gormstore/repo"
	"sundry/core/id"
)

type audit struct{ *repo.Base }

// ListOverlaps implements ports.BookingAudit.
func (t audit) ListOverlaps(_ context.Context, limit int) ([]string, error) {
	return t.QueryWhole("audit reservations", `SELECT id FROM (
			SELECT id, blocked_until, LEAD(blocked_from) OVER (PARTITION BY creator_id ORDER BY blocked_from) AS next
			FROM reservations WHERE status IN ('held', 'confirmed')) AS live
		WHERE next < blocked_until ORDER BY id LIMIT ?`, limit)
}

// ListUnmatched implements ports.BookingAudit.
func (t audit) ListUnmatched(_ context.Context, limit int) ([]string, error) {
	return t.QueryIDs("audit appointments",
		`WITH kept AS (SELECT id, creator_id, status, starts_at, '' AS group_id FROM reservations WHERE seats = 0
			UNION ALL SELECT id, creator_id, status, starts_at, group_id FROM reservation_seats)
		SELECT a.id AS id FROM appointments a LEFT JOIN kept c ON c.id = a.reservation_id
		WHERE `+t.Made("a.id", id.Appointment)+` AND a.status = 'confirmed'
			AND (c.id IS NULL OR c.status <> 'confirmed' OR c.starts_at <> a.starts_at
		OR c.creator_id <> a.creator_id OR c.group_id <> a.group_id)
		UNION ALL SELECT c.id FROM kept c LEFT JOIN appointments a ON a.reservation_id = c.id
		WHERE `+t.Made("c.id", id.Reservation)+` AND c.status = 'confirmed'
			AND (a.id IS NULL OR a.status <> 'confirmed') ORDER BY id LIMIT ?`, limit)
}

// ListMisseated implements ports.BookingAudit.
func (t audit) ListMisseated(_ context.Context, limit int) ([]string, error) {
	return t.QueryIDs("audit groups",
		`WITH taken AS (SELECT group_id, COUNT(*) AS seats FROM reservation_seats
			WHERE status IN ('held', 'confirmed') GROUP BY group_id)
		SELECT g.id AS id FROM reservations g LEFT JOIN taken ON taken.group_id = g.id
			WHERE g.seats > 0 AND g.status IN ('held', 'confirmed') AND (taken.seats IS NULL OR taken.seats > g.seats)
		UNION ALL SELECT s.id FROM reservation_seats s LEFT JOIN reservations g ON g.id = s.group_id
			WHERE s.status IN ('held', 'confirmed') AND (g.id IS NULL OR g.status <> 'held' OR g.seats = 0
			OR g.starts_at <> s.starts_at OR g.creator_id <> s.creator_id) ORDER BY id LIMIT ?`, limit)
}
