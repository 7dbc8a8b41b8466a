package access

import (
	"context"
	"slices"
	"time"

	"sundry/core/access"
	"sundry/core/dispute"
	"sundry/core/ledger"
	"sundry/core/refund"
	"sundry/ports"
)

// OnRefundCreated revokes the access that the payment of a purchase gave when all of it was refunded, unless the
// account keeps it. What a subscription's payment gave is the subscription's to take away.
func (s *Service) OnRefundCreated(ctx context.Context, r ports.Repos, e refund.Created) error {
	if !e.Full || e.KeepAccess {
		return nil
	}
	cause := access.Cause{Kind: access.PaymentRefunded, ID: e.ID}
	return s.changePaid(ctx, r, e.CreatorID, e.Return, cause, (*access.Grant).EndRefunded)
}

// OnRefundFailed restores the access that refunds of all of the payment ended, when the money of one of them came back.
func (s *Service) OnRefundFailed(ctx context.Context, r ports.Repos, e refund.Failure) error {
	if !e.WasFull || e.Automatic { // what was paid for was never given
		return nil
	}
	cause := access.Cause{Kind: access.RefundFailed, ID: e.ID}
	return s.changePaid(ctx, r, e.CreatorID, e.Return, cause, func(g *access.Grant, now time.Time) bool {
		return g.ResumeRefunded(e.Disputed, now)
	})
}

// OnDisputeOpened suspends what the payment of a purchase gave.
func (s *Service) OnDisputeOpened(ctx context.Context, r ports.Repos, e dispute.Opened) error {
	cause := access.Cause{Kind: access.DisputeOpened, ID: e.ID}
	return s.changePaid(ctx, r, e.CreatorID, e.Return, cause, (*access.Grant).Suspend)
}

// OnDisputeClosed gives it back when the dispute was won.
func (s *Service) OnDisputeClosed(ctx context.Context, r ports.Repos, e dispute.Closed) error {
	if e.Status != dispute.Won {
		return nil
	}
	cause := access.Cause{Kind: access.DisputeWon, ID: e.ID}
	return s.changePaid(ctx, r, e.CreatorID, e.Return, cause, (*access.Grant).Resume)
}

// changePaid is changeGrants for the grants of the purchase that a payment paid for.
func (s *Service) changePaid(
	ctx context.Context, r ports.Repos, creatorID string, paid ledger.Return, cause access.Cause,
	move func(g *access.Grant, now time.Time) (changed bool),
) error {
	if paid.SubscriptionID != "" || paid.Purchase() == "" {
		return nil // a subscription follows its own money, and an invoice gives nothing
	}
	given, err := r.Access.Grants.ListByCheckout(ctx, creatorID, paid.CheckoutID)
	if err != nil {
		return err
	}
	given = slices.DeleteFunc(given, func(g *access.Grant) bool { return g.State().Source == access.Subscription })
	return s.changeGrants(ctx, r, given, cause, move)
}

// changeGrants moves each of the grants behind its customer's lock.
func (s *Service) changeGrants(
	ctx context.Context, r ports.Repos, given []*access.Grant, cause access.Cause,
	move func(g *access.Grant, now time.Time) (changed bool),
) error {
	for _, seen := range given {
		before := seen.State()
		_, err := s.withLockedAccess(ctx, r, before.CreatorID, before.ExternalCustomerID,
			func(c *lockedAccess) (access.Cause, error) {
				g := c.find(before.ID)
				if g == nil { // it has ended: read it again behind the lock
					var err error
					if g, err = r.Access.Grants.Get(ctx, before.CreatorID, before.ID); err != nil {
						return access.Cause{}, err
					}
					c.grants = append(c.grants, g)
				}
				if !move(g, c.now) {
					return access.Cause{}, nil
				}
				return cause, r.Access.Grants.Update(ctx, g)
			})
		if err != nil {
			return err
		}
	}
	return nil
}
