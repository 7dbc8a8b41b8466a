package access

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"sundry/core/access"
	"sundry/core/customer"
	"sundry/core/id"
	"sundry/core/subscription"
	"sundry/ports"
)

// OnSubscriptionCreated grants the entitlements of a new subscription.
func (s *Service) OnSubscriptionCreated(ctx context.Context, r ports.Repos, e subscription.Created) error {
	return s.follow(ctx, r, e.State, (*access.Grant).Follow, access.SubscriptionStarted)
}

// OnSubscriptionRenewed moves the grant to the new period: credits that renew are full again.
func (s *Service) OnSubscriptionRenewed(ctx context.Context, r ports.Repos, e subscription.Renewed) error {
	return s.follow(ctx, r, e.State, (*access.Grant).Renew, access.SubscriptionChanged)
}

// OnSubscriptionUpdated follows a change of plan, a pause or a resumption: what was used of credits stays used.
func (s *Service) OnSubscriptionUpdated(ctx context.Context, r ports.Repos, e subscription.Updated) error {
	return s.follow(ctx, r, e.State, (*access.Grant).Follow, access.SubscriptionChanged)
}

// OnSubscriptionChargeFailed lets the grant last for the grace.
func (s *Service) OnSubscriptionChargeFailed(ctx context.Context, r ports.Repos, e subscription.ChargeFailed) error {
	return s.follow(ctx, r, e.State, (*access.Grant).Follow, access.SubscriptionChanged)
}

// OnSubscriptionCancelScheduled shows until when the plan lasts.
func (s *Service) OnSubscriptionCancelScheduled(
	ctx context.Context, r ports.Repos, e subscription.CancelScheduled,
) error {
	return s.follow(ctx, r, e.State, (*access.Grant).Follow, access.SubscriptionChanged)
}

// OnSubscriptionCanceled ends the grant.
func (s *Service) OnSubscriptionCanceled(ctx context.Context, r ports.Repos, e subscription.Canceled) error {
	return s.follow(ctx, r, e.State, (*access.Grant).Follow, access.SubscriptionEnded)
}

// OnSubscriptionExpired ends the grant.
func (s *Service) OnSubscriptionExpired(ctx context.Context, r ports.Repos, e subscription.Expired) error {
	return s.follow(ctx, r, e.State, (*access.Grant).Follow, access.SubscriptionEnded)
}

// OnSubscriptionMoneyMoved follows a refund or a dispute of one of its payments.
func (s *Service) OnSubscriptionMoneyMoved(ctx context.Context, r ports.Repos, e subscription.MoneyMoved) error {
	kinds := map[subscription.MoneyMove]access.CauseKind{
		subscription.PaymentRefunded: access.PaymentRefunded, subscription.DisputeOpened: access.DisputeOpened,
		subscription.DisputeWon: access.DisputeWon, subscription.RefundFailed: access.RefundFailed,
	}
	return s.followAs(ctx, r, e.State, (*access.Grant).Follow, access.Cause{Kind: kinds[e.Why], ID: e.ID})
}

// follow brings the subscription's grant in line with its state by one of the grant's moves. The grant expires when the
// grace period ends.
func (s *Service) follow(ctx context.Context, r ports.Repos, sub subscription.State,
	move func(*access.Grant, subscription.State, time.Time), why access.CauseKind) error {
	return s.followAs(ctx, r, sub, move, access.Cause{Kind: why, ID: sub.ID})
}

func (s *Service) followAs(ctx context.Context, r ports.Repos, sub subscription.State,
	move func(*access.Grant, subscription.State, time.Time), cause access.Cause) error {
	key := customer.AccessKey(sub.ExternalCustomerID, sub.CustomerID)
	var g *access.Grant
	_, err := s.withLockedAccess(ctx, r, sub.CreatorID, key, func(c *lockedAccess) (access.Cause, error) {
		var err error
		g, err = c.ofSubscription(ctx, sub)
		if errors.Is(err, ports.ErrNotFound) {
			g = access.NewForSubscription(s.deps.IDs.New(id.Grant), sub, c.now)
			return cause, c.add(ctx, g)
		}
		if err != nil {
			return access.Cause{}, err
		}
		move(g, sub, c.now)
		return cause, c.repos.Access.Grants.Update(ctx, g)
	})
	if err != nil {
		return fmt.Errorf("follow %s: %w", sub.ID, err)
	}
	if state := g.State(); g.Active() && !state.ExpiresAt.IsZero() {
		return r.Tasks.Schedule(ctx, TaskExpire, state.ID, state.CreatorID, state.ExpiresAt)
	}
	return r.Tasks.Cancel(ctx, TaskExpire, g.State().ID)
}

// ofSubscription is the subscription's grant, whether it counts or not. ErrNotFound before it has given one.
func (c *lockedAccess) ofSubscription(ctx context.Context, sub subscription.State) (*access.Grant, error) {
	for _, g := range c.grants {
		if st := g.State(); st.Source == access.Subscription && st.SourceID == sub.ID {
			return g, nil
		}
	}
	g, err := c.repos.Access.Grants.GetBySource(ctx, sub.CreatorID, access.Subscription, sub.ID)
	if err == nil {
		c.grants = append(c.grants, g)
	}
	return g, err
}

// OnCustomerRenamed moves all that a customer may use to the name that the integrator has given them, what is
// suspended included: one version under each name. A use of credits that is asked again under the new name is the same.
func (s *Service) OnCustomerRenamed(ctx context.Context, r ports.Repos, e customer.Renamed) error {
	cause := access.Cause{Kind: access.CustomerRenamed, ID: e.ID}
	var moved []*access.Grant
	_, err := s.withLockedAccess(ctx, r, e.CreatorID, e.From, func(c *lockedAccess) (access.Cause, error) {
		suspended, err := suspendedOf(ctx, r, e.CreatorID, e.From)
		moved, c.grants = slices.Concat(c.grants, suspended), nil
		return cause, err
	})
	if err != nil {
		return fmt.Errorf("rename %s: %w", e.ID, err)
	}
	_, err = s.withLockedAccess(ctx, r, e.CreatorID, e.To, func(c *lockedAccess) (access.Cause, error) {
		for _, g := range moved {
			if !g.Active() && !g.Suspended() {
				continue
			}
			g.Rename(e.To)
			if g.Active() {
				c.grants = append(c.grants, g)
			}
			if err := c.repos.Access.Grants.Update(ctx, g); err != nil {
				return access.Cause{}, err
			}
		}
		return cause, r.Access.CreditUses.Copy(ctx, e.CreatorID, e.From, e.To)
	})
	if err != nil {
		return fmt.Errorf("rename %s: %w", e.ID, err)
	}
	return nil
}

// suspendedOf lists a customer's grants that may count again.
func suspendedOf(ctx context.Context, r ports.Repos, creatorID, name string) ([]*access.Grant, error) {
	ended, err := r.Access.Grants.ListEnded(ctx, creatorID, name, math.MaxInt32)
	return slices.DeleteFunc(ended, func(g *access.Grant) bool { return !g.Suspended() }), err
}
