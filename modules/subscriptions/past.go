package subscriptions

import (
	"context"

	"sundry/core/subscription"
	"sundry/ports"
)

// Past implements ports.PastSubscriptions.
type Past struct{}

var _ ports.PastSubscriptions = Past{}

// HadTrial implements ports.PastSubscriptions.
func (Past) HadTrial(ctx context.Context, r ports.Repos, b ports.Buyer) (bool, error) {
	had, err := first(ctx, r, b, func(s subscription.State) bool { return !s.TrialEndsAt.IsZero() })
	if err != nil || had.ID != "" || b.Card == "" {
		return had.ID != "", err
	}
	return r.Subscriptions.Subscriptions.HasTrialCard(ctx, b.Card)
}

// RunningFor implements ports.PastSubscriptions.
func (Past) RunningFor(ctx context.Context, r ports.Repos, b ports.Buyer) (customerID string, ok bool, err error) {
	if b.ExternalCustomerID == "" {
		return "", false, nil
	}
	running, err := first(ctx, r, b, func(s subscription.State) bool { return !s.Status.Terminal() })
	return running.CustomerID, running.ID != "", err
}

// first is the buyer's first subscription to the listing that matches; the zero value without one.
func first(ctx context.Context, r ports.Repos, b ports.Buyer,
	matches func(subscription.State) bool) (subscription.State, error) {
	if b.ExternalCustomerID == "" && b.Email == "" {
		return subscription.State{}, nil
	}
	all, err := r.Subscriptions.Subscriptions.ListByBuyer(ctx, b.CreatorID, b.ExternalCustomerID, b.Email)
	for _, s := range all {
		if s.Offer.ListingID == b.ListingID && matches(s) {
			return s, nil
		}
	}
	return subscription.State{}, err
}
