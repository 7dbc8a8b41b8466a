package document

import (
	"fmt"
	"time"

	"sundry/core/id"
	"sundry/core/money"
	"sundry/core/payment"
	"sundry/core/secret"
	"sundry/core/tax"
)

// Kind is the kind of a document. It is part of its address.
type Kind string

// The kinds. A subject (payment, invoice, refund or lost dispute, payout) has at most one document of each.
const (
	Receipt         Kind = "receipt"
	Invoice         Kind = "invoice"
	CreditNote      Kind = "credit_note"
	PayoutStatement Kind = "payout_statement"
)

// Series returns the series of the kind's numbers; "" for a payout statement, whose number is the payout's id.
func (k Kind) Series() Series {
	return map[Kind]Series{Receipt: Receipts, Invoice: Invoices, CreditNote: CreditNotes}[k]
}

// Known reports whether there are documents of the kind.
func (k Kind) Known() bool { return k.Series() != "" || k == PayoutStatement }

// Snapshot is everything that a document contains, frozen when it is issued: later changes of names, addresses, prices
// or rates don't reach it. All amounts share one currency.
type Snapshot struct {
	Kind      Kind      `json:"kind"`
	SubjectID string    `json:"subjectId"`
	CreatorID string    `json:"creatorId"`
	Number    string    `json:"number"`
	IssuedAt  time.Time `json:"issuedAt"`
	Livemode  bool      `json:"livemode"`
	// Seller is the seller of record, and OnBehalfOf the creator's display name.
	Seller     Party  `json:"seller"`
	OnBehalfOf string `json:"onBehalfOf,omitempty"`
	// Buyer is the recipient of the document; for a payout statement, the creator.
	Buyer Party `json:"buyer"`
	// Lines sum to Subtotal.
	Lines    []Line       `json:"lines"`
	Subtotal money.Amount `json:"subtotal"`
	Discount money.Amount `json:"discount"`
	// Credit is the part of the customer's credit that was used up here.
	Credit money.Amount `json:"credit"`
	// Tax is contained in Total; TaxAdded is the part of Tax that was added to the prices.
	Tax        money.Amount `json:"tax"`
	TaxAdded   money.Amount `json:"taxAdded"`
	TaxDetails tax.Details  `json:"taxDetails,omitzero"`
	Total      money.Amount `json:"total"`
	// PeriodStart and PeriodEnd are a date or an instant each; "" where nothing has a period.
	PeriodStart string `json:"periodStart,omitempty"`
	PeriodEnd   string `json:"periodEnd,omitempty"`
	// Card is the card that paid, such as "visa 4242"; "" for none.
	Card string `json:"card,omitempty"`
	// Corrects is the number of the document that a credit note corrects, and Reason why.
	Corrects string `json:"corrects,omitempty"`
	Reason   string `json:"reason,omitempty"`
	// Opening and Closing are the balances around a payout.
	Opening *money.Amount `json:"opening,omitempty"`
	Closing *money.Amount `json:"closing,omitempty"`
}

// Party is one of the two who trade. Empty members are not shown.
type Party struct {
	Name       string `json:"name,omitempty"`
	Address    string `json:"address,omitempty"`
	PostalCode string `json:"postalCode,omitempty"`
	Country    string `json:"country,omitempty"` // ISO 3166-1 alpha-2
	Email      string `json:"email,omitempty"`
	TaxID      string `json:"taxId,omitempty"`
}

// Line is one item. Key names the text of a line that is no description of goods, in the reader's language; Count fills
// it in.
type Line struct {
	Description string       `json:"description,omitempty"`
	Key         string       `json:"key,omitempty"`
	Count       int          `json:"count,omitempty"`
	Detail      string       `json:"detail,omitempty"`
	Quantity    string       `json:"quantity,omitempty"`
	Amount      money.Amount `json:"amount"`
	// Share is set for a line of a change of plan, whose Description is English.
	Share payment.PlanShare `json:"share,omitzero"`
}

// Check refuses a snapshot that does not add up. It is a defect: nothing may be issued.
func (s Snapshot) Check() error {
	sum := money.Amount{Currency: s.Total.Currency}
	var err error
	for _, line := range s.Lines {
		if sum, err = sum.Add(line.Amount); err != nil {
			return fmt.Errorf("document %s: %w", s.Number, err)
		}
	}
	total := s.Subtotal.Minor - s.Discount.Minor - s.Credit.Minor + s.TaxAdded.Minor
	switch {
	case sum != s.Subtotal:
		return fmt.Errorf("document %s: its lines sum to %d, not %d", s.Number, sum.Minor, s.Subtotal.Minor)
	case total != s.Total.Minor:
		return fmt.Errorf("document %s: it adds up to %d, not %d", s.Number, total, s.Total.Minor)
	case s.TaxAdded.Minor != 0 && s.TaxAdded != s.Tax:
		return fmt.Errorf("document %s: %d of %d tax is added", s.Number, s.TaxAdded.Minor, s.Tax.Minor)
	}
	return nil
}

// Links are the addresses of documents. Anyone who has one can read the document.
type Links struct {
	BaseURL string
	// Keys are used for nothing else.
	Keys secret.Keys
}

const linkPurpose = "document"

// idOf gives a document an id of its own, since only ids of one kind open what is derived from them.
func idOf(subjectID string) string { return string(id.Document) + "_" + id.Body(subjectID) }

// URL returns the address of a subject's document; its PDF is at the same address followed by /pdf.
func (l Links) URL(k Kind, subjectID string) string {
	return l.BaseURL + "/d/" + string(k) + "/" + secret.Derive(l.Keys, linkPurpose, idOf(subjectID), string(k))
}

// Open returns the body of the subject's id behind an address; ok is false for anything that we did not give out.
func (l Links) Open(k Kind, token string) (body string, ok bool) {
	if !k.Known() {
		return "", false
	}
	documentID, ok := secret.Verify(l.Keys, linkPurpose, id.Document, token, string(k))
	return id.Body(documentID), ok
}
