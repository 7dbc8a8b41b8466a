// Package treasury keeps the ledger, the sales that its postings belong to, and payouts.
package treasury

import (
	"context"
	"slices"
	"time"

	"gorm.io/gorm"

	"sundry/adapters/gormstore/repo"
	"sundry/core/ledger"
	"sundry/core/money"
	"sundry/core/payout"
	"sundry/ports"
)

// Repositories returns the area's repositories over the connection of b.
func Repositories(b *repo.Base) ports.TreasuryRepos {
	return ports.TreasuryRepos{
		Sales: sales{b}, Ledger: postings{b}, Payouts: payouts{payoutMapping.ByID(b)},
		Accounts: payoutAccounts{payoutAccountMapping.On(b)}, Audit: audit{b},
	}
}

// postingRow has a posting's legs in a column for each account; no leg is zero.
type postingRow struct {
	ID                string
	CreatorID         string
	SourceType        string
	SourceID          string
	Kind              string
	Currency          string
	ProcessorClearing int64
	DisputedFunds     int64
	ProcessorFee      int64
	TaxPayable        int64
	PlatformFee       int64
	CreatorPending    int64
	CreatorAvailable  int64
	CreatorReserved   int64
	CreatorInTransit  int64
	CreatedAt         repo.UnixMillis `gorm:"autoCreateTime:false"`
}

// TableName implements gorm's tabler.
func (postingRow) TableName() string { return "ledger_postings" }

// accounts are the columns of ledger.Accounts.
func (r *postingRow) accounts() []*int64 {
	return []*int64{
		&r.ProcessorClearing, &r.DisputedFunds, &r.ProcessorFee, &r.TaxPayable, &r.PlatformFee, &r.CreatorPending,
		&r.CreatorAvailable, &r.CreatorReserved, &r.CreatorInTransit,
	}
}

func newPostingRow(p ledger.Posting) *postingRow {
	row := &postingRow{
		ID: p.ID, CreatorID: p.CreatorID, SourceType: string(p.SourceType), SourceID: p.SourceID, Kind: string(p.Kind),
		Currency: string(p.Legs[0].Amount.Currency), CreatedAt: repo.UnixMillis(p.CreatedAt),
	}
	columns := row.accounts()
	for _, leg := range p.Legs {
		*columns[slices.Index(ledger.Accounts, leg.Account)] = leg.Amount.Minor
	}
	return row
}

func (r postingRow) toPosting() ledger.Posting {
	p := ledger.Posting{
		ID: r.ID, CreatorID: r.CreatorID, SourceType: ledger.SourceType(r.SourceType), SourceID: r.SourceID,
		Kind: ledger.Kind(r.Kind), CreatedAt: time.Time(r.CreatedAt),
	}
	for i, minor := range r.accounts() {
		if *minor != 0 {
			p.Legs = append(p.Legs, ledger.Leg{Account: ledger.Accounts[i], Amount: repo.Amount(*minor, r.Currency)})
		}
	}
	return p
}

type postings struct{ *repo.Base }

// Insert implements ports.Ledger.
func (t postings) Insert(_ context.Context, booked []ledger.Posting) error {
	if len(booked) == 0 {
		return nil
	}
	rows := make([]any, len(booked))
	for i, p := range booked {
		if err := p.Check(); err != nil {
			return err
		}
		rows[i] = newPostingRow(p)
	}
	return t.InsertRowsDeferred("post "+string(booked[0].Kind)+" of "+booked[0].SourceID, rows, "")
}

