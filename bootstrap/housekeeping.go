package bootstrap

import (
	"context"
	"time"

	"sundry/modules/identity"
	"sundry/ports"
)

// idempotencySweepTask forgets the answers that were kept for repeated requests and are too old to be asked for.
const idempotencySweepTask = "idempotency.sweep"

const (
	idempotencySweepEvery = time.Hour
	idempotencyLifetime   = 24 * time.Hour
)

// keepHouse makes sure that the platform's own recurring tasks are waiting. Each schedules itself anew when it has run.
func (a *App) keepHouse(ctx context.Context) error {
	return a.store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		for _, kind := range []string{identity.SweepTask, idempotencySweepTask} {
			if err := r.Tasks.Ensure(ctx, kind, "platform", "", a.clock.Real()); err != nil {
				return err
			}
		}
		return nil
	})
}

func (a *App) sweepIdempotencyKeys(ctx context.Context, t ports.Task) error {
	now := a.clock.Real()
	return a.store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		if err := r.IdempotencyKeys.DeleteBefore(ctx, now.Add(-idempotencyLifetime)); err != nil {
			return err
		}
		return r.Tasks.Postpone(ctx, t, now.Add(idempotencySweepEvery))
	})
}
