package ports

import (
	"context"

	"sundry/core/appointment"
	"sundry/core/listing"
	"sundry/core/period"
	"sundry/core/plan"
)

// The questions that one module asks another. Each is answered inside the asker's transaction.

// Offers is what selling asks the catalog: what exactly is being bought. Refusals: NOT_FOUND for an unknown listing,
// plan or interval, LISTING_NOT_PURCHASABLE for the account's own listing that is not ACTIVE.
type Offers interface {
	// ByCatalog finds the offer by stable keys. A plan with a one-time price ignores the interval.
	ByCatalog(ctx context.Context, r Repos, creatorID, listingKey, planKey string, interval period.Interval) (plan.Offer, error)
	// ByListing finds the default plan's offer of a listing.
	ByListing(ctx context.Context, r Repos, creatorID, listingID, variantID string) (plan.Offer, error)
	// ByLink finds what a payment link sells and where its buyers go afterwards ("" = they stay). NOT_FOUND for an
	// unknown or inactive link.
	ByLink(ctx context.Context, r Repos, code string) (offer plan.Offer, successURL string, err error)
	// Again finds what was offered once as it is sold now.
	Again(ctx context.Context, r Repos, once plan.Offer) (plan.Offer, error)
}

// PlanTerms is what entitlement asks the catalog: what a plan gives.
type PlanTerms interface {
	// TermsOf finds a plan of the account's listing by stable keys, without a price: nothing is bought. NOT_FOUND for an
	// unknown listing or plan, LISTING_NOT_PURCHASABLE for a draft; an archived listing still has its terms.
	TermsOf(ctx context.Context, r Repos, creatorID, listingKey, planKey string) (plan.Offer, error)
}

// BookedListings is what booking asks the catalog.
type BookedListings interface {
	// Listing loads a listing of any account, whatever its status. NOT_FOUND.
	Listing(ctx context.Context, r Repos, listingID string) (listing.State, error)
}

// AccessVersions is what selling asks entitlement for the receipt.
type AccessVersions interface {
	// AccessVersion is the version of the customer's snapshot; 0 for one without access.
	AccessVersion(ctx context.Context, r Repos, creatorID, externalCustomerID string) (int64, error)
}

// Sellers is what selling asks identity.
type Sellers interface {
	// SellerName is the creator's display name.
	SellerName(ctx context.Context, r Repos, creatorID string) (string, error)
}

// AccessHistory is what notify asks entitlement when it announces a change.
type AccessHistory interface {
	// ChangedSince is the customer's current version and the members that differ from an earlier one, sorted.
	ChangedSince(ctx context.Context, r Repos, creatorID, externalCustomerID string, version int64) (current int64, changed []string, err error)
}

// ReceiptLinks is what notify asks selling when it writes to a buyer.
type ReceiptLinks interface {
	// ReceiptURL is the buyer's printable receipt of a paid checkout. Whoever has it can read the receipt.
	ReceiptURL(checkoutID string) string
}

// Owners is what notify asks identity: whose account it is.
type Owners interface {
	// Owner is the creator's display name and the address that mail reaches them at.
	Owner(ctx context.Context, r Repos, creatorID string) (name, address string, err error)
}

// CheckoutBuyers is what notify asks selling when an appointment changes: whom a session sold to.
type CheckoutBuyers interface {
	// Buyer is the address and the name that a buyer gave; "" for what they did not.
	Buyer(ctx context.Context, r Repos, checkoutID string) (address, name string, err error)
}

// AppointmentDesk is what notify asks booking when it writes about appointments.
type AppointmentDesk interface {
	// ManageURL is where the buyer sees, moves and cancels an appointment. Whoever has it can do the same.
	ManageURL(appointmentID string) string
	// CalendarEntry is an appointment as calendars know it.
	CalendarEntry(a appointment.State) CalendarEntry
	// CreatorZone is the zone that a creator works in, IANA.
	CreatorZone(ctx context.Context, r Repos, creatorID string) (string, error)
	// Latest is an appointment as it is now. NOT_FOUND.
	Latest(ctx context.Context, r Repos, creatorID, appointmentID string) (appointment.State, error)
}
