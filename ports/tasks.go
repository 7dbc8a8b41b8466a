package ports

import (
	"context"
	"time"
)

// TaskClass groups the kinds of tasks that share workers, so that one class's backlog never delays another.
type TaskClass string

// The classes. Whoever wires a kind picks its class.
const (
	PaymentTasks TaskClass = "payments"
	WebhookTasks TaskClass = "webhooks"
	OtherTasks   TaskClass = "rest"
)

// TaskClasses lists every class.
func TaskClasses() []TaskClass { return []TaskClass{PaymentTasks, WebhookTasks, OtherTasks} }

// Limits of a lane, over all processes.
const (
	// LaneWidth is how many tasks of one lane are leased at a time.
	LaneWidth = 16
	// LaneRate is how many tasks of one lane are claimed per second; as many may be saved up.
	LaneRate = 250
)

// Task is one piece of background work: a row first, written in the transaction that makes it necessary.
type Task struct {
	ID        string
	Kind      string
	Subject   string
	CreatorID string
	// Lane is what it shares limits with; "" = none.
	Lane string
	// DueAt is on the account's clock.
	DueAt time.Time
	// LeaseUntil is until when (in real time) nobody else claims it.
	LeaseUntil time.Time
	// Token is the fence: it rises with every claim and every rescheduling, and only its holder may finish the task.
	Token int64
	// Attempts counts the runs since it was last scheduled, the present one included.
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
	// Hold keeps the tasks of a lane from being claimed until the given time of the account, and from then on lets one of
	// them be claimed at a time. The zero time lets go of the lane.
	Hold(ctx context.Context, lane, creatorID string, until time.Time) error
}

// TaskQueue is the workers' side of the same table. Each method is a transaction of its own.
type TaskQueue interface {
	// Claim leases up to limit tasks of a class that are due in real time, raising their tokens: oldest first within a
	// lane and among those without one, no lane beyond its limits, the lanes that have least under way before the others.
	Claim(ctx context.Context, class TaskClass, now time.Time, lease time.Duration, limit int) ([]Task, error)
	// ClaimNext leases the earliest task of one account that is due by the given account time. ErrNotFound when there is
	// none; ok is false when it exists but another worker holds it. A task that failed counts only once its time to try
	// again has come.
	ClaimNext(ctx context.Context, creatorID string, now, until time.Time, lease time.Duration) (t Task, ok bool, err error)
	// Load returns a claimed task and sees that its lease lasts at least until the given real time. ErrFenced when the
	// token is not the current one.
	Load(ctx context.Context, id string, token int64, until time.Time) (Task, error)
	// Fail records why a run failed and when (in real time) to try again. The account's clock does not move that time.
	// ErrFenced as Load.
	Fail(ctx context.Context, t Task, reason string, again time.Time) error
	// Release gives back a claimed task that was not run: it is due at once, and this claim does not count. ErrFenced as Load.
	Release(ctx context.Context, t Task) error
	// Retime brings the real time of waiting tasks in line with the account's clock ("" = of every account). It is
	// needed after a clock moved, and from time to time in case a process died before saying so.
	Retime(ctx context.Context, creatorID string) error
	// Backlog counts, per kind, the tasks due in real time, and tells when the oldest of them became due that is not held.
	Backlog(ctx context.Context, now time.Time) ([]TaskBacklog, error)
}

// TaskBacklog is what waits of one kind.
type TaskBacklog struct {
	Kind string
	Due  int64
	// Held is how many more would be due, were their lane not held.
	Held int64
	// Oldest is zero when none is due.
	Oldest time.Time
}

// TaskRunner runs a claimed task now, in this process. An error is a failed run: already recorded, to be tried again.
type TaskRunner interface {
	Run(ctx context.Context, t Task) error
}

// Dispatcher carries claimed tasks to workers. Losing or doubling one is harmless: the lease ends and the token fences.
type Dispatcher interface {
	// Room is how many more tasks of a class would be run soon; 0 while enough wait already.
	Room(ctx context.Context, class TaskClass) (int, error)
	// Dispatch hands one over. After an error the caller gives the task back.
	Dispatch(ctx context.Context, class TaskClass, t Task) error
}
