package webhooks

import (
	"context"

	"sundry/core/dispute"
	"sundry/core/event"
	"sundry/core/payout"
	"sundry/core/refund"
	"sundry/ports"
)

// OnRefundCreated publishes refund.created.
func (s *Service) OnRefundCreated(ctx context.Context, r ports.Repos, e refund.Created) error {
	return s.publish(ctx, r, e.CreatorID, event.RefundCreated, e.View())
}

// OnDisputeOpened publishes dispute.opened.
func (s *Service) OnDisputeOpened(ctx context.Context, r ports.Repos, e dispute.Opened) error {
	return s.publish(ctx, r, e.CreatorID, event.DisputeOpened, e.View())
}

// OnDisputeClosed publishes dispute.closed.
func (s *Service) OnDisputeClosed(ctx context.Context, r ports.Repos, e dispute.Closed) error {
	return s.publish(ctx, r, e.CreatorID, event.DisputeClosed, e.View())
}

// OnPayoutPaid publishes payout.paid.
func (s *Service) OnPayoutPaid(ctx context.Context, r ports.Repos, e payout.PaidOut) error {
	return s.publish(ctx, r, e.CreatorID, event.PayoutPaid, e.View())
}
