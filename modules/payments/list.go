package payments

import (
	"context"
	"errors"

	"sundry/core/fault"
	"sundry/core/payment"
	"sundry/ports"
)

// List returns the account's payments that match the search, newest first.
func (s *Service) List(
	ctx context.Context, creatorID string, search ports.PaymentSearch, page ports.Page,
) (ports.List[ports.ListedPayment], error) {
	return s.store.Read(ctx).Payments.Payments.List(ctx, creatorID, search, page)
}

// Get shows one of the account's payments. NOT_FOUND.
func (s *Service) Get(ctx context.Context, creatorID, paymentID string) (payment.State, error) {
	paid, err := s.store.Read(ctx).Payments.Payments.Get(ctx, paymentID)
	if errors.Is(err, ports.ErrNotFound) || err == nil && paid.CreatorID != creatorID {
		return payment.State{}, fault.NotFound("payment")
	}
	return paid, err
}
