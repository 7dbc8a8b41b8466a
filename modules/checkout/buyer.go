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

// OnCustomerReaddressed makes mails about what a customer bought with their former address go to the new one.
func (s *Service) OnCustomerReaddressed(ctx context.Context, r ports.Repos, e customer.Readdressed) error {
	return r.Checkout.Sessions.Readdress(ctx, e.ID, e.From, e.To)
}

// PaymentOf implements ports.CheckoutPayments.
func (s *Service) PaymentOf(ctx context.Context, r ports.Repos, creatorID, checkoutID string) (string, error) {
	session, err := owned(ctx, r, creatorID, checkoutID)
	return session.PaymentID, err
}
