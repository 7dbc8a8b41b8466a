// Package customers keeps buyers.
package customers

import (
	"context"
	"strings"
	"time"

	"gorm.io/gorm"

	"sundry/adapters/gormstore/repo"
	"sundry/core/customer"
	"sundry/core/metadata"
	"sundry/ports"
)

// Repositories returns the area's repositories over the connection of b.
func Repositories(b *repo.Base) ports.CustomerRepos {
	return ports.CustomerRepos{Customers: customers{customerMapping.On(b)}, Erasure: erasure{b}}
}

type customerRow struct {
	repo.Revised
	CreatorID          string
	ExternalCustomerID *string
	Email              string
	DisplayName        string
	Details            repo.JSONColumn[customer.Details]
	Metadata           string
	CreatedAt          repo.UnixMillis `gorm:"autoCreateTime:false"`
	UpdatedAt          repo.UnixMillis `gorm:"autoUpdateTime:false"`
	ErasedAt           repo.UnixMillis
}

// TableName implements gorm's tabler.
func (customerRow) TableName() string { return "customers" }

func newCustomerRow(c customer.State) customerRow {
	row := customerRow{
		Revised:   repo.Revised{ID: c.ID, Revision: c.Revision},
		CreatorID: c.CreatorID, Email: c.Email, DisplayName: c.DisplayName, Details: repo.JSON(c.Details),
		Metadata:  c.Metadata.Text(),
		CreatedAt: repo.UnixMillis(c.CreatedAt), UpdatedAt: repo.UnixMillis(c.UpdatedAt),
		ErasedAt: repo.UnixMillis(c.ErasedAt),
	}
	if c.ExternalCustomerID != "" {
		row.ExternalCustomerID = &c.ExternalCustomerID
	}
	return row
}

func (r customerRow) toState() customer.State {
	s := customer.State{
		ID: r.ID, CreatorID: r.CreatorID, Email: r.Email, DisplayName: r.DisplayName, Details: r.Details.V,
		Metadata:  metadata.Restore(r.Metadata),
		CreatedAt: time.Time(r.CreatedAt), UpdatedAt: time.Time(r.UpdatedAt), ErasedAt: time.Time(r.ErasedAt),
		Revision: r.Revision,
	}
	if r.ExternalCustomerID != nil {
		s.ExternalCustomerID = *r.ExternalCustomerID
	}
	return s
}

var customerMapping = repo.Mapping[customerRow, customer.State]{
	Name: "customer", NewRow: newCustomerRow, ToState: customerRow.toState,
	Sorts: repo.Sorts{
		"email": {SQL: "LOWER(email)", Text: true, Indexed: true},
	},
}

type customers struct {
	repo.Table[customerRow, customer.State]
}

// GetOrInsert implements ports.Customers.
func (t customers) GetOrInsert(ctx context.Context, c customer.State) (customer.State, error) {
	if c.ExternalCustomerID == "" {
		err := t.Insert(ctx, c)
		cachedCustomers.Put(t.Base, c.ID, c)
		return c, err
	}
	found, err := t.GetByExternalID(ctx, c.CreatorID, c.ExternalCustomerID)
	if repo.IsNotFound(err) { // another transaction that is faster with it makes this one run again
		row := newCustomerRow(c)
		found, err = c, t.InsertRowChecked("insert customer "+c.ID, &row, ports.ErrStale, repo.OrNothing)
	}
	if err == nil {
		cachedCustomers.Put(t.Base, found.ID, found)
	}
	return found, err
}

var cachedCustomers = repo.NewSlot[customer.State]("customers")

// Get implements ports.Customers.
func (t customers) Get(_ context.Context, id string) (customer.State, error) {
	return cachedCustomers.Get(t.Base, id, func() (customer.State, error) {
		return t.GetBy("get customer "+id, "id = ?", id)
	})
}

// GetForShare implements ports.Customers.
func (t customers) GetForShare(_ context.Context, id string) (customer.State, error) {
	t.Base = t.ForShare()
	found, err := t.GetBy("lock customer "+id, "id = ?", id)
	if err == nil {
		cachedCustomers.Put(t.Base, id, found)
	}
	return found, err
}

// PreloadCustomerOf reads the customer of a row of a table.
func PreloadCustomerOf(b *repo.Base, table, id string) {
	repo.PreloadRow(b, cachedCustomers, "get customer of "+id,
		"SELECT * FROM customers WHERE id = (SELECT customer_id FROM "+table+" WHERE id = ?)", []any{id},
		customerRow.toState, func(r customerRow) string { return r.ID })
}

