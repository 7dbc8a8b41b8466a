package treasury

import (
	"context"

	"sundry/adapters/gormstore/repo"
	"sundry/core/id"
	"sundry/core/ledger"
	"sundry/core/payment"
)

// audit implements ports.TreasuryAudit.
type audit struct{ *repo.Base }

// UnbalancedPostings implements ports.TreasuryAudit.
func (t audit) UnbalancedPostings(_ context.Context, limit int) ([]string, error) {
	return t.QueryIDs("unbalanced postings", `
		SELECT id FROM ledger_postings WHERE `+t.Made("id", id.LedgerEntry)+`
			AND processor_clearing + disputed_funds + processor_fee + tax_payable + platform_fee
			+ creator_pending + creator_available + creator_reserved + creator_in_transit <> 0
		ORDER BY id LIMIT ?`, limit)
}

// UnpostedPayments implements ports.TreasuryAudit.
func (t audit) UnpostedPayments(_ context.Context, limit int) ([]string, error) {
	return t.QueryIDs("unposted payments", `
		SELECT p.id FROM payments p LEFT JOIN sales s ON s.id = p.id
		WHERE `+t.Made("p.id", id.Payment)+`
			AND p.status = 'succeeded' AND p.amount > 0 AND (s.id IS NULL OR s.total <> p.amount
			OR s.currency <> p.currency OR s.creator_id <> p.creator_id OR s.refunded <> p.refunded
			OR s.processor_fee <> p.processor_fee)
		ORDER BY p.id LIMIT ?`, limit)
}

// MispostedSales implements ports.TreasuryAudit. A released sale has nothing pending, as MisreleasedSales checks.
func (t audit) MispostedSales(_ context.Context, limit int) ([]string, error) {
	return t.QueryIDs("misposted sales", `
		SELECT x.id FROM sales x
		LEFT JOIN ledger_postings s ON s.source_id = x.id AND s.kind = 'sale'
		LEFT JOIN ledger_postings f ON f.source_id = x.id AND f.kind = 'processor_fee'
		WHERE `+t.Made("x.id", id.Payment)+`
			AND x.total > 0 AND (s.id IS NULL OR s.processor_clearing <> x.total OR -s.tax_payable <> x.tax
			OR -s.platform_fee <> x.platform_fee OR COALESCE(f.processor_fee, 0) <> x.processor_fee
			OR s.creator_id <> x.creator_id OR s.currency <> x.currency
			OR NOT x.released AND x.pending <> (SELECT COALESCE(-SUM(e.creator_pending), 0) FROM ledger_postings e
				WHERE e.source_id IN (SELECT x.id UNION ALL SELECT r.id FROM refunds r WHERE r.payment_id = x.id
					UNION ALL SELECT d.id FROM disputes d WHERE d.payment_id = x.id)))
		ORDER BY x.id LIMIT ?`, limit)
}

// MisreleasedSales implements ports.TreasuryAudit.
func (t audit) MisreleasedSales(_ context.Context, limit int) ([]string, error) {
	return t.QueryIDs("misreleased sales", `
		SELECT x.id FROM sales x LEFT JOIN ledger_postings e ON e.source_id = x.id AND e.kind = 'release'
		WHERE `+t.Made("x.id", id.Payment)+` AND (x.available_at <> x.created_at + ? OR (x.released AND x.pending <> 0)
			OR (NOT x.released AND e.source_id IS NOT NULL)
			OR (NOT x.released AND x.total > 0
				AND NOT EXISTS (SELECT 1 FROM tasks k WHERE k.id = 'treasury.release:' || x.id)))
		ORDER BY x.id LIMIT ?`, ledger.HoldPeriod.Milliseconds(), limit)
}

// LostPayouts implements ports.TreasuryAudit.
func (t audit) LostPayouts(_ context.Context, limit int) ([]string, error) {
	return t.QueryIDs("lost payouts", `
		SELECT DISTINCT e.source_id FROM ledger_postings e LEFT JOIN payouts x ON x.id = e.source_id
		WHERE `+t.Made("e.id", id.LedgerEntry)+`
			AND e.source_type = 'payout' AND x.id IS NULL ORDER BY e.source_id LIMIT ?`, limit)
}

