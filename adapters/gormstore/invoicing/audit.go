package invoicing

import (
	"context"
	"time"

	"sundry/adapters/gormstore/repo"
	"sundry/core/document"
	"sundry/core/id"
	"sundry/core/invoice"
	"sundry/core/money"
)

type audit struct{ *repo.Base }

// Unbalanced implements ports.InvoicingAudit.
func (t audit) Unbalanced(_ context.Context, limit int) ([]string, error) {
	return t.QueryIDs("audit invoices", `
SELECT i.id FROM invoices i LEFT JOIN payments p ON p.id = i.payment_id
WHERE `+t.Made("i.id", id.Invoice)+`
	AND ((i.status = 'paid' AND i.total > 0 AND (p.id IS NULL OR p.status <> 'succeeded' OR p.amount <> i.total
OR p.currency <> i.currency OR p.subject_id <> i.id))
    OR (i.status <> 'paid' AND (i.payment_id <> '' OR i.total = 0))) ORDER BY i.id LIMIT ?`, limit)
}

// PaidTwice implements ports.InvoicingAudit.
func (t audit) PaidTwice(_ context.Context, limit int) ([]string, error) {
	return t.QueryIDs("audit invoices", `
SELECT p.subject_id FROM payments p WHERE `+t.Made("p.id", id.Payment)+`
	AND p.purpose = 'invoice' AND p.status = 'succeeded' AND p.amount > 0
    AND NOT EXISTS (SELECT 1 FROM invoices i WHERE i.id = p.subject_id AND i.payment_id = p.id)
    AND NOT EXISTS (SELECT 1 FROM tasks t WHERE t.id = 'payment.refund:' || p.id)
    AND NOT EXISTS (SELECT 1 FROM refunds f WHERE f.payment_id = p.id AND f.automatic AND f.status = 'failed')
    AND p.refunded < p.amount ORDER BY p.subject_id LIMIT ?`, limit)
}

// BilledTwice implements ports.InvoicingAudit.
func (t audit) BilledTwice(_ context.Context, limit int) ([]string, error) {
	return t.QueryWhole("audit invoices", `
SELECT billing_plan_id FROM invoices WHERE billing_plan_id <> '' GROUP BY billing_plan_id, period_start
HAVING COUNT(*) > 1 ORDER BY billing_plan_id LIMIT ?`, limit)
}

// Misstated implements ports.InvoicingAudit. Lines are JSON, so invoices are read in pages.
func (t audit) Misstated(_ context.Context, limit int) ([]string, error) {
	read := rowsAfter[invoiceRow](t, "audit invoices", t.Made("id", id.Invoice))
	return repo.AuditPages(limit, auditPage, read, func(row invoiceRow) (id, wrong string, _ error) {
		s := row.toState()
		subtotal, err := invoice.Subtotal(s.Currency, s.Lines)
		if err != nil || subtotal != s.Subtotal || s.Subtotal.Minor+s.TaxAdded().Minor != s.Total.Minor ||
			s.Tax.Minor < 0 || s.Tax.Minor > s.Total.Minor {
			wrong = s.ID
		}
		return s.ID, wrong, nil
	})
}

// MisstatedDocuments implements ports.InvoicingAudit.
func (t audit) MisstatedDocuments(_ context.Context, limit int) ([]string, error) {
	read := rowsAfter[documentRow](t, "audit snapshots of documents", t.MadeAt("issued_at"))
	return repo.AuditPages(limit, auditPage, read, func(row documentRow) (id, wrong string, _ error) {
		s := row.Snapshot.V
		frozen := newDocumentRow(s)
		if row.CreatorID != frozen.CreatorID || row.ID != frozen.ID || row.Series != frozen.Series ||
			row.Number != frozen.Number || row.SubjectID != frozen.SubjectID || row.Currency != frozen.Currency ||
			row.Total != frozen.Total || row.Tax != frozen.Tax ||
			!time.Time(row.IssuedAt).Equal(time.Time(frozen.IssuedAt).Truncate(time.Millisecond)) || s.Check() != nil ||
			!sharesAddUp(s) {
			wrong = row.Number + " of " + row.SubjectID
		}
		return row.ID, wrong, nil
	})
}

// sharesAddUp reports whether the parts of a document by rate sum to its tax and total. One without rates has none.
func sharesAddUp(s document.Snapshot) bool {
	var net, tax money.Amount
	for _, share := range s.TaxDetails.Shares {
		net.Minor += share.Net.Minor
		tax.Minor += share.Tax.Minor
	}
	return len(s.TaxDetails.Shares) == 0 || tax.Minor == s.Tax.Minor && net.Minor+tax.Minor == s.Total.Minor
}

// auditPage bounds the rows that an audit has in memory.
const auditPage = 500

// rowsAfter reads the next page of rows, of those that were made in time.
func rowsAfter[R any](t audit, op, made string) func(after string) ([]R, error) {
	return func(after string) (page []R, err error) {
		err = t.DB.Where("id > ?", after).Where(made).Order("id").Limit(auditPage).Find(&page).Error
		return page, t.Failure(op, err)
	}
}

