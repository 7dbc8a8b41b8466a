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
	return s.deps.Store.Read(ctx).Payments.Payments.List(ctx, creatorID, search, page)
}

// Listed returns one of the account's payments as List does. NOT_FOUND.
func (s *Service) Listed(ctx context.Context, creatorID, paymentID string) (ports.ListedPayment, error) {
	found, err := s.List(ctx, creatorID, ports.PaymentSearch{ID: paymentID}, ports.Page{Limit: 1})
	if err == nil && len(found.Items) == 0 {
		err = fault.NotFound("payment")
	}
	if err != nil {
		return ports.ListedPayment{}, err
	}
	return found.Items[0], nil
}

// Get shows one of the account's payments. NOT_FOUND.
func (s *Service) Get(ctx context.Context, creatorID, paymentID string) (payment.State, error) {
	paid, err := s.deps.Store.Read(ctx).Payments.Payments.Get(ctx, paymentID)
	if errors.Is(err, ports.ErrNotFound) || err == nil && paid.CreatorID != creatorID {
		return payment.State{}, fault.NotFound("payment")
	}
	return paid, err
}
