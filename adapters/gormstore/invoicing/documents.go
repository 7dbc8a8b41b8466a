package invoicing

import (
	"context"
	"time"

	"sundry/adapters/gormstore/repo"
	"sundry/core/document"
	"sundry/core/id"
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

func newDocumentRow(s document.Snapshot) documentRow {
	return documentRow{
		ID: documentID(s.Kind, id.Body(s.SubjectID)), CreatorID: s.CreatorID, Series: string(s.Kind.Series()),
		Number:    s.Number,
		SubjectID: s.SubjectID, Currency: string(s.Total.Currency), Total: s.Total.Minor, Tax: s.Tax.Minor,
		IssuedAt: repo.UnixMillis(s.IssuedAt), Snapshot: repo.JSON(s),
	}
}

func documentID(kind document.Kind, subjectBody string) string {
	return string(kind) + ":" + subjectBody
}

type documents struct{ *repo.Base }

// Insert implements ports.IssuedDocuments.
func (t documents) Insert(_ context.Context, s document.Snapshot) error {
	row := newDocumentRow(s)
	return t.InsertRowDeferred("issue document "+s.Number, &row, "")
}

// Get implements ports.IssuedDocuments.
func (t documents) Get(_ context.Context, kind document.Kind, subjectBody string) (document.Snapshot, error) {
	row, err := repo.TakeOne[documentRow](t.Base, "get document of "+subjectBody, "id = ?", documentID(kind, subjectBody))
	return row.Snapshot.V, err
}

// FindByNumber implements ports.IssuedDocuments.
func (t documents) FindByNumber(_ context.Context, creatorID string, numbers []string) ([]document.Snapshot, error) {
	query := t.DB.Where("creator_id = ? AND number IN ?", creatorID, numbers).Order("number")
	return repo.ListBy(t.Base, "find documents by number", query,
		func(row documentRow) document.Snapshot { return row.Snapshot.V })
}

// ListIssued implements ports.IssuedDocuments.
func (t documents) ListIssued(_ context.Context, from, until time.Time, after document.Snapshot,
	limit int) ([]document.Snapshot, error) {
	return t.pageOf("list issued documents", from, after, limit, "issued_at < ? AND series IN ('R', 'C')",
		repo.UnixMillis(until))
}

// ListPaidInvoices implements ports.IssuedDocuments.
func (t documents) ListPaidInvoices(_ context.Context, from, until time.Time, after document.Snapshot,
	limit int) ([]document.Snapshot, error) {
	return t.pageOf("list paid invoices", time.Unix(0, 0), after, limit, `series = 'I' AND subject_id IN (
		SELECT id FROM invoices WHERE status = 'paid' AND paid_at >= ? AND paid_at < ?)`, repo.UnixMillis(from),
		repo.UnixMillis(until))
}

// ListVoided implements ports.IssuedDocuments. A refund that failed before it had succeeded has no credit note.
func (t documents) ListVoided(_ context.Context, from, until time.Time, after document.Snapshot,
	limit int) ([]document.Snapshot, error) {
	return t.pageOf("list void credit notes", time.Unix(0, 0), after, limit, `series = 'C' AND subject_id IN (
		SELECT CASE WHEN automatic THEN payment_id ELSE id END FROM refunds WHERE status = 'failed' AND settled_at >= ?
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