// DocumentGaps implements ports.InvoicingAudit. A number has the account's prefix of six, the series and six digits or
// more behind its ninth character; one that has not is wrong whatever the others are.
func (t audit) DocumentGaps(_ context.Context, limit int) ([]string, error) {
	const wellFormed = "RTRIM(SUBSTR(number, 10), '0123456789') = '' AND LENGTH(number) BETWEEN 15 AND 27"
	return t.QueryWhole("audit document numbers", `
		SELECT s.creator_id || '/' || s.series AS id FROM (
			SELECT creator_id, series, SUM(last) AS last, SUM(highest) AS highest, SUM(used) AS used, SUM(numbers) AS numbers
			FROM (
				SELECT creator_id, series, last, 0 AS highest, 0 AS used, 0 AS numbers FROM document_numbers
				UNION ALL
				SELECT creator_id, series, 0,
					COALESCE(MAX(CASE WHEN `+wellFormed+` THEN CAST(SUBSTR(number, 10) AS BIGINT) END), 0),
					COUNT(*), COUNT(DISTINCT CASE WHEN `+wellFormed+` THEN number END)
				FROM documents WHERE series <> '' GROUP BY creator_id, series) AS both_sides
			GROUP BY creator_id, series) AS s
		WHERE s.last <> s.highest OR s.last <> s.used OR s.used <> s.numbers ORDER BY id LIMIT ?`, limit)
}

// Undocumented implements ports.InvoicingAudit.
func (t audit) Undocumented(_ context.Context, limit int) ([]string, error) {
	return t.QueryIDs("audit documents", `
		SELECT p.id AS id FROM payments p LEFT JOIN documents d ON d.id = 'receipt:' || SUBSTR(p.id, 5)
		WHERE `+t.Made("p.id", id.Payment)+`
			AND p.receipt_number <> '' AND (d.id IS NULL OR d.number <> p.receipt_number OR d.total <> p.amount
		OR d.currency <> p.currency OR d.issued_at <> p.settled_at)
		UNION ALL
		SELECT f.id FROM refunds f LEFT JOIN documents d ON d.id = 'credit_note:' || SUBSTR(f.id, 5)
		WHERE `+t.Made("f.id", id.Refund)+`
			AND f.credit_note_number <> '' AND (d.id IS NULL OR d.number <> f.credit_note_number OR d.total <> f.amount
		OR d.tax <> f.tax)
		UNION ALL
		SELECT x.id FROM disputes x LEFT JOIN documents d ON d.id = 'credit_note:' || SUBSTR(x.id, 5)
		WHERE `+t.Made("x.id", id.Dispute)+`
			AND x.status = 'lost' AND x.amount > 0 AND (d.id IS NULL OR d.number <> x.credit_note_number
			OR d.total <> x.amount OR d.tax <> x.tax OR d.issued_at <> x.closed_at)
		UNION ALL
		SELECT i.id FROM invoices i LEFT JOIN documents d ON d.id = 'invoice:' || SUBSTR(i.id, 5)
		WHERE `+t.Made("i.id", id.Invoice)+` AND (d.id IS NULL OR d.number <> i.number OR d.total <> i.total
		OR d.tax <> i.tax OR d.issued_at <> i.finalized_at)
		UNION ALL
		SELECT x.id FROM payouts x LEFT JOIN documents d ON d.id = 'payout_statement:' || SUBSTR(x.id, 4)
		WHERE `+t.Made("x.id", id.Payout)+`
			AND x.paid_at IS NOT NULL AND (d.id IS NULL OR d.total <> x.amount OR d.currency <> x.currency)
		UNION ALL
		SELECT d.subject_id FROM documents d LEFT JOIN payments p ON p.id = d.subject_id
		WHERE `+t.MadeAt("d.issued_at")+` AND d.series = 'R' AND (p.id IS NULL OR p.receipt_number <> d.number)
		UNION ALL
		SELECT d.subject_id FROM documents d LEFT JOIN invoices i ON i.id = d.subject_id
		WHERE `+t.MadeAt("d.issued_at")+` AND d.series = 'I' AND i.id IS NULL
		UNION ALL
		SELECT d.subject_id FROM documents d LEFT JOIN refunds f ON f.id = d.subject_id
		LEFT JOIN disputes x ON x.id = d.subject_id LEFT JOIN payments p ON p.id = d.subject_id
		WHERE `+t.MadeAt("d.issued_at")+` AND d.series = 'C' AND COALESCE(f.id, x.id, p.id) IS NULL
		UNION ALL
		SELECT d.subject_id FROM documents d LEFT JOIN payouts p ON p.id = d.subject_id
		WHERE `+t.MadeAt("d.issued_at")+` AND d.series = '' AND p.id IS NULL
		ORDER BY id LIMIT ?`, limit)
}
