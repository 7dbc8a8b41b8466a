package invoice

import (
	"sundry/core/id"
	"sundry/core/secret"
)

const linkPurpose = "invoice"

// Links are the addresses of an invoice's page and of its PDF.
type Links struct{ Page, PDF string }

// Pages derives the addresses of invoices, none of which is stored: everybody who has one can see and pay it.
type Pages struct {
	BaseURL string
	// Keys are used for nothing else.
	Keys secret.Keys
}

// Verify returns the invoice that an address ends in the token of; ok is false for anything that we did not give out.
func (p Pages) Verify(token string) (invoiceID string, ok bool) {
	return secret.Verify(p.Keys, linkPurpose, id.Invoice, token)
}

// Links returns the addresses of an invoice.
func (p Pages) Links(invoiceID string) Links {
	page := p.BaseURL + "/i/" + secret.Derive(p.Keys, linkPurpose, invoiceID)
	return Links{Page: page, PDF: page + "/pdf"}
}
