package sandbox

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sundry/core/apiformat"
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
}

// acquire waits for the clock to be free and holds it.
func (a *advance) acquire(ctx context.Context) error {
	for pause := shortPoll; ; pause = min(2*pause, longPoll) {
		ok, err := a.renew(ctx)
		if ok || err != nil {
			return err
		}
		if err := a.pause(ctx, pause, "another advance has the clock"); err != nil {
			return err
		}
	}
}

// renew holds the clock from now on; false when another advance does.
func (a *advance) renew(ctx context.Context) (bool, error) {
	now := a.clock.Real()
	var ok bool
	err := a.store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
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
		a.queue.Retime(ctx, a.creatorID),
		a.store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
			return r.Sandbox.ClockOffsets.Release(ctx, a.creatorID, a.holder)
		}))
}

// advanceTo steps from task to task up to the move's end.
func (a *advance) advanceTo(ctx context.Context, move Move) error {
	now, err := a.clock.Now(ctx, a.creatorID)
	if err != nil {
		return err
	}
	target, err := move.target(now, a.clock.Real())
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
		if err != nil {
			return err
		}
		if !found {
			return a.setClock(ctx, target)
		}
	}
}

// bump advances the clock by the minimum so that long-pollers observe a change.
func (a *advance) bump(ctx context.Context) error {
	return a.store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		offset, err := r.Sandbox.ClockOffsets.Get(ctx, a.creatorID)
		if err != nil {
			return err
		}
		return r.Sandbox.ClockOffsets.Advance(ctx, a.creatorID, offset+time.Millisecond)
	})
}

// runHooks calls the hooks.
func (a *advance) runHooks(ctx context.Context) error {
	if err := a.flush(ctx); err != nil {
		return fmt.Errorf("before the clock moves: %w", err)
	}
	now, err := a.clock.Now(ctx, a.creatorID)
	if err != nil {
		return err
	}
	return a.store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		for _, before := range a.before {
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
		if err := a.checkLimits(ctx); err != nil {
			return false, err
		}
		t, mine, err := a.queue.ClaimNext(ctx, a.creatorID, a.clock.Real(), target, lease)
		if waitedFor != "" && (err != nil || t.ID != waitedFor) {
			a.ran++ // by the other worker
		}
		switch {
		case errors.Is(err, ports.ErrNotFound):
			return false, nil
		case err != nil:
			return false, err
		case mine:
			return true, a.run(ctx, t)
		}
		waitedFor = t.ID
		if err := a.pause(ctx, pause, "another worker is busy with "+t.Kind); err != nil {
			return false, err
		}
	}
}

// run puts the clock at the task's time and runs it. A failure is recorded in its row, which is tried again later; it
// does not stop the clock.
func (a *advance) run(ctx context.Context, t ports.Task) error {
	if err := a.setClock(ctx, t.DueAt); err != nil {
		return errors.Join(err, a.queue.Release(context.WithoutCancel(ctx), t))
	}
	_ = a.runner.Run(ctx, t)
	a.ran++
	return nil
}

// setClock moves the clock to an instant, unless it is there already.
func (a *advance) setClock(ctx context.Context, to time.Time) error {
	now, err := a.clock.Now(ctx, a.creatorID)
	if err != nil || !to.After(now) {
		return err
	}
	return a.store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		return r.Sandbox.ClockOffsets.Advance(ctx, a.creatorID, to.Sub(a.clock.Real()))
	})
}

// checkLimits ends an advance that has done or lasted enough, and keeps the clock held meanwhile.
func (a *advance) checkLimits(ctx context.Context) error {
	select {
	case <-a.stopping:
		return a.stopped(ctx, "the service is stopping")
	default:
	}
	now := a.clock.Real()
	switch {
	case a.ran >= a.limit:
		return a.stopped(ctx, fmt.Sprintf("%d pieces of work have run", a.ran))
	case now.After(a.deadline):
		return a.stopped(ctx, fmt.Sprintf("it has taken %d seconds", int(maxTime.Seconds())))
	case a.heldUntil.Sub(now) > hold*2/3:
		return nil
	}
	ok, err := a.renew(ctx)
	if err == nil && !ok {
		err = a.stopped(ctx, "another advance took the clock over")
	}
	return err
}

// pause waits, if there is time left to wait.
func (a *advance) pause(ctx context.Context, d time.Duration, why string) error {
	if a.clock.Real().Add(d).After(a.deadline) {
		return a.stopped(ctx, why)
	}
	return a.sleeper.Sleep(ctx, d)
}

// stopped is the refusal that reports how far the clock got.
func (a *advance) stopped(ctx context.Context, why string) error {
	now, err := a.clock.Now(ctx, a.creatorID)
	if err != nil {
		return err
	}
	f := fault.Newf(
		fault.StateConflict,
		"The clock is at %s after %d pieces of work; it stopped there because %s. Advance it again to go on.",
		apiformat.Instant(now), a.ran, why,
	)
	f.RetryAfter = time.Second
	return f
}
