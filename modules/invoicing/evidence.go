package invoicing

import (
	"context"
	"errors"
	"unicode/utf8"

	"sundry/core/apiformat"
	"sundry/core/dispute"
	"sundry/core/document"
	"sundry/core/fault"
	"sundry/core/id"
	"sundry/core/locale"
	"sundry/core/payment"
	"sundry/ports"
)

var (
	_ ports.EvidenceSource = (*Documents)(nil)
	_ ports.SaleDocuments  = (*Documents)(nil)
)

// evidenceLocale is the language of evidence: card networks read English.
var evidenceLocale = locale.ParseTag("en-GB")

// saleDocument names the document that the buyer got for a payment.
func saleDocument(paid payment.State) (document.Kind, string) {
	if paid.Purpose == payment.ForInvoice {
		return document.Invoice, paid.SubjectID
	}
	return document.Receipt, paid.ID
}

// AddEvidence implements ports.EvidenceSource: the receipt, or the invoice that was paid.
func (s *Documents) AddEvidence(
	ctx context.Context, r ports.Repos, paid payment.State, into *dispute.Collected,
) error {
	kind, subjectID := saleDocument(paid)
	issued, err := r.Invoicing.Documents.Get(ctx, kind, id.Body(subjectID))
	if errors.Is(err, ports.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	receipt := &dispute.Receipt{
		Number: issued.Number, IssuedAt: dispute.Moment{Time: issued.IssuedAt}, Items: []dispute.Item{},
		SubtotalInCents: issued.Subtotal.Minor, DiscountInCents: issued.Discount.Minor, TaxInCents: issued.Tax.Minor,
		TotalInCents: issued.Total.Minor, Currency: string(issued.Total.Currency),
	}
	for _, line := range compose(issued, evidenceLocale, standing{}).Lines {
		receipt.Items = append(receipt.Items, dispute.Item{
			Description: line.Description, Quantity: apiformat.Text(line.Quantity), AmountInCents: line.Amount.Minor,
		})
	}
	into.Receipt = receipt
	return nil
}

// SalePDF implements ports.SaleDocuments.
func (s *Documents) SalePDF(ctx context.Context, paid payment.State) ([]byte, error) {
	kind, subjectID := saleDocument(paid)
	issued, err := s.Of(ctx, kind, subjectID, evidenceLocale)
	if err != nil {
		return nil, err
	}
	if issued.CreatorID != paid.CreatorID {
		return nil, fault.NotFound("document")
	}
	return s.PDF(issued)
}

// EvidencePDF implements ports.SaleDocuments.
func (s *Documents) EvidencePDF(d dispute.State, collected dispute.Collected) ([]byte, error) {
	c := composer{document.Snapshot{}, evidenceLocale}
	page := ports.Document{
		Title: "Dispute evidence", Number: d.ID, IssuedAt: collected.CollectedAt.Time, Locale: evidenceLocale,
		Headings: c.headings(), Seller: c.party(s.deps.Seller),
		Facts: []ports.DocumentFact{
			{Label: "Dispute", Value: d.ID}, {Label: "Payment", Value: d.PaymentID}, {Label: "Reason", Value: d.Reason},
		},
	}
	if !s.deps.Live {
		page.Stamp = c.text("test.stamp")
	}
	page.Buyer.Name = collected.BuyerName()
	for _, section := range collected.Sections() {
		page.Facts = append(page.Facts, ports.DocumentFact{}, ports.DocumentFact{Label: section.Title})
		for _, line := range section.Lines {
			page.Facts = append(page.Facts, evidenceFact(line))
		}
	}
	page.Lines = []ports.DocumentLine{
		{Description: "Payment " + d.PaymentID, Amount: collected.Amount(collected.Purchase.AmountInCents)},
		{Description: "Disputed", Amount: d.Share.Amount},
	}
	return s.deps.Renderer.PDF(page)
}

// widestLabel is the number of characters that fit beside a value.
const widestLabel = 24

// evidenceFact writes a line of the evidence; a label that is too wide begins its value.
func evidenceFact(line dispute.Line) ports.DocumentFact {
	if utf8.RuneCountInString(line.Label) <= widestLabel {
		return ports.DocumentFact{Label: line.Label, Value: line.Value}
	}
	return ports.DocumentFact{Value: line.Label + ": " + line.Value}
}