// GetByExternalID implements ports.Customers.
func (t customers) GetByExternalID(_ context.Context, creatorID, externalCustomerID string) (customer.State, error) {
	const op = "get customer by external id"
	rows, err := customersByName.Get(t.Base, creatorID+"/"+externalCustomerID, func() ([]customerRow, error) {
		query := t.DB.Where("creator_id = ? AND external_customer_id = ?", creatorID, externalCustomerID)
		return repo.ListBy(t.Base, op, query, func(r customerRow) customerRow { return r })
	})
	if err == nil && len(rows) == 0 {
		err = t.Failure(op, gorm.ErrRecordNotFound)
	}
	if err != nil {
		return customer.State{}, err
	}
	return rows[0].toState(), nil
}

// customersByName caches the row of each customer that was read by its external id; no row where there is none.
var customersByName = repo.NewSlot[[]customerRow]("customers")

// PreloadBuyer reads the customer, if there is one yet, whom the session of a payment names, and keeps them as they are
// until the transaction ends: what is bought under a name goes with a change of it.
func PreloadBuyer(b *repo.Base, paymentID string) {
	const query = `SELECT s.creator_id || '/' || s.external_customer_id AS owner, c.* FROM payments p
		JOIN sessions s ON s.id = p.subject_id AND s.external_customer_id <> ''
		LEFT JOIN LATERAL (SELECT * FROM customers WHERE creator_id = s.creator_id
			AND external_customer_id = s.external_customer_id FOR NO KEY UPDATE) c ON TRUE
		WHERE p.id = ?`
	repo.PreloadList(b, customersByName, "get buyer of "+paymentID, query, []any{paymentID},
		func(r customerRow) customerRow { return r })
}

// List implements ports.Customers.
func (t customers) List(_ context.Context, f ports.CustomerFilter,
	page ports.Page) (ports.List[customer.State], error) {
	creatorID := f.CreatorID
	f.CreatorID = ""
	query := repo.Equal(t.Own(creatorID, f, page.Sort), map[string]string{
		"external_customer_id": f.ExternalCustomerID,
	})
	if f.Email != "" {
		query = query.Where("LOWER(email) = ?", strings.ToLower(f.Email))
	}
	if len(f.IDs) > 0 {
		query = query.Where("id IN ?", f.IDs)
	}
	return t.Page("list customers of "+creatorID, query, page)
}

// Search implements ports.Customers. Beginnings of addresses are found by their index, the rest among the newest.
func (t customers) Search(_ context.Context, creatorID, text string, limit int) ([]customer.State, error) {
	const op = "search customers"
	typed, folded := repo.Searched(text), strings.ToLower(repo.Searched(text))
	email := "LOWER(email)"
	if t.OnPostgres() {
		email += ` COLLATE "C"`
	}
	ids, err := t.QueryIDs(op, "SELECT id FROM customers WHERE creator_id = ? AND "+email+" >= ? AND "+email+" < ? "+
		"ORDER BY "+email+", id LIMIT ?", creatorID, folded, folded+"\U0010ffff", limit)
	if err != nil {
		return nil, err
	}
	// SQLite folds ASCII only, so a name is also compared as it was typed.
	const contains = `LOWER(email) LIKE ? ESCAPE '\' OR LOWER(display_name) LIKE ? ESCAPE '\' OR
		display_name LIKE ? ESCAPE '\' OR LOWER(external_customer_id) LIKE ? ESCAPE '\'`
	like := repo.Containing(folded)
	newest, err := t.SearchNewest(op, "customers", creatorID, limit, contains, like, like, repo.Containing(typed), like)
	if ids = append(ids, newest...); err != nil || len(ids) == 0 {
		return nil, err
	}
	return t.ListBy(op, t.DB.Where("creator_id = ? AND id IN ?", creatorID, ids).Order("id DESC").Limit(limit))
}

// CountByEmail implements ports.Customers.
func (t customers) CountByEmail(_ context.Context, creatorID string, emails []string) (map[string]int, error) {
	var rows []struct {
		Email string
		Count int
	}
	err := t.DB.Raw("SELECT LOWER(email) AS email, COUNT(*) AS count FROM customers WHERE creator_id = ? AND "+
		"LOWER(email) IN ? GROUP BY LOWER(email)", creatorID, emails).Scan(&rows).Error
	counts := map[string]int{}
	for _, row := range rows {
		counts[row.Email] = row.Count
	}
	return counts, t.Failure("count customers of "+creatorID+" by email", err)
}
