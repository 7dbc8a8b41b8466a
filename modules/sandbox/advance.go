package sandbox

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"sundry/core/fault"
	"sundry/ports"
)

// advance is the state of one running advance.
type advance struct {
	*Service
	creatorID string
	holder    string
	deadline  time.Time // real time
	heldUntil time.Time // real time
	ran       int
	stopped   bool // before its end, for a reason of its own
}

// acquire waits for the clock to be free and holds it.
func (a *advance) acquire(ctx context.Context) error {
	for pause := shortPoll; ; pause = min(2*pause, longPoll) {
		ok, err := a.renew(ctx)
		if ok || err != nil {
			return err
		}
		if a.deps.Clock.Real().Add(pause).After(a.deadline) {
			busy := fault.New(fault.StateConflict, "Another advance has the clock. Try again when it is done.")
			busy.RetryAfter = time.Second
			return busy
		}
		if err := a.deps.Sleeper.Sleep(ctx, pause); err != nil {
			return err
		}
	}
}

// renew holds the clock from now on; false when another advance does.
func (a *advance) renew(ctx context.Context) (bool, error) {
	now := a.deps.Clock.Real()
	var ok bool
	err := a.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		var err error
		ok, err = r.Sandbox.ClockOffsets.Acquire(ctx, a.creatorID, a.holder, now, now.Add(hold))
		return err
	})
	a.heldUntil = now.Add(hold)
	return ok, err
}

// release times the waiting tasks by the clock's new time, and lets go of it.
func (a *advance) release(ctx context.Context) error {
	return errors.Join(
		a.deps.Queue.Retime(ctx, a.creatorID),
		a.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
			return r.Sandbox.ClockOffsets.Release(ctx, a.creatorID, a.holder)
		}))
}

// advanceTo steps from task to task up to the move's end.
func (a *advance) advanceTo(ctx context.Context, move Move) error {
	now, err := a.deps.Clock.Now(ctx, a.creatorID)
	if err != nil {
		return err
	}
	target, err := move.target(now, a.deps.Clock.Real())
	if err != nil {
		return err
	}
	if target.After(now) {
		if err := a.bump(ctx); err != nil {
			return err
		}
	}
	if err := a.runHooks(ctx); err != nil {
		return err
	}
	for {
		found, err := a.next(ctx, target)
		if err != nil || a.stopped {
			return err
		}
		if !found {
			return a.setClock(ctx, target)
		}
	}
}

// bump advances the clock by the minimum so that long-pollers observe a change.
func (a *advance) bump(ctx context.Context) error {
	return a.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		offset, err := r.Sandbox.ClockOffsets.Get(ctx, a.creatorID)
		if err != nil {
			return err
		}
		return r.Sandbox.ClockOffsets.Advance(ctx, a.creatorID, offset+time.Millisecond)
	})
}

// runHooks calls the hooks.
func (a *advance) runHooks(ctx context.Context) error {
	if err := a.deps.Flush(ctx); err != nil {
		return fmt.Errorf("before the clock moves: %w", err)
	}
	now, err := a.deps.Clock.Now(ctx, a.creatorID)
	if err != nil {
		return err
	}
	return a.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		for _, before := range a.deps.Before {
			if err := before(ctx, r, a.creatorID, now); err != nil {
				return fmt.Errorf("before the clock moves: %w", err)
			}
		}
		return nil
	})
}

// next runs the earliest task due by the target, at its own time. When another worker holds that task, next waits until
// it does not: later ones must not overtake it. False when nothing is left.
func (a *advance) next(ctx context.Context, target time.Time) (bool, error) {
	waitedFor := ""
	for pause := shortPoll; ; pause = min(2*pause, longPoll) {
		if err := a.checkLimits(ctx); err != nil || a.stopped {
			return false, err
		}
		t, mine, err := a.deps.Queue.ClaimNext(ctx, a.creatorID, a.deps.Clock.Real(), target, lease)
		if waitedFor != "" && (err != nil || t.ID != waitedFor) {
			a.ran++ // by the other worker
		}
		switch {
		case errors.Is(err, ports.ErrNotFound):
			return false, nil
		case err != nil:
			return false, err
		case mine && t.Kind == a.deps.Deliveries:
			return true, a.deliver(ctx, t, target)
		case mine:
			return true, a.run(ctx, t)
		}
		waitedFor = t.ID
		if a.stopped = a.deps.Clock.Real().Add(pause).After(a.deadline); a.stopped {
			return false, nil
		}
		if err := a.deps.Sleeper.Sleep(ctx, pause); err != nil {
			return false, err
		}
	}
}

// run puts the clock at the task's time and runs it. A failure is recorded in its row, which is tried again later; it
// does not stop the clock.
func (a *advance) run(ctx context.Context, t ports.Task) error {
	if err := a.setClock(ctx, t.DueAt); err != nil {
		return errors.Join(err, a.deps.Queue.Release(context.WithoutCancel(ctx), t))
	}
	_ = a.deps.Runner.Run(ctx, t)
	a.ran++
	return nil
}

// deliver runs a delivery and those that fall due within a moment of it: those of one endpoint in their order, and the
// endpoints beside each other, so that one that does not respond delays no other.
func (a *advance) deliver(ctx context.Context, first ports.Task, target time.Time) error {
	if err := a.setClock(ctx, first.DueAt); err != nil {
		return errors.Join(err, a.deps.Queue.Release(context.WithoutCancel(ctx), first))
	}
	until := first.DueAt.Add(moment)
	if until.After(target) {
		until = target
	}
	begin := a.deps.Clock.Real()
	along, err := a.deps.Queue.ClaimAlong(ctx, a.creatorID, a.deps.Deliveries, begin, until, lease, maxAlong)
	byEndpoint := map[string][]ports.Task{}
	for _, t := range append([]ports.Task{first}, along...) {
		byEndpoint[t.ConcurrencyKey] = append(byEndpoint[t.ConcurrencyKey], t)
	}
	var ran atomic.Int64
	var all sync.WaitGroup
	for _, tasks := range byEndpoint {
		all.Go(func() {
			for _, t := range tasks {
				if a.deps.Clock.Real().After(begin.Add(maxDelivering)) { // its lease must not end meanwhile
					_ = a.deps.Queue.Release(context.WithoutCancel(ctx), t)
					continue
				}
				_ = a.deps.Runner.Run(ctx, t)
				ran.Add(1)
			}
		})
	}
	all.Wait()
	a.ran += int(ran.Load())
	return err
}

// setClock moves the clock to an instant, unless it is there already.
func (a *advance) setClock(ctx context.Context, to time.Time) error {
	now, err := a.deps.Clock.Now(ctx, a.creatorID)
	if err != nil || !to.After(now) {
		return err
	}
	return a.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		return r.Sandbox.ClockOffsets.Advance(ctx, a.creatorID, to.Sub(a.deps.Clock.Real()))
	})
}

// checkLimits stops an advance that has done or lasted enough, and keeps the clock held meanwhile.
func (a *advance) checkLimits(ctx context.Context) error {
	select {
	case <-a.deps.Stopping:
		a.stopped = true
		return nil
	default:
	}
	now := a.deps.Clock.Real()
	switch {
	case a.ran >= a.limit, now.After(a.deadline):
		a.stopped = true
		return nil
	case a.heldUntil.Sub(now) > hold*2/3:
		return nil
	}
	ok, err := a.renew(ctx)
	a.stopped = err == nil && !ok // another advance took the clock over
	return err
}