// MisstatedPayments implements ports.TreasuryAudit. The breakdown is JSON, so it is read in pages.
func (t audit) MisstatedPayments(_ context.Context, limit int) ([]string, error) {
	type statedRow struct {
		ID       string
		Currency string
		Amount   int64
		Tax      int64 // of the sale in the ledger
		Sale     repo.JSONColumn[payment.Sale]
	}
	read := func(after string) (page []statedRow, err error) {
		err = t.DB.Raw(`
			SELECT p.id, p.currency, p.amount, p.sale, COALESCE(x.tax, 0) AS tax FROM payments p LEFT JOIN sales x ON x.id = p.id
			WHERE `+t.Made("p.id", id.Payment)+`
				AND p.status = 'succeeded' AND p.id > ? ORDER BY p.id LIMIT ?`, after, auditPage).Scan(&page).Error
		return page, t.Failure("misstated payments", err)
	}
	return repo.AuditPages(limit, auditPage, read, func(p statedRow) (id, wrong string, err error) {
		if p.Sale.V.Check(repo.Amount(p.Amount, p.Currency)) != nil || p.Amount > 0 && p.Sale.V.Tax.Minor != p.Tax {
			wrong = p.ID
		}
		return p.ID, wrong, nil
	})
}

// auditPage bounds the rows that an audit has in memory.
const auditPage = 1_000

// ChargedTwice implements ports.TreasuryAudit. An attempt that was made before the other one succeeded may succeed
// after it: that money goes back.
func (t audit) ChargedTwice(_ context.Context, limit int) ([]string, error) {
	return t.QueryIDs("subjects that were charged twice", `
		SELECT DISTINCT b.subject_id FROM payments a JOIN payments b ON b.purpose = a.purpose AND b.subject_id = a.subject_id
			AND b.id <> a.id AND b.status = 'succeeded' AND b.amount > 0 AND b.created_at > a.settled_at
		WHERE `+t.Made("b.id", id.Payment)+`
			AND a.purpose IN ('checkout', 'invoice') AND a.status = 'succeeded' AND a.amount > 0
			AND NOT EXISTS (SELECT 1 FROM refunds f WHERE f.payment_id IN (a.id, b.id) AND f.status <> 'failed'
				AND NOT f.automatic)
		ORDER BY b.subject_id LIMIT ?`, limit)
}

// OverReturnedSales implements ports.TreasuryAudit.
func (t audit) OverReturnedSales(_ context.Context, limit int) ([]string, error) {
	return t.QueryIDs("sales that returned too much", `
		SELECT id FROM sales WHERE `+t.Made("id", id.Payment)+`
			AND (returned > total OR returned < 0 OR returned_tax > tax OR returned_tax < 0
			OR refunded + lost + disputed > returned OR (returned = total AND returned_tax <> tax))
		ORDER BY id LIMIT ?`, limit)
}

// foreign counts the postings of an object that are of another account or currency.
const foreign = "COUNT(CASE WHEN e.creator_id <> x.creator_id OR e.currency <> x.currency THEN 1 END)"

// MispostedRefunds implements ports.TreasuryAudit. An automatic refund is posted as the reversal of its sale.
func (t audit) MispostedRefunds(_ context.Context, limit int) ([]string, error) {
	return t.QueryIDs("misposted refunds", `
		SELECT x.id AS id FROM refunds x
		LEFT JOIN ledger_postings e ON e.source_id = CASE WHEN x.automatic THEN x.payment_id ELSE x.id END
			AND (e.source_type = 'refund' OR e.kind IN ('sale_reversal', 'refund_failed'))
		WHERE `+t.Made("x.id", id.Refund)+`
		GROUP BY x.id, x.status, x.amount, x.tax
		HAVING (x.status = 'succeeded' AND COUNT(e.id) = 0) OR `+foreign+` > 0
			OR -COALESCE(SUM(e.processor_clearing), 0) <> CASE WHEN x.status = 'succeeded' THEN x.amount ELSE 0 END
			OR COALESCE(SUM(e.tax_payable), 0) <> CASE WHEN x.status = 'succeeded' THEN x.tax ELSE 0 END
		UNION ALL
		SELECT e.source_id FROM ledger_postings e WHERE `+t.Made("e.id", id.LedgerEntry)+` AND e.kind = 'sale_reversal'
			AND NOT EXISTS (SELECT 1 FROM refunds f WHERE f.payment_id = e.source_id AND f.automatic AND f.status <> 'pending')
		ORDER BY id LIMIT ?`, limit)
}

