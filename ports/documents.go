package ports

import (
	"time"

	"sundry/core/locale"
	"sundry/core/money"
)

// Document is the printed content of a receipt, an invoice, a credit note or a payout statement. Its texts are finished
// sentences and words: the renderer adds none. Amounts and dates are written as Locale does.
type Document struct {
	Title    string // such as Invoice
	Number   string
	IssuedAt time.Time
	Locale   locale.Locale
	Headings DocumentHeadings
	// Stamp marks what is not real, such as TEST; "" for none.
	Stamp  string
	Seller DocumentParty
	Buyer  DocumentParty
	// Facts stand between the parties and the lines, in their order.
	Facts  []DocumentFact
	Lines  []DocumentLine
	Totals []DocumentTotal
	// Notes stand at the end, a paragraph each.
	Notes []string
}

// DocumentHeadings are the words over the parts of a document.
type DocumentHeadings struct{ From, To, VATID, Description, Quantity, Amount string }

// DocumentParty is one of the two who trade. Empty members are left out.
type DocumentParty struct {
	Name  string
	Lines []string // address, e-mail
	TaxID string
}

// DocumentFact is a label and its value.
type DocumentFact struct{ Label, Value string }

// DocumentLine is one item. Detail is below the description in small print, Quantity beside it; both may be empty.
type DocumentLine struct {
	Description string
	Detail      string
	Quantity    string
	Amount      money.Amount
}

// DocumentTotal is one sum below the lines. Strong marks what was, or is to be, paid.
type DocumentTotal struct {
	Label  string
	Amount money.Amount
	Strong bool
}

// Documents renders documents as PDF. The same document gives the same bytes.
type Documents interface {
	PDF(d Document) ([]byte, error)
}
