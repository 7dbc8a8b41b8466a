package payments

import (
	"context"
	"fmt"

	"sundry/core/fault"
	"sundry/core/payment"
	"sundry/ports"
)

// challenged loads an attempt that waits for the buyer's bank. STATE_CONFLICT for any other.
func (s *Attempts) challenged(ctx context.Context, paymentID string) (payment.State, error) {
	attempt, err := s.deps.Store.Read(ctx).Payments.Payments.Get(ctx, paymentID)
	if err != nil {
		return payment.State{}, fmt.Errorf("challenge: %w", err)
	}
	if attempt.Status != payment.RequiresAction {
		return attempt, fault.New(fault.StateConflict, "No authentication is asked for.")
	}
	return attempt, nil
}

// Challenge implements ports.ChargeRunner.
func (s *Attempts) Challenge(ctx context.Context, paymentID string) (payment.NextAction, error) {
	attempt, err := s.challenged(ctx, paymentID)
	if err != nil {
		return payment.NextAction{}, err
	}
	outcome, err := s.call(ctx, ports.ProcessorTimeout, attempt, ports.ChargeOf(attempt), ports.Processor.Find)
	if err != nil {
		return payment.NextAction{}, errUnavailable(err)
	}
	return outcome.Action, nil
}

// Authenticate implements ports.ChargeRunner.
func (s *Attempts) Authenticate(ctx context.Context, paymentID string, approve bool) (payment.State, error) {
	attempt, err := s.challenged(ctx, paymentID)
	if err != nil {
		return attempt, err
	}
	outcome, err := s.call(ctx, ports.ProcessorTimeout, attempt, ports.ChargeOf(attempt),
		func(processor ports.Processor, ctx context.Context, r ports.ChargeRequest) (payment.Outcome, error) {
			return processor.Authenticate(ctx, r, approve)
		})
	if err != nil {
		return payment.State{}, errUnavailable(err)
	}
	return s.settle(ctx, attempt, outcome)
}

// errUnavailable reports a call that the caller may repeat.
func errUnavailable(cause error) error {
	return fault.Wrap(fault.ProcessorUnavailable, "The card processor does not respond. Try again in a moment.", cause)
}
