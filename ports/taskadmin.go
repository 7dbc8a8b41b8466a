package ports

import (
	"context"
	"time"
)

// TaskState is the state of a task.
type TaskState string

// The states. A task that is done has no row.
const (
	TaskWaiting TaskState = "waiting"
	TaskRunning TaskState = "running" // claimed, and the claim still holds
	TaskFailed  TaskState = "failed"  // its last run failed; the task is retried automatically
)

// TaskInfo is a task as its account sees it.
type TaskInfo struct {
	Task
	State TaskState
	// RunAt is the real time of the next run.
	RunAt time.Time
	// LastError is the error of the last run; empty when it succeeded.
	LastError string
}

// TaskAdmin shows an account's background work from outside.
type TaskAdmin interface {
	// List returns the account's tasks in a state ("" = all), those due last first. now is real.
	List(ctx context.Context, creatorID string, state TaskState, now time.Time, page Page) (List[TaskInfo], error)
	// Get returns a task of the account. ErrNotFound.
	Get(ctx context.Context, creatorID, taskID string, now time.Time) (TaskInfo, error)
	// RunNow makes a waiting task run at the given real time, whatever its due time. ErrStale when it changed since it
	// was found.
	RunNow(ctx context.Context, t Task, at time.Time) error
}
