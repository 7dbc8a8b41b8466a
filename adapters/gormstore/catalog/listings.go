package catalog

import (
	"context"
	"database/sql"
	"strings"
	"time"

	"gorm.io/gorm"

	"sundry/adapters/gormstore/repo"
	"sundry/core/listing"
	"sundry/core/plan"
	"sundry/core/tax"
	"sundry/ports"
)

type listingRow struct {
	repo.Revised
	CreatorID   string
	Type        string
	Title       string
	Description string
	Search      string
	Slug        string
	CatalogKey  string
	PriceMinor  int64
	Currency    string
	PriceID     string
	TaxBehavior string
	Status      string
	TrialOnce   bool
	OneRunning  bool
	HasFiles    bool
	Metadata    repo.SharedJSON[listing.Metadata]
	Variants    repo.SharedJSON[[]listing.Variant]
	Images      repo.SharedJSON[[]listing.Image]
	CreatedAt   repo.UnixMillis `gorm:"autoCreateTime:false"`
	UpdatedAt   repo.UnixMillis `gorm:"autoUpdateTime:false"`
}

// TableName implements gorm's tabler.
func (listingRow) TableName() string { return "listings" }

func newListingRow(s listing.State) listingRow {
	return listingRow{
		Revised:   repo.Revised{ID: s.ID, Revision: s.Revision},
		CreatorID: s.CreatorID, Type: string(s.Type), Title: s.Title, Description: s.Description,
		Search: searchable(s.Title + "\n" + s.Description), Slug: s.Slug, CatalogKey: s.CatalogKey,
		PriceMinor: s.Price.Minor, Currency: string(s.Price.Currency), PriceID: s.PriceID, TaxBehavior: string(s.TaxBehavior),
		Status: string(s.Status), TrialOnce: s.TrialOncePerCustomer, OneRunning: s.OneSubscriptionPerCustomer,
		HasFiles: s.HasFiles,
		Metadata: repo.Shared(s.Metadata), Variants: repo.Shared(s.Variants), Images: repo.Shared(s.Images),
		CreatedAt: repo.UnixMillis(s.CreatedAt), UpdatedAt: repo.UnixMillis(s.UpdatedAt),
	}
}

func (r listingRow) toState() listing.State {
	return listing.State{
		ID: r.ID, CreatorID: r.CreatorID, Type: listing.Type(r.Type), Title: r.Title, Description: r.Description,
		Slug: r.Slug, CatalogKey: r.CatalogKey, Price: repo.Amount(r.PriceMinor, r.Currency),
		PriceID: r.PriceID, TaxBehavior: tax.Behavior(r.TaxBehavior), Status: listing.Status(r.Status),
		TrialOncePerCustomer: r.TrialOnce, OneSubscriptionPerCustomer: r.OneRunning, HasFiles: r.HasFiles,
		Metadata: r.Metadata.V, Variants: r.Variants.V, Images: r.Images.V,
		CreatedAt: time.Time(r.CreatedAt), UpdatedAt: time.Time(r.UpdatedAt), Revision: r.Revision,
	}
}

// searchable folds case the same way for what is stored and what is searched for: SQLite itself folds ASCII only.
func searchable(s string) string { return strings.ToLower(s) }

var listingMapping = repo.Mapping[listingRow, listing.State]{
	Name: "listing", NewRow: newListingRow, ToState: listingRow.toState,
	Sorts: repo.Sorts{
		"title":   {SQL: "LOWER(title)", Text: true},
		"price":   {SQL: "price_minor"},
		"updated": {SQL: "updated_at"},
	},
}

type listings struct {
	repo.Table[listingRow, listing.State]
}

// Get implements ports.Listings.
func (t listings) Get(_ context.Context, id string) (listing.State, error) {
	t.PreloadWith("listings", id)
	return t.GetBy("get listing "+id, "id = ?", id)
}

// GetBySlug implements ports.Listings.
func (t listings) GetBySlug(_ context.Context, slug string) (listing.State, error) {
	return t.GetBy("get listing by slug", "slug = ?", slug)
}

// GetByKey implements ports.Listings.
func (t listings) GetByKey(_ context.Context, creatorID, key string) (listing.State, error) {
	return t.GetBy("get listing by key", "creator_id = ? AND catalog_key = ?", creatorID, key)
}

// withPlans reads a listing once for each of its plans, or once with none.
const withPlans = `SELECT l.id, l.creator_id, l.type, l.title, l.description, l.slug, l.catalog_key, l.price_minor,
		l.currency, l.price_id,
		l.tax_behavior, l.status, l.trial_once, l.one_running, l.has_files, l.metadata, l.variants, l.images,
		l.created_at, l.updated_at, l.revision,
		COALESCE(p.id, ''), COALESCE(p.key, ''), COALESCE(p.name, ''), COALESCE(p.is_default, FALSE),
		COALESCE(p.trial_days, 0), p.prices, p.terms,
		COALESCE(p.retired, FALSE), p.created_at, p.updated_at, COALESCE(p.revision, 0)
	FROM listings l LEFT JOIN plans p ON p.creator_id = l.creator_id AND p.listing_id = l.id
	WHERE l.creator_id = ? AND l.catalog_key = ? ORDER BY p.id`

