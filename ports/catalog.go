package ports

import (
	"context"
	"time"

	"sundry/core/discount"
	"sundry/core/listing"
	"sundry/core/money"
	"sundry/core/paymentlink"
	"sundry/core/plan"
)

// CatalogRepos are the repositories of catalog.
type CatalogRepos struct {
	Listings     Listings
	Plans        Plans
	PaymentLinks PaymentLinks
	Discounts    Discounts
	Audit        CatalogAudit
}

// Listings keeps what creators sell.
type Listings interface {
	// Insert stores a new listing. *DuplicateError of listings_slug or listings_creator_id_catalog_key.
	Insert(ctx context.Context, s listing.State) error
	// Update stores a listing whose revision was raised by one. ErrStale when it changed since; duplicates as Insert.
	Update(ctx context.Context, s listing.State) error
	// Get loads a listing of any account: whether the caller may see it is for the use case to decide. ErrNotFound.
	Get(ctx context.Context, id string) (listing.State, error)
	// GetBySlug is Find by the platform-wide slug.
	GetBySlug(ctx context.Context, slug string) (listing.State, error)
	// GetByKey finds one of the account's listings by catalog key. ErrNotFound.
	GetByKey(ctx context.Context, creatorID, key string) (listing.State, error)
	// GetWithPlans is GetByKey with the listing's plans, as Plans.List returns them, in one query.
	GetWithPlans(ctx context.Context, creatorID, key string) (listing.State, []plan.State, error)
	// List lists the account's listings in every status, newest first.
	List(ctx context.Context, creatorID string, page Page) (List[listing.State], error)
	// Count returns the number of the account's listings that are not archived.
	Count(ctx context.Context, creatorID string) (int64, error)
	// SearchOwn returns those of the account's newest SearchedRows listings, whatever their state, whose title or
	// description contains the text; newest first, at most limit.
	SearchOwn(ctx context.Context, creatorID, text string, limit int) ([]listing.State, error)
	// Search lists ACTIVE listings of every account.
	Search(ctx context.Context, search ListingSearch, page Page) (List[listing.State], error)
}

// ListingSort is an order of the public list.
type ListingSort string

// The orders of the list. Equal prices follow the id, in the same direction.
const (
	Newest    ListingSort = "newest"
	PriceAsc  ListingSort = "price_asc"
	PriceDesc ListingSort = "price_desc"
)

// ListingSearch narrows the public list; zero members do not.
type ListingSearch struct {
	Type      listing.Type
	CreatorID string
	Currency  money.Currency
	// Text occurs in title or description, whatever the case of its letters.
	Text     string
	MinPrice *int64 // in minor units of each listing's currency
	MaxPrice *int64
	Sort     ListingSort // "" = Newest
}

// Plans keeps the plans of listings. Their listing's revision rises with every change, so that two changes of one
// listing's plans never mix.
type Plans interface {
	// List lists every plan of a listing, retired ones included, oldest first.
	List(ctx context.Context, creatorID, listingID string) ([]plan.State, error)
	// ListAll lists every plan of all the account's listings, as List does.
	ListAll(ctx context.Context, creatorID string) ([]plan.State, error)
	// Upsert stores a plan: a new one has revision 1, a known one a revision raised by one. ErrStale when somebody has
	// changed or made it since.
	Upsert(ctx context.Context, s plan.State) error
}

// PaymentLinks keeps the links that creators share.
type PaymentLinks interface {
	// Insert stores a new link.
	Insert(ctx context.Context, s paymentlink.State) error
	// Update stores a link whose revision was raised by one. ErrStale when it changed since.
	Update(ctx context.Context, s paymentlink.State) error
	// Get loads one of the account's links. ErrNotFound.
	Get(ctx context.Context, creatorID, id string) (paymentlink.State, error)
	// GetByCode loads a link by the code in its address. ErrNotFound.
	GetByCode(ctx context.Context, code string) (paymentlink.State, error)
	// List lists the account's links, newest first.
	List(ctx context.Context, creatorID string, page Page) (List[paymentlink.State], error)
}

// Discounts keeps discount codes and the sessions that have used them.
type Discounts interface {
	// Insert stores a new discount. *DuplicateError of discounts_creator_id_code_key while another has the code.
	Insert(ctx context.Context, s discount.State) error
	// Update stores a discount whose revision was raised by one. ErrStale when it changed since.
	Update(ctx context.Context, s discount.State) error
	// Get loads one of the account's discounts, deleted ones too. ErrNotFound.
	Get(ctx context.Context, creatorID, id string) (discount.State, error)
	// GetForUpdate is Get, and locks the discount until the transaction ends: its uses are counted one after the other.
	GetForUpdate(ctx context.Context, creatorID, id string) (discount.State, error)
	// GetByKey loads the account's discount by discount.Key of its code. ErrNotFound for a code that was deleted.
	GetByKey(ctx context.Context, creatorID, key string) (discount.State, error)
	// List lists the account's discounts that are not deleted, newest first.
	List(ctx context.Context, creatorID string, page Page) (List[discount.State], error)
	// InsertRedemption stores the use of a discount. ErrStale when the session's use is counted already.
	InsertRedemption(ctx context.Context, d DiscountRedemption) error
	// GetRedemption loads the use of a discount by a session. ErrNotFound.
	GetRedemption(ctx context.Context, creatorID, checkoutID string) (DiscountRedemption, error)
	// DeleteRedemption removes the use of a discount by a session.
	DeleteRedemption(ctx context.Context, creatorID, checkoutID string) error
}

// DiscountRedemption is a session's use of a discount: there is one while a payment of the session is under way and
// once it is paid.
type DiscountRedemption struct {
	CheckoutID string
	CreatorID  string
	DiscountID string
	CreatedAt  time.Time
}

// CatalogAudit reads the catalog for `sundry verify`. Each method returns at most limit ids that break its rule.
type CatalogAudit interface {
	// OverusedDiscounts lists discounts that were used more often than they may be, or whose count is not that of their
	// redemptions.
	OverusedDiscounts(ctx context.Context, limit int) ([]string, error)
	// UncountedDiscounts lists paid sessions with a discount that no redemption counts.
	UncountedDiscounts(ctx context.Context, limit int) ([]string, error)
}
