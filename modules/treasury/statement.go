package treasury

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"strconv"

	"sundry/core/apiformat"
	"sundry/core/ledger"
	"sundry/core/payout"
	"sundry/ports"
)

// statementPage is the number of entries a statement reads at a time.
const statementPage = 500

// statementColumns name what a line of a statement contains. Amounts are in minor units. A sale's amount is its total
// without tax, fee, and what the creator returned of it before it became available.
var statementColumns = []string{
	"createdAt", "kind", "sourceType", "sourceId", "saleTotalInCents", "saleTaxInCents", "platformFeeInCents",
	"returnedInCents", "amountInCents",
	"balanceInCents", "currency",
}

// Statement lists, as CSV, the movements of the available balance from the previous payout to this one, with a
// running balance. NOT_FOUND for another account's payout.
func (s *Service) Statement(ctx context.Context, creatorID, payoutID string) (name string, text []byte, err error) {
	p, err := s.GetPayout(ctx, creatorID, payoutID)
	if err != nil {
		return "", nil, err
	}
	r := s.deps.Store.Read(ctx)
	until, after, err := r.Treasury.Ledger.PayoutPosting(ctx, p)
	if err != nil {
		return "", nil, fmt.Errorf("statement: %w", err)
	}
	sum, err := r.Treasury.Ledger.SumAvailable(ctx, creatorID, p.Amount.Currency, after)
	if err != nil {
		return "", nil, fmt.Errorf("statement: %w", err)
	}
	var out bytes.Buffer
	w := &statementWriter{csv: csv.NewWriter(&out), currency: string(p.Amount.Currency), balance: -sum}
	if err := w.header(); err != nil {
		return "", nil, err
	}
	if err := s.movements(ctx, r, p, after, until, w); err != nil {
		return "", nil, fmt.Errorf("statement %s: %w", payoutID, err)
	}
	w.csv.Flush()
	return "statement-" + payoutID + ".csv", out.Bytes(), w.csv.Error()
}

var _ ports.PayoutStatements = (*Service)(nil)

// StatementOf implements ports.PayoutStatements.
func (s *Service) StatementOf(ctx context.Context, r ports.Repos, p payout.State) (ledger.Statement, error) {
	until, after, err := r.Treasury.Ledger.PayoutPosting(ctx, p)
	if err != nil {
		return ledger.Statement{}, fmt.Errorf("statement: %w", err)
	}
	opening, err := r.Treasury.Ledger.SumAvailable(ctx, p.CreatorID, p.Amount.Currency, after)
	if err != nil {
		return ledger.Statement{}, fmt.Errorf("statement: %w", err)
	}
	sums, err := r.Treasury.Ledger.SumStatement(ctx, p.CreatorID, p.Amount.Currency, after, until)
	if err != nil {
		return ledger.Statement{}, fmt.Errorf("statement: %w", err)
	}
	return ledger.NewStatement(p.Amount, -opening, sums), nil
}

// movements writes a line for each entry in (after, until].
func (s *Service) movements(
	ctx context.Context, r ports.Repos, p payout.State, after, until string, w *statementWriter,
) error {
	for {
		entries, err := r.Treasury.Ledger.ListAvailable(
			ctx, p.CreatorID, p.Amount.Currency, after, until, statementPage,
		)
		if err != nil {
			return err
		}
		for _, e := range entries {
			var sale ledger.SaleState
			if e.Kind == ledger.KindRelease {
				if sale, err = r.Treasury.Sales.Get(ctx, e.SourceID); err != nil && !errors.Is(err, ports.ErrNotFound) {
					return err
				}
			}
			if err := w.line(e, sale); err != nil {
				return err
			}
			after = e.PostingID
		}
		if len(entries) < statementPage {
			return nil
		}
	}
}

// statementWriter writes the lines of a statement and keeps its balance.
type statementWriter struct {
	csv      *csv.Writer
	currency string
	balance  int64 // as the creator sees it
}

func (w *statementWriter) header() error {
	opening := make([]string, len(statementColumns))
	opening[1], opening[9], opening[10] = "opening_balance", strconv.FormatInt(w.balance, 10), w.currency
	if err := w.csv.Write(statementColumns); err != nil {
		return err
	}
	return w.csv.Write(opening)
}

// line writes an entry; sale is the sale that a release releases.
func (w *statementWriter) line(e ledger.Entry, sale ledger.SaleState) error {
	w.balance -= e.Amount.Minor
	fields := []string{
		apiformat.Instant(e.CreatedAt), string(e.Kind), string(e.SourceType), e.SourceID, "", "", "", "",
		strconv.FormatInt(-e.Amount.Minor, 10), strconv.FormatInt(w.balance, 10), w.currency,
	}
	if sale.PaymentID != "" {
		fields[4], fields[5] = strconv.FormatInt(sale.Total.Minor, 10), strconv.FormatInt(sale.Tax.Minor, 10)
		fields[6] = strconv.FormatInt(sale.PlatformFee.Minor, 10)
		fields[7] = strconv.FormatInt(sale.Total.Minor-sale.Tax.Minor-sale.PlatformFee.Minor+e.Amount.Minor, 10)
	}
	return w.csv.Write(fields)
}
