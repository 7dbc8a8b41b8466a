package ports

import (
	"context"
	"time"

	"sundry/core/document"
	"sundry/core/invoice"
)

// InvoicingRepos are the repositories of invoicing.
type InvoicingRepos struct {
	Invoices        Invoices
	DocumentNumbers DocumentNumbers
	Documents       IssuedDocuments
	Audit           InvoicingAudit
}

// Invoices keeps what customers were asked to pay for.
type Invoices interface {
	// Insert writes a new invoice. ErrDuplicate (invoices_creator_id_key,
	// invoices_creator_id_billing_plan_id_period_start).
	Insert(ctx context.Context, s invoice.State) error
	// Get returns an invoice of any account: the customer's link knows only the id. ErrNotFound.
	Get(ctx context.Context, id string) (invoice.State, error)
	// GetByKey returns the invoice that the account pushed with an idempotency key. ErrNotFound.
	GetByKey(ctx context.Context, creatorID, key string) (invoice.State, error)
	// Update writes a changed invoice. ErrStale.
	Update(ctx context.Context, s invoice.State) error
	// Rename gives a customer's invoices another external id.
	Rename(ctx context.Context, creatorID, customerID, externalCustomerID string) error
	// List returns those of the account's invoices that a search is for, newest first.
	List(ctx context.Context, creatorID string, search InvoiceSearch, page Page) (List[invoice.State], error)
}

// InvoiceSearch specifies which invoices are listed; every zero member is any.
type InvoiceSearch struct {
	CustomerID     string
	SubscriptionID string
	Status         invoice.Status
	// CustomerIDs are those of customers of whom one is billed; nil = any.
	CustomerIDs []string
}

// DocumentNumbers hands out numbers without gaps, in each series of each account.
type DocumentNumbers interface {
	// Next takes the next number of an account's series (1 first). Its row stays locked until the transaction ends, so a
	// rolled-back transaction returns its number; payments of one account wait for each other here, so it is taken last.
	Next(ctx context.Context, creatorID string, series document.Series) (int64, error)
}

// NextNumber takes the next number of an account's series, and returns it as documents show it.
func NextNumber(
	ctx context.Context, numbers DocumentNumbers, creatorID string, series document.Series,
) (string, error) {
	n, err := numbers.Next(ctx, creatorID, series)
	if err != nil {
		return "", err
	}
	return document.Number(creatorID, series, n), nil
}

// IssuedDocuments keeps what issued documents contain. None is ever changed.
type IssuedDocuments interface {
	// Insert writes a document's snapshot. ErrDuplicate when its subject has one of its kind, or its number is taken; it
	// may come with a later statement or the commit.
	Insert(ctx context.Context, s document.Snapshot) error
	// Get returns the document of a kind by the body of its subject's id (id.Body). ErrNotFound.
	Get(ctx context.Context, kind document.Kind, subjectBody string) (document.Snapshot, error)
	// FindByNumber returns the account's documents that have one of the numbers.
	FindByNumber(ctx context.Context, creatorID string, numbers []string) ([]document.Snapshot, error)
	// ListIssued returns the receipts and credit notes that all accounts issued in [from, until), oldest first: up to
	// limit documents behind one of them, the zero Snapshot for the first.
	ListIssued(ctx context.Context, from, until time.Time, after document.Snapshot, limit int) ([]document.Snapshot, error)
	// ListPaidInvoices is ListIssued of the invoices that were paid in [from, until), whenever they were issued.
	ListPaidInvoices(ctx context.Context, from, until time.Time, after document.Snapshot,
		limit int) ([]document.Snapshot, error)
	// ListVoided is ListIssued of the credit notes whose refund came back in [from, until), whenever they were issued.
	ListVoided(ctx context.Context, from, until time.Time, after document.Snapshot, limit int) ([]document.Snapshot, error)
}

// InvoicingAudit reads invoices for `sundry verify`. Each method returns at most limit ids that break its rule.
type InvoicingAudit interface {
	// Unbalanced lists invoices that are paid without the payment of their total, or not paid with one.
	Unbalanced(ctx context.Context, limit int) ([]string, error)
	// PaidTwice lists invoices with a payment that neither paid them nor goes back.
	PaidTwice(ctx context.Context, limit int) ([]string, error)
	// Misstated lists invoices that their lines and tax do not add up to.
	Misstated(ctx context.Context, limit int) ([]string, error)
	// MisstatedDocuments lists documents whose columns are not those of the snapshot, or whose snapshot does not add up,
	// by their number and subject.
	MisstatedDocuments(ctx context.Context, limit int) ([]string, error)
	// DocumentGaps lists series of accounts, as account/series, whose documents are not exactly 1…last.
	DocumentGaps(ctx context.Context, limit int) ([]string, error)
	// Undocumented lists payments, refunds, lost disputes, invoices and payouts that have no document of their number,
	// amounts and day, and the subjects of documents that are gone.
	Undocumented(ctx context.Context, limit int) ([]string, error)
	// BilledTwice lists billing plans with two invoices of one period.
	BilledTwice(ctx context.Context, limit int) ([]string, error)
}