// MiscountedRefunds implements ports.TreasuryAudit. An automatic refund sets nothing aside while it is pending.
func (t audit) MiscountedRefunds(_ context.Context, limit int) ([]string, error) {
	return t.QueryIDs("miscounted refunds", `
		SELECT x.id FROM sales x
		LEFT JOIN (SELECT payment_id, SUM(CASE WHEN status = 'succeeded' THEN amount ELSE 0 END) AS made,
				SUM(amount) AS asked, SUM(tax) AS tax
			FROM refunds WHERE status = 'succeeded' OR status = 'pending' AND NOT automatic
			GROUP BY payment_id) r ON r.payment_id = x.id
		LEFT JOIN (SELECT payment_id, SUM(CASE WHEN status = 'won' THEN 0 ELSE amount END) AS amount,
				SUM(CASE WHEN status = 'won' THEN 0 ELSE tax END) AS tax,
				SUM(CASE WHEN status = 'lost' THEN amount ELSE 0 END) AS lost,
				SUM(CASE WHEN status IN ('needs_response', 'under_review') THEN tax ELSE 0 END) AS held_tax
			FROM disputes GROUP BY payment_id) d ON d.payment_id = x.id
		WHERE `+t.Made("x.id", id.Payment)+`
			AND (x.refunded <> COALESCE(r.made, 0) OR x.returned <> COALESCE(r.asked, 0) + COALESCE(d.amount, 0)
				OR x.returned_tax <> COALESCE(r.tax, 0) + COALESCE(d.tax, 0)
				OR x.lost <> COALESCE(d.lost, 0) OR x.disputed <> COALESCE(d.amount, 0) - COALESCE(d.lost, 0)
				OR x.disputed_tax <> COALESCE(d.held_tax, 0))
		ORDER BY x.id LIMIT ?`, limit)
}

// MisjudgedRefunds implements ports.TreasuryAudit. The last part of a payment that went back is the full refund, unless
// that was a lost dispute. It stays one when an earlier part comes back, and another may follow it then.
func (t audit) MisjudgedRefunds(_ context.Context, limit int) ([]string, error) {
	return t.QueryIDs("misjudged refunds", `
		SELECT MAX(f.id) AS id FROM refunds f JOIN sales x ON x.id = f.payment_id
		WHERE `+t.Made("x.id", id.Payment)+` AND f.status = 'succeeded'
		GROUP BY x.id, x.total, x.refunded, x.lost
		HAVING (COUNT(CASE WHEN f.is_full THEN 1 END) = 0 AND x.refunded = x.total)
			OR (COUNT(CASE WHEN f.is_full THEN 1 END) > CASE WHEN x.refunded + x.lost = x.total THEN 1 ELSE 0 END
				AND NOT EXISTS (SELECT 1 FROM refunds b JOIN ledger_postings e ON e.source_id = b.id
					AND e.kind = 'refund_failed' WHERE b.payment_id = x.id))
		ORDER BY id LIMIT ?`, limit)
}

// MispostedDisputes implements ports.TreasuryAudit.
func (t audit) MispostedDisputes(_ context.Context, limit int) ([]string, error) {
	return t.QueryIDs("misposted disputes", `
		SELECT x.id FROM disputes x
		LEFT JOIN ledger_postings e ON e.source_id = x.id AND e.source_type = 'dispute'
		WHERE `+t.Made("x.id", id.Dispute)+`
		GROUP BY x.id, x.status, x.amount, x.tax
		HAVING COALESCE(SUM(e.disputed_funds), 0) <>
				CASE WHEN x.status IN ('needs_response', 'under_review') THEN x.amount ELSE 0 END
			OR -COALESCE(SUM(e.processor_clearing), 0) <> CASE WHEN x.status = 'won' THEN 0 ELSE x.amount END
			OR COALESCE(SUM(e.tax_payable), 0) <> CASE WHEN x.status = 'lost' THEN x.tax ELSE 0 END
			OR `+foreign+` > 0
		ORDER BY x.id LIMIT ?`, limit)
}

