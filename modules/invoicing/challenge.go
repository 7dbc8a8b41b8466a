package invoicing

import (
	"context"
	"errors"

	"sundry/core/invoice"
	"sundry/core/payment"
	"sundry/ports"
)

// UnderWay returns the status of the charge of the invoice that is under way; "" for none.
func (s *Service) UnderWay(ctx context.Context, state invoice.State) (payment.Status, error) {
	attempt, err := s.underWay(ctx, state.ID)
	return attempt.Status, err
}

// underWay is the charge of an invoice that is under way; the zero value for none.
func (s *Service) underWay(ctx context.Context, invoiceID string) (payment.State, error) {
	attempt, err := s.deps.Store.Read(ctx).Payments.Payments.GetLive(ctx, payment.ForInvoice, invoiceID)
	if errors.Is(err, ports.ErrNotFound) {
		return payment.State{}, nil
	}
	return attempt, err
}

// challenged is the charge that waits for the bank, of the invoice behind a secret address. STATE_CONFLICT without one.
func (s *Service) challenged(ctx context.Context, link string) (invoice.State, payment.State, error) {
	state, err := s.ByLink(ctx, link)
	if err != nil {
		return invoice.State{}, payment.State{}, err
	}
	attempt, err := s.underWay(ctx, state.ID)
	if err == nil && attempt.Status != payment.RequiresAction {
		err = payment.ErrNoChallenge()
	}
	return state, attempt, err
}

// Challenge returns the next action of the customer's bank challenge. STATE_CONFLICT, RATE_LIMITED by their
// network, PROCESSOR_UNAVAILABLE.
func (s *Service) Challenge(ctx context.Context, link, network string) (payment.NextAction, error) {
	_, attempt, err := s.challenged(ctx, link)
	if err != nil {
		return payment.NextAction{}, err
	}
	return s.deps.Runner.Challenge(ctx, attempt.ID, network)
}

// Authenticate applies the outcome of the bank's challenge when the customer returns from it. With CARD_DECLINED the
// invoice is returned too. STATE_CONFLICT, RATE_LIMITED by their network, PROCESSOR_UNAVAILABLE.
func (s *Service) Authenticate(
	ctx context.Context, link string, approve bool, network string,
) (invoice.State, error) {
	state, attempt, err := s.challenged(ctx, link)
	if err != nil {
		return state, err
	}
	attempt, err = s.deps.Runner.Authenticate(ctx, attempt.ID, approve, network)
	if err != nil {
		return state, err
	}
	if attempt.Status == payment.Declined {
		return state, declined(attempt.Decline)
	}
	return state, nil
}
