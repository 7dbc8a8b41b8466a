package ports

import (
	"context"
	"time"
)

// TaskClass groups the kinds of tasks that share workers, so that one class's backlog never delays another.
type TaskClass string

// The classes. The wiring of a kind picks its class.
const (
	PaymentTasks TaskClass = "payments"
	WebhookTasks TaskClass = "webhooks"
	DefaultTasks TaskClass = "default"
)

// TaskClasses lists every class.
func TaskClasses() []TaskClass { return []TaskClass{PaymentTasks, WebhookTasks, DefaultTasks} }

// TaskPollInterval is the longest time for which an idle worker does not look at the table. A process that schedules a
// task that is due sooner wakes the workers; they know the due times of the others.
const TaskPollInterval = 2 * time.Second

// Limits of one concurrency key, over all processes.
const (
	// MaxPerKey is the number of tasks of one key that may be leased at a time, unless LimitKey specifies otherwise.
	MaxPerKey = 32
	// HighestPerKey is the most that LimitKey may set.
	HighestPerKey = 128
)

// KeyLimit bounds one concurrency key over all processes.
type KeyLimit struct {
	// MaxRunning is the number of tasks of the key that may be leased at a time; 0 = MaxPerKey.
	MaxRunning int
	// PerSecond is the number that may be claimed per second, and at once after a quiet second; 0 = no limit.
	PerSecond int
}

// Task is one piece of background work: a row first, written in the transaction that makes it necessary.
type Task struct {
	ID        string
	Kind      string
	Subject   string
	CreatorID string
	// ConcurrencyKey names the tasks that it shares limits with; "" = none.
	ConcurrencyKey string
	// DueAt is on the account's clock.
	DueAt time.Time
	// LeaseUntil is the end of the lease, in real time. Nobody else claims the task before it.
	LeaseUntil time.Time
	// Token is the fence: it rises with every claim and every rescheduling, and only its holder may finish the task.
	Token int64
	// Attempts counts the runs since it was last scheduled, the present one included.
	Attempts int
	// TraceParent names the span that its run belongs to, for Tracer.Continue; "" for none.
	TraceParent string
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
	// Postpone returns a task to the queue, due again at the given account time, with its count of attempts reset.
	// ErrFenced as Done.
	Postpone(ctx context.Context, t Task, due time.Time) error
	// PauseKey keeps the tasks of a concurrency key from being claimed until the given time of the account, and from then
	// on lets one of them be claimed at a time.
	PauseKey(ctx context.Context, key, creatorID string, until time.Time) error
	// ResumeKey ends the pause of a key.
	ResumeKey(ctx context.Context, key string) error
	// LimitKey sets the limits of a key; the zero value is the default.
	LimitKey(ctx context.Context, key string, limit KeyLimit) error
}

// ScheduleIn makes (kind, subject) due after a delay on the account's clock.
func ScheduleIn(ctx context.Context, r Repos, delay time.Duration, kind, subject, creatorID string) error {
	now, err := r.Clock.Now(ctx, creatorID)
	if err != nil {
		return err
	}
	return r.Tasks.Schedule(ctx, kind, subject, creatorID, now.Add(delay))
}

// PostponeBy returns a task to the queue, due again after a delay on the account's clock.
func PostponeBy(ctx context.Context, r Repos, t Task, delay time.Duration) error {
	now, err := r.Clock.Now(ctx, t.CreatorID)
	if err != nil {
		return err
	}
	return r.Tasks.Postpone(ctx, t, now.Add(delay))
}

// Recheck postpones a task that asks for the outcome of what began at a time, which is still unknown, by RecheckPause.
func Recheck(ctx context.Context, r Repos, t Task, begun time.Time, first time.Duration) error {
	now, err := r.Clock.Now(ctx, t.CreatorID)
	if err != nil {
		return err
	}
	return r.Tasks.Postpone(ctx, t, now.Add(RecheckPause(now.Sub(begun), first)))
}