// MispostedPayouts implements ports.TreasuryAudit.
func (t audit) MispostedPayouts(_ context.Context, limit int) ([]string, error) {
	return t.QueryIDs("misposted payouts", `
		SELECT x.id FROM payouts x
		LEFT JOIN ledger_postings e ON e.source_id = x.id AND e.source_type = 'payout'
		WHERE `+t.Made("x.id", id.Payout)+`
		GROUP BY x.id, x.status, x.amount
		HAVING COALESCE(SUM(e.creator_available), 0) <> CASE WHEN x.status = 'failed' THEN 0 ELSE x.amount END
			OR -COALESCE(SUM(e.creator_in_transit), 0) <> CASE WHEN x.status = 'pending' THEN x.amount ELSE 0 END
			OR `+foreign+` > 0
		ORDER BY x.id LIMIT ?`, limit)
}

// MistaxedDocuments implements ports.TreasuryAudit. An invoice is in the ledger once it is paid.
func (t audit) MistaxedDocuments(_ context.Context, limit int) ([]string, error) {
	return t.QueryIDs("audit tax of documents", `
		SELECT d.subject_id FROM documents d LEFT JOIN invoices i ON d.series = 'I' AND i.id = d.subject_id
		LEFT JOIN (SELECT source_id, kind, tax_payable AS tax FROM ledger_postings
				WHERE kind IN ('sale', 'refund', 'dispute_lost', 'sale_reversal')) e
			ON e.source_id = COALESCE(i.payment_id, d.subject_id) AND (e.kind = 'sale') = (d.series <> 'C')
		WHERE `+t.MadeAt("d.issued_at")+` AND d.series <> '' AND (i.id IS NULL OR i.status = 'paid')
			AND d.tax <> COALESCE(CASE WHEN d.series = 'C' THEN e.tax ELSE -e.tax END, 0)
		ORDER BY d.subject_id LIMIT ?`, limit)
}

// MiscountedPending implements ports.TreasuryAudit.
func (t audit) MiscountedPending(_ context.Context, limit int) ([]string, error) {
	return t.QueryWhole("miscounted pending balances", `
		SELECT b.creator_id FROM (
			SELECT creator_id, currency, SUM(pending) AS pending, SUM(reserved) AS reserved FROM (
				SELECT creator_id, currency, pending, disputed - disputed_tax AS reserved FROM sales
				UNION ALL
				SELECT creator_id, currency, creator_pending, creator_reserved FROM ledger_postings) parts
			GROUP BY creator_id, currency) b
		WHERE b.pending <> 0 OR b.reserved <> 0 ORDER BY b.creator_id LIMIT ?`, limit)
}

// RefundedAccess implements ports.TreasuryAudit.
func (t audit) RefundedAccess(_ context.Context, limit int) ([]string, error) {
	return t.QueryIDs("refunded payments that give access", `
		SELECT f.id FROM refunds f JOIN sales x ON x.id = f.payment_id AND x.refunded + x.lost = x.total
		JOIN grants g ON g.creator_id = f.creator_id AND g.checkout_id = f.checkout_id
		WHERE `+t.Made("f.id", id.Refund)+`
			AND f.status = 'succeeded' AND f.is_full AND NOT f.automatic AND NOT EXISTS (SELECT 1 FROM refunds k
				WHERE k.payment_id = f.payment_id AND k.status = 'succeeded' AND k.is_full AND k.keep_access)
			AND f.checkout_id <> '' AND f.customer_id <> '' AND g.end_reason = ''
			AND NOT EXISTS (SELECT 1 FROM subscriptions s WHERE s.id = g.source_id AND (s.current_period_start > g.started_at
				OR EXISTS (SELECT 1 FROM subscription_periods b JOIN payments p ON p.id = b.payment_id
					WHERE b.subscription_id = s.id AND b.period_start = s.current_period_start
						AND (p.refunded < p.amount OR EXISTS (SELECT 1 FROM refunds k
							WHERE k.payment_id = p.id AND k.status = 'succeeded' AND k.is_full AND k.keep_access)))))
		ORDER BY f.id LIMIT ?`, limit)
}
