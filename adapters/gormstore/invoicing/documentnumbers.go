// Package invoicing keeps invoices and the numbers of documents.
package invoicing

import (
	"context"

	"sundry/adapters/gormstore/repo"
	"sundry/core/document"
	"sundry/ports"
)

// Repositories returns the area's repositories over the connection of b.
func Repositories(b *repo.Base) ports.InvoicingRepos {
	return ports.InvoicingRepos{Invoices: invoices{invoiceMapping.ByID(b)}, DocumentNumbers: documentNumbers{b},
		Documents: documents{b}, Audit: audit{b}}
}

type documentNumbers struct{ *repo.Base }

// nextNumber writes the account's row, which locks it.
const nextNumber = `INSERT INTO document_numbers (creator_id, series, last) VALUES (?, ?, 1)
	ON CONFLICT (creator_id, series) DO UPDATE SET last = document_numbers.last + 1 RETURNING last`

// Next implements ports.DocumentNumbers.
func (t documentNumbers) Next(_ context.Context, creatorID string, series document.Series) (number int64, err error) {
	err = t.QueryRow("take the next document number of "+creatorID, nextNumber, []any{creatorID, string(series)},
		&number)
	return number, err
}