// EndTask ends a task for which nothing is left to do, in a transaction of its own.
func EndTask(ctx context.Context, store Store, t Task) error {
	return store.Atomically(ctx, func(ctx context.Context, r Repos) error { return r.Tasks.Done(ctx, t) })
}

// TaskQueue is the workers' side of the same table. Each method is a transaction of its own.
type TaskQueue interface {
	// Claim leases up to limit tasks of a class that are due in real time, raising their tokens: oldest first within a
	// concurrency key and among those without one, no key beyond its limits, the keys with the fewest tasks running first.
	// They are in the order in which they are to begin: the first of each key, then the second of each.
	// What waits of an account whose clock an advance holds is left to that advance (ClockOffsets.Acquire).
	Claim(ctx context.Context, class TaskClass, now time.Time, lease time.Duration, limit int) ([]Task, error)
	// NextDue returns when the first task of any class may be claimed, in real time: now or earlier when one is due that
	// nobody holds, even if its concurrency key is at its limit. ok is false when none waits. It does not know when leases
	// end.
	NextDue(ctx context.Context, now time.Time) (due time.Time, ok bool, err error)
	// ClaimNext leases the earliest task of one account that is due by the given account time. ErrNotFound when there is
	// none; ok is false when it exists but another worker holds it. A task that failed counts only once its time to try
	// again has come, and one of a paused key is due at the end of the pause, its DueAt too.
	ClaimNext(ctx context.Context, creatorID string, now, until time.Time,
		lease time.Duration) (t Task, ok bool, err error)
	// ClaimAlong leases, beside a task of ClaimNext, the account's further tasks of a kind that are due by the given
	// account time, at most limit and in their order. It leaves out what comes behind an earlier task of another kind,
	// what another worker holds and what is paused.
	ClaimAlong(ctx context.Context, creatorID, kind string, now, until time.Time, lease time.Duration,
		limit int) ([]Task, error)
	// Load returns a claimed task and sees that its lease lasts at least until the given real time. ErrFenced when the
	// token is not the current one.
	Load(ctx context.Context, id string, token int64, until time.Time) (Task, error)
	// Fail records why a run failed and when (in real time) to try again. The account's clock does not move that time.
	// ErrFenced as Load.
	Fail(ctx context.Context, t Task, reason string, again time.Time) error
	// Release returns a claimed task that was not run: it is due at once, and this claim does not count. ErrFenced as
	// Load.
	Release(ctx context.Context, t Task) error
	// Retime brings the real time of waiting tasks in line with the account's clock ("" = of every account), of those that
	// fall due within a few minutes, and that of the pauses of its keys. It is needed after a clock moved, and every
	// minute for those that come near.
	Retime(ctx context.Context, creatorID string) error
	// Backlog counts, per kind, the tasks due in real time, and reports when the oldest of them became due that is not
	// paused.
	Backlog(ctx context.Context, now time.Time) ([]TaskBacklog, error)
}

// TaskBacklog counts the waiting tasks of one kind.
type TaskBacklog struct {
	Kind string
	Due  int64
	// Paused counts the tasks that would be due if their concurrency key were not paused.
	Paused int64
	// Oldest is zero when none is due.
	Oldest time.Time
}

// TaskRunner runs a claimed task now, in this process. An error is a failed run: already recorded, to be tried again.
type TaskRunner interface {
	Network
	Run(ctx context.Context, t Task) error
}

// Dispatcher carries claimed tasks to workers. Losing or doubling one is harmless: the lease ends and the token fences.
type Dispatcher interface {
	Network
	// Capacity returns how many more tasks of a class would be run soon; 0 while enough wait already.
	Capacity(ctx context.Context, class TaskClass) int
	// Dispatch hands tasks over, in their order, and returns how many. After an error the caller releases the others.
	Dispatch(ctx context.Context, class TaskClass, tasks ...Task) (handed int, err error)
}
