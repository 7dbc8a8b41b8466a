package jobs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"sundry/ports"
)

const (
	// batch bounds one claim.
	batch = 64
	// minPollInterval is the time to the next look after work was found; it doubles while what is due cannot be claimed,
	// because its concurrency key is at its limit, up to busyPollInterval.
	minPollInterval  = 25 * time.Millisecond
	busyPollInterval = 100 * time.Millisecond
	// batchDelay is the time in which capacity builds up before it is filled.
	batchDelay = 2 * time.Millisecond
	// wakeInterval is the time between two polls of what has been scheduled: many commits share one. Polls because there
	// is capacity again count for nothing, or what is scheduled would wait beside a backlog.
	wakeInterval = 5 * time.Millisecond
	// A backlog runs little at once while something is being scheduled, which would wait for the processor behind it: for
	// sharedTime after a wake, a class that may have more due than was claimed is claimed sharedPerCore tasks for each
	// core at a time, and sharedDelay apart.
	sharedTime    = time.Second
	sharedPerCore = 4
	sharedDelay   = 5 * time.Millisecond
	// minOutageInterval is the time to the next poll after an error; it doubles up to maxOutageInterval.
	minOutageInterval = 250 * time.Millisecond
	maxOutageInterval = 5 * time.Second
)

// Relay claims due tasks and hands them to the dispatcher, no faster than they are run. Every worker has one;
// leases keep them from running a task twice at once.
type Relay struct {
	queue      ports.TaskQueue
	dispatcher ports.Dispatcher
	clock      ports.Clock
	log        *slog.Logger
	// woken has the classes of which something was scheduled, freed those that have capacity again.
	woken, freed *ports.ClassSignal
	// saturated marks the classes that may have more due than there was capacity for, in the dispatcher or under a
	// concurrency key, so that a poll is worthwhile once there is some.
	saturated map[Class]*atomic.Bool
	// wokenAt has the time at which the last poll of what was woken began.
	wokenAt time.Time
	// allBy bounds the time to the next poll of all: nothing falls due before it of which nobody wakes the relay.
	allBy time.Time
	down  bool
}

// NewRelay returns a relay that does nothing until Run.
func NewRelay(queue ports.TaskQueue, dispatcher ports.Dispatcher, clock ports.Clock, log *slog.Logger) *Relay {
	r := &Relay{
		queue: queue, dispatcher: dispatcher, clock: clock, log: log,
		woken: ports.NewClassSignal(), freed: ports.NewClassSignal(), saturated: map[Class]*atomic.Bool{},
	}
	for _, class := range ports.TaskClasses() {
		r.saturated[class] = &atomic.Bool{}
	}
	return r
}

// Wake makes the relay poll some classes at once, all when none is named. It does not block.
func (r *Relay) Wake(classes ...Class) { r.woken.Raise(classes...) }

// Freed notifies the relay that a class has capacity again. It does not block.
func (r *Relay) Freed(class Class) {
	if r.saturated[class].CompareAndSwap(true, false) {
		r.freed.Raise(class)
	}
}

// Run claims and dispatches until ctx ends. It outlives outages of the database and of the dispatcher.
func (r *Relay) Run(ctx context.Context) {
	wait := minPollInterval
	var classes []Class
	for ctx.Err() == nil {
		if now := time.Now(); !now.Before(r.allBy) {
			classes, r.allBy = ports.TaskClasses(), now.Add(busyPollInterval)
		}
		found, err := r.poll(ctx, classes)
		if err == nil {
			wait = min(2*wait, busyPollInterval)
			if found > 0 {
				wait = minPollInterval
			}
			classes, err = r.awaitDue(ctx, wait)
		}
		r.logOutage(ctx, err)
		if err != nil {
			wait = min(max(2*wait, minOutageInterval), maxOutageInterval)
			pause(ctx, wait) // ignore wake-ups while backing off
			r.allBy = time.Now()
		}
	}
}

// awaitDue waits until something is due, and at least for the given time, for a wake, for capacity or for ctx to end,
// and returns the classes that were woken or have capacity again. While nothing is due it asks for the next due time
// every ports.TaskPollInterval: a wake may be lost with the process or the connection that it came from.
func (r *Relay) awaitDue(ctx context.Context, wait time.Duration) (classes []Class, err error) {
	for {
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
		case <-r.woken.Raised():
			timer.Stop()
			r.awaitWakes(ctx)
			return r.takeClasses(), nil
		case <-r.freed.Raised():
			timer.Stop()
			r.awaitCapacity(ctx)
			return r.takeClasses(), nil
		case <-timer.C:
			now := r.clock.Real()
			due, ok, err := r.queue.NextDue(ctx, now)
			if err != nil {
				return nil, err
			}
			if wait = ports.TaskPollInterval; ok {
				wait = min(wait, due.Sub(now))
			}
			r.allBy = time.Now().Add(wait)
			if wait > 0 {
				continue
			}
		}
		timer.Stop()
		return nil, nil
	}
}

