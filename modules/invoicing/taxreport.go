package invoicing

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"time"

	"sundry/core/document"
	"sundry/core/text"
)

// taxReportPage is the number of documents a report reads at a time.
const taxReportPage = 500

// taxReportColumns are the columns of a report. Amounts are in units of the currency; net and tax are the sales less
// the credited amounts.
var taxReportColumns = []string{
	"country", "treatment", "taxId", "ratePercent", "currency", "documents", "salesNet", "salesTax", "creditedNet",
	"creditedTax", "net", "tax",
}

// SumTaxes adds to a report the sums from which the seller of record files taxes: of the receipts and credit notes that
// all accounts issued in [from, until) and of the invoices that were paid in that time, less the credit notes that
// became void in it. So the report of a past period never changes.
func (s *Documents) SumTaxes(ctx context.Context, from, until time.Time, report document.TaxReport) error {
	documents := s.deps.Store.Read(ctx).Invoicing.Documents
	for _, read := range []struct {
		list func(
			ctx context.Context, from, until time.Time, after document.Snapshot, limit int,
		) ([]document.Snapshot, error)
		count func(document.Snapshot) error
	}{
		{documents.ListIssued, report.Issued}, {documents.ListPaidInvoices, report.Issued},
		{documents.ListVoided, report.Voided},
	} {
		for last, more := (document.Snapshot{}), true; more; {
			page, err := read.list(ctx, from, until, last, taxReportPage)
			if err != nil {
				return fmt.Errorf("tax report: %w", err)
			}
			for _, last = range page {
				if err := read.count(last); err != nil {
					return fmt.Errorf("tax report: document %s: %w", last.Number, err)
				}
			}
			more = len(page) == taxReportPage
		}
	}
	return nil
}

// WriteTaxReport writes a report as CSV.
func WriteTaxReport(report document.TaxReport, out io.Writer) error {
	rows, err := report.Rows()
	if err != nil {
		return fmt.Errorf("tax report: %w", err)
	}
	w := csv.NewWriter(out)
	_ = w.Write(taxReportColumns) // Error reports it
	for _, row := range rows {
		rate := ""
		if row.Rate != document.NoRate {
			rate = row.Rate.Percent()
		}
		record := []string{
			row.Country, string(row.Treatment), row.TaxID, rate, string(row.Currency), strconv.Itoa(row.Documents),
		}
		for _, sum := range []document.TaxSum{row.Sales, row.Credited, row.Due} {
			record = append(record, sum.Net.Typed(), sum.Tax.Typed())
		}
		for i, value := range record {
			record[i] = text.CSVCell(value)
		}
		_ = w.Write(record)
	}
	w.Flush()
	return w.Error()
}
