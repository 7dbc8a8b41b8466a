package invoicing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"sundry/core/apiformat"
	"sundry/core/checkout"
	"sundry/core/dispute"
	"sundry/core/document"
	"sundry/core/id"
	"sundry/core/invoice"
	"sundry/core/ledger"
	"sundry/core/money"
	"sundry/core/payment"
	"sundry/core/payout"
	"sundry/core/refund"
	"sundry/core/tax"
	"sundry/ports"
)

// DocumentDeps holds the dependencies of documents.
type DocumentDeps struct {
	Store    ports.Store
	Accounts ports.AccountReader
	Payouts  ports.PayoutStatements
	Renderer ports.Documents
	Links    document.Links
	// Seller is the seller of record as the deployment is configured.
	Seller document.Party
	Live   bool
}

// Documents issues receipts, invoices, credit notes and payout statements: each is a snapshot that is written in the
// transaction of its cause and never changes.
type Documents struct{ deps DocumentDeps }

// NewDocuments returns the use cases.
func NewDocuments(d DocumentDeps) *Documents { return &Documents{deps: d} }

// OnCheckoutPaid issues the receipt of a checkout.
func (s *Documents) OnCheckoutPaid(ctx context.Context, r ports.Repos, e checkout.Paid) error {
	return s.issue(ctx, r, document.Snapshot{
		Kind: document.Receipt, SubjectID: e.PaymentID, CreatorID: e.CreatorID, Number: e.ReceiptNumber, IssuedAt: e.At,
		Buyer: document.Party{
			Name: e.BuyerName, PostalCode: e.Buyer.PostalCode, Country: e.Buyer.Country, Email: e.Email,
			TaxID: e.Buyer.TaxID,
		},
		Lines:    []document.Line{{Description: e.Offer.Title, Detail: e.Offer.PlanTitle(), Amount: e.Subtotal}},
		Subtotal: e.Subtotal, Discount: e.Discount, Tax: e.Tax, TaxAdded: e.TaxAdded, TaxDetails: e.TaxDetails,
		Total: e.Total,
		Card:  strings.TrimSpace(e.Brand + " " + e.Last4),
	})
}

// OnPaymentCompleted issues the receipt of a subscription's payment. A checkout has its own, and an invoice is one.
func (s *Documents) OnPaymentCompleted(ctx context.Context, r ports.Repos, e payment.Completed) error {
	if e.Purpose != payment.ForSubscription || e.Sale.ReceiptNumber == "" {
		return nil
	}
	buyer, err := s.customer(ctx, r, e.CustomerID)
	if err != nil {
		return err
	}
	snapshot := document.Snapshot{
		Kind: document.Receipt, SubjectID: e.ID, CreatorID: e.CreatorID, Number: e.Sale.ReceiptNumber,
		IssuedAt: e.SettledAt, Buyer: buyer,
		Subtotal: e.Sale.Subtotal, Discount: e.Sale.Discount, Credit: e.Sale.Credit, Tax: e.Sale.Tax,
		TaxAdded:   e.Sale.TaxAdded,
		TaxDetails: e.Sale.TaxDetails, Total: e.Amount, Card: strings.TrimSpace(e.Brand + " " + e.Last4),
	}
	if !e.Sale.PeriodStart.IsZero() {
		snapshot.PeriodStart, snapshot.PeriodEnd = apiformat.Instant(e.Sale.PeriodStart), apiformat.Instant(e.Sale.PeriodEnd)
	}
	for _, line := range e.Sale.Lines {
		snapshot.Lines = append(snapshot.Lines, document.Line{
			Description: line.Description, Amount: line.Amount, Share: line.Share,
		})
	}
	return s.issue(ctx, r, snapshot)
}