// List implements ports.Ledger. The page may begin and end within a posting.
func (t postings) List(_ context.Context, creatorID, sourceID string,
	page ports.Page) (ports.List[ledger.Entry], error) {
	query := repo.Equal(t.DB.Where("creator_id = ?", creatorID), map[string]string{"source_id": sourceID})
	if page.After.ID != "" {
		query = query.Where("id <= ?", ledger.PostingOf(page.After.ID))
	}
	var rows []postingRow
	// Every posting has an entry, and of the first one all may be on the page before.
	if err := query.Order("id DESC").Limit(page.Limit + 2).Find(&rows).Error; err != nil {
		return ports.List[ledger.Entry]{}, t.Failure("list ledger entries", err)
	}
	var entries []ledger.Entry
	for _, row := range rows {
		legs := row.toPosting().Entries()
		slices.Reverse(legs)
		for _, e := range legs {
			if page.After.ID == "" || e.ID < page.After.ID {
				entries = append(entries, e)
			}
		}
	}
	same := func(e ledger.Entry) ledger.Entry { return e }
	return repo.Paged(entries[:min(len(entries), page.Limit+1)], page.Limit, same, func(e ledger.Entry) ports.Cursor {
		return ports.Cursor{ID: e.ID}
	}), nil
}

// available selects the postings that move a creator's available balance in a currency; their index has this condition.
func (t postings) available(creatorID string, currency money.Currency) *gorm.DB {
	return t.DB.Table("ledger_postings p").Where("p.creator_id = ? AND p.currency = ? AND p.creator_available <> 0",
		creatorID, string(currency))
}

// ListAvailable implements ports.Ledger.
func (t postings) ListAvailable(_ context.Context, creatorID string, currency money.Currency, after, until string,
	limit int) ([]ledger.Entry, error) {
	var rows []postingRow
	err := t.available(creatorID, currency).Where("p.id > ? AND p.id <= ?", after, until).
		Order("p.id").Limit(limit).Find(&rows).Error
	entries := make([]ledger.Entry, 0, len(rows))
	for _, row := range rows {
		for _, e := range row.toPosting().Entries() {
			if e.Account == ledger.CreatorAvailable {
				entries = append(entries, e)
			}
		}
	}
	return entries, t.Failure("list the available balance of "+creatorID, err)
}

// SumAvailable implements ports.Ledger.
func (t postings) SumAvailable(_ context.Context, creatorID string, currency money.Currency,
	until string) (sum int64, err error) {
	err = t.available(creatorID, currency).Where("p.id <= ?", until).
		Select("CAST(COALESCE(SUM(p.creator_available), 0) AS BIGINT)").Scan(&sum).Error
	return sum, t.Failure("sum the available balance of "+creatorID, err)
}

// SumStatement implements ports.Ledger.
func (t postings) SumStatement(_ context.Context, creatorID string, currency money.Currency, after,
	until string) (sums []ledger.KindSum, err error) {
	err = t.available(creatorID, currency).Where("p.id > ? AND p.id <= ?", after, until).
		Select(`p.kind, COUNT(*) AS count, CAST(-SUM(p.creator_available) AS BIGINT) AS minor,
			CAST(COALESCE(SUM(s.total), 0) AS BIGINT) AS sales, CAST(COALESCE(SUM(s.tax), 0) AS BIGINT) AS tax,
			CAST(COALESCE(SUM(s.platform_fee), 0) AS BIGINT) AS fee`).
		Joins("LEFT JOIN sales s ON s.id = p.source_id AND p.kind = 'release'").Group("p.kind").
		Order("CASE WHEN p.kind = 'release' THEN 0 ELSE 1 END, p.kind").Scan(&sums).Error
	return sums, t.Failure("sum the statement of "+creatorID, err)
}

// PayoutPosting implements ports.Ledger.
func (t postings) PayoutPosting(_ context.Context, p payout.State) (id, before string, err error) {
	row, err := repo.TakeOne[postingRow](t.Base, "posting of payout "+p.ID,
		"source_id = ? AND kind = 'payout_requested'", p.ID)
	if err != nil {
		return "", "", err
	}
	err = t.available(p.CreatorID, p.Amount.Currency).Where("p.kind = 'payout_requested' AND p.id < ?", row.ID).
		Select("COALESCE(MAX(p.id), '')").Scan(&before).Error
	return row.ID, before, t.Failure("payout before "+p.ID, err)
}

// Lock implements ports.Ledger.
func (t postings) Lock(_ context.Context, creatorID string) error {
	return t.AdvisoryLock("lock the balance of "+creatorID, "balance "+creatorID)
}
