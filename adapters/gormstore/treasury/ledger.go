// Package treasury keeps the ledger, the sales that its entries belong to, and payouts.
package treasury

import (
	"context"
	"strings"
	"time"

	"sundry/adapters/gormstore/repo"
	"sundry/core/ledger"
	"sundry/core/money"
	"sundry/core/payout"
	"sundry/ports"
)

// Repositories are the area's repositories over one connection.
func Repositories(b *repo.Base) ports.TreasuryRepos {
	return ports.TreasuryRepos{
		Sales: sales{b}, Ledger: ledgerEntries{b}, Payouts: payouts{payoutMapping.On(b)},
		Accounts: payoutAccounts{payoutAccountMapping.On(b)}, Audit: audit{b},
	}
}

type ledgerRow struct {
	ID         string `gorm:"primaryKey"`
	PostingID  string
	CreatorID  string
	SourceType string
	SourceID   string
	Kind       string
	Account    string
	Currency   string
	Amount     int64
	CreatedAt  repo.UnixMillis `gorm:"autoCreateTime:false"`
}

// TableName implements gorm's tabler.
func (ledgerRow) TableName() string { return "ledger_entries" }

func (r ledgerRow) toEntry() ledger.Entry {
	return ledger.Entry{
		ID: r.ID, PostingID: r.PostingID, CreatorID: r.CreatorID, SourceType: ledger.SourceType(r.SourceType),
		SourceID: r.SourceID,
		Kind:     ledger.Kind(r.Kind), Leg: ledger.Leg{Account: ledger.Account(r.Account),
			Amount: repo.Amount(r.Amount, r.Currency)},
		CreatedAt: time.Time(r.CreatedAt),
	}
}

type ledgerEntries struct{ *repo.Base }

