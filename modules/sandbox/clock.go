// Package sandbox gives every account of the sandbox a clock of its own that can be put forward. What falls due on the
// way is run before the response, in the order in which it falls due, each piece at its own time: an integrator sees a
// year of renewals in one request, as they would have happened.
package sandbox

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"sundry/core/fault"
	"sundry/ports"
)

const (
	// maxMove bounds one advance.
	maxMove = 3660 * 24 * time.Hour
	// maxAhead bounds how far a clock can ever run ahead of real time.
	maxAhead = 250 * 365 * 24 * time.Hour
	// maxTasks and maxTime bound the work of one advance.
	maxTasks = 10_000
	maxTime  = 40 * time.Second
	// lease is the time for which the advance owns a task. The run has a shorter time-out.
	lease = 20 * time.Second
	// hold is the time after which a clock is free again if its advance shows no progress. It outlasts one task.
	hold = 30 * time.Second
	// moment is the time within which deliveries are due that run together, at most maxAlong beside the first, and
	// maxDelivering the time after which none of them begins.
	moment        = time.Minute
	maxAlong      = 63
	maxDelivering = 10 * time.Second
	// shortPoll and longPoll are the pauses while another worker finishes a task or another advance the clock.
	shortPoll = 5 * time.Millisecond
	longPoll  = 80 * time.Millisecond
)

// BeforeAdvance is notified, inside a transaction, that an account's clock is about to go on from now. It may
// schedule what shall be done on the way.
type BeforeAdvance func(ctx context.Context, r ports.Repos, creatorID string, now time.Time) error

// Service moves the clocks.
type Service struct {
	deps  Deps
	limit int // of tasks per advance
}

// Deps holds the dependencies of the module.
type Deps struct {
	Store   ports.Store
	Queue   ports.TaskQueue
	Runner  ports.TaskRunner
	Clock   ports.Clock
	Sleeper ports.Sleeper
	IDs     ports.IDs
	// Stopping is closed when the program is about to end: an advance then ends early.
	Stopping <-chan struct{}
	// Flush counts the reports of use that wait, before a clock moves: the sandbox's minute may be over.
	Flush func(context.Context) error
	// Before are called before a clock moves.
	Before []BeforeAdvance
	// Deliveries is the kind of the tasks that send to receivers. They run in parallel, those of one concurrency key in
	// their order.
	Deliveries string
}

// New returns the module.
func New(d Deps) *Service {
	return &Service{deps: d, limit: maxTasks}
}

// Move specifies how far to put a clock forward: exactly one of the two is set.
type Move struct {
	Seconds *int64
	To      *time.Time
}

// Advanced is the time of a clock after an advance.
type Advanced struct {
	Now time.Time
	// Ran counts the tasks that fell due and were run, failed ones included.
	Ran int
	// Done is false when there was more work than one advance may do: the clock shows the time of the last work, and
	// another advance goes on from there.
	Done bool
}

// Clock returns the account's time.
func (s *Service) Clock(ctx context.Context, creatorID string) (time.Time, error) {
	return s.deps.Clock.Now(ctx, creatorID)
}

// check refuses a move that makes no sense at any time.
func (m Move) check() error {
	var f fault.Violations
	switch {
	case m.Seconds == nil && m.To == nil:
		f.Add("seconds", fault.DetailRequired, "Specify how far: seconds or to.")
	case m.Seconds != nil && m.To != nil:
		f.Add("to", fault.DetailNotAllowed, "Give seconds or to, not both.")
	case m.Seconds != nil:
		f.Check(*m.Seconds >= 1 && *m.Seconds <= int64(maxMove/time.Second), "seconds", fault.DetailOutOfRange,
			fmt.Sprintf(
				"A clock can be put forward by 1 to %d seconds at a time (ten years).", int64(maxMove/time.Second),
			))
	}
	return f.Err()
}

// target is the time that the move ends at.
func (m Move) target(now, realNow time.Time) (time.Time, error) {
	var f fault.Violations
	field, target := "to", now
	if m.Seconds != nil {
		field, target = "seconds", now.Add(time.Duration(*m.Seconds)*time.Second)
	} else {
		target = m.To.UTC().Truncate(time.Millisecond)
		f.Check(
			!target.Before(now), field, fault.DetailOutOfRange,
			"A clock goes forward only. It is "+now.Format(time.RFC3339Nano)+" already.",
		)
		f.Check(
			target.Sub(now) <= maxMove, field, fault.DetailOutOfRange,
			"A clock can be put forward by at most ten years at a time.",
		)
	}
	f.Check(target.Sub(realNow) <= maxAhead, field, fault.DetailOutOfRange, "A clock can run at most 250 years ahead.")
	return target, f.Err()
}

// Advance moves the account's clock forward and runs everything that falls due on the way. VALIDATION_FAILED;
// STATE_CONFLICT when another advance has the clock.
func (s *Service) Advance(ctx context.Context, creatorID string, move Move) (Advanced, error) {
	if err := move.check(); err != nil {
		return Advanced{}, err
	}
	a := &advance{
		Service: s, creatorID: creatorID, holder: hex.EncodeToString(s.deps.IDs.Random(16)),
		deadline: s.deps.Clock.Real().Add(maxTime),
	}
	if err := a.acquire(ctx); err != nil {
		return Advanced{}, err
	}
	err := a.advanceTo(ports.InAdvance(ctx), move)
	err = errors.Join(err, a.release(context.WithoutCancel(ctx)))
	if err != nil {
		return Advanced{}, err
	}
	now, err := s.deps.Clock.Now(ctx, creatorID)
	return Advanced{Now: now, Ran: a.ran, Done: !a.stopped}, err
}
