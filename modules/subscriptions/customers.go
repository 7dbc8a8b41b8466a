package subscriptions

import (
	"context"
	"time"

	"sundry/core/customer"
	"sundry/core/paymentmethod"
	"sundry/core/subscription"
	"sundry/ports"
)

// OnCardSaved makes a customer's new card the one of all their subscriptions, and bills at once what is overdue.
func (s *Service) OnCardSaved(ctx context.Context, r ports.Repos, e paymentmethod.Saved) error {
	return s.payWith(ctx, r, e.State, e.CreatedAt)
}

// OnCardChosen makes the card that a customer chose the one of all their subscriptions, and bills at once what is
// overdue.
func (s *Service) OnCardChosen(ctx context.Context, r ports.Repos, e paymentmethod.Chosen) error {
	return s.payWith(ctx, r, e.State, e.At)
}

func (s *Service) payWith(ctx context.Context, r ports.Repos, card paymentmethod.State, at time.Time) error {
	return s.each(ctx, r, card.CustomerID, func(sub *subscription.Subscription) error {
		if err := s.useCard(ctx, r, sub, card.ID); err != nil {
			return err
		}
		if e, waits := sub.RetryAfterDispute(at); waits {
			return s.commit(ctx, r, sub, e)
		}
		state := sub.State()
		if step, _ := state.Next(); state.Status != subscription.StatusPastDue || step == subscription.NoStep ||
			step == subscription.StepEnd {
			return nil // nothing is overdue, it is being charged, or it ends at the customer's wish
		}
		_, err := s.renew(ctx, r, sub, chargeOptions{at: at, runByTask: true})
		return err
	})
}

// OnCardRemoved makes the customer's latest other card pay in the place of one that was removed.
func (s *Service) OnCardRemoved(ctx context.Context, r ports.Repos, e paymentmethod.Removed) error {
	return s.each(ctx, r, e.CustomerID, func(sub *subscription.Subscription) error {
		if sub.State().PaymentMethodID != e.ID {
			return nil
		}
		return s.useCard(ctx, r, sub, e.Next)
	})
}

func (s *Service) useCard(
	ctx context.Context, r ports.Repos, sub *subscription.Subscription, paymentMethodID string,
) error {
	e, changed, err := sub.UseCard(paymentMethodID)
	if err != nil || !changed {
		return err
	}
	return s.commit(ctx, r, sub, e)
}

// OnCustomerRenamed stores the integrator's own identifier.
func (s *Service) OnCustomerRenamed(ctx context.Context, r ports.Repos, e customer.Renamed) error {
	all, err := r.Subscriptions.Subscriptions.ListByCustomer(ctx, e.ID)
	if err != nil {
		return err
	}
	for _, state := range all {
		sub := subscription.Restore(state)
		updated, changed := sub.Rename(e.ExternalCustomerID)
		if !changed {
			continue
		}
		if err := s.commit(ctx, r, sub, updated); err != nil {
			return err
		}
	}
	return nil
}

// each locks every subscription of a customer that has not ended and calls fn with it.
func (s *Service) each(
	ctx context.Context, r ports.Repos, customerID string, fn func(*subscription.Subscription) error,
) error {
	all, err := r.Subscriptions.Subscriptions.ListByCustomer(ctx, customerID)
	if err != nil {
		return err
	}
	for _, state := range all {
		if state.Status.Terminal() {
			continue
		}
		if state, err = r.Subscriptions.Subscriptions.GetForUpdate(ctx, state.ID); err != nil {
			return err
		}
		if state.Status.Terminal() {
			continue
		}
		if err := fn(subscription.Restore(state)); err != nil {
			return err
		}
	}
	return nil
}
