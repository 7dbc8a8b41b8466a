package ports

import (
	"context"

	"sundry/core/access"
)

// AccessRepos are the repositories of access.
type AccessRepos struct {
	Grants     Grants
	Snapshots  Snapshots
	CreditUses CreditUses
	Audit      AccessAudit
}

// Grants are the reasons why customers have access.
type Grants interface {
	// Insert writes a new grant. ErrDuplicate (grants_creator_id_source_source_id) when its source has granted before.
	Insert(ctx context.Context, g *access.Grant) error
	// Update writes a changed grant. ErrStale when it changed since it was loaded.
	Update(ctx context.Context, g *access.Grant) error
	// Get returns a grant of the account. ErrNotFound when there is none.
	Get(ctx context.Context, creatorID, grantID string) (*access.Grant, error)
	// GetBySource returns the grant that a source has given. ErrNotFound when it gave none.
	GetBySource(ctx context.Context, creatorID string, source access.Source, sourceID string) (*access.Grant, error)
	// ListByCheckout returns the grants that a checkout session gave, those that ended included.
	ListByCheckout(ctx context.Context, creatorID, checkoutID string) ([]*access.Grant, error)
	// ListActive returns the customer's grants that count, oldest first.
	ListActive(ctx context.Context, creatorID, externalCustomerID string) ([]*access.Grant, error)
	// ListEnded returns the customer's grants that count no more, newest first, at most limit.
	ListEnded(ctx context.Context, creatorID, externalCustomerID string, limit int) ([]*access.Grant, error)
	// List returns one page of the account's grants by their source, those that ended included.
	List(ctx context.Context, creatorID string, page Page) (List[*access.Grant], error)
}

// Snapshots are the customers' access documents with the history of their versions.
type Snapshots interface {
	// Lock returns the customer's document, which is empty when there was none before, and keeps every other caller for
	// the customer waiting until the transaction ends, also where there is no document yet. Only behind this lock may
	// the customer's grants be loaded to be changed: that is why versions have no gaps.
	Lock(ctx context.Context, empty access.Document) (access.Document, error)
	// LockSoon locks the customer's document as Lock does, at the latest before the transaction's next read: it need not
	// wait for other writers before it returns.
	LockSoon(ctx context.Context, empty access.Document) error
	// Update writes the document that follows the locked one, with its change; change is nil where the version stays.
	// ErrStale when it does not follow.
	Update(ctx context.Context, d access.Document, change *access.Changed) error
	// Get returns the customer's document. ErrNotFound when there is none.
	Get(ctx context.Context, creatorID, externalCustomerID string) (access.Document, error)
	// ListHistory returns the latest changes, newest first, at most limit.
	ListHistory(ctx context.Context, creatorID, externalCustomerID string, limit int) ([]access.Changed, error)
	// ListHistoryAfter returns the changes after a version, oldest first.
	ListHistoryAfter(ctx context.Context, creatorID, externalCustomerID string, version int64) ([]access.Changed, error)
}

// AccessAudit reads access over all accounts for `sundry verify`, which sees the database as of one moment.
type AccessAudit interface {
	// ListCustomers returns up to limit customers behind the given document, in the order of account and customer. The
	// zero Document is the beginning.
	ListCustomers(ctx context.Context, after access.Document, limit int) ([]CustomerAccess, error)
	// LostSnapshots lists customers with grants that count or changes on record and no document, as account/customer. A
	// grant that a dispute suspends may have been moved to a name that had no access yet.
	LostSnapshots(ctx context.Context, limit int) ([]string, error)
	// LostCreditUses lists uses of credits, as account/customer/key, that are not on record both as themselves and as the
	// change that they made, or whose balance is not what was granted less what was used.
	LostCreditUses(ctx context.Context, limit int) ([]string, error)
}

// CustomerAccess is one customer's document beside what it is made of.
type CustomerAccess struct {
	Document access.Document
	// Grants are those that count, oldest first.
	Grants []*access.Grant
	// Changes counts the changes on record. Highest is the last of their versions.
	Changes, Highest int64
}

// CreditUses keeps every consumption of credits. Uses are never deleted.
type CreditUses interface {
	// Get returns the use with that key. ErrNotFound when there is none.
	Get(ctx context.Context, creatorID, externalCustomerID, idempotencyKey string) (access.CreditUse, error)
	// Insert writes a new use.
	Insert(ctx context.Context, u access.CreditUse) error
	// Copy makes the uses of a customer known under another name, too, except those whose key is known there.
	Copy(ctx context.Context, creatorID, from, to string) error
}

// AccessReader is the hot path of reading access: one key lookup, outside any transaction and holding no connection
// afterwards.
type AccessReader interface {
	// ReadAccess returns the customer's document. ErrNotFound when there is none.
	ReadAccess(ctx context.Context, creatorID, externalCustomerID string) (access.Document, error)
	// HasVersionAbove reports whether the customer's document has a higher version than the given one; what is not
	// known has version 0. Many may ask at once: they share their queries.
	HasVersionAbove(ctx context.Context, creatorID, externalCustomerID string, version int64) (bool, error)
}
