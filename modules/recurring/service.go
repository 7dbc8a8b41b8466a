// Package recurring runs subscriptions: what a first payment or a trial starts, and what happens when a period ends.
package recurring

import (
	"context"
	"errors"
	"fmt"

	"sundry/core/checkout"
	"sundry/core/subscription"
	"sundry/ports"
)

// TaskPeriodEnd looks at a subscription whose current period is over; its subject is the subscription.
const TaskPeriodEnd = "subscription.period_end"

// Service holds the use cases.
type Service struct {
	store ports.Store
	clock ports.Clock
	bus   ports.Bus
}

// New returns the module.
func New(store ports.Store, clock ports.Clock, bus ports.Bus) *Service {
	return &Service{store, clock, bus}
}

// OnCheckoutPaid starts the subscription that a recurring offer's checkout paid for.
func (s *Service) OnCheckoutPaid(ctx context.Context, r ports.Repos, e checkout.Paid) error {
	if e.SubscriptionID == "" {
		return nil
	}
	sub, started := subscription.Start(subscription.Origin{
		ID: e.SubscriptionID, CreatorID: e.CreatorID, CustomerID: e.CustomerID, ExternalCustomerID: e.ExternalCustomerID,
		CheckoutID: e.CheckoutID, PaymentMethod: e.PaymentMethod, Offer: e.Offer,
	}, e.At)
	state := sub.State()
	if err := r.Subscriptions.Add(ctx, state); err != nil {
		return err
	}
	if err := r.Tasks.Schedule(ctx, TaskPeriodEnd, state.ID, state.CreatorID, state.CurrentPeriodEnd); err != nil {
		return err
	}
	return s.bus.Publish(ctx, r, started)
}

// EndPeriod ends a subscription whose paid time is over: access lasts while payments continue, and none came. Task
// TaskPeriodEnd.
func (s *Service) EndPeriod(ctx context.Context, t ports.Task) error {
	return s.store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		loaded, err := r.Subscriptions.Get(ctx, t.Subject)
		if errors.Is(err, ports.ErrNotFound) {
			return r.Tasks.Done(ctx, t)
		}
		if err != nil {
			return err
		}
		now, err := s.clock.Now(ctx, t.CreatorID)
		if err != nil {
			return err
		}
		sub := subscription.Restore(loaded)
		ended, err := sub.Expire(now)
		if err != nil {
			return fmt.Errorf("end of period: %w", err)
		}
		if err := r.Subscriptions.Save(ctx, sub.State()); err != nil {
			return err
		}
		if err := s.bus.Publish(ctx, r, ended); err != nil {
			return err
		}
		return r.Tasks.Done(ctx, t)
	})
}
