package ports

import (
	"context"
	"time"
)

// Task is one piece of background work: a row first, written in the transaction that makes it necessary.
type Task struct {
	ID        string
	Kind      string
	Subject   string
	CreatorID string
	// DueAt is on the account's clock.
	DueAt time.Time
	// Token is the fence: it rises with every claim and every rescheduling, and only its holder may finish the task.
	Token    int64
	Attempts int
}

// Tasks is the table of background work. Every method works inside the caller's transaction.
type Tasks interface {
	// Schedule makes (kind, subject) due at the given account time. Scheduling again moves it, and fences a run under way.
	Schedule(ctx context.Context, kind, subject, creatorID string, due time.Time) error
	// Ensure makes (kind, subject) due at the given account time unless it is waiting or running already.
	Ensure(ctx context.Context, kind, subject, creatorID string, due time.Time) error
	// Cancel removes (kind, subject) if it is there.
	Cancel(ctx context.Context, kind, subject string) error
	// Done removes a task that was run. ErrFenced when it is no longer this run's.
	Done(ctx context.Context, t Task) error
	// Postpone gives a task back, due again at the given account time, with its count of attempts started afresh.
	// ErrFenced as Done.
	Postpone(ctx context.Context, t Task, due time.Time) error
}

// TaskQueue is the workers' side of the same table.
type TaskQueue interface {
	// Claim leases up to limit tasks that are due in real time, oldest first, raising their tokens.
	Claim(ctx context.Context, now time.Time, lease time.Duration, limit int) ([]Task, error)
	// ClaimNext leases the earliest task of one account that is due by the given account time. ErrNotFound when there is
	// none; ok is false when it exists but another worker holds it.
	ClaimNext(ctx context.Context, creatorID string, now, until time.Time, lease time.Duration) (t Task, ok bool, err error)
	// Load returns a claimed task. ErrFenced when the token is not the current one.
	Load(ctx context.Context, id string, token int64) (Task, error)
	// Fail records why a run failed and when (in real time) to try again. ErrFenced as Load.
	Fail(ctx context.Context, t Task, reason string, again time.Time) error
}

// Dispatcher carries a claimed task to a worker. Losing or doubling one is harmless: the lease ends and the token fences.
type Dispatcher interface {
	Dispatch(ctx context.Context, t Task) error
}
