// Package tasks shows an account its background work, and retries failed work at once.
package tasks

import (
	"context"

	"sundry/core/fault"
	"sundry/ports"
)

// Service holds the use cases.
type Service struct {
	store ports.Store
	clock ports.Clock
}

// New returns the module.
func New(store ports.Store, clock ports.Clock) *Service { return &Service{store, clock} }

// Tasks lists the account's tasks in a state ("" = all), those due last first.
func (s *Service) Tasks(
	ctx context.Context, creatorID string, state ports.TaskState, page ports.Page,
) (ports.List[ports.TaskInfo], error) {
	return s.store.Read(ctx).TaskAdmin.List(ctx, creatorID, state, s.clock.Real(), page)
}

// Retry makes a task whose last run failed due now. NOT_FOUND; STATE_CONFLICT for one that did not fail or is
// running: a scheduled task must not run before its time.
func (s *Service) Retry(ctx context.Context, creatorID, taskID string) (ports.TaskInfo, error) {
	var task ports.TaskInfo
	err := s.store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		now := s.clock.Real()
		var err error
		task, err = r.TaskAdmin.Get(ctx, creatorID, taskID, now)
		switch {
		case err != nil:
			return ports.Missing(err, "task")
		case task.State != ports.TaskFailed:
			return fault.New(
				fault.StateConflict,
				"Only a task whose last run failed can be tried again at once. This one is "+string(task.State)+".",
			)
		}
		task.RunAt = now
		return r.TaskAdmin.RunNow(ctx, task.Task, now)
	})
	return task, err
}