// awaitWakes waits for the wakes that share a poll with the first one.
func (r *Relay) awaitWakes(ctx context.Context) {
	pause(ctx, wakeInterval-time.Since(r.wokenAt))
	r.wokenAt = time.Now()
}

// awaitCapacity lets capacity build up for a moment, since some comes with every task that ends. While something is
// being scheduled that takes longer, and ends with the next wake.
func (r *Relay) awaitCapacity(ctx context.Context) {
	if !r.shared() {
		pause(ctx, batchDelay)
		return
	}
	select {
	case <-ctx.Done():
	case <-time.After(sharedDelay):
	case <-r.woken.Raised():
		r.awaitWakes(ctx)
	}
}

// shared reports whether something was scheduled a moment ago.
func (r *Relay) shared() bool { return time.Since(r.wokenAt) < sharedTime }

// takeClasses returns the classes of which something was scheduled, and those that have capacity again.
func (r *Relay) takeClasses() []Class {
	freed, woken := r.freed.Take(), r.woken.Take()
	for _, class := range freed {
		// what ends during the claim, or is not found by it because its key is at its limit, is worth another poll
		r.saturated[class].Store(true)
		if !slices.Contains(woken, class) {
			woken = append(woken, class)
		}
	}
	return woken
}

// pause waits for the time to pass or for ctx to end.
func pause(ctx context.Context, wait time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(wait):
	}
}

// poll claims what is due of some classes, as far as there is capacity, and returns how much that was. It ends with the
// first error: what one class lacks, the others lack too.
func (r *Relay) poll(ctx context.Context, classes []Class) (int, error) {
	found := 0
	for _, class := range classes {
		n, err := r.pollClass(ctx, class)
		found += n
		if err != nil {
			return found, err
		}
	}
	return found, nil
}

func (r *Relay) pollClass(ctx context.Context, class Class) (int, error) {
	capacity := r.dispatcher.Capacity(ctx, class)
	if capacity <= 0 {
		r.saturated[class].Store(true)
		return 0, nil
	}
	limit := min(capacity, batch)
	if r.shared() && r.saturated[class].Load() {
		limit = min(limit, sharedPerCore*runtime.GOMAXPROCS(0))
	}
	claimed, err := r.claim(ctx, class, limit)
	if err != nil {
		return 0, err
	}
	if len(claimed) == limit || slices.ContainsFunc(claimed, func(t ports.Task) bool { return t.ConcurrencyKey != "" }) {
		r.saturated[class].Store(true)
	}
	if len(claimed) == 0 {
		return 0, nil
	}
	handed, err := r.dispatcher.Dispatch(ctx, class, claimed...)
	if err != nil {
		return handed, errors.Join(fmt.Errorf("dispatch %s: %w", claimed[handed].ID, err), r.release(ctx, claimed[handed:]))
	}
	return handed, nil
}

// claim goes on for recordTimeout once ctx has ended: what was leased by a claim that is cut off would wait for the end
// of the lease.
func (r *Relay) claim(ctx context.Context, class Class, limit int) ([]ports.Task, error) {
	lasting, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(recordTimeout, cancel) })
	defer stop()
	return r.queue.Claim(lasting, class, r.clock.Real(), Lease, limit)
}

// release returns what could not be dispatched to the queue; what cannot be returned is claimed again when its lease
// ends.
func (r *Relay) release(ctx context.Context, claimed []ports.Task) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
	defer cancel()
	for _, t := range claimed {
		if err := r.queue.Release(ctx, t); err != nil && !errors.Is(err, ports.ErrFenced) {
			return fmt.Errorf("release %s: %w", t.ID, err)
		}
	}
	return nil
}

// logOutage logs the beginning and the end of an outage, not every poll in between.
func (r *Relay) logOutage(ctx context.Context, err error) {
	down := err != nil && ctx.Err() == nil
	switch {
	case down && !r.down:
		r.log.ErrorContext(ctx, "background work is interrupted", slog.Any("error", err))
	case !down && r.down:
		r.log.InfoContext(ctx, "background work has resumed")
	}
	r.down = down
}
