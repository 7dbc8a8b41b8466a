package gormstore

import (
	"context"
	"strings"
	"time"

	"gorm.io/gorm"

	"sundry/core/listing"
	"sundry/core/money"
	"sundry/core/plan"
	"sundry/ports"
)

type listingRow struct {
	ID          string `gorm:"primaryKey"`
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
	Status      string
	Metadata    jsonOf[listing.Metadata]
	Variants    jsonOf[[]listing.Variant]
	CreatedAt   millis `gorm:"autoCreateTime:false"`
	UpdatedAt   millis `gorm:"autoUpdateTime:false"`
	Revision    int64
}

// TableName implements gorm's tabler.
func (listingRow) TableName() string { return "listings" }

func rowOfListing(s listing.State) *listingRow {
	return &listingRow{
		ID: s.ID, CreatorID: s.CreatorID, Type: string(s.Type), Title: s.Title, Description: s.Description,
		Search: searchable(s.Title + "\n" + s.Description), Slug: s.Slug, CatalogKey: s.CatalogKey,
		PriceMinor: s.Price.Minor, Currency: string(s.Price.Currency), PriceID: s.PriceID, Status: string(s.Status),
		Metadata: jsonOf[listing.Metadata]{s.Metadata}, Variants: jsonOf[[]listing.Variant]{s.Variants},
		CreatedAt: millis(s.CreatedAt), UpdatedAt: millis(s.UpdatedAt), Revision: s.Revision,
	}
}

func (r listingRow) state() listing.State {
	return listing.State{
		ID: r.ID, CreatorID: r.CreatorID, Type: listing.Type(r.Type), Title: r.Title, Description: r.Description,
		Slug: r.Slug, CatalogKey: r.CatalogKey, Price: money.Amount{Minor: r.PriceMinor, Currency: money.Currency(r.Currency)},
		PriceID: r.PriceID, Status: listing.Status(r.Status), Metadata: r.Metadata.V, Variants: r.Variants.V,
		CreatedAt: time.Time(r.CreatedAt), UpdatedAt: time.Time(r.UpdatedAt), Revision: r.Revision,
	}
}

func listingID(r listingRow) string { return r.ID }

// searchable folds case the same way for what is stored and what is looked for: SQLite itself folds ASCII only.
func searchable(s string) string { return strings.ToLower(s) }

type listings struct{ table }

// Insert implements ports.Listings.
func (t listings) Insert(_ context.Context, s listing.State) error {
	return t.insert("insert listing "+s.ID, rowOfListing(s))
}

// Update implements ports.Listings.
func (t listings) Update(_ context.Context, s listing.State) error {
	return t.update("update listing "+s.ID, rowOfListing(s), s.ID, s.Revision)
}

// Find implements ports.Listings.
func (t listings) Find(_ context.Context, id string) (listing.State, error) {
	row, err := first[listingRow](t.table, "find listing "+id, "id = ?", id)
	return row.state(), err
}

// FindBySlug implements ports.Listings.
func (t listings) FindBySlug(_ context.Context, slug string) (listing.State, error) {
	row, err := first[listingRow](t.table, "find listing by slug", "slug = ?", slug)
	return row.state(), err
}

// FindByKey implements ports.Listings.
func (t listings) FindByKey(_ context.Context, creatorID, key string) (listing.State, error) {
	row, err := first[listingRow](t.table, "find listing by key", "creator_id = ? AND catalog_key = ?", creatorID, key)
	return row.state(), err
}

// withPlan reads by two unique keys.
const withPlan = `SELECT l.id, l.creator_id, l.type, l.title, l.description, l.slug, l.catalog_key, l.price_minor, l.currency, l.price_id,
		l.status, l.metadata, l.variants, l.created_at, l.updated_at, l.revision,
		p.id, p.name, p.is_default, p.trial_days, p.prices, p.terms, p.created_at, p.updated_at, p.revision
	FROM listings l JOIN plans p ON p.creator_id = l.creator_id AND p.listing_id = l.id
	WHERE l.creator_id = ? AND l.catalog_key = ? AND p.key = ? AND NOT p.retired`

// FindWithPlan implements ports.Listings. Every checkout by catalog key comes this way, so it goes without gorm's
// reflection.
func (t listings) FindWithPlan(_ context.Context, creatorID, key, planKey string) (listing.State, plan.State, error) {
	var l listingRow
	p := planRow{CreatorID: creatorID, Key: planKey}
	err := t.scanNow("find listing with plan", rowQuery{
		sql: withPlan, args: []any{creatorID, key, planKey},
		into: []any{
			&l.ID, &l.CreatorID, &l.Type, &l.Title, &l.Description, &l.Slug, &l.CatalogKey, &l.PriceMinor, &l.Currency, &l.PriceID,
			&l.Status, &l.Metadata, &l.Variants, &l.CreatedAt, &l.UpdatedAt, &l.Revision,
			&p.ID, &p.Name, &p.IsDefault, &p.TrialDays, &p.Prices, &p.Terms, &p.CreatedAt, &p.UpdatedAt, &p.Revision,
		},
	})
	p.ListingID = l.ID
	return l.state(), p.state(), err
}

// Mine implements ports.Listings.
func (t listings) Mine(_ context.Context, creatorID string, page ports.Page) (ports.List[listing.State], error) {
	return newest(t.table, "list listings of "+creatorID, t.db.Where("creator_id = ?", creatorID), page, listingRow.state, listingID)
}

var likeEscaper = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)

// Search implements ports.Listings.
func (t listings) Search(_ context.Context, search ports.ListingSearch, page ports.Page) (ports.List[listing.State], error) {
	query := t.db.Where("status = 'ACTIVE'") // a literal: a parameter would hide the partial indexes from the planner
	for _, filter := range []struct {
		wanted    bool
		condition string
		value     any
	}{
		{search.Type != "", "type = ?", string(search.Type)},
		{search.CreatorID != "", "creator_id = ?", search.CreatorID},
		{search.Currency != "", "currency = ?", string(search.Currency)},
		{search.Text != "", `search LIKE ? ESCAPE '\'`, "%" + likeEscaper.Replace(searchable(search.Text)) + "%"},
		{search.MinPrice != nil, "price_minor >= ?", search.MinPrice},
		{search.MaxPrice != nil, "price_minor <= ?", search.MaxPrice},
	} {
		if filter.wanted {
			query = query.Where(filter.condition, filter.value)
		}
	}
	const doing = "search listings"
	switch search.Sort {
	case ports.PriceAsc:
		return t.byPrice(doing, query, page, "(price_minor, id) > (?, ?)", "price_minor, id")
	case ports.PriceDesc:
		return t.byPrice(doing, query, page, "(price_minor, id) < (?, ?)", "price_minor DESC, id DESC")
	case ports.Newest:
	}
	return newest(t.table, doing, query, page, listingRow.state, listingID)
}

// byPrice loads one page in an order of price and id.
func (t listings) byPrice(doing string, query *gorm.DB, page ports.Page, after, order string) (ports.List[listing.State], error) {
	if page.After.ID != "" {
		query = query.Where(after, page.After.Value, page.After.ID)
	}
	var rows []listingRow
	err := query.Order(order).Limit(page.Limit + 1).Find(&rows).Error
	position := func(r listingRow) ports.Cursor { return ports.Cursor{Value: r.PriceMinor, ID: r.ID} }
	return paged(rows, page.Limit, listingRow.state, position), t.failure(doing, err)
}
