package payments

import (
	"context"
	"fmt"
	"time"

	"sundry/core/payment"
	"sundry/ports"
)

// How often the customers of one network are led to their banks and come back. The processor is asked each time.
const (
	maxChallenged    = 240
	challengedWindow = 10 * time.Minute
)

// countChallenge counts a question to the processor about a challenge. RATE_LIMITED.
func countChallenge(ctx context.Context, limiter ports.RateLimiter, network string) error {
	return ports.Admit(ctx, limiter, ports.Attempt{
		Key: "payments.challenge:" + network, Limit: maxChallenged, Window: challengedWindow,
		Message: "Too many payments were confirmed from your network. Wait a few minutes, then try again.",
	})
}

// challenged loads an attempt that waits for the buyer's bank, to ask the processor about it. STATE_CONFLICT for any
// other, RATE_LIMITED.
func (s *Attempts) challenged(ctx context.Context, paymentID, network string) (payment.State, error) {
	attempt, err := s.deps.Store.Read(ctx).Payments.Payments.Get(ctx, paymentID)
	if err != nil {
		return payment.State{}, fmt.Errorf("challenge: %w", err)
	}
	if attempt.Status != payment.RequiresAction {
		return attempt, payment.ErrNoChallenge()
	}
	return attempt, countChallenge(ctx, s.deps.Limiter, network)
}

// Challenge implements ports.ChargeRunner.
func (s *Attempts) Challenge(ctx context.Context, paymentID, network string) (payment.NextAction, error) {
	attempt, err := s.challenged(ctx, paymentID, network)
	if err != nil {
		return payment.NextAction{}, err
	}
	outcome, err := s.call(ctx, ports.ProcessorTimeout, attempt, ports.ChargeOf(attempt), ports.Processor.Find)
	if err != nil {
		return payment.NextAction{}, payment.ErrProcessorDown(err)
	}
	return outcome.Action, nil
}

// Authenticate implements ports.ChargeRunner.
func (s *Attempts) Authenticate(
	ctx context.Context, paymentID string, approve bool, network string,
) (payment.State, error) {
	attempt, err := s.challenged(ctx, paymentID, network)
	if err != nil {
		return attempt, err
	}
	outcome, err := s.call(ctx, ports.ProcessorTimeout, attempt, ports.ChargeOf(attempt),
		func(processor ports.Processor, ctx context.Context, r ports.ChargeRequest) (payment.Outcome, error) {
			return processor.Authenticate(ctx, r, approve)
		})
	if err != nil {
		return payment.State{}, payment.ErrProcessorDown(err)
	}
	return s.settle(ctx, attempt, outcome)
}
