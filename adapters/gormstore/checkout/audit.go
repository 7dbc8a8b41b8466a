package checkout

import (
	"context"
	"time"

	"sundry/adapters/gormstore/repo"
	"sundry/core/checkout"
	"sundry/core/id"
	"sundry/core/payment"
)

type audit struct{ *repo.Base }

// UnbalancedPayments implements ports.CheckoutAudit.
func (t audit) UnbalancedPayments(_ context.Context, limit int) ([]string, error) {
	return t.QueryIDs("audit payments", `SELECT s.id FROM sessions s LEFT JOIN payments p ON p.id = s.payment_id
			LEFT JOIN sales x ON x.id = p.id
		WHERE `+t.Made("s.id", id.CheckoutSession)+` AND s.status = ?
			AND (p.id IS NULL OR p.status <> ? OR p.amount <> s.total OR p.currency <> s.currency
				OR s.tax <> x.tax
		OR `+wrongTotal+`)
		ORDER BY s.id LIMIT ?`,
		checkout.StatusPaid, payment.Succeeded, limit)
}

// wrongTotal is true for a session s whose total is not the sum of its parts.
const wrongTotal = `s.total <> s.subtotal - s.discount +
	CASE WHEN s.tax_details LIKE '%"behavior":"exclusive"%' THEN s.tax ELSE 0 END`

// UnbalancedSessions implements ports.CheckoutAudit.
func (t audit) UnbalancedSessions(_ context.Context, limit int) ([]string, error) {
	return t.QueryIDs("audit open sessions", "SELECT s.id FROM sessions s WHERE "+
		t.Made("s.id", id.CheckoutSession)+" AND s.status = ? AND "+wrongTotal+" ORDER BY s.id LIMIT ?",
		checkout.StatusProcessing, limit)
}

// LostPayments implements ports.CheckoutAudit.
func (t audit) LostPayments(_ context.Context, limit int) ([]string, error) {
	return t.QueryIDs("audit live payments",
		`SELECT s.id FROM sessions s LEFT JOIN payments p ON p.id = s.live_payment_id AND p.creator_id = s.creator_id
		WHERE `+t.Made("s.id", id.CheckoutSession)+`
			AND s.status = ? AND s.live_payment_id <> '' AND p.id IS NULL ORDER BY s.id
		LIMIT ?`, checkout.StatusProcessing, limit)
}

// OverdueSessions implements ports.CheckoutAudit.
func (t audit) OverdueSessions(_ context.Context, expiredBefore time.Time, limit int) ([]string, error) {
	return t.QueryIDs("audit sessions",
		`SELECT id FROM sessions WHERE status = ? AND live_payment_id = '' AND expires_at < ? ORDER BY id LIMIT ?`,
		checkout.StatusProcessing, repo.UnixMillis(expiredBefore), limit)
}

// MissingAppointments implements ports.CheckoutAudit.
func (t audit) MissingAppointments(_ context.Context, limit int) ([]string, error) {
	return t.QueryIDs("audit appointments of sessions",
		`SELECT s.id FROM sessions s
		WHERE `+t.Made("s.id", id.CheckoutSession)+` AND s.status = 'paid' AND s.session_count > 0
		AND s.session_count <> (SELECT COUNT(*) FROM appointments a WHERE a.creator_id = s.creator_id
		AND a.checkout_id = s.id)
		ORDER BY s.id LIMIT ?`, limit)
}

// StrayHolds implements ports.CheckoutAudit.
func (t audit) StrayHolds(_ context.Context, limit int) ([]string, error) {
	return t.QueryIDs("audit reservations",
		`SELECT DISTINCT s.id FROM (SELECT checkout_id, status FROM reservations
			UNION ALL SELECT checkout_id, status FROM reservation_seats) AS r JOIN sessions s ON s.id = r.checkout_id
		WHERE `+t.Made("s.id", id.CheckoutSession)+`
			AND r.status = 'held' AND s.status <> 'processing' ORDER BY s.id LIMIT ?`, limit)
}

// KeptMoney implements ports.CheckoutAudit.
func (t audit) KeptMoney(_ context.Context, refundTask string, limit int) ([]string, error) {
	return t.QueryIDs("audit kept money",
		`SELECT p.id FROM payments p LEFT JOIN sessions s ON s.id = p.subject_id
		WHERE `+t.Made("p.id", id.Payment)+` AND p.purpose = 'checkout'
			AND p.status = 'succeeded' AND (s.id IS NULL OR s.status <> 'paid' OR s.payment_id <> p.id)
			AND p.refunded <> p.amount
			AND NOT EXISTS (SELECT 1 FROM disputes d WHERE d.payment_id = p.id AND d.status = 'lost')
			AND NOT EXISTS (SELECT 1 FROM refunds f WHERE f.payment_id = p.id AND f.automatic AND f.status = 'failed')
		AND NOT EXISTS (SELECT 1 FROM tasks WHERE tasks.id = ? || p.id) ORDER BY p.id LIMIT ?`, refundTask+":", limit)
}
