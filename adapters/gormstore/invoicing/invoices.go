package invoicing

import (
	"context"
	"encoding/hex"
	"time"

	"sundry/adapters/gormstore/repo"
	"sundry/core/invoice"
	"sundry/core/metadata"
	"sundry/core/money"
	"sundry/core/payment"
	"sundry/core/tax"
	"sundry/ports"
)

type invoiceRow struct {
	repo.Revised
	CreatorID          string
	CustomerID         string
	ExternalCustomerID string
	Number             string
	Status             string
	Currency           string
	Lines              repo.JSONColumn[[]invoice.Line]
	Subtotal           int64
	Tax                int64
	TaxDetails         repo.JSONColumn[tax.Details]
	Total              int64
	PeriodStart        string
	PeriodEnd          string
	SubscriptionID     string
	BillingPlanID      string
	Key                string
	Fingerprint        string
	AttemptCount       int
	FirstFailedAt      repo.UnixMillis
	NextAttemptAt      repo.UnixMillis
	DeclineCode        string
	PaymentID          string
	CreatedAt          repo.UnixMillis `gorm:"autoCreateTime:false"`
	FinalizedAt        repo.UnixMillis
	PaidAt             repo.UnixMillis
	Metadata           string
}

// TableName implements gorm's tabler.
func (invoiceRow) TableName() string { return "invoices" }

func newInvoiceRow(s invoice.State) invoiceRow {
	return invoiceRow{
		Revised:   repo.Revised{ID: s.ID, Revision: s.Revision},
		CreatorID: s.CreatorID, CustomerID: s.CustomerID, ExternalCustomerID: s.ExternalCustomerID,
		Number: s.Number,
		Status: string(s.Status), Currency: string(s.Currency), Lines: repo.JSON(s.Lines), Subtotal: s.Subtotal.Minor,
		Tax:        s.Tax.Minor,
		TaxDetails: repo.JSON(s.TaxDetails), Total: s.Total.Minor, PeriodStart: s.PeriodStart, PeriodEnd: s.PeriodEnd,
		SubscriptionID: s.SubscriptionID, BillingPlanID: s.BillingPlanID,
		Key: s.Key, Fingerprint: hex.EncodeToString(s.Fingerprint), AttemptCount: s.AttemptCount,
		FirstFailedAt: repo.UnixMillis(s.FirstFailedAt),
		NextAttemptAt: repo.UnixMillis(s.NextAttemptAt), DeclineCode: string(s.DeclineCode), PaymentID: s.PaymentID,
		CreatedAt:   repo.UnixMillis(s.CreatedAt),
		FinalizedAt: repo.UnixMillis(s.FinalizedAt), PaidAt: repo.UnixMillis(s.PaidAt),
		Metadata: s.Metadata.Text(),
	}
}

func (r invoiceRow) toState() invoice.State {
	amount := func(minor int64) money.Amount { return repo.Amount(minor, r.Currency) }
	fingerprint, _ := hex.DecodeString(r.Fingerprint) // newInvoiceRow wrote it
	return invoice.State{
		ID: r.ID, CreatorID: r.CreatorID, CustomerID: r.CustomerID, ExternalCustomerID: r.ExternalCustomerID,
		Number: r.Number,
		Status: invoice.Status(r.Status), Currency: money.Currency(r.Currency), Lines: r.Lines.V,
		Subtotal: amount(r.Subtotal), Tax: amount(r.Tax),
		TaxDetails: r.TaxDetails.V, Total: amount(r.Total), PeriodStart: r.PeriodStart, PeriodEnd: r.PeriodEnd,
		SubscriptionID: r.SubscriptionID, BillingPlanID: r.BillingPlanID,
		Key: r.Key, Fingerprint: fingerprint, AttemptCount: r.AttemptCount, FirstFailedAt: time.Time(r.FirstFailedAt),
		NextAttemptAt: time.Time(r.NextAttemptAt), DeclineCode: payment.DeclineCode(r.DeclineCode), PaymentID: r.PaymentID,
		CreatedAt:   time.Time(r.CreatedAt),
		FinalizedAt: time.Time(r.FinalizedAt), PaidAt: time.Time(r.PaidAt), Revision: r.Revision,
		Metadata: metadata.Restore(r.Metadata),
	}
}

var invoiceMapping = repo.Mapping[invoiceRow, invoice.State]{
	Name: "invoice", NewRow: newInvoiceRow, ToState: invoiceRow.toState,
	Currency: "currency", Amount: "total",
	Sorts: repo.Sorts{
		"total": {SQL: "total"},
	},
}

type invoices struct {
	repo.ByID[invoiceRow, invoice.State]
}

// GetByKey implements ports.Invoices.
func (t invoices) GetByKey(_ context.Context, creatorID, key string) (invoice.State, error) {
	return t.GetBy("get invoice by key", "creator_id = ? AND key = ? AND key <> ''", creatorID, key)
}

// Rename implements ports.Invoices.
func (t invoices) Rename(_ context.Context, creatorID, customerID, externalCustomerID string) error {
	return t.Exec("rename invoices of "+customerID,
		`UPDATE invoices SET external_customer_id = ?, revision = revision + 1
			WHERE creator_id = ? AND customer_id = ?`, externalCustomerID, creatorID, customerID)
}

// List implements ports.Invoices.
func (t invoices) List(_ context.Context, creatorID string, search ports.InvoiceSearch,
	page ports.Page) (ports.List[invoice.State], error) {
	query := repo.Equal(t.Own(creatorID, search, page.Sort), map[string]string{
		"customer_id": search.CustomerID, "status": string(search.Status), "subscription_id": search.SubscriptionID,
	})
	if search.CustomerIDs != nil {
		query = query.Where("customer_id IN ?", search.CustomerIDs)
	}
	return t.Page("list invoices", query, page)
}
