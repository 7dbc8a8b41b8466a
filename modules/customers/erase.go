package customers

import (
	"context"

	"sundry/core/customer"
	"sundry/ports"
)

// Erase forgets who a customer is, in everything but the documents and the ledger, and ends their access (GDPR,
// article 17). Again it changes nothing. CUSTOMER_NOT_FOUND, and STATE_CONFLICT while a subscription runs, money is
// open, or an appointment is to come.
func (s *Service) Erase(ctx context.Context, creatorID, customerID string) (erased customer.State, err error) {
	err = s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		before, err := owned(ctx, r, creatorID, customerID)
		if err != nil {
			return err
		}
		now, err := r.Clock.Now(ctx, creatorID)
		if err != nil {
			return err
		}
		c := customer.Restore(before)
		e, changed := c.Erase(now)
		if erased = c.State(); !changed {
			return nil
		}
		obstacle, err := r.Customers.Erasure.Obstacle(ctx, before, now)
		if err != nil {
			return err
		}
		if err := obstacle.Refuse(); err != nil {
			return err
		}
		if err := r.Customers.Customers.Update(ctx, erased); err != nil {
			return err
		}
		if err := s.deps.Bus.Publish(ctx, r, e); err != nil {
			return err
		}
		return r.Customers.Erasure.Erase(ctx, before, now)
	})
	return erased, err
}
