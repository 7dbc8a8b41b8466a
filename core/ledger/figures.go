package ledger

import (
	"sundry/core/civil"
	"sundry/core/money"
)

// Figures sum up an account's sales of a time in one currency, in minor units. Each is a sum of legs of postings:
//
//   - Gross is what buyers paid, tax included: sale.
//   - Refunds is what went back to them, less what came back again: refund, sale_reversal, refund_failed.
//   - Disputes is what was lost to disputes: dispute_lost. One that is open or won changes no figure.
//   - Tax is the tax in what is left of that, and Fees the platform's part of it.
//
// Each counts on the day on which it was posted, so a refund belongs to its own day and not to that of the sale.
type Figures struct {
	// Sales counts the payments of Gross.
	Sales                               int64
	Gross, Refunds, Disputes, Tax, Fees int64
}

// Net returns the creator's share: the change of the creator's own accounts but for payouts.
func (f Figures) Net() int64 { return f.Gross - f.Refunds - f.Disputes - f.Tax - f.Fees }

// Plus adds the figures of another time.
func (f Figures) Plus(o Figures) Figures {
	return Figures{
		Sales: f.Sales + o.Sales, Gross: f.Gross + o.Gross, Refunds: f.Refunds + o.Refunds,
		Disputes: f.Disputes + o.Disputes, Tax: f.Tax + o.Tax, Fees: f.Fees + o.Fees,
	}
}

// DayFigures holds the figures of one day, UTC, in one currency.
type DayFigures struct {
	Day      civil.Date
	Currency money.Currency
	Figures
}