// listedPlan is a row of withPlans.
type listedPlan struct {
	listing listing.State
	plan    plan.State // without an id where the listing has none
}

// GetWithPlans implements ports.Listings. Every checkout by catalog key comes this way, so it goes without gorm's
// reflection.
func (t listings) GetWithPlans(_ context.Context, creatorID,
	key string) (l listing.State, plans []plan.State, err error) {
	const op = "find listing with plans"
	t.PreloadWith("creators", creatorID)
	found, err := repo.QueryShared(t.Base, op, withPlans, []any{creatorID, key},
		func(row repo.Scanner) (listedPlan, error) {
			var of listingRow
			var p planRow
			err := row.Scan(&of.ID, &of.CreatorID, &of.Type, &of.Title, &of.Description, &of.Slug, &of.CatalogKey,
				&of.PriceMinor, &of.Currency, &of.PriceID,
				&of.TaxBehavior, &of.Status, &of.TrialOnce, &of.OneRunning, &of.HasFiles, &of.Metadata, &of.Variants, &of.Images,
				&of.CreatedAt, &of.UpdatedAt, &of.Revision,
				&p.ID, &p.Key, &p.Name, &p.IsDefault, &p.TrialDays, &p.Prices, &p.Terms, &p.Retired, &p.CreatedAt, &p.UpdatedAt,
				&p.Revision)
			p.CreatorID, p.ListingID = of.CreatorID, of.ID
			return listedPlan{of.toState(), p.toState()}, err
		})
	if err == nil && len(found) == 0 {
		err = t.Failure(op, sql.ErrNoRows)
	}
	plans = make([]plan.State, 0, len(found))
	for _, row := range found {
		if l = row.listing; row.plan.ID != "" {
			plans = append(plans, row.plan)
		}
	}
	return l, plans, err
}

// Count implements ports.Listings.
func (t listings) Count(_ context.Context, creatorID string) (n int64, err error) {
	err = t.QueryRow("count listings of "+creatorID, "SELECT COUNT(*) FROM listings WHERE creator_id = ? AND status <> ?",
		[]any{creatorID, string(listing.Archived)}, &n)
	return n, err
}

// SearchOwn implements ports.Listings.
func (t listings) SearchOwn(_ context.Context, creatorID, text string, limit int) ([]listing.State, error) {
	const op = "search own listings"
	ids, err := t.SearchNewest(op, "listings", creatorID, limit, `search LIKE ? ESCAPE '\'`,
		repo.Containing(searchable(repo.Searched(text))))
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	return t.ListBy(op, t.DB.Where("creator_id = ? AND id IN ?", creatorID, ids).Order("id DESC"))
}

// Search implements ports.Listings. How rare a word or a currency is decides by which index it is found, so the plan is
// made for the parameters.
func (t listings) Search(_ context.Context, search ports.ListingSearch,
	page ports.Page) (found ports.List[listing.State], err error) {
	err = t.Planned("search listings", func(b *repo.Base) error {
		found, err = listings{listingMapping.On(b)}.search(search, page)
		return err
	})
	return found, err
}

func (t listings) search(search ports.ListingSearch, page ports.Page) (ports.List[listing.State], error) {
	query := t.DB.Where("status = 'ACTIVE'") // a literal: a parameter would hide the partial indexes from the planner
	for _, filter := range []struct {
		wanted    bool
		condition string
		value     any
	}{
		{search.Type != "", "type = ?", string(search.Type)},
		{search.CreatorID != "", "creator_id = ?", search.CreatorID},
		{search.Currency != "", "currency = ?", string(search.Currency)},
		{search.Text != "", `search LIKE ? ESCAPE '\'`, repo.Containing(searchable(search.Text))},
		{search.MinPrice != nil, "price_minor >= ?", search.MinPrice},
		{search.MaxPrice != nil, "price_minor <= ?", search.MaxPrice},
	} {
		if filter.wanted {
			query = query.Where(filter.condition, filter.value)
		}
	}
	const op = "search listings"
	switch search.Sort {
	case ports.PriceAsc:
		return t.byPrice(op, query, page, "(price_minor, id) > (?, ?)", "price_minor, id")
	case ports.PriceDesc:
		return t.byPrice(op, query, page, "(price_minor, id) < (?, ?)", "price_minor DESC, id DESC")
	case ports.Newest:
	}
	return t.Page(op, query, page)
}

// byPrice loads one page in an order of price and id.
func (t listings) byPrice(op string, query *gorm.DB, page ports.Page, after,
	order string) (ports.List[listing.State], error) {
	if page.After.ID != "" {
		query = query.Where(after, page.After.Value, page.After.ID)
	}
	var rows []listingRow
	err := query.Order(order).Limit(page.Limit + 1).Find(&rows).Error
	position := func(r listingRow) ports.Cursor { return ports.Cursor{Value: r.PriceMinor, ID: r.ID} }
	return repo.Paged(rows, page.Limit, listingRow.toState, position), t.Failure(op, err)
}