// OnInvoiceFinalized issues an invoice.
func (s *Documents) OnInvoiceFinalized(ctx context.Context, r ports.Repos, e invoice.Finalized) error {
	buyer, err := s.customer(ctx, r, e.CustomerID)
	if err != nil {
		return err
	}
	none := money.Amount{Currency: e.Currency}
	snapshot := document.Snapshot{
		Kind: document.Invoice, SubjectID: e.ID, CreatorID: e.CreatorID, Number: e.Number, IssuedAt: e.FinalizedAt,
		Buyer:    buyer,
		Subtotal: e.Subtotal, Discount: none, Credit: none, Tax: e.Tax, TaxAdded: e.TaxAdded(),
		TaxDetails: e.TaxDetails, Total: e.Total,
		PeriodStart: e.PeriodStart, PeriodEnd: e.PeriodEnd,
	}
	for _, line := range e.Lines {
		snapshot.Lines = append(snapshot.Lines, invoiceLine(e.State, line))
	}
	return s.issue(ctx, r, snapshot)
}

// OnRefundCreated issues the credit note of a refund that was made.
func (s *Documents) OnRefundCreated(ctx context.Context, r ports.Repos, e refund.Created) error {
	return s.credit(ctx, r, document.Snapshot{
		SubjectID: e.ID, CreatorID: e.CreatorID, Number: e.CreditNoteNumber, IssuedAt: e.SettledAt, Reason: e.Reason,
	}, e.PaymentID, e.Share)
}

// OnDisputeClosed issues the credit note of a dispute that was lost: the sale, and the tax in it, are undone.
func (s *Documents) OnDisputeClosed(ctx context.Context, r ports.Repos, e dispute.Closed) error {
	if !e.Undoes() {
		return nil
	}
	return s.credit(ctx, r, document.Snapshot{
		SubjectID: e.ID, CreatorID: e.CreatorID, Number: e.CreditNoteNumber, IssuedAt: e.ClosedAt, Reason: "dispute_lost",
	}, e.PaymentID, e.Share)
}

// OnPaymentReversed issues the credit note of a payment that had a receipt and was reversed by the processor.
func (s *Documents) OnPaymentReversed(ctx context.Context, r ports.Repos, e payment.Reversed) error {
	if e.CreditNoteNumber == "" {
		return nil
	}
	now, err := r.Clock.Now(ctx, e.CreatorID)
	if err != nil {
		return err
	}
	return s.credit(ctx, r, document.Snapshot{
		SubjectID: e.ID, CreatorID: e.CreatorID, Number: e.CreditNoteNumber, IssuedAt: now, Reason: e.Reason,
	}, e.ID, e.Share)
}

// credit issues a credit note against the document of a payment: its buyer is that document's.
func (s *Documents) credit(
	ctx context.Context, r ports.Repos, note document.Snapshot, paymentID string, share ledger.Share,
) error {
	paid, err := r.Payments.Payments.Get(ctx, paymentID)
	if err != nil {
		return err
	}
	kind, subject := saleDocument(paid)
	corrected, err := r.Invoicing.Documents.Get(ctx, kind, id.Body(subject))
	switch {
	case errors.Is(err, ports.ErrNotFound): // money that never had a document: only its customer is known
		if corrected.Buyer, err = s.customer(ctx, r, paid.CustomerID); err != nil {
			return err
		}
	case err != nil:
		return err
	}
	none := money.Amount{Currency: share.Amount.Currency}
	note.Kind, note.Corrects, note.Buyer = document.CreditNote, corrected.Number, corrected.Buyer
	note.Discount, note.Credit, note.TaxAdded = none, none, none
	note.Lines = []document.Line{{Key: "credit", Detail: describe(corrected), Amount: share.Amount}}
	note.Subtotal, note.Tax, note.Total = share.Amount, share.Tax, share.Amount
	note.TaxDetails = creditedTax(corrected.TaxDetails, share)
	return s.issue(ctx, r, note)
}

// describe names the subject of a credit note: the first line of the corrected document.
func describe(corrected document.Snapshot) string {
	if len(corrected.Lines) == 0 {
		return ""
	}
	return corrected.Lines[0].Description
}

// creditedTax returns the tax details of the credited part of a document. With several rates only the sum is kept,
// because a refund is not split by rate.
func creditedTax(of tax.Details, share ledger.Share) tax.Details {
	credited := tax.Details{Treatment: of.Treatment, Behavior: tax.Inclusive, Country: of.Country, TaxID: of.TaxID}
	if len(of.Shares) == 1 {
		net := money.Amount{Minor: share.Amount.Minor - share.Tax.Minor, Currency: share.Amount.Currency}
		credited.Shares = []tax.Share{{Rate: of.Shares[0].Rate, Net: net, Tax: share.Tax}}
	}
	return credited
}

