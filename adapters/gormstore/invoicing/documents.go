package invoicing

import (
	"context"
	"time"

	"sundry/adapters/gormstore/repo"
	"sundry/core/document"
	"sundry/core/id"
	"sundry/ports"
)

type documentRow struct {
	ID        string `gorm:"primaryKey"`
	CreatorID string
	Series    string
	Number    string
	SubjectID string
	Currency  string
	Total     int64
	Tax       int64
	IssuedAt  repo.UnixMillis
	Snapshot  repo.JSONColumn[document.Snapshot]
}

// TableName implements gorm's tabler.
func (documentRow) TableName() string { return "documents" }

func documentID(kind document.Kind, subjectBody string) string {
	return string(kind) + ":" + subjectBody
}

type documents struct{ repo.Base }

var _ ports.IssuedDocuments = documents{}

// Insert implements ports.IssuedDocuments.
func (t documents) Insert(_ context.Context, s document.Snapshot) error {
	row := documentRow{
		ID: documentID(s.Kind, id.Body(s.SubjectID)), CreatorID: s.CreatorID, Series: string(s.Kind.Series()),
		Number:    s.Number,
		SubjectID: s.SubjectID, Currency: string(s.Total.Currency), Total: s.Total.Minor, Tax: s.Tax.Minor,
		IssuedAt: repo.UnixMillis(s.IssuedAt), Snapshot: repo.JSON(s),
	}
	return t.InsertRowDeferred("issue document "+s.Number, &row, "")
}

// Get implements ports.IssuedDocuments.
func (t documents) Get(_ context.Context, kind document.Kind, subjectBody string) (document.Snapshot, error) {
	row, err := repo.TakeOne[documentRow](t.Base, "get document of "+subjectBody, "id = ?", documentID(kind, subjectBody))
	return row.Snapshot.V, err
}

// ListIssued implements ports.IssuedDocuments.
func (t documents) ListIssued(_ context.Context, from, until time.Time, after document.Snapshot,
	limit int) ([]document.Snapshot, error) {
	return t.pageOf("list issued documents", from, after, limit, "issued_at < ? AND series <> ''", repo.UnixMillis(until))
}

// ListVoided implements ports.IssuedDocuments. A refund that failed before it had succeeded has no credit note.
func (t documents) ListVoided(_ context.Context, from, until time.Time, after document.Snapshot,
	limit int) ([]document.Snapshot, error) {
	return t.pageOf("list void credit notes", time.Unix(0, 0), after, limit, `series = 'C' AND subject_id IN (
		SELECT id FROM refunds WHERE status = 'failed' AND settled_at >= ?
		AND settled_at < ?)`, repo.UnixMillis(from), repo.UnixMillis(until))
}

// pageOf reads a page of documents in the order of their times, from a time on.
func (t documents) pageOf(op string, from time.Time, after document.Snapshot, limit int, where string,
	args ...any) ([]document.Snapshot, error) {
	lastID := ""
	if after.Kind != "" {
		from, lastID = after.IssuedAt, documentID(after.Kind, id.Body(after.SubjectID))
	}
	query := t.DB.Where("(issued_at, id) > (?, ?)", repo.UnixMillis(from), lastID).Where(where,
		args...).Order("issued_at, id").Limit(limit)
	return repo.ListBy(t.Base, op, query, func(row documentRow) document.Snapshot { return row.Snapshot.V })
}

// DocumentGaps implements ports.InvoicingAudit. A number has the account's prefix of six, the series and seven digits
// or more behind its ninth character.
func (t audit) DocumentGaps(_ context.Context, limit int) ([]string, error) {
	return t.QueryIDs("audit document numbers", `
		SELECT s.creator_id || '/' || s.series AS id FROM (
			SELECT creator_id, series, SUM(last) AS last, SUM(highest) AS highest, SUM(used) AS used, SUM(numbers) AS numbers
			FROM (
				SELECT creator_id, series, last, 0 AS highest, 0 AS used, 0 AS numbers FROM document_numbers
				UNION ALL
				SELECT creator_id, series, 0, MAX(CAST(SUBSTR(number, 10) AS BIGINT)), COUNT(*), COUNT(DISTINCT number)
				FROM documents WHERE series <> '' GROUP BY creator_id, series) AS both_sides
			GROUP BY creator_id, series) AS s
		WHERE s.last <> s.highest OR s.last <> s.used OR s.used <> s.numbers ORDER BY id LIMIT ?`, limit)
}

// Undocumented implements ports.InvoicingAudit.
func (t audit) Undocumented(_ context.Context, limit int) ([]string, error) {
	return t.QueryIDs("audit documents", `
		SELECT p.id AS id FROM payments p LEFT JOIN documents d ON d.id = 'receipt:' || SUBSTR(p.id, 5)
		WHERE p.receipt_number <> '' AND (d.id IS NULL OR d.number <> p.receipt_number OR d.total <> p.amount
		OR d.currency <> p.currency)
		UNION ALL
		SELECT f.id FROM refunds f LEFT JOIN documents d ON d.id = 'credit_note:' || SUBSTR(f.id, 5)
		WHERE f.credit_note_number <> '' AND (d.id IS NULL OR d.number <> f.credit_note_number OR d.total <> f.amount
		OR d.tax <> f.tax)
		UNION ALL
		SELECT i.id FROM invoices i LEFT JOIN documents d ON d.id = 'invoice:' || SUBSTR(i.id, 5)
		WHERE d.id IS NULL OR d.number <> i.number OR d.total <> i.total OR d.tax <> i.tax
		UNION ALL
		SELECT d.subject_id FROM documents d LEFT JOIN payments p ON p.id = d.subject_id
		WHERE d.series = 'R' AND (p.id IS NULL OR p.receipt_number <> d.number)
		ORDER BY id LIMIT ?`, limit)
}
