// Package entitlement keeps what each customer may use: it turns purchases, subscriptions and gifts into grants, adds
// them up to the customer's snapshot, and lets credits be used. Every change of a snapshot happens behind the lock of
// its row, in the transaction of its cause, and raises the version by exactly one.
package entitlement

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"sundry/core/access"
	"sundry/core/checkout"
	"sundry/core/id"
	"sundry/core/subscription"
	"sundry/ports"
)

// TaskExpire is the kind of the task that ends a grant at its ExpiresAt; its subject is the grant's id.
const TaskExpire = "access.expire"

// Service holds the use cases.
type Service struct {
	store    ports.Store
	reader   ports.AccessReader
	clock    ports.Clock
	sleeper  ports.Sleeper
	ids      ports.IDs
	bus      ports.Bus
	terms    ports.PlanTerms
	livemode bool
}

// New returns the module over its ports. livemode is shown in every snapshot.
func New(store ports.Store, reader ports.AccessReader, clock ports.Clock, sleeper ports.Sleeper, ids ports.IDs, bus ports.Bus,
	terms ports.PlanTerms, livemode bool) *Service {
	return &Service{store, reader, clock, sleeper, ids, bus, terms, livemode}
}

// OnCheckoutPaid grants what was bought once. A recurring offer grants nothing here: OnSubscriptionStarted does. A buyer
// whom the integrator did not name has nobody to grant to.
func (s *Service) OnCheckoutPaid(ctx context.Context, r ports.Repos, e checkout.Paid) error {
	if e.ExternalCustomerID == "" || e.Offer.Recurring() {
		return nil
	}
	g := access.OfPurchase(s.ids.New(id.Grant), e)
	return s.grantOnce(ctx, r, g, access.Cause{Kind: access.PurchasePaid, ID: g.State().SourceID})
}

// OnSubscriptionStarted grants what was subscribed to.
func (s *Service) OnSubscriptionStarted(ctx context.Context, r ports.Repos, e subscription.Started) error {
	if e.ExternalCustomerID == "" {
		return nil
	}
	g := access.OfSubscription(s.ids.New(id.Grant), e.State)
	return s.grantOnce(ctx, r, g, access.Cause{Kind: access.SubscriptionStarted, ID: e.ID})
}

// OnSubscriptionEnded takes the subscription's grant away.
func (s *Service) OnSubscriptionEnded(ctx context.Context, r ports.Repos, e subscription.Ended) error {
	if e.ExternalCustomerID == "" {
		return nil
	}
	_, err := s.change(ctx, r, e.CreatorID, e.ExternalCustomerID, func(c *holder) (access.Cause, error) {
		for _, g := range c.grants {
			if st := g.State(); st.Source == access.Subscription && st.SourceID == e.ID && g.Running() {
				return access.Cause{Kind: access.SubscriptionEnded, ID: e.ID}, c.edit(ctx, g, g.EndWithSource(e.EndedAt))
			}
		}
		return access.Cause{}, nil
	})
	return err
}

// AccessVersion implements ports.AccessVersions.
func (s *Service) AccessVersion(ctx context.Context, r ports.Repos, creatorID, externalCustomerID string) (int64, error) {
	if externalCustomerID == "" {
		return 0, nil
	}
	d, err := r.Snapshots.Find(ctx, creatorID, externalCustomerID)
	if errors.Is(err, ports.ErrNotFound) {
		return 0, nil
	}
	return d.Version, err
}

// Expire runs TaskExpire.
func (s *Service) Expire(ctx context.Context, t ports.Task) error {
	return s.store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		g, err := r.Grants.Find(ctx, t.CreatorID, t.Subject)
		if errors.Is(err, ports.ErrNotFound) {
			return r.Tasks.Done(ctx, t)
		}
		if err != nil {
			return err
		}
		c, err := s.change(ctx, r, t.CreatorID, g.State().ExternalCustomerID, nothingElse)
		if err != nil {
			return err
		}
		if still := c.find(t.Subject); still != nil && still.Running() { // its clock is not there yet
			return r.Tasks.Postpone(ctx, t, still.State().ExpiresAt)
		}
		return r.Tasks.Done(ctx, t)
	})
}

