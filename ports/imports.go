package ports

import (
	"context"
	"time"

	"sundry/core/customer"
	"sundry/core/imports"
	"sundry/core/listing"
	"sundry/core/paymentmethod"
	"sundry/core/plan"
	"sundry/core/subscription"
	"sundry/core/tax"
)

// BillingSource reads what a provider sells and bills by itself, a page at a time, so that it can go on here. Every
// object has an id that never changes. ErrProcessorUnavailable or ErrOutcomeUnknown when the provider does not respond.
type BillingSource interface {
	Network
	// ListProducts lists products with all their prices, after the one with an id; "" is the beginning.
	ListProducts(ctx context.Context, after string) (SourcePage[imports.Product], error)
	// ListCustomers lists customers with the card that is charged by default.
	ListCustomers(ctx context.Context, after string) (SourcePage[imports.Customer], error)
	// ListSubscriptions lists subscriptions that have not ended.
	ListSubscriptions(ctx context.Context, after string) (SourcePage[imports.Subscription], error)
	// EndSubscription has a subscription end with its current period, without another charge, and notes there as what it
	// goes on here. Again, it changes nothing.
	EndSubscription(ctx context.Context, id, goesOnAs string) error
}

// SourcePage is a page of a BillingSource. Next is the id to read on after; "" on the last page.
type SourcePage[T any] struct {
	Items []T
	Next  string
}

// ImportedObject notes as what an object of another billing service goes on here.
type ImportedObject struct {
	CreatorID string
	// Source names the service, and SourceID the object there.
	Source, SourceID string
	ObjectID         string
	CreatedAt        time.Time
}

// ImportedObjects keeps what was imported, so that nothing is imported twice.
type ImportedObjects interface {
	// Insert writes a note. ErrDuplicate when the account has imported the object before.
	Insert(ctx context.Context, o ImportedObject) error
	// Find returns the ids here of those objects of a source that the account has imported, by their ids there.
	Find(ctx context.Context, creatorID, source string, sourceIDs []string) (map[string]string, error)
}

// ListingImport is a listing as an import makes it. Its key is also its slug.
type ListingImport struct {
	Key, Title, Description string
	Type                    listing.Type
	Archived                bool
	TaxBehavior             tax.Behavior
	Plans                   []plan.Draft
}

// ListingImporter makes listings of imported products; the catalog implements it.
type ListingImporter interface {
	Network
	// ImportListing makes the account's listing with the key be as described, and puts it on sale unless it is archived.
	// Again, it changes nothing. dryRun only checks. The refusals of the catalog's use cases.
	ImportListing(
		ctx context.Context, creatorID string, l ListingImport, dryRun bool,
	) (listing.State, []plan.State, error)
}

// CustomerImporter makes customers of imported ones; customers implements it.
type CustomerImporter interface {
	// Find returns a customer of the account by either of their names. CUSTOMER_NOT_FOUND.
	Find(ctx context.Context, creatorID, customerID, externalCustomerID string) (customer.State, error)
	// Create makes a customer. VALIDATION_FAILED, and STATE_CONFLICT when another has the external id.
	Create(ctx context.Context, creatorID string, d customer.Draft) (customer.State, error)
}

// CardImporter saves cards that a provider has already; payments implements it.
type CardImporter interface {
	// ImportCard saves a card for a customer, in the caller's transaction.
	ImportCard(
		ctx context.Context, r Repos, creatorID, customerID string, card paymentmethod.Card, savedAt time.Time,
	) (paymentmethod.State, error)
}

// SubscriptionImporter goes on with subscriptions that another service has begun; subscriptions implements it.
type SubscriptionImporter interface {
	// TakeOver begins a subscription on a saved card.
	TakeOver(ctx context.Context, creatorID string, t TakeOver) (subscription.State, error)
}
