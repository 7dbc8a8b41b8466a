package identity

import (
	"context"
	"time"

	"sundry/ports"
)

// SweepTask is the kind of the daily task that forgets sign-ins which can no longer be renewed.
const SweepTask = "identity.sweep"

const (
	sweepEvery = 24 * time.Hour
	// sweepAfter keeps ended sign-ins a while for whoever investigates a theft.
	sweepAfter = 7 * 24 * time.Hour
)

// Sweep runs the task.
func (s *Service) Sweep(ctx context.Context, t ports.Task) error {
	now := s.clock.Real()
	return s.store.Atomically(ctx, func(ctx context.Context, repos ports.Repos) error {
		if err := repos.RefreshFamilies.DeleteExpired(ctx, now.Add(-sweepAfter)); err != nil {
			return err
		}
		return repos.Tasks.Postpone(ctx, t, now.Add(sweepEvery))
	})
}
