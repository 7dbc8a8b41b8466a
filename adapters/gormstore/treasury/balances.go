package treasury

import (
	"context"

	"sundry/adapters/gormstore/repo"
	"sundry/core/ledger"
)

// summedUntil is the id of the last posting of a creator that ledger_balances counts, and "" before there is any.
const summedUntil = "COALESCE((SELECT MAX(until) FROM ledger_balances WHERE creator_id = ?), '')"

// refunding selects by currency what each refund on its way will take of the creator's share of its sale: an automatic
// one takes all that is left after the platform's fee, and nothing while a dispute holds that.
const refunding = `SELECT f.currency, CASE WHEN NOT f.automatic THEN f.amount - f.tax
			WHEN s.total - s.returned - s.tax + s.returned_tax > s.platform_fee
			THEN s.total - s.returned - s.tax + s.returned_tax - s.platform_fee ELSE 0 END AS minor
		FROM refunds f JOIN sales s ON s.id = f.payment_id
		WHERE f.creator_id = ? AND f.status = 'pending'`

// Balances implements ports.Ledger. One statement reads the stored sums, the postings after them and the refunds on
// their way, so that none is counted twice or not at all while SumBalances runs or a refund is made. All ids are below
// 'lee': with a second bound PostgreSQL expects few postings, and does not compile the query (JIT) as if it read a
// third of the table.
func (t postings) Balances(_ context.Context, creatorID string) (balances []ledger.Balance, err error) {
	err = t.DB.Raw(`SELECT currency, CAST(SUM(pending) AS BIGINT) AS pending, CAST(SUM(available) AS BIGINT) AS available,
			CAST(SUM(reserved) AS BIGINT) AS reserved, CAST(SUM(in_transit) AS BIGINT) AS in_transit
		FROM (SELECT currency, pending, available, reserved, in_transit FROM ledger_balances WHERE creator_id = ?
			UNION ALL
			SELECT currency, -creator_pending, -creator_available, -creator_reserved, -creator_in_transit
			FROM ledger_postings WHERE creator_id = ? AND id > `+summedUntil+` AND id < 'lee'
			UNION ALL
			SELECT currency, 0, -minor, minor, 0 FROM (`+refunding+` AND s.released) refunds) parts
		GROUP BY currency ORDER BY currency`, creatorID, creatorID, creatorID, creatorID).Scan(&balances).Error
	return balances, t.Failure("balances of "+creatorID, err)
}

// NextCreator returns the creator after another who has postings; "" = there is none.
func NextCreator(b *repo.Base, after string) (creatorID string, err error) {
	err = b.QueryRow("next creator of the ledger",
		"SELECT COALESCE(MIN(creator_id), '') FROM ledger_postings WHERE creator_id > ?", []any{after}, &creatorID)
	return creatorID, err
}

// SumBalances adds the creator's next postings with ids before the given one to the stored balances: so many at a time,
// and none while there are fewer. It belongs in a transaction; more reports whether it added any. Nobody may write a
// posting of an earlier id afterwards.
func SumBalances(b *repo.Base, creatorID, before string, page int) (more bool, err error) {
	op := "sum balances of " + creatorID
	from, until, err := nextPostings(b, op, summedUntil, creatorID, before, page)
	if err != nil || until == "" {
		return false, err
	}
	return true, b.Exec(op, `INSERT INTO ledger_balances (creator_id, currency, until, pending, available, reserved,
			in_transit)
		SELECT creator_id, currency, ?, -SUM(creator_pending), -SUM(creator_available), -SUM(creator_reserved),
			-SUM(creator_in_transit)
		FROM ledger_postings WHERE creator_id = ? AND id > ? AND id <= ? GROUP BY creator_id, currency
		ON CONFLICT (creator_id, currency) DO UPDATE SET until = excluded.until,
			pending = ledger_balances.pending + excluded.pending,
			available = ledger_balances.available + excluded.available,
			reserved = ledger_balances.reserved + excluded.reserved,
			in_transit = ledger_balances.in_transit + excluded.in_transit`, until, creatorID, from, until)
}

// nextPostings locks the creator's sums, whose last posting an expression selects, and returns the ids between which
// (from, until] the next page of postings is; until is "" while there are fewer.
func nextPostings(b *repo.Base, op, last, creatorID, before string, page int) (from, until string, err error) {
	if err := b.AdvisoryLock(op, op); err != nil {
		return "", "", err
	}
	if err := b.QueryRow(op, "SELECT "+last, []any{creatorID}, &from); err != nil {
		return "", "", err
	}
	err = b.DB.Raw(`SELECT id FROM ledger_postings WHERE creator_id = ? AND id > ? AND id < ?
		ORDER BY id LIMIT 1 OFFSET ?`, creatorID, from, before, page-1).Scan(&until).Error
	return from, until, b.Failure(op, err)
}

// MisstatedBalances implements ports.TreasuryAudit.
func (t audit) MisstatedBalances(_ context.Context, limit int) ([]string, error) {
	return t.QueryWhole("misstated balances", `
		SELECT DISTINCT creator_id FROM (
			SELECT creator_id FROM (
				SELECT creator_id, currency, pending, available, reserved, in_transit FROM ledger_balances
				UNION ALL
				SELECT p.creator_id, p.currency, p.creator_pending, p.creator_available, p.creator_reserved,
					p.creator_in_transit
				FROM ledger_postings p
				JOIN (SELECT creator_id, MAX(until) AS until FROM ledger_balances GROUP BY creator_id) summed
					ON summed.creator_id = p.creator_id AND p.id <= summed.until) parts
			GROUP BY creator_id, currency
			HAVING SUM(pending) <> 0 OR SUM(available) <> 0 OR SUM(reserved) <> 0 OR SUM(in_transit) <> 0) wrong
		ORDER BY creator_id LIMIT ?`, limit)
}
