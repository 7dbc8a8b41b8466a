package subscriptions

import (
	"context"

	"sundry/core/subscription"
	"sundry/ports"
)

// Disputed implements ports.DisputedSubscriptions.
type Disputed struct{}

var _ ports.DisputedSubscriptions = Disputed{}

// DisputeOf implements ports.DisputedSubscriptions.
func (Disputed) DisputeOf(ctx context.Context, r ports.Repos, subscriptionID string) (open, lost bool, err error) {
	state, err := r.Subscriptions.Subscriptions.Get(ctx, subscriptionID)
	return len(state.Disputes) > 0, state.CancelReason == subscription.CancelDisputeLost, err
}
