package checkout

import (
	"context"

	"sundry/core/checkout"
	"sundry/core/fault"
	"sundry/core/payment"
)

// challenged is the attempt of the session behind a hosted page's secret that waits for the buyer's bank.
// STATE_CONFLICT when none does, SESSION_EXPIRED once the session has expired.
func (s *Service) challenged(ctx context.Context, secret string) (payment.State, error) {
	session, err := s.bySecret(ctx, secret)
	if err != nil {
		return payment.State{}, err
	}
	now, err := s.deps.Clock.Now(ctx, session.CreatorID)
	if err != nil {
		return payment.State{}, err
	}
	attempt, ok, err := live(ctx, s.deps.Store.Read(ctx), session)
	if err != nil {
		return payment.State{}, err
	}
	if over := checkout.Restore(session).RequireOpen(now); !ok && fault.Is(over, fault.SessionExpired) {
		return payment.State{}, over
	}
	if !ok || attempt.Status != payment.RequiresAction {
		return payment.State{}, payment.ErrNoChallenge()
	}
	return attempt, nil
}

// Challenge returns the next action of the buyer's bank challenge. STATE_CONFLICT when there is none, SESSION_EXPIRED,
// RATE_LIMITED by their network, PROCESSOR_UNAVAILABLE.
func (s *Service) Challenge(ctx context.Context, secret, network string) (payment.NextAction, error) {
	attempt, err := s.challenged(ctx, secret)
	if err != nil {
		return payment.NextAction{}, err
	}
	return s.deps.Runner.Challenge(ctx, attempt.ID, network)
}

// Authenticate is called when the buyer returns from their bank's challenge. A failed one is CARD_DECLINED.
// RATE_LIMITED by their network.
func (s *Service) Authenticate(
	ctx context.Context, secret string, approve bool, network string,
) (checkout.State, error) {
	attempt, err := s.challenged(ctx, secret)
	if err != nil {
		return checkout.State{}, err
	}
	attempt, err = s.deps.Runner.Authenticate(ctx, attempt.ID, approve, network)
	if err != nil {
		return checkout.State{}, err
	}
	ctx = context.WithoutCancel(ctx)
	session, err := s.deps.Store.Read(ctx).Checkout.Sessions.Get(ctx, attempt.CheckoutID())
	if err != nil {
		return checkout.State{}, err
	}
	return session, refusal(attempt)
}
