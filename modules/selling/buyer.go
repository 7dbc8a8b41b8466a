package selling

import (
	"context"

	"sundry/ports"
)

var _ ports.CheckoutBuyers = (*Service)(nil)

// Buyer implements ports.CheckoutBuyers.
func (s *Service) Buyer(ctx context.Context, r ports.Repos, checkoutID string) (address, name string, err error) {
	session, err := r.Sessions.Get(ctx, checkoutID)
	return session.Email, session.Buyer.Name, err
}
