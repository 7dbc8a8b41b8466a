package treasury

import (
	"context"

	"sundry/adapters/gormstore/repo"
	"sundry/ports"
)

// audit implements ports.TreasuryAudit.
type audit struct{ repo.Base }

var _ ports.TreasuryAudit = audit{}

// UnbalancedPostings implements ports.TreasuryAudit.
func (t audit) UnbalancedPostings(_ context.Context, limit int) ([]string, error) {
	return t.QueryIDs("unbalanced postings", `
		SELECT posting_id FROM ledger_entries GROUP BY posting_id, currency HAVING SUM(amount) <> 0
		ORDER BY posting_id LIMIT ?`, limit)
}

// UnbalancedCurrencies implements ports.TreasuryAudit.
func (t audit) UnbalancedCurrencies(_ context.Context, limit int) ([]string, error) {
	return t.QueryIDs("unbalanced currencies", `
		SELECT currency FROM ledger_entries GROUP BY currency HAVING SUM(amount) <> 0 ORDER BY currency LIMIT ?`, limit)
}

// UnpostedPayments implements ports.TreasuryAudit.
func (t audit) UnpostedPayments(_ context.Context, limit int) ([]string, error) {
	return t.QueryIDs("unposted payments", `
		SELECT p.id FROM payments p LEFT JOIN sales s ON s.id = p.id
		WHERE p.status = 'succeeded' AND p.amount > 0 AND (s.id IS NULL OR s.total <> p.amount OR s.currency <> p.currency
			OR s.creator_id <> p.creator_id OR s.refunded <> p.refunded)
		ORDER BY p.id LIMIT ?`, limit)
}

// MispostedSales implements ports.TreasuryAudit.
func (t audit) MispostedSales(_ context.Context, limit int) ([]string, error) {
	return t.QueryIDs("misposted sales", `
		SELECT x.id FROM sales x
		LEFT JOIN (SELECT source_id, SUM(CASE WHEN account = 'processor_clearing' THEN amount ELSE 0 END) AS total,
				-SUM(CASE WHEN account = 'tax_payable' THEN amount ELSE 0 END) AS tax,
				-SUM(CASE WHEN account = 'platform_fee' THEN amount ELSE 0 END) AS fee
			FROM ledger_entries WHERE kind = 'sale' GROUP BY source_id) e ON e.source_id = x.id
		WHERE x.total > 0 AND (e.source_id IS NULL OR e.total <> x.total OR e.tax <> x.tax OR e.fee <> x.platform_fee)
		ORDER BY x.id LIMIT ?`, limit)
}

// OverReturnedSales implements ports.TreasuryAudit.
func (t audit) OverReturnedSales(_ context.Context, limit int) ([]string, error) {
	return t.QueryIDs("sales that returned too much", `
		SELECT id FROM sales WHERE returned > total OR returned < 0 OR returned_tax > tax OR returned_tax < 0
			OR refunded + lost + disputed > returned OR (returned = total AND returned_tax <> tax)
		ORDER BY id LIMIT ?`, limit)
}

// MispostedRefunds implements ports.TreasuryAudit.
func (t audit) MispostedRefunds(_ context.Context, limit int) ([]string, error) {
	return t.QueryIDs("misposted refunds", `
		SELECT x.id FROM refunds x
		LEFT JOIN (SELECT source_id, -SUM(CASE WHEN account = 'processor_clearing' THEN amount ELSE 0 END) AS amount,
				SUM(CASE WHEN account = 'tax_payable' THEN amount ELSE 0 END) AS tax
			FROM ledger_entries WHERE source_type = 'refund' GROUP BY source_id) e ON e.source_id = x.id
		WHERE (x.status = 'succeeded' AND (e.source_id IS NULL OR e.amount <> x.amount OR e.tax <> x.tax))
			OR (x.status <> 'succeeded' AND (COALESCE(e.amount, 0) <> 0 OR COALESCE(e.tax, 0) <> 0))
		ORDER BY x.id LIMIT ?`, limit)
}

