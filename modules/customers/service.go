// Package customers keeps the people who buy: customers named by the integrator, and those known from a checkout
// only.
package customers

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"sundry/core/checkout"
	"sundry/core/customer"
	"sundry/core/event"
	"sundry/core/fault"
	"sundry/core/id"
	"sundry/ports"
)

// Config holds the settings that differ between deployments.
type Config struct {
	BaseURL string
	Live    bool
	// PortalKeys sign the links to customers' portals.
	PortalKeys customer.PortalKeys
}

// Deps holds the dependencies of the module.
type Deps struct {
	Store    ports.Store
	Clock    ports.Clock
	IDs      ports.IDs
	Bus      ports.Bus
	Accounts ports.AccountReader
	Limiter  ports.RateLimiter
}

// Service holds the use cases.
type Service struct {
	cfg  Config
	deps Deps
}

var _ ports.CustomerReader = (*Service)(nil)

// New returns the module.
func New(cfg Config, d Deps) *Service { return &Service{cfg: cfg, deps: d} }

// Create makes a customer. VALIDATION_FAILED, also for an external id that is another customer's own id, and
// STATE_CONFLICT when another has the external id.
func (s *Service) Create(ctx context.Context, creatorID string, d customer.Draft) (customer.State, error) {
	var created customer.State
	err := s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		now, err := r.Clock.Now(ctx, creatorID)
		if err != nil {
			return err
		}
		c, err := customer.New(s.deps.IDs.New(id.Customer), creatorID, d, now)
		if err != nil {
			return err
		}
		created = c.State()
		if err := checkExternalID(ctx, r, created); err != nil {
			return err
		}
		return r.Customers.Customers.Insert(ctx, created)
	})
	return created, taken(err)
}

// checkExternalID is ports.CheckExternalID of a customer's own.
func checkExternalID(ctx context.Context, r ports.Repos, c customer.State) error {
	return ports.CheckExternalID(ctx, r.Customers.Customers, c.CreatorID, c.ID, c.ExternalCustomerID)
}

// taken means that an external id is another customer's.
func taken(err error) error {
	if errors.Is(err, ports.ErrDuplicate) {
		return fault.New(fault.StateConflict, "Another customer has this externalCustomerId.")
	}
	return err
}

// Get returns a customer of the account. CUSTOMER_NOT_FOUND for any other.
func (s *Service) Get(ctx context.Context, creatorID, customerID string) (customer.State, error) {
	return owned(ctx, s.deps.Store.Read(ctx), creatorID, customerID)
}

// Find returns a customer of the account by either of their names. CUSTOMER_NOT_FOUND.
func (s *Service) Find(ctx context.Context, creatorID, customerID, externalCustomerID string) (customer.State, error) {
	if customerID != "" {
		return s.Get(ctx, creatorID, customerID)
	}
	return found(s.deps.Store.Read(ctx).Customers.Customers.GetByExternalID(ctx, creatorID, externalCustomerID))
}

// List returns part of the account's customers.
func (s *Service) List(
	ctx context.Context, f ports.CustomerFilter, page ports.Page,
) (ports.List[customer.State], error) {
	return s.deps.Store.Read(ctx).Customers.Customers.List(ctx, f, page)
}

// Search returns those of the account's customers whose address, name or external id contains a text, newest first: of
// all of them by the beginning of the address, of the latest by the rest.
func (s *Service) Search(ctx context.Context, creatorID, text string, limit int) ([]customer.State, error) {
	return s.deps.Store.Read(ctx).Customers.Customers.Search(ctx, creatorID, text, limit)
}

// CountByEmail returns how many of the account's customers have the addresses of some of them, in lower case.
func (s *Service) CountByEmail(
	ctx context.Context, creatorID string, of []customer.State,
) (map[string]int, error) {
	var emails []string
	for _, one := range of {
		if one.Email != "" {
			emails = append(emails, strings.ToLower(one.Email))
		}
	}
	if len(emails) == 0 {
		return nil, nil
	}
	return s.deps.Store.Read(ctx).Customers.Customers.CountByEmail(ctx, creatorID, emails)
}

// Update changes a customer. A new external id moves their access there, and a new email address is that of their
// orders that had the former one. CUSTOMER_NOT_FOUND, VALIDATION_FAILED, and STATE_CONFLICT when another has the
// external id.
func (s *Service) Update(ctx context.Context, creatorID, customerID string, p customer.Patch) (customer.State, error) {
	var updated customer.State
	err := s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		state, err := owned(ctx, r, creatorID, customerID)
		if err != nil {
			return err
		}
		now, err := r.Clock.Now(ctx, creatorID)
		if err != nil {
			return err
		}
		c := customer.Restore(state)
		renamed, changed, err := c.Update(p, now)
		updated = c.State()
		if err != nil || !changed {
			return err
		}
		var news []event.Event
		if renamed != nil {
			if err := checkExternalID(ctx, r, updated); err != nil {
				return err
			}
			news = append(news, *renamed)
		}
		if err := r.Customers.Customers.Update(ctx, updated); err != nil {
			return err
		}
		if from, to := state.Email, updated.Email; from != to && from != "" && to != "" {
			news = append(news, customer.Readdressed{State: updated, From: from, To: to})
		}
		return s.deps.Bus.Publish(ctx, r, news...)
	})
	return updated, taken(err)
}

// Customer implements ports.CustomerReader.
func (s *Service) Customer(ctx context.Context, r ports.Repos, customerID string) (customer.State, error) {
	return found(r.Customers.Customers.Get(ctx, customerID))
}

// CustomerForShare implements ports.CustomerReader.
func (s *Service) CustomerForShare(ctx context.Context, r ports.Repos, customerID string) (customer.State, error) {
	return found(r.Customers.Customers.GetForShare(ctx, customerID))
}

func found(state customer.State, err error) (customer.State, error) {
	if errors.Is(err, ports.ErrNotFound) {
		return customer.State{}, errNoCustomer()
	}
	return state, err
}

// OnCheckoutPaid keeps what the buyer entered about themselves, for later charges.
func (s *Service) OnCheckoutPaid(ctx context.Context, r ports.Repos, e checkout.Paid) error {
	state, err := r.Customers.Customers.Get(ctx, e.CustomerID)
	if err != nil {
		return fmt.Errorf("customer of %s: %w", e.CheckoutID, err)
	}
	c := customer.Restore(state)
	if !c.Bought(e.Email, e.Buyer, e.At) {
		return nil
	}
	return r.Customers.Customers.Update(ctx, c.State())
}

func owned(ctx context.Context, r ports.Repos, creatorID, customerID string) (customer.State, error) {
	state, err := found(r.Customers.Customers.Get(ctx, customerID))
	if err == nil && state.CreatorID != creatorID {
		return customer.State{}, errNoCustomer()
	}
	return state, err
}

// errNoCustomer is the same for an unknown customer and for another account's.
func errNoCustomer() error { return fault.New(fault.CustomerNotFound, "No such customer.") }
