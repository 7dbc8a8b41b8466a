// Package access keeps what each customer may use: it turns purchases, subscriptions and manual grants into grants,
// adds them up to the customer's snapshot, and lets credits be used. Every change of a snapshot happens behind the
// lock of its row, in the transaction of its cause, and raises the version by exactly one.
package access

import (
	"context"
	"errors"
	"time"

	"sundry/core/access"
	"sundry/core/checkout"
	"sundry/core/id"
	"sundry/ports"
)

// Task kinds of this module.
const (
	// TaskExpire ends a grant at its ExpiresAt; its subject is the grant's id.
	TaskExpire = "access.expire"
	// TaskAnnounce announces the changes of a customer's access; its subject is the account and the customer.
	TaskAnnounce = "access.announce"
)

// Service holds the use cases.
type Service struct {
	deps Deps
}

// Deps holds the dependencies of the module.
type Deps struct {
	Store   ports.Store
	Reader  ports.AccessReader
	Clock   ports.Clock
	Sleeper ports.Sleeper
	IDs     ports.IDs
	Bus     ports.Bus
	Terms   ports.PlanTerms
	Meters  ports.CustomerMeters
	// Customers report the name under which a customer's access is read.
	Customers ports.CustomerReader
	// Live is shown in every snapshot.
	Live bool
}

// New returns the module.
func New(d Deps) *Service { return &Service{deps: d} }

// OnCheckoutPaid grants a one-time purchase. A recurring offer grants nothing here: OnSubscriptionCreated does.
func (s *Service) OnCheckoutPaid(ctx context.Context, r ports.Repos, e checkout.Paid) error {
	if e.Offer.Recurring() {
		return nil
	}
	g := access.NewForPurchase(s.deps.IDs.New(id.Grant), e)
	state := g.State()
	_, err := s.withLockedAccess(ctx, r, state.CreatorID, state.ExternalCustomerID,
		func(c *lockedAccess) (access.Cause, error) {
			return access.Cause{Kind: access.PurchasePaid, ID: state.SourceID}, c.add(ctx, g)
		})
	return err
}

// LockAccess implements ports.AccessVersions.
func (s *Service) LockAccess(ctx context.Context, r ports.Repos, creatorID, externalCustomerID string) error {
	return r.Access.Snapshots.LockSoon(ctx, access.Empty(creatorID, externalCustomerID, s.deps.Live))
}

// AccessVersion implements ports.AccessVersions.
func (s *Service) AccessVersion(
	ctx context.Context, r ports.Repos, creatorID, externalCustomerID string,
) (int64, error) {
	if externalCustomerID == "" {
		return 0, nil
	}
	d, err := r.Access.Snapshots.Get(ctx, creatorID, externalCustomerID)
	if errors.Is(err, ports.ErrNotFound) {
		return 0, nil
	}
	return d.Version, err
}

// Expire runs TaskExpire.
func (s *Service) Expire(ctx context.Context, t ports.Task) error {
	return s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		g, err := r.Access.Grants.Get(ctx, t.CreatorID, t.Subject)
		if errors.Is(err, ports.ErrNotFound) {
			return r.Tasks.Done(ctx, t)
		}
		if err != nil {
			return err
		}
		c, err := s.withLockedAccess(ctx, r, t.CreatorID, g.State().ExternalCustomerID, noop)
		if err != nil {
			return err
		}
		if still := c.find(t.Subject); still != nil && still.Active() { // its clock is not there yet
			return r.Tasks.Postpone(ctx, t, still.State().ExpiresAt)
		}
		return r.Tasks.Done(ctx, t)
	})
}

// lockedAccess holds one customer's access behind the lock of their snapshot.
type lockedAccess struct {
	repos    ports.Repos
	document access.Document
	grants   []*access.Grant // those that ran when the lock was taken, and those added since
	now      time.Time       // account time
}

// add writes a new grant.
func (c *lockedAccess) add(ctx context.Context, g *access.Grant) error {
	c.grants = append(c.grants, g)
	return c.repos.Access.Grants.Insert(ctx, g)
}

func (c *lockedAccess) find(grantID string) *access.Grant {
	for _, g := range c.grants {
		if g.State().ID == grantID {
			return g
		}
	}
	return nil
}

func noop(*lockedAccess) (access.Cause, error) { return access.Cause{}, nil }

// withLockedAccess is the only way to change access: it locks the customer's snapshot, expires the grants that are
// due, does the work, and updates the snapshot. Each of the two steps that changes the snapshot is a version with a
// cause of its own.
func (s *Service) withLockedAccess(
	ctx context.Context, r ports.Repos, creatorID, externalCustomerID string,
	work func(c *lockedAccess) (access.Cause, error),
) (*lockedAccess, error) {
	now, err := r.Clock.Now(ctx, creatorID)
	if err != nil {
		return nil, err
	}
	c := &lockedAccess{repos: r, now: now}
	if c.document, err = r.Access.Snapshots.Lock(
		ctx, access.Empty(creatorID, externalCustomerID, s.deps.Live),
	); err != nil {
		return nil, err
	}
	if c.grants, err = r.Access.Grants.ListActive(ctx, creatorID, externalCustomerID); err != nil {
		return nil, err
	}
	if err := s.expireDue(ctx, c); err != nil {
		return nil, err
	}
	cause, err := work(c)
	if err != nil {
		return nil, err
	}
	return c, s.publish(ctx, c, cause)
}

// expireDue ends the grants that are due, so that no work relies on one.
func (s *Service) expireDue(ctx context.Context, c *lockedAccess) error {
	cause := access.Cause{Kind: access.GrantExpired}
	for _, g := range c.grants {
		if !g.DueToEnd(c.now) {
			continue
		}
		if cause.ID == "" {
			cause.ID = g.State().ID
		}
		if err := g.Expire(c.now); err != nil {
			return err
		}
		if err := c.repos.Access.Grants.Update(ctx, g); err != nil {
			return err
		}
	}
	if cause.ID == "" {
		return nil
	}
	return s.publish(ctx, c, cause)
}

// publish folds the grants and, when that gives another document, saves it as the next version and announces it.
func (s *Service) publish(ctx context.Context, c *lockedAccess, cause access.Cause) error {
	next, changed, ok, err := c.document.Next(access.Fold(c.grants), s.deps.Live, cause, c.now)
	switch {
	case err != nil:
		return err
	case ok:
		return s.announce(ctx, c, next, changed)
	case !next.NextEnd.Equal(c.document.NextEnd):
		if err := c.repos.Access.Snapshots.Update(ctx, next, nil); err != nil {
			return err
		}
	}
	c.document = next
	return nil
}