// OnPayoutPaid issues the statement of a payout.
func (s *Documents) OnPayoutPaid(ctx context.Context, r ports.Repos, e payout.PaidOut) error {
	statement, err := s.deps.Payouts.StatementOf(ctx, r, e.State)
	if err != nil {
		return err
	}
	name, address, err := s.deps.Accounts.Account(ctx, r, e.CreatorID)
	if err != nil {
		return err
	}
	none := money.Amount{Currency: e.Amount.Currency}
	snapshot := document.Snapshot{
		Kind: document.PayoutStatement, SubjectID: e.ID, CreatorID: e.CreatorID, Number: e.ID, IssuedAt: e.PaidAt,
		Buyer: document.Party{Name: name, Email: address}, Discount: none, Credit: none, Tax: none, TaxAdded: none,
		Subtotal: e.Amount, Total: e.Amount, Opening: &statement.Opening, Closing: &statement.Closing,
	}
	snapshot.Lines = append(snapshot.Lines, document.Line{Key: "opening", Amount: statement.Opening})
	for _, line := range statement.Lines {
		snapshot.Lines = append(snapshot.Lines, document.Line{Key: line.Key, Count: line.Count, Amount: line.Amount})
	}
	if kept := statement.Closing; kept.Minor != 0 {
		kept.Minor = -kept.Minor
		snapshot.Lines = append(snapshot.Lines, document.Line{Key: "closing", Amount: kept})
	}
	return s.issue(ctx, r, snapshot)
}

// issue freezes a document with its seller.
func (s *Documents) issue(ctx context.Context, r ports.Repos, d document.Snapshot) error {
	creator, err := s.deps.Accounts.SellerName(ctx, r, d.CreatorID)
	if err != nil {
		return fmt.Errorf("issue %s: %w", d.Number, err)
	}
	d.Seller, d.OnBehalfOf, d.Livemode = s.deps.Seller, creator, s.deps.Live
	if d.Seller.Name == "" {
		d.Seller.Name = creator
	}
	if err := d.Check(); err != nil {
		return err
	}
	return r.Invoicing.Documents.Insert(ctx, d)
}

// customer is a customer as documents name them; empty for one that is not known.
func (s *Documents) customer(ctx context.Context, r ports.Repos, customerID string) (document.Party, error) {
	c, err := r.Customers.Customers.Get(ctx, customerID)
	if err != nil && !errors.Is(err, ports.ErrNotFound) {
		return document.Party{}, err
	}
	a := c.Details.Address
	lines := slices.DeleteFunc([]string{a.Line1, a.Line2, a.City, a.State}, func(line string) bool { return line == "" })
	return document.Party{
		Name: cmp.Or(c.Details.Name, c.DisplayName), Address: strings.Join(lines, ", "), Email: c.Email,
		PostalCode: c.Details.PostalCode, Country: c.Details.Country, TaxID: c.Details.TaxID,
	}, nil
}

// invoiceLine shows a usage line with the arithmetic of its tiers.
func invoiceLine(state invoice.State, l invoice.Line) document.Line {
	line := document.Line{Description: l.Description, Amount: l.Amount(state.Currency)}
	if l.Rated == nil {
		return line
	}
	line.Quantity = l.Quantity()
	var detail []string
	for _, c := range l.Rated.Charges {
		detail = append(detail, fmt.Sprintf(
			"%s × %s = %s", c.Counted(), state.Currency.Major(c.Tier.Unit.String()), state.Currency.Major(c.Amount),
		))
	}
	if l.Rated.TopUpMinor > 0 && l.Kind != invoice.Minimum {
		detail = append(detail, fmt.Sprintf("+ %s", state.Currency.Major(fmt.Sprint(l.Rated.TopUpMinor))))
	}
	if l.Rated.Late {
		detail = append(detail, fmt.Sprintf("− %s", state.Currency.Major(fmt.Sprint(l.Rated.BilledMinor))))
	}
	line.Detail = strings.Join(detail, "\n")
	return line
}