// MiscountedRefunds implements ports.TreasuryAudit. A reversed sale was returned without a refund of its own.
func (t audit) MiscountedRefunds(_ context.Context, limit int) ([]string, error) {
	return t.QueryIDs("miscounted refunds", `
		SELECT x.id FROM sales x
		LEFT JOIN (SELECT payment_id, SUM(CASE WHEN status = 'succeeded' THEN amount ELSE 0 END) AS made,
				SUM(CASE WHEN status <> 'failed' THEN amount ELSE 0 END) AS asked, SUM(CASE WHEN status <> 'failed' THEN tax
				ELSE 0 END) AS tax
			FROM refunds GROUP BY payment_id) r ON r.payment_id = x.id
		LEFT JOIN (SELECT payment_id, SUM(CASE WHEN status = 'won' THEN 0 ELSE amount END) AS amount, SUM(CASE
		WHEN status = 'won' THEN 0 ELSE tax END) AS tax
			FROM disputes GROUP BY payment_id) d ON d.payment_id = x.id
		WHERE NOT EXISTS (SELECT 1 FROM ledger_entries e WHERE e.source_id = x.id AND e.kind = 'sale_reversal')
			AND (x.refunded <> COALESCE(r.made, 0) OR x.returned <> COALESCE(r.asked, 0) + COALESCE(d.amount, 0)
				OR x.returned_tax <> COALESCE(r.tax, 0) + COALESCE(d.tax, 0))
		ORDER BY x.id LIMIT ?`, limit)
}

// MispostedDisputes implements ports.TreasuryAudit.
func (t audit) MispostedDisputes(_ context.Context, limit int) ([]string, error) {
	return t.QueryIDs("misposted disputes", `
		SELECT x.id FROM disputes x
		LEFT JOIN (SELECT source_id, SUM(CASE WHEN account = 'disputed_funds' THEN amount ELSE 0 END) AS held,
				-SUM(CASE WHEN account = 'processor_clearing' THEN amount ELSE 0 END) AS taken,
				SUM(CASE WHEN account = 'tax_payable' THEN amount ELSE 0 END) AS tax
			FROM ledger_entries WHERE source_type = 'dispute' GROUP BY source_id) e ON e.source_id = x.id
		WHERE COALESCE(e.held, 0) <> CASE WHEN x.status IN ('needs_response', 'under_review') THEN x.amount ELSE 0 END
			OR COALESCE(e.taken, 0) <> CASE WHEN x.status = 'won' THEN 0 ELSE x.amount END
			OR COALESCE(e.tax, 0) <> CASE WHEN x.status = 'lost' THEN x.tax ELSE 0 END
		ORDER BY x.id LIMIT ?`, limit)
}

// MispostedPayouts implements ports.TreasuryAudit.
func (t audit) MispostedPayouts(_ context.Context, limit int) ([]string, error) {
	return t.QueryIDs("misposted payouts", `
		SELECT x.id FROM payouts x
		LEFT JOIN (SELECT source_id, SUM(CASE WHEN account = 'creator_available' THEN amount ELSE 0 END) AS taken,
				-SUM(CASE WHEN account = 'creator_in_transit' THEN amount ELSE 0 END) AS moving
			FROM ledger_entries WHERE source_type = 'payout' GROUP BY source_id) e ON e.source_id = x.id
		WHERE COALESCE(e.taken, 0) <> CASE WHEN x.status = 'failed' THEN 0 ELSE x.amount END
			OR COALESCE(e.moving, 0) <> CASE WHEN x.status = 'pending' THEN x.amount ELSE 0 END
		ORDER BY x.id LIMIT ?`, limit)
}

// MiscountedPending implements ports.TreasuryAudit.
func (t audit) MiscountedPending(_ context.Context, limit int) ([]string, error) {
	return t.QueryIDs("miscounted pending balances", `
		SELECT b.creator_id FROM (
			SELECT creator_id, currency, SUM(pending) AS pending, SUM(reserved) AS reserved FROM (
				SELECT creator_id, currency, pending, disputed - disputed_tax AS reserved FROM sales
				UNION ALL
				SELECT creator_id, currency, CASE WHEN account = 'creator_pending' THEN amount ELSE 0 END,
					CASE WHEN account = 'creator_reserved' THEN amount ELSE 0 END
				FROM ledger_entries WHERE account IN ('creator_pending', 'creator_reserved')) parts
			GROUP BY creator_id, currency) b
		WHERE b.pending <> 0 OR b.reserved <> 0 ORDER BY b.creator_id LIMIT ?`, limit)
}

// RefundedAccess implements ports.TreasuryAudit.
func (t audit) RefundedAccess(_ context.Context, limit int) ([]string, error) {
	return t.QueryIDs("refunded payments that give access", `
		SELECT f.id FROM refunds f JOIN grants g ON g.creator_id = f.creator_id AND g.checkout_id = f.checkout_id
		WHERE f.status = 'succeeded' AND f.is_full AND NOT f.keep_access AND f.checkout_id <> '' AND g.end_reason = ''
			AND NOT EXISTS (SELECT 1 FROM subscriptions s WHERE s.id = g.source_id AND s.current_period_start > g.started_at)
		ORDER BY f.id LIMIT ?`, limit)
}
