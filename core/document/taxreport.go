package document

import (
	"cmp"
	"errors"
	"maps"
	"slices"

	"sundry/core/money"
	"sundry/core/tax"
)

// NoRate is the rate of amounts that a document doesn't explain by rates: a free sale, or the credit note of one of
// several.
const NoRate tax.BasisPoints = -1

// TaxKey contains the distinctions of tax returns and EC sales lists.
type TaxKey struct {
	Country   string        // "" while the buyer's is not known
	Treatment tax.Treatment // "" where no tax was computed
	TaxID     string        // the buyer's VAT id with its prefix, with a reverse charge
	Rate      tax.BasisPoints
	Currency  money.Currency
}

// TaxSum is an amount without tax, and the tax on it.
type TaxSum struct{ Net, Tax money.Amount }

// combined adds or subtracts net and tax alike.
func (a TaxSum) combined(operation func(a, b money.Amount) (money.Amount, error), b TaxSum) (TaxSum, error) {
	net, netErr := operation(a.Net, b.Net)
	due, taxErr := operation(a.Tax, b.Tax)
	return TaxSum{net, due}, errors.Join(netErr, taxErr)
}

// TaxRow sums the documents of a period for one key.
type TaxRow struct {
	TaxKey
	// Documents counts the documents of the row that were issued in the time.
	Documents int
	// Sales are receipts and invoices, Credited credit notes, and Due is what remains.
	Sales, Credited, Due TaxSum
}

// TaxReport adds up documents. Nothing gets lost: its rows sum to the totals of the documents, and to the tax in them.
type TaxReport map[TaxKey]TaxRow

// Issued counts a document in. A payout statement is no sale and counts for nothing.
func (r TaxReport) Issued(s Snapshot) error { return r.count(s, 1, money.Amount.Add) }

// Voided takes a credit note back whose refund did not reach the buyer, which may be long after it was issued.
func (r TaxReport) Voided(note Snapshot) error { return r.count(note, 0, money.Amount.Sub) }

func (r TaxReport) count(s Snapshot, documents int, operation func(a, b money.Amount) (money.Amount, error)) error {
	if s.Kind == PayoutStatement {
		return nil
	}
	key := TaxKey{Country: s.TaxDetails.Country, Treatment: s.TaxDetails.Treatment, Currency: s.Total.Currency}
	if s.TaxDetails.TaxID != "" { // with or without its prefix it is the same business
		prefix, number := tax.SplitVATID(key.Country, s.TaxDetails.TaxID)
		key.TaxID = prefix + number
	}
	for _, share := range s.taxShares() {
		key.Rate = share.Rate
		row, known := r[key]
		if !known {
			zero := TaxSum{money.Amount{Currency: key.Currency}, money.Amount{Currency: key.Currency}}
			row = TaxRow{TaxKey: key, Sales: zero, Credited: zero}
		}
		sum := &row.Sales
		if s.Kind == CreditNote {
			sum = &row.Credited
		}
		var err error
		if *sum, err = sum.combined(operation, TaxSum{share.Net, share.Tax}); err != nil {
			return err
		}
		row.Documents += documents
		r[key] = row
	}
	return nil
}

// taxShares parts a document by rate. What its own shares leave of the total is a share without a rate.
func (s Snapshot) taxShares() []tax.Share {
	rest := tax.Share{Rate: NoRate, Net: s.Total, Tax: s.Tax}
	rest.Net.Minor -= s.Tax.Minor // a part of it
	for _, share := range s.TaxDetails.Shares {
		rest.Net.Minor -= share.Net.Minor
		rest.Tax.Minor -= share.Tax.Minor
	}
	if len(s.TaxDetails.Shares) > 0 && rest.Net.Minor == 0 && rest.Tax.Minor == 0 {
		return s.TaxDetails.Shares
	}
	return append(slices.Clone(s.TaxDetails.Shares), rest)
}

// Rows are sorted by their keys.
func (r TaxReport) Rows() ([]TaxRow, error) {
	rows := slices.SortedFunc(maps.Values(r), func(a, b TaxRow) int {
		return cmp.Or(cmp.Compare(a.Country, b.Country), cmp.Compare(a.Treatment, b.Treatment), cmp.Compare(a.TaxID, b.TaxID),
			cmp.Compare(a.Rate, b.Rate), cmp.Compare(a.Currency, b.Currency))
	})
	for i, row := range rows {
		var err error
		if rows[i].Due, err = row.Sales.combined(money.Amount.Sub, row.Credited); err != nil {
			return nil, err
		}
	}
	return rows, nil
}