// insertEntries is the INSERT of entries, and entryValues one line of it.
const (
	insertEntries = "INSERT INTO ledger_entries (id, posting_id, creator_id, source_type, source_id, kind, account, " +
		"currency, amount, created_at) VALUES "
	entryValues = "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)

// Insert implements ports.Ledger.
func (t ledgerEntries) Insert(_ context.Context, entries []ledger.Entry) error {
	if len(entries) == 0 {
		return nil
	}
	var postings []ledger.Posting
	args := make([]any, 0, 10*len(entries))
	for i, e := range entries {
		if i == 0 || e.PostingID != entries[i-1].PostingID {
			postings = append(postings, ledger.Posting{SourceID: e.SourceID, Kind: e.Kind})
		}
		posting := &postings[len(postings)-1]
		posting.Legs = append(posting.Legs, e.Leg)
		args = append(args, e.ID, e.PostingID, e.CreatorID, string(e.SourceType), e.SourceID, string(e.Kind),
			string(e.Account),
			string(e.Amount.Currency), e.Amount.Minor, e.CreatedAt.UnixMilli())
	}
	for _, posting := range postings {
		if err := posting.Check(); err != nil {
			return err
		}
	}
	query := insertEntries + strings.TrimSuffix(strings.Repeat(entryValues+", ", len(entries)), ", ")
	return t.ExecDeferred("post "+string(entries[0].Kind)+" of "+entries[0].SourceID, query, args...)
}

// List implements ports.Ledger.
func (t ledgerEntries) List(_ context.Context, creatorID, sourceID string,
	page ports.Page) (ports.List[ledger.Entry], error) {
	query := t.DB.Where("creator_id = ?", creatorID)
	if sourceID != "" {
		query = query.Where("source_id = ?", sourceID)
	}
	return repo.ListByIDDesc(t.Base, "list ledger entries", query, page, ledgerRow.toEntry, func(r ledgerRow) string {
		return r.ID
	})
}

// Sums implements ports.Ledger.
func (t ledgerEntries) Sums(_ context.Context, creatorID string) ([]ledger.Sum, error) {
	var rows []struct {
		Account, Currency string
		Minor             int64
	}
	err := t.DB.Raw(`SELECT account, currency, CAST(SUM(amount) AS BIGINT) AS minor FROM ledger_entries
		WHERE creator_id = ? AND account IN ('creator_pending', 'creator_available', 'creator_reserved', 'creator_in_transit')
		GROUP BY account, currency ORDER BY currency, account`, creatorID).Scan(&rows).Error
	sums := make([]ledger.Sum, len(rows))
	for i, row := range rows {
		sums[i] = ledger.Sum{Account: ledger.Account(row.Account), Currency: money.Currency(row.Currency), Minor: row.Minor}
	}
	return sums, t.Failure("sum the ledger of "+creatorID, err)
}

const availableEntries = "creator_id = ? AND account = 'creator_available' AND currency = ?"

// ListAvailable implements ports.Ledger.
func (t ledgerEntries) ListAvailable(_ context.Context, creatorID string, currency money.Currency, after, until string,
	limit int) ([]ledger.Entry, error) {
	var rows []ledgerRow
	err := t.DB.Where(availableEntries+" AND id > ? AND id <= ?", creatorID, string(currency), after, until).
		Order("id").Limit(limit).Find(&rows).Error
	entries := make([]ledger.Entry, len(rows))
	for i, row := range rows {
		entries[i] = row.toEntry()
	}
	return entries, t.Failure("list the available balance of "+creatorID, err)
}

// SumAvailable implements ports.Ledger.
func (t ledgerEntries) SumAvailable(_ context.Context, creatorID string, currency money.Currency,
	until string) (sum int64, err error) {
	err = t.DB.Raw("SELECT CAST(COALESCE(SUM(amount), 0) AS BIGINT) FROM ledger_entries WHERE "+availableEntries+
		" AND id <= ?",
		creatorID, string(currency), until).Scan(&sum).Error
	return sum, t.Failure("sum the available balance of "+creatorID, err)
}

// SumStatement implements ports.Ledger.
func (t ledgerEntries) SumStatement(_ context.Context, creatorID string, currency money.Currency, after,
	until string) ([]ledger.KindSum, error) {
	var sums []ledger.KindSum
	err := t.DB.Raw(`SELECT e.kind, COUNT(*) AS count, CAST(-SUM(e.amount) AS BIGINT) AS minor,
		CAST(COALESCE(SUM(s.total), 0) AS BIGINT) AS sales,
			CAST(COALESCE(SUM(s.tax), 0) AS BIGINT) AS tax, CAST(COALESCE(SUM(s.platform_fee), 0) AS BIGINT) AS fee
		FROM ledger_entries e LEFT JOIN sales s ON s.id = e.source_id AND e.kind = 'release'
		WHERE e.creator_id = ? AND e.account = 'creator_available' AND e.currency = ? AND e.id > ? AND e.id <= ?
		GROUP BY e.kind ORDER BY CASE WHEN e.kind = 'release' THEN 0
		ELSE 1 END, e.kind`, creatorID, string(currency), after, until).Scan(&sums).Error
	return sums, t.Failure("sum the statement of "+creatorID, err)
}

// PayoutEntry implements ports.Ledger.
func (t ledgerEntries) PayoutEntry(_ context.Context, p payout.State) (id, before string, err error) {
	row, err := repo.TakeOne[ledgerRow](t.Base, "entry of payout "+p.ID,
		"source_id = ? AND kind = 'payout_requested' AND account = 'creator_available'", p.ID)
	if err != nil {
		return "", "", err
	}
	err = t.DB.Raw("SELECT COALESCE(MAX(id), '') FROM ledger_entries WHERE "+availableEntries+
		" AND kind = 'payout_requested' AND id < ?",
		p.CreatorID, string(p.Amount.Currency), row.ID).Scan(&before).Error
	return row.ID, before, t.Failure("payout before "+p.ID, err)
}

// Lock implements ports.Ledger.
func (t ledgerEntries) Lock(_ context.Context, creatorID string) error {
	return t.AdvisoryLock("lock the balance of "+creatorID, "balance "+creatorID)
}

type saleRow struct {
	ID           string `gorm:"primaryKey"` // of the payment
	CreatorID    string
	Currency     string
	Total        int64
	Tax          int64
	PlatformFee  int64
	ProcessorFee int64
	Pending      int64
	Returned     int64
	ReturnedTax  int64
	Refunded     int64
	Lost         int64
	DisputeID    string
	Disputed     int64
	DisputedTax  int64
	AvailableAt  repo.UnixMillis
	Released     bool
	CreatedAt    repo.UnixMillis `gorm:"autoCreateTime:false"`
	Revision     int64
}

// TableName implements gorm's tabler.
func (saleRow) TableName() string { return "sales" }

func newSaleRow(s ledger.SaleState) saleRow {
	return saleRow{
		ID: s.PaymentID, CreatorID: s.CreatorID, Currency: string(s.Total.Currency), Total: s.Total.Minor, Tax: s.Tax.Minor,
		PlatformFee: s.PlatformFee.Minor, ProcessorFee: s.ProcessorFee.Minor, Pending: s.Pending.Minor,
		Returned:    s.Returned.Minor,
		ReturnedTax: s.ReturnedTax.Minor, Refunded: s.Refunded.Minor, Lost: s.Lost.Minor, DisputeID: s.DisputeID,
		Disputed: s.Disputed.Amount.Minor, DisputedTax: s.Disputed.Tax.Minor, AvailableAt: repo.UnixMillis(s.AvailableAt),
		Released: s.Released, CreatedAt: repo.UnixMillis(s.CreatedAt), Revision: s.Revision,
	}
}

func (r saleRow) toState() ledger.SaleState {
	in := func(minor int64) money.Amount { return repo.Amount(minor, r.Currency) }
	return ledger.SaleState{
		PaymentID: r.ID, CreatorID: r.CreatorID, Total: in(r.Total), Tax: in(r.Tax), PlatformFee: in(r.PlatformFee),
		ProcessorFee: in(r.ProcessorFee), Pending: in(r.Pending), Returned: in(r.Returned), ReturnedTax: in(r.ReturnedTax),
		Refunded: in(r.Refunded), Lost: in(r.Lost), DisputeID: r.DisputeID,
		Disputed:    ledger.Share{Amount: in(r.Disputed), Tax: in(r.DisputedTax)},
		AvailableAt: time.Time(r.AvailableAt), Released: r.Released, CreatedAt: time.Time(r.CreatedAt), Revision: r.Revision,
	}
}

type sales struct{ *repo.Base }

// Insert implements ports.Sales.
func (t sales) Insert(_ context.Context, s ledger.SaleState) error {
	row := newSaleRow(s)
	return t.InsertRowDeferred("insert sale "+s.PaymentID, &row, "")
}

// Get implements ports.Sales.
func (t sales) Get(_ context.Context, paymentID string) (ledger.SaleState, error) {
	row, err := repo.TakeOne[saleRow](t.Base, "get sale "+paymentID, "id = ?", paymentID)
	return row.toState(), err
}

// Update implements ports.Sales.
func (t sales) Update(_ context.Context, s ledger.SaleState) error {
	row := newSaleRow(s)
	return t.UpdateRow("update sale "+s.PaymentID, &row, s.PaymentID, s.Revision)
}
