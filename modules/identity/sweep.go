package identity

import (
	"context"
	"time"

	"sundry/core/identity"
	"sundry/ports"
)

// SweepTask is the kind of the daily task that forgets sign-ins which can no longer be renewed, and old lines of
// access logs.
const SweepTask = "identity.sweep"

const (
	sweepEvery = 24 * time.Hour
	// sweepAfter keeps ended sign-ins a while for the investigation of a theft.
	sweepAfter = 7 * 24 * time.Hour
)

// Sweep runs the task.
func (s *Service) Sweep(ctx context.Context, t ports.Task) error {
	now := s.deps.Clock.Real()
	return s.deps.Store.Atomically(ctx, func(ctx context.Context, repos ports.Repos) error {
		if err := repos.Identity.RefreshFamilies.DeleteExpired(ctx, now.Add(-sweepAfter)); err != nil {
			return err
		}
		if err := repos.Identity.WebSessions.DeleteExpired(ctx, now.Add(-sweepAfter)); err != nil {
			return err
		}
		if err := repos.Identity.AccountEvents.DeleteBefore(ctx, now.Add(-identity.AccountEventRetention)); err != nil {
			return err
		}
		return repos.Tasks.Postpone(ctx, t, now.Add(sweepEvery))
	})
}
