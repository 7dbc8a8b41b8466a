package webhooks

import (
	"context"
	"fmt"
	"strings"
	"time"

	"sundry/core/access"
	"sundry/core/event"
	"sundry/ports"
)

// announceEvery is the shortest interval between two announcements of one customer's changes.
const announceEvery = 2 * time.Second

// OnAccessChanged makes an announcement due: at once, or two seconds after the one before. Scheduling again merges, and
// fences an announcement under way, so that the latest version is always sent last.
func (s *Service) OnAccessChanged(ctx context.Context, r ports.Repos, e access.Changed) error {
	last, err := r.Webhooks.Announcements.Get(ctx, e.CreatorID, e.ExternalCustomerID)
	if err != nil {
		return err
	}
	due := e.At
	if next := last.At.Add(announceEvery); next.After(due) {
		due = next
	}
	return r.Tasks.Schedule(ctx, TaskAnnounce, e.CreatorID+"/"+e.ExternalCustomerID, e.CreatorID, due)
}

// AccessChanged is the thin data of customer.access_changed: the receiver reads the snapshot.
type AccessChanged struct {
	ExternalCustomerID string   `json:"externalCustomerId"`
	Version            int64    `json:"version"`
	PreviousVersion    int64    `json:"previousVersion"`
	Changed            []string `json:"changed"`
}

// Announce publishes customer.access_changed with everything that changed since the last one. Task TaskAnnounce.
func (s *Service) Announce(ctx context.Context, t ports.Task) error {
	creatorID, customer, ok := strings.Cut(t.Subject, "/")
	if !ok {
		return fmt.Errorf("announce: %q names no customer", t.Subject)
	}
	return s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		if err := r.Tasks.Done(ctx, t); err != nil {
			return err
		}
		last, err := r.Webhooks.Announcements.Get(ctx, creatorID, customer)
		if err != nil {
			return err
		}
		current, changed, err := s.deps.History.ChangedSince(ctx, r, creatorID, customer, last.Version)
		if err != nil || current <= last.Version {
			return err
		}
		now, err := r.Clock.Now(ctx, creatorID)
		if err != nil {
			return err
		}
		if err := r.Webhooks.Announcements.Upsert(
			ctx, creatorID, customer, ports.Announcement{Version: current, At: now},
		); err != nil {
			return err
		}
		return s.publish(ctx, r, creatorID, event.CustomerAccessChanged, AccessChanged{
			ExternalCustomerID: customer, Version: current, PreviousVersion: last.Version, Changed: changed,
		})
	})
}
