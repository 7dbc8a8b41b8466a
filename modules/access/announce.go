package access

import (
	"context"
	"fmt"
	"strings"

	"sundry/core/access"
	"sundry/ports"
)

// announce saves the next version of a document. It is announced with its cause, or by a task where the last
// announcement was less than two seconds ago. Scheduling again merges, and fences an announcement under way, so that
// the latest version is always announced last.
func (s *Service) announce(
	ctx context.Context, c *lockedAccess, next access.Document, change access.Changed,
) error {
	at := next.AnnounceAt(c.now)
	if at.After(c.now) || next.Announced.Version != change.PreviousVersion { // what came before is due first
		c.document = next
		if err := c.repos.Access.Snapshots.Update(ctx, next, &change); err != nil {
			return err
		}
		return c.repos.Tasks.Schedule(ctx, TaskAnnounce, next.CreatorID+"/"+next.ExternalCustomerID, next.CreatorID, at)
	}
	announced, e := next.Announce([]access.Changed{change}, c.now)
	c.document = announced
	if err := c.repos.Access.Snapshots.Update(ctx, announced, &change); err != nil {
		return err
	}
	return s.deps.Bus.Publish(ctx, c.repos, e)
}

// Announce announces everything that changed since the last time. Task TaskAnnounce.
func (s *Service) Announce(ctx context.Context, t ports.Task) error {
	creatorID, customer, ok := strings.Cut(t.Subject, "/")
	if !ok {
		return fmt.Errorf("announce: %q names no customer", t.Subject)
	}
	return s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		if err := r.Tasks.Done(ctx, t); err != nil {
			return err
		}
		d, err := r.Access.Snapshots.Lock(ctx, access.Empty(creatorID, customer, s.deps.Live))
		if err != nil || d.Version <= d.Announced.Version {
			return err
		}
		changes, err := r.Access.Snapshots.ListHistoryAfter(ctx, creatorID, customer, d.Announced.Version)
		if err != nil {
			return err
		}
		now, err := r.Clock.Now(ctx, creatorID)
		if err != nil {
			return err
		}
		announced, e := d.Announce(changes, now)
		if err := r.Access.Snapshots.Update(ctx, announced, nil); err != nil {
			return err
		}
		return s.deps.Bus.Publish(ctx, r, e)
	})
}
