package treasury

import (
	"context"
	"time"

	"sundry/adapters/gormstore/repo"
	"sundry/core/ledger"
	"sundry/core/money"
)

type saleRow struct {
	repo.Revised // of the payment
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
}

// TableName implements gorm's tabler.
func (saleRow) TableName() string { return "sales" }

func newSaleRow(s ledger.SaleState) saleRow {
	return saleRow{
		Revised:   repo.Revised{ID: s.PaymentID, Revision: s.Revision},
		CreatorID: s.CreatorID, Currency: string(s.Total.Currency), Total: s.Total.Minor, Tax: s.Tax.Minor,
		PlatformFee: s.PlatformFee.Minor, ProcessorFee: s.ProcessorFee.Minor, Pending: s.Pending.Minor,
		Returned:    s.Returned.Minor,
		ReturnedTax: s.ReturnedTax.Minor, Refunded: s.Refunded.Minor, Lost: s.Lost.Minor, DisputeID: s.DisputeID,
		Disputed: s.Disputed.Amount.Minor, DisputedTax: s.Disputed.Tax.Minor, AvailableAt: repo.UnixMillis(s.AvailableAt),
		Released: s.Released, CreatedAt: repo.UnixMillis(s.CreatedAt),
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

// SumReleases implements ports.Sales.
func (t sales) SumReleases(_ context.Context, creatorID string, since, until time.Time) ([]money.Amount, error) {
	var rows []struct {
		Currency string
		Minor    int64
	}
	after, before := repo.UnixMillis(since), repo.UnixMillis(until)
	err := t.DB.Raw(`SELECT currency, CAST(SUM(minor) AS BIGINT) AS minor FROM (
			SELECT currency, pending AS minor FROM sales
			WHERE creator_id = ? AND created_at >= ? AND available_at <= ? AND NOT released
			UNION ALL
			SELECT currency, -minor FROM (`+refunding+`
				AND s.created_at >= ? AND s.available_at <= ? AND NOT s.released) refunds) parts
		GROUP BY currency ORDER BY currency`,
		creatorID, after, before, creatorID, after, before).Scan(&rows).Error
	amounts := make([]money.Amount, len(rows))
	for i, r := range rows {
		amounts[i] = repo.Amount(r.Minor, r.Currency)
	}
	return amounts, t.Failure("sum releases of "+creatorID, err)
}