// grantOnce adds a grant unless its source has granted before.
func (s *Service) grantOnce(ctx context.Context, r ports.Repos, g *access.Grant, cause access.Cause) error {
	state := g.State()
	_, err := s.change(ctx, r, state.CreatorID, state.ExternalCustomerID, func(c *holder) (access.Cause, error) {
		_, err := r.Grants.BySource(ctx, state.CreatorID, state.Source, state.SourceID)
		if errors.Is(err, ports.ErrNotFound) {
			return cause, c.add(ctx, g)
		}
		return access.Cause{}, err
	})
	return err
}

// holder is one customer's access behind the lock of their snapshot.
type holder struct {
	repos    ports.Repos
	document access.Document
	grants   []*access.Grant // those that ran when the lock was taken, and those added since
	now      time.Time       // account time
}

// add writes a new grant.
func (c *holder) add(ctx context.Context, g *access.Grant) error {
	c.grants = append(c.grants, g)
	return c.repos.Grants.Insert(ctx, g)
}

// edit writes a grant after its transition, whose refusal comes back as it is.
func (c *holder) edit(ctx context.Context, g *access.Grant, refused error) error {
	if refused != nil {
		return refused
	}
	return c.repos.Grants.Update(ctx, g)
}

func (c *holder) find(grantID string) *access.Grant {
	for _, g := range c.grants {
		if g.State().ID == grantID {
			return g
		}
	}
	return nil
}

func nothingElse(*holder) (access.Cause, error) { return access.Cause{}, nil }

// change is the one way to change access: it locks the customer's snapshot, ends the grants whose time is over, does
// the work, and brings the snapshot up to date. Each of the two steps that changes the snapshot is a version with a
// cause of its own.
func (s *Service) change(ctx context.Context, r ports.Repos, creatorID, externalCustomerID string, work func(c *holder) (access.Cause, error)) (*holder, error) {
	now, err := s.clock.Now(ctx, creatorID)
	if err != nil {
		return nil, err
	}
	c := &holder{repos: r, now: now}
	if c.document, err = r.Snapshots.Lock(ctx, access.Empty(creatorID, externalCustomerID, s.livemode)); err != nil {
		return nil, err
	}
	if c.grants, err = r.Grants.Running(ctx, creatorID, externalCustomerID); err != nil {
		return nil, err
	}
	if err := s.endDue(ctx, c); err != nil {
		return nil, err
	}
	cause, err := work(c)
	if err != nil {
		return nil, err
	}
	return c, s.publish(ctx, c, cause)
}

// endDue ends the grants whose time is over, so that nothing is ever done on the strength of one.
func (s *Service) endDue(ctx context.Context, c *holder) error {
	cause := access.Cause{Kind: access.GrantExpired}
	for _, g := range c.grants {
		if !g.DueToEnd(c.now) {
			continue
		}
		if cause.ID == "" {
			cause.ID = g.State().ID
		}
		if err := c.edit(ctx, g, g.Expire(c.now)); err != nil {
			return err
		}
	}
	return s.publish(ctx, c, cause)
}

// publish folds the grants and, when that gives another document, saves it as the next version and tells of it.
func (s *Service) publish(ctx context.Context, c *holder, cause access.Cause) error {
	next, changed, ok, err := c.document.Next(access.Fold(c.grants), s.livemode, cause, c.now)
	switch {
	case err != nil:
		return err
	case ok:
		if err := c.repos.Snapshots.Save(ctx, next, &changed); err != nil {
			return err
		}
	case !next.NextEnd.Equal(c.document.NextEnd):
		if err := c.repos.Snapshots.Save(ctx, next, nil); err != nil {
			return err
		}
	}
	c.document = next
	if !ok {
		return nil
	}
	if err := s.bus.Publish(ctx, c.repos, changed); err != nil {
		return fmt.Errorf("publish version %d: %w", changed.Version, err)
	}
	return nil
}

// ChangedSince implements ports.AccessHistory. It reads as many versions as lie between; an announcement is seldom more
// than a few behind.
func (s *Service) ChangedSince(ctx context.Context, r ports.Repos, creatorID, externalCustomerID string, version int64) (int64, []string, error) {
	current, err := s.AccessVersion(ctx, r, creatorID, externalCustomerID)
	if err != nil || current <= version {
		return current, nil, err
	}
	history, err := r.Snapshots.History(ctx, creatorID, externalCustomerID, int(current-version))
	if err != nil {
		return 0, nil, err
	}
	changed := []string{}
	for _, change := range history {
		if change.Version > version {
			changed = append(changed, change.Changed...)
		}
	}
	slices.Sort(changed)
	return current, slices.Compact(changed), nil
}
