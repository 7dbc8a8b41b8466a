package invoicing

import (
	"context"
	"errors"
	"fmt"

	"sundry/core/document"
	"sundry/core/fault"
	"sundry/core/id"
	"sundry/core/locale"
	"sundry/core/refund"
	"sundry/ports"
)

// Issued is a document that was issued, ready to be shown.
type Issued struct {
	document.Snapshot
	// Page is the document in the reader's language.
	Page ports.Document
}

// Open returns the document behind an address, in the reader's language. NOT_FOUND for anything that we did not give
// out.
func (s *Documents) Open(ctx context.Context, kind document.Kind, token string, reader locale.Locale) (Issued, error) {
	body, ok := s.deps.Links.Open(kind, token)
	if !ok {
		return Issued{}, fault.NotFound("document")
	}
	return s.open(ctx, kind, body, reader)
}

// Of returns the document of a subject: a payment, invoice, refund, dispute or payout. NOT_FOUND while it has none.
func (s *Documents) Of(
	ctx context.Context, kind document.Kind, subjectID string, reader locale.Locale,
) (Issued, error) {
	return s.open(ctx, kind, id.Body(subjectID), reader)
}

func (s *Documents) open(ctx context.Context, kind document.Kind, body string, reader locale.Locale) (Issued, error) {
	r := s.deps.Store.Read(ctx)
	issued, err := r.Invoicing.Documents.Get(ctx, kind, body)
	if errors.Is(err, ports.ErrNotFound) {
		return Issued{}, fault.NotFound("document")
	}
	if err != nil {
		return Issued{}, fmt.Errorf("open document: %w", err)
	}
	now, err := standingOf(ctx, r, issued)
	if err != nil {
		return Issued{}, fmt.Errorf("open document: %w", err)
	}
	return Issued{issued, compose(issued, reader, now)}, nil
}

// standingOf reads what changed about a document's subject since the document was issued.
func standingOf(ctx context.Context, r ports.Repos, issued document.Snapshot) (now standing, err error) {
	switch {
	case issued.Kind == document.CreditNote && !id.Valid(id.Dispute, issued.SubjectID):
		// that of an automatic refund is of the payment, and has the refund's id but for its prefix
		made, err := r.Payments.Refunds.Get(ctx, refund.AutomaticID(issued.SubjectID))
		if errors.Is(err, ports.ErrNotFound) { // of a version that did not list it
			return now, nil
		}
		return standing{void: made.Status == refund.Failed}, err
	case issued.Kind == document.Invoice:
		inv, err := r.Invoicing.Invoices.Get(ctx, issued.SubjectID)
		return standing{paidAt: inv.PaidAt}, err
	}
	return standing{}, nil
}

// FindByNumber returns the account's documents whose number a text may mean (document.Numbers).
func (s *Documents) FindByNumber(ctx context.Context, creatorID, text string) ([]document.Snapshot, error) {
	numbers := document.Numbers(creatorID, text)
	if numbers == nil {
		return nil, nil
	}
	return s.deps.Store.Read(ctx).Invoicing.Documents.FindByNumber(ctx, creatorID, numbers)
}

// ReceiptURL returns the address of a payment's receipt.
func (s *Documents) ReceiptURL(paymentID string) string {
	return s.deps.Links.URL(document.Receipt, paymentID)
}

// PDF renders a document.
func (s *Documents) PDF(d Issued) ([]byte, error) { return s.deps.Renderer.PDF(d.Page) }

// Credits returns the addresses of the credit notes of a payment's refunds, by number.
func (s *Documents) Credits(ctx context.Context, creatorID, paymentID string) ([]CreditLink, error) {
	list, err := s.deps.Store.Read(ctx).Payments.Refunds.List(ctx, creatorID, paymentID, ports.Page{Limit: maxCredits})
	if err != nil {
		return nil, fmt.Errorf("credit notes: %w", err)
	}
	var links []CreditLink
	for _, f := range list.Items {
		if f.Status == refund.Succeeded && f.CreditNoteNumber != "" {
			links = append(links, CreditLink{
				Number: f.CreditNoteNumber, URL: s.deps.Links.URL(document.CreditNote, f.ID),
			})
		}
	}
	return links, nil
}

// maxCredits bounds the credit notes that a receipt lists.
const maxCredits = 50

// CreditLink is a credit note by its number.
type CreditLink struct{ Number, URL string }
