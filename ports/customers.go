package ports

import (
	"context"
	"errors"
	"time"

	"sundry/core/customer"
	"sundry/core/id"
)

// CustomerRepos are the repositories of customers.
type CustomerRepos struct {
	Customers Customers
	Erasure   Erasure
}

// Customers keeps buyers.
type Customers interface {
	// Insert writes a new customer. ErrDuplicate (customers_creator_id_external_customer_id) when the account has another
	// with its external id.
	Insert(ctx context.Context, c customer.State) error
	// GetOrInsert returns the account's customer with the given external id, adding c when there is none. A customer
	// without external id is always added. ErrStale, which may come with a later statement, when another transaction adds
	// one meanwhile.
	GetOrInsert(ctx context.Context, c customer.State) (customer.State, error)
	// Get returns a customer of any account. ErrNotFound.
	Get(ctx context.Context, id string) (customer.State, error)
	// GetForShare is Get that keeps the customer as they are until the transaction ends.
	GetForShare(ctx context.Context, id string) (customer.State, error)
	// GetByExternalID returns the account's customer with that external id. ErrNotFound.
	GetByExternalID(ctx context.Context, creatorID, externalCustomerID string) (customer.State, error)
	// Update writes a changed customer. ErrStale, and ErrDuplicate as Insert.
	Update(ctx context.Context, c customer.State) error
	// List returns part of an account's customers, newest first.
	List(ctx context.Context, f CustomerFilter, page Page) (List[customer.State], error)
	// Search returns customers of the account whose e-mail address begins with the text, or of whose newest SearchedRows
	// it is part of the address, the name or the external id; in any case, newest first, at most limit.
	Search(ctx context.Context, creatorID, text string, limit int) ([]customer.State, error)
	// CountByEmail returns how many of the account's customers have each of the addresses, which are in lower case.
	CountByEmail(ctx context.Context, creatorID string, emails []string) (map[string]int, error)
}

// CheckExternalID refuses an external id that is the service's id of another customer of the account: two customers
// would share the name under which access is read. customerID is the customer who is named so, "" for a new one.
// VALIDATION_FAILED.
func CheckExternalID(ctx context.Context, all Customers, creatorID, customerID, externalID string) error {
	if !id.Valid(id.Customer, externalID) || externalID == customerID {
		return nil
	}
	known, err := all.Get(ctx, externalID)
	switch {
	case errors.Is(err, ErrNotFound):
		return nil
	case err != nil:
		return err
	case known.CreatorID != creatorID, known.ExternalCustomerID == externalID:
		return nil
	}
	return known.RefuseAsName()
}

// Erasure forgets persons. It writes in the tables of every area, so that one list says where a person is known.
type Erasure interface {
	// Obstacle returns the first thing that is still open between the account and a customer; "" for none.
	Obstacle(ctx context.Context, c customer.State, now time.Time) (customer.Obstacle, error)
	// Erase blanks what every area but customers knows of a person, as they were before. Documents and the ledger stay,
	// and the country and postal code of their sales. Access is not its to end.
	Erase(ctx context.Context, c customer.State, now time.Time) error
}

// CustomerFilter specifies which customers of an account are listed. Empty members allow all.
type CustomerFilter struct {
	CreatorID          string
	Email              string // in any case
	ExternalCustomerID string
	// IDs are those of the customers asked for.
	IDs []string
}
