package checkout

import (
	"context"

	"sundry/core/customer"
	"sundry/ports"
)

var _ ports.BuyerReader = (*Service)(nil)

// Buyer implements ports.BuyerReader.
func (s *Service) Buyer(ctx context.Context, r ports.Repos, checkoutID string) (ports.Addressee, error) {
	session, err := r.Checkout.Sessions.Get(ctx, checkoutID)
	return ports.Addressee{Address: session.Email, Name: session.Buyer.Name, Locale: session.Buyer.Locale}, err
}

// OnCustomerRenamed stores the integrator's own identifier.
func (s *Service) OnCustomerRenamed(ctx context.Context, r ports.Repos, e customer.Renamed) error {
	return r.Checkout.Sessions.Rename(ctx, e.CreatorID, e.ID, e.ExternalCustomerID)
}

// OnCustomerReaddressed makes mails about what a customer bought with their former address go to the new one.
func (s *Service) OnCustomerReaddressed(ctx context.Context, r ports.Repos, e customer.Readdressed) error {
	return r.Checkout.Sessions.Readdress(ctx, e.CreatorID, e.ID, e.From, e.To)
}
