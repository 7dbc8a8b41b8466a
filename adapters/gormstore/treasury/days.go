package treasury

import (
	"context"

	"sundry/adapters/gormstore/repo"
	"sundry/core/civil"
	"sundry/core/ledger"
	"sundry/core/money"
)

const (
	// countedUntil is the id of the last posting of a creator that ledger_days counts, and "" before there is any.
	countedUntil = "COALESCE((SELECT until FROM ledger_days_until WHERE creator_id = ?), '')"
	// figured are the kinds of postings that ledger.Figures are made of, and figures their sums.
	figured = "kind IN ('sale', 'sale_reversal', 'refund', 'refund_failed', 'dispute_lost')"
	figures = `SUM(CASE kind WHEN 'sale' THEN 1 ELSE 0 END) AS sales,
		SUM(CASE kind WHEN 'sale' THEN processor_clearing ELSE 0 END) AS gross,
		SUM(CASE WHEN kind IN ('sale', 'dispute_lost') THEN 0 ELSE -processor_clearing END) AS refunds,
		SUM(CASE kind WHEN 'dispute_lost' THEN -disputed_funds - processor_clearing ELSE 0 END) AS disputes,
		SUM(-tax_payable) AS tax, SUM(-platform_fee) AS fees`
	dayMillis = 24 * 60 * 60 * 1000
)

// Days implements ports.Ledger. As with Balances, one statement reads the stored sums and the postings after them.
func (t postings) Days(_ context.Context, creatorID string, from, to civil.Date) ([]ledger.DayFigures, error) {
	var rows []struct {
		Day                                        int32
		Currency                                   string
		Sales, Gross, Refunds, Disputes, Tax, Fees int64
	}
	err := t.DB.Raw(`SELECT day, currency, CAST(SUM(sales) AS BIGINT) AS sales, CAST(SUM(gross) AS BIGINT) AS gross,
			CAST(SUM(refunds) AS BIGINT) AS refunds, CAST(SUM(disputes) AS BIGINT) AS disputes,
			CAST(SUM(tax) AS BIGINT) AS tax, CAST(SUM(fees) AS BIGINT) AS fees
		FROM (SELECT day, currency, sales, gross, refunds, disputes, tax, fees FROM ledger_days
			WHERE creator_id = ? AND day >= ? AND day <= ?
			UNION ALL
			SELECT created_at / ?, currency, `+figures+` FROM ledger_postings
			WHERE creator_id = ? AND id > `+countedUntil+` AND id < 'lee' AND `+figured+` AND created_at >= ? AND created_at < ?
			GROUP BY 1, 2) parts
		GROUP BY day, currency ORDER BY day, currency`, creatorID, from, to, dayMillis, creatorID, creatorID,
		int64(from)*dayMillis, (int64(to)+1)*dayMillis).Scan(&rows).Error
	days := make([]ledger.DayFigures, len(rows))
	for i, r := range rows {
		days[i] = ledger.DayFigures{
			Day: civil.Date(r.Day), Currency: money.Currency(r.Currency), Figures: ledger.Figures{
				Sales: r.Sales, Gross: r.Gross, Refunds: r.Refunds, Disputes: r.Disputes, Tax: r.Tax, Fees: r.Fees,
			},
		}
	}
	return days, t.Failure("figures of "+creatorID, err)
}

// SumDays adds the creator's next postings with ids before the given one to the stored figures of their days, as
// SumBalances does to the stored balances.
func SumDays(b *repo.Base, creatorID, before string, page int) (more bool, err error) {
	op := "sum figures of " + creatorID
	from, until, err := nextPostings(b, op, countedUntil, creatorID, before, page)
	if err != nil || until == "" {
		return false, err
	}
	err = b.Exec(op, `INSERT INTO ledger_days (creator_id, currency, day, sales, gross, refunds, disputes, tax, fees)
		SELECT creator_id, currency, created_at / ?, `+figures+`
		FROM ledger_postings WHERE creator_id = ? AND id > ? AND id <= ? AND `+figured+`
		GROUP BY creator_id, currency, 3
		ON CONFLICT (creator_id, day, currency) DO UPDATE SET sales = ledger_days.sales + excluded.sales,
			gross = ledger_days.gross + excluded.gross, refunds = ledger_days.refunds + excluded.refunds,
			disputes = ledger_days.disputes + excluded.disputes, tax = ledger_days.tax + excluded.tax,
			fees = ledger_days.fees + excluded.fees`, dayMillis, creatorID, from, until)
	if err != nil {
		return false, err
	}
	return true, b.Exec(op, `INSERT INTO ledger_days_until (creator_id, until) VALUES (?, ?)
		ON CONFLICT (creator_id) DO UPDATE SET until = excluded.until`, creatorID, until)
}

// MisstatedDays implements ports.TreasuryAudit.
func (t audit) MisstatedDays(_ context.Context, limit int) ([]string, error) {
	return t.QueryWhole("misstated figures of days", `
		SELECT DISTINCT creator_id FROM (
			SELECT creator_id FROM (
				SELECT creator_id, day, currency, sales, gross, refunds, disputes, tax, fees FROM ledger_days
				UNION ALL
				SELECT creator_id, day, currency, -sales, -gross, -refunds, -disputes, -tax, -fees FROM (
					SELECT p.creator_id, p.created_at / ? AS day, p.currency, `+figures+`
					FROM ledger_postings p JOIN ledger_days_until u ON u.creator_id = p.creator_id AND p.id <= u.until
					WHERE `+figured+` GROUP BY 1, 2, 3) AS counted) AS parts
			GROUP BY creator_id, day, currency
			HAVING SUM(sales) <> 0 OR SUM(gross) <> 0 OR SUM(refunds) <> 0 OR SUM(disputes) <> 0 OR SUM(tax) <> 0
				OR SUM(fees) <> 0) AS wrong
		ORDER BY creator_id LIMIT ?`, dayMillis, limit)
}
