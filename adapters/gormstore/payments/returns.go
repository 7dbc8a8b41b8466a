package payments

import (
	"sundry/adapters/gormstore/repo"
	"sundry/core/ledger"
)

// ReturnRow has the columns that refunds and disputes share. It is exported for gorm, which sees no other.
type ReturnRow struct {
	PaymentID      string
	CheckoutID     string
	CustomerID     string
	SubscriptionID string
	Currency       string
	Amount         int64
	Tax            int64
}

func newReturnRow(r ledger.Return) ReturnRow {
	return ReturnRow{
		PaymentID: r.PaymentID, CheckoutID: r.CheckoutID, CustomerID: r.CustomerID, SubscriptionID: r.SubscriptionID,
		Currency: string(r.Share.Amount.Currency), Amount: r.Share.Amount.Minor, Tax: r.Share.Tax.Minor,
	}
}

func (r ReturnRow) toReturn() ledger.Return {
	return ledger.Return{
		PaymentID: r.PaymentID, CheckoutID: r.CheckoutID, CustomerID: r.CustomerID, SubscriptionID: r.SubscriptionID,
		Share: ledger.Share{Amount: repo.Amount(r.Amount, r.Currency), Tax: repo.Amount(r.Tax, r.Currency)},
	}
}
