package payments

import (
	"context"

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
	return ports.Visible(paid, err, paid.CreatorID == creatorID, "payment")
}

// SearchBuyers returns the account's latest payments whose buyer entered an address or a name with a text in it, newest
// first, also those that were not paid.
func (s *Service) SearchBuyers(
	ctx context.Context, creatorID, text string, page ports.Page,
) (ports.List[ports.ListedPayment], error) {
	ids, err := s.deps.Store.Read(ctx).Payments.Payments.FindByBuyer(ctx, creatorID, text, page.Limit)
	if err != nil || len(ids) == 0 {
		return ports.List[ports.ListedPayment]{}, err
	}
	return s.List(ctx, creatorID, ports.PaymentSearch{IDs: ids}, page)
}

// Totals adds up what a search finds in each currency, of the newest ports.NewestRows of it.
func (s *Service) Totals(
	ctx context.Context, creatorID string, search ports.PaymentSearch,
) ([]ports.PaymentTotal, error) {
	return s.deps.Store.Read(ctx).Payments.Payments.Totals(ctx, creatorID, search)
}
