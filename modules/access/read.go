package access

import (
	"context"
	"errors"
	"time"

	"sundry/core/access"
	"sundry/ports"
)

// MaxWait bounds how long a reader may wait for a higher version.
const MaxWait = 25 * time.Second

// A waiting reader compares versions after these pauses. The first is short for a payment that is being
// confirmed right now; the longest bounds the cost of many readers.
const (
	firstPause   = 100 * time.Millisecond
	longestPause = 500 * time.Millisecond
)

// Snapshot returns the customer's document: the empty one, version 0, for a customer that is not known.
func (s *Service) Snapshot(ctx context.Context, creatorID, externalCustomerID string) (access.Document, error) {
	d, err := s.read(ctx, creatorID, externalCustomerID)
	if err != nil || d.NextEnd.IsZero() {
		return d, err
	}
	now, err := s.deps.Clock.Now(ctx, creatorID)
	if err != nil || now.Before(d.NextEnd) {
		return d, err
	}
	// A grant has expired and its task has not run yet. Access is never shown for longer than it was given, so end it
	// now.
	err = s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		c, err := s.withLockedAccess(ctx, r, creatorID, externalCustomerID, noop)
		if err == nil {
			d = c.document
		}
		return err
	})
	return d, err
}

func (s *Service) read(ctx context.Context, creatorID, externalCustomerID string) (access.Document, error) {
	d, err := s.deps.Reader.ReadAccess(ctx, creatorID, externalCustomerID)
	if errors.Is(err, ports.ErrNotFound) {
		return access.Empty(creatorID, externalCustomerID, s.deps.Live), nil
	}
	return d, err
}

// Wait returns the customer's document as soon as its version is higher than after. When wait (at most MaxWait)
// elapses or ctx ends, it returns the current one. No connection is held while waiting, and the document is read again
// only when it has changed or access ends.
func (s *Service) Wait(
	ctx context.Context, creatorID, externalCustomerID string, after int64, wait time.Duration,
) (access.Document, error) {
	deadline := s.deps.Clock.Real().Add(min(wait, MaxWait))
	reading := context.WithoutCancel(ctx) // when the wait is cut short, the response is still a good one
	d, ends, err := s.snapshotUntil(reading, creatorID, externalCustomerID)
	for pause := firstPause; err == nil && d.Version <= after; pause = min(2*pause, longestPause) {
		left := deadline.Sub(s.deps.Clock.Real())
		if left <= 0 || s.deps.Sleeper.Sleep(ctx, min(pause, left)) != nil {
			break
		}
		changed := !ends.IsZero() && !s.deps.Clock.Real().Before(ends)
		if !changed {
			changed, err = s.deps.Reader.HasVersionAbove(reading, creatorID, externalCustomerID, after)
		}
		if err == nil && changed {
			d, ends, err = s.snapshotUntil(reading, creatorID, externalCustomerID)
		}
	}
	return d, err
}

// snapshotUntil is Snapshot with the real time at which access ends as the account's clock runs now; zero when it has
// no end.
func (s *Service) snapshotUntil(ctx context.Context, creatorID, externalCustomerID string) (
	d access.Document, ends time.Time, err error,
) {
	d, err = s.Snapshot(ctx, creatorID, externalCustomerID)
	if err != nil || d.NextEnd.IsZero() {
		return d, time.Time{}, err
	}
	now, err := s.deps.Clock.Now(ctx, creatorID)
	return d, s.deps.Clock.Real().Add(d.NextEnd.Sub(now)), err
}

// The bounds of Explain's lists.
const (
	explainedEnded   = 100
	explainedChanges = 100
)

// Explanation lists the grants and changes behind a customer's access.
type Explanation struct {
	Document access.Document
	Running  []*access.Grant  // oldest first
	Ended    []*access.Grant  // the latest 100, newest first
	History  []access.Changed // the latest 100, newest first
}

// Explain returns which payment, subscription or grant gives what, and how the version came about.
func (s *Service) Explain(ctx context.Context, creatorID, externalCustomerID string) (Explanation, error) {
	var e Explanation
	r := s.deps.Store.Read(ctx)
	for {
		d, err := s.Snapshot(ctx, creatorID, externalCustomerID)
		if err != nil {
			return e, err
		}
		e.Document = d
		if e.Running, err = r.Access.Grants.ListActive(ctx, creatorID, externalCustomerID); err != nil {
			return e, err
		}
		if e.Ended, err = r.Access.Grants.ListEnded(ctx, creatorID, externalCustomerID, explainedEnded); err != nil {
			return e, err
		}
		if e.History, err = r.Access.Snapshots.ListHistory(
			ctx, creatorID, externalCustomerID, explainedChanges,
		); err != nil {
			return e, err
		}
		// The reads see one moment only if nothing changed between them.
		if again, err := s.read(ctx, creatorID, externalCustomerID); err != nil || again.Version == d.Version {
			return e, err
		}
	}
}

// AccessOf implements ports.PurchasedAccess.
func (s *Service) AccessOf(
	ctx context.Context, r ports.Repos, creatorID, checkoutID string,
) (listingIDs []string, err error) {
	grants, err := r.Access.Grants.ListByCheckout(ctx, creatorID, checkoutID)
	for _, g := range grants {
		if state := g.State(); g.Active() && state.Plan != nil {
			listingIDs = append(listingIDs, state.Plan.ListingID)
		}
	}
	return listingIDs, err
}

// Grants returns one page of the account's grants, those that ended included. Some manual ones are for an external id
// that is no customer's.
func (s *Service) Grants(ctx context.Context, creatorID string, page ports.Page) (ports.List[*access.Grant], error) {
	return s.deps.Store.Read(ctx).Access.Grants.List(ctx, creatorID, page)
}
