package ports

import (
	"context"

	"sundry/core/listing"
	"sundry/core/money"
	"sundry/core/plan"
)

// Listings keeps what creators sell.
type Listings interface {
	// Insert stores a new listing. *DuplicateError of listings_slug or listings_creator_id_catalog_key.
	Insert(ctx context.Context, s listing.State) error
	// Update stores a listing whose revision was raised by one. ErrStale when it changed since; duplicates as Insert.
	Update(ctx context.Context, s listing.State) error
	// Find loads a listing of any account: whether the caller may see it is the use case's to say. ErrNotFound.
	Find(ctx context.Context, id string) (listing.State, error)
	// FindBySlug is Find by the platform-wide slug.
	FindBySlug(ctx context.Context, slug string) (listing.State, error)
	// FindByKey finds one of the account's listings by catalog key. ErrNotFound.
	FindByKey(ctx context.Context, creatorID, key string) (listing.State, error)
	// FindWithPlan finds a listing by catalog key together with one of its plans, in one look. ErrNotFound when either is
	// missing or the plan is retired.
	FindWithPlan(ctx context.Context, creatorID, key, planKey string) (listing.State, plan.State, error)
	// Mine lists the account's listings in every status, newest first.
	Mine(ctx context.Context, creatorID string, page Page) (List[listing.State], error)
	// Search lists ACTIVE listings of every account.
	Search(ctx context.Context, search ListingSearch, page Page) (List[listing.State], error)
}

// ListingSort is an order of the public list.
type ListingSort string

// The orders of the contract. Equal prices follow the id, in the same direction.
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
