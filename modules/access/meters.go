package access

import (
	"context"
	"strings"
	"time"

	"sundry/core/access"
	"sundry/core/usage"
	"sundry/ports"
)

// TaskMeters updates the meters of a customer's snapshot; its subject is the account and the customer.
const TaskMeters = "access.meters"

// metersDelay batches the counts of one customer that arrive together.
const metersDelay = 100 * time.Millisecond

// OnUsageCounted updates the customer's snapshot in a transaction of its own: a count covers many customers, so that
// no request waits for all of them.
func (s *Service) OnUsageCounted(ctx context.Context, r ports.Repos, e usage.Counted) error {
	return ports.ScheduleIn(ctx, r, metersDelay, TaskMeters, e.CreatorID+"/"+e.AccessKey, e.CreatorID)
}

// RefreshMeters runs TaskMeters, and again when the next period of a meter begins: nothing may be reported in it before
// the snapshot shows that. Body and tag of the snapshot move, its version does not.
func (s *Service) RefreshMeters(ctx context.Context, t ports.Task) error {
	customer := strings.TrimPrefix(t.Subject, t.CreatorID+"/")
	return s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		document, err := r.Access.Snapshots.Lock(ctx, access.Empty(t.CreatorID, customer, s.deps.Live))
		if err != nil {
			return err
		}
		meters, err := s.deps.Meters.MetersOf(ctx, r, t.CreatorID, customer)
		if err != nil {
			return err
		}
		next, changed, err := document.WithMeters(meters)
		if err != nil {
			return err
		}
		if changed {
			if err := r.Access.Snapshots.Update(ctx, next, nil); err != nil {
				return err
			}
		}
		now, err := r.Clock.Now(ctx, t.CreatorID)
		if err != nil {
			return err
		}
		if next := nextPeriod(meters, now); !next.IsZero() {
			return r.Tasks.Postpone(ctx, t, next)
		}
		return r.Tasks.Done(ctx, t)
	})
}

// nextPeriod returns when the first of the running periods ends; zero when none runs.
func nextPeriod(meters []access.Meter, now time.Time) (next time.Time) {
	for _, m := range meters {
		if m.PeriodEnd.After(now) && (next.IsZero() || m.PeriodEnd.Before(next)) {
			next = m.PeriodEnd
		}
	}
	return next
}
