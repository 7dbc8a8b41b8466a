package payments

import (
	"context"
	"errors"
	"fmt"

	"sundry/core/id"
	"sundry/core/payment"
	"sundry/core/refund"
	"sundry/ports"
)

// Refund implements ports.Charges.
func (s *Attempts) Refund(ctx context.Context, r ports.Repos, paid payment.State) error {
	now, err := r.Clock.Now(ctx, paid.CreatorID)
	if err != nil {
		return err
	}
	return r.Tasks.Schedule(ctx, TaskRefund, paid.ID, paid.CreatorID, now)
}

// RefundPayment makes all of a payment go back. Task TaskRefund.
func (s *Attempts) RefundPayment(ctx context.Context, t ports.Task) error {
	paid, err := s.deps.Store.Read(ctx).Payments.Payments.Get(ctx, t.Subject)
	if errors.Is(err, ports.ErrNotFound) {
		return s.deps.Store.Atomically(
			ctx, func(ctx context.Context, r ports.Repos) error { return r.Tasks.Done(ctx, t) },
		)
	}
	if err != nil {
		return fmt.Errorf("refund: %w", err)
	}
	provider, err := s.deps.Providers.Get(paid.Provider)
	if err != nil {
		return fmt.Errorf("refund %s: %w", paid.ID, err)
	}
	outcome, err := within(ctx, ports.ProcessorTimeout, func(ctx context.Context) (refund.Outcome, error) {
		return provider.Processor.Refund(ctx, ports.RefundRequest{
			RefundID: string(id.Refund) + "_" + id.Body(paid.ID), PaymentID: paid.ID, ProcessorID: paid.ProcessorID,
			CreatorID: paid.CreatorID, Amount: paid.Amount,
		})
	})
	if err != nil {
		return fmt.Errorf("refund %s: %w", paid.ID, err)
	}
	if outcome.Status != refund.Succeeded {
		return fmt.Errorf("refund of %s is %s: %s", paid.ID, outcome.Status, outcome.Reason)
	}
	return s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		latest, err := r.Payments.Payments.Get(ctx, paid.ID)
		if err != nil {
			return err
		}
		aggregate := payment.Restore(latest)
		changed, err := aggregate.MarkRefunded()
		if err != nil {
			return err
		}
		if changed {
			reversed := aggregate.State()
			if err := r.Payments.Payments.Update(ctx, reversed); err != nil {
				return err
			}
			if err := s.deps.Bus.Publish(ctx, r, payment.Reversed{State: reversed}); err != nil {
				return err
			}
		}
		return r.Tasks.Done(ctx, t)
	})
}
