// Package customers keeps buyers.
package customers

import (
	"context"
	"time"

	"sundry/adapters/gormstore/repo"
	"sundry/core/customer"
	"sundry/ports"
)

// Repositories are the area's repositories over one connection.
func Repositories(b repo.Base) ports.CustomerRepos {
	return ports.CustomerRepos{Customers: customers{customerMapping.On(b)}}
}

type customerRow struct {
	ID                 string `gorm:"primaryKey"`
	CreatorID          string
	ExternalCustomerID *string
	Email              string
	DisplayName        string
	Details            repo.JSONColumn[customer.Details]
	CreatedAt          repo.UnixMillis `gorm:"autoCreateTime:false"`
	UpdatedAt          repo.UnixMillis `gorm:"autoUpdateTime:false"`
	Revision           int64
}

// TableName implements gorm's tabler.
func (customerRow) TableName() string { return "customers" }

func newCustomerRow(c customer.State) customerRow {
	row := customerRow{
		ID: c.ID, CreatorID: c.CreatorID, Email: c.Email, DisplayName: c.DisplayName, Details: repo.JSON(c.Details),
		CreatedAt: repo.UnixMillis(c.CreatedAt), UpdatedAt: repo.UnixMillis(c.UpdatedAt), Revision: c.Revision,
	}
	if c.ExternalCustomerID != "" {
		row.ExternalCustomerID = &c.ExternalCustomerID
	}
	return row
}

func (r customerRow) toState() customer.State {
	s := customer.State{
		ID: r.ID, CreatorID: r.CreatorID, Email: r.Email, DisplayName: r.DisplayName, Details: r.Details.V,
		CreatedAt: time.Time(r.CreatedAt), UpdatedAt: time.Time(r.UpdatedAt), Revision: r.Revision,
	}
	if r.ExternalCustomerID != nil {
		s.ExternalCustomerID = *r.ExternalCustomerID
	}
	return s
}

var customerMapping = repo.Mapping[customerRow, customer.State]{
	Name: "customer", NewRow: newCustomerRow, ToState: customerRow.toState,
	Key: func(r customerRow) (string, int64) { return r.ID, r.Revision },
}

type customers struct {
	repo.Table[customerRow, customer.State]
}

// GetOrInsert implements ports.Customers.
func (t customers) GetOrInsert(ctx context.Context, c customer.State) (customer.State, error) {
	if c.ExternalCustomerID == "" {
		return c, t.Insert(ctx, c)
	}
	found, err := t.GetByExternalID(ctx, c.CreatorID, c.ExternalCustomerID)
	if repo.IsNotFound(err) { // another transaction that is faster with it makes this one run again
		row := newCustomerRow(c)
		found, err = c, t.InsertRowChecked("insert customer "+c.ID, &row, ports.ErrStale, repo.OrNothing)
	}
	if err == nil && t.Memo != nil {
		t.Memo[getCustomer+found.ID] = found
	}
	return found, err
}

// getCustomer begins what a customer is remembered as for the rest of a transaction.
const getCustomer = "get customer "

// Get implements ports.Customers.
func (t customers) Get(_ context.Context, id string) (customer.State, error) {
	doing := getCustomer + id
	return repo.Memoized(t.Base, doing, func() (customer.State, error) { return t.GetBy(doing, "id = ?", id) })
}

// Update implements ports.Customers.
func (t customers) Update(ctx context.Context, c customer.State) error {
	clear(t.Memo)
	return t.Table.Update(ctx, c)
}

// GetByExternalID implements ports.Customers.
func (t customers) GetByExternalID(_ context.Context, creatorID, externalCustomerID string) (customer.State, error) {
	return t.GetBy("get customer by external id", "creator_id = ? AND external_customer_id = ?", creatorID, externalCustomerID)
}

// List implements ports.Customers.
func (t customers) List(_ context.Context, f ports.CustomerFilter, page ports.Page) (ports.List[customer.State], error) {
	query := t.DB.Where("creator_id = ?", f.CreatorID)
	if f.Email != "" {
		query = query.Where("email = ?", f.Email)
	}
	if f.ExternalCustomerID != "" {
		query = query.Where("external_customer_id = ?", f.ExternalCustomerID)
	}
	if len(f.IDs) > 0 {
		query = query.Where("id IN ?", f.IDs)
	}
	return t.Page("list customers of "+f.CreatorID, query, page)
}
