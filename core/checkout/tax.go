package checkout

import (
	"time"

	"sundry/core/money"
	"sundry/core/tax"
)

// TaxSale returns the sale to be taxed: the amount due now after the discount, as of the given time.
func (s State) TaxSale(now time.Time) tax.Sale {
	due := money.Amount{Minor: s.Subtotal.Minor - s.Discount.Minor, Currency: s.Subtotal.Currency}
	return tax.Sale{
		Lines:        []tax.Line{{Amount: due, Category: s.Offer.ListingType.TaxCategory()}},
		Behavior:     s.Offer.TaxBehavior,
		BuyerCountry: s.Buyer.Country, BuyerPostalCode: s.Buyer.PostalCode, BuyerTaxID: s.Buyer.TaxID, At: now,
	}
}

// ApplyTax sets the tax of the present buyer. It belongs to the change that named the buyer, so the revision stays.
func (c *Session) ApplyTax(r tax.Result) {
	c.s.Tax, c.s.Total = r.Tax, r.Total
	evidence := c.s.TaxDetails.Evidence
	evidence.Declared = c.s.Buyer.Country
	if !evidence.VATCheck.Covers(c.s.Buyer.Country, c.s.Buyer.TaxID) {
		evidence.VATCheck = tax.VATCheck{} // of another id
	}
	c.s.TaxDetails = r.Details()
	c.s.TaxDetails.Evidence = evidence
}

// NoteEvidence keeps what is known of where the buyer is beside their own word; "" leaves a piece as it was. It belongs
// to another change of the session, so the revision stays.
func (c *Session) NoteEvidence(clientAddress, card string) {
	if clientAddress != "" {
		c.s.TaxDetails.Evidence.ClientAddress = clientAddress
	}
	if card != "" {
		c.s.TaxDetails.Evidence.Card = card
	}
}

// NoteVATCheck keeps what a register reported of the buyer's VAT id; the zero check changes nothing. It belongs to the
// change that named the buyer, so the revision stays.
func (c *Session) NoteVATCheck(check tax.VATCheck) {
	if check.ID != "" {
		c.s.TaxDetails.Evidence.VATCheck = check
	}
}

// TaxAdded returns the part of the tax that the total has on top of the prices: none of it where they contain it.
func (s State) TaxAdded() money.Amount {
	return money.Amount{Minor: s.Total.Minor - s.Subtotal.Minor + s.Discount.Minor, Currency: s.Total.Currency}
}
