package jobs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"sundry/ports"
)

const (
	// batch bounds one claim.
	batch = 64
	// busyLook is the time to the next look after work was found; it doubles while there is none, up to idleLook.
	busyLook = 25 * time.Millisecond
	idleLook = time.Second
	// laneLook bounds it while what was claimed may still be running: a lane whose limit is used up has more due soon.
	laneLook = 100 * time.Millisecond
	// gather is how long room is collected before it is filled.
	gather = 2 * time.Millisecond
	// outageLook is the same after an error, up to longOutageLook.
	outageLook     = 250 * time.Millisecond
	longOutageLook = 5 * time.Second
)

// Relay claims due tasks and hands them to the dispatcher, no faster than they are run. Every worker has one; the
// leases keep them apart.
type Relay struct {
	queue      ports.TaskQueue
	dispatcher ports.Dispatcher
	clock      ports.Clock
	log        *slog.Logger
	wake       chan struct{}
	freed      chan struct{}
	// short says that a class may have more due than there was room for, in the dispatcher or in a lane, so that news of
	// room is worth a look.
	short map[Class]*atomic.Bool
	down  bool
}

// NewRelay returns a relay that does nothing until Run.
func NewRelay(queue ports.TaskQueue, dispatcher ports.Dispatcher, clock ports.Clock, log *slog.Logger) *Relay {
	r := &Relay{
		queue: queue, dispatcher: dispatcher, clock: clock, log: log,
		wake: make(chan struct{}, 1), freed: make(chan struct{}, 1), short: map[Class]*atomic.Bool{},
	}
	for _, class := range ports.TaskClasses() {
		r.short[class] = &atomic.Bool{}
	}
	return r
}

// Wake makes the relay look at once. It does not block.
func (r *Relay) Wake() { notify(r.wake) }

func notify(one chan<- struct{}) {
	select {
	case one <- struct{}{}:
	default: // a look that is about to begin sees this too
	}
}

// Freed tells that a class has room again. It does not block.
func (r *Relay) Freed(class Class) {
	if r.short[class].CompareAndSwap(true, false) {
		notify(r.freed)
	}
}

// Run claims and dispatches until ctx ends. It outlives the database and the dispatcher being away.
func (r *Relay) Run(ctx context.Context) {
	wait := busyLook
	var foundAt time.Time
	for ctx.Err() == nil {
		found, err := r.look(ctx)
		r.noteOutage(ctx, err)
		switch {
		case err != nil:
			wait = min(max(2*wait, outageLook), longOutageLook)
			pause(ctx, wait) // deaf to wakes: they would make an outage a storm
		case found > 0:
			wait, foundAt = busyLook, time.Now()
			r.sleep(ctx, wait)
		case time.Since(foundAt) < Lease:
			wait = min(2*wait, laneLook)
			r.sleep(ctx, wait)
		default:
			wait = min(2*wait, idleLook)
			r.sleep(ctx, wait)
		}
	}
}

// sleep waits for the time to pass, for a wake, for room, or for ctx to end. Room comes with every task that ends: it is
// left to gather for a moment.
func (r *Relay) sleep(ctx context.Context, wait time.Duration) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-r.wake:
	case <-timer.C:
	case <-r.freed:
		pause(ctx, gather)
	}
}

// pause waits for the time to pass or for ctx to end.
func pause(ctx context.Context, wait time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(wait):
	}
}

// look claims what is due of every class as far as there is room, and says how much that was. It ends with the first
// error: what one class lacks, the others lack too.
func (r *Relay) look(ctx context.Context) (int, error) {
	found := 0
	for _, class := range ports.TaskClasses() {
		n, err := r.lookAt(ctx, class)
		found += n
		if err != nil {
			return found, err
		}
	}
	return found, nil
}

func (r *Relay) lookAt(ctx context.Context, class Class) (int, error) {
	room, err := r.dispatcher.Room(ctx, class)
	if err != nil {
		return 0, fmt.Errorf("ask for room: %w", err)
	}
	if room <= 0 {
		r.short[class].Store(true)
		return 0, nil
	}
	limit := min(room, batch)
	claimed, err := r.queue.Claim(ctx, class, r.clock.Real(), Lease, limit)
	if err != nil {
		return 0, err
	}
	if len(claimed) == limit || slices.ContainsFunc(claimed, func(t ports.Task) bool { return t.Lane != "" }) {
		r.short[class].Store(true)
	}
	for i, t := range claimed {
		if err := r.dispatcher.Dispatch(ctx, class, t); err != nil {
			return i, errors.Join(fmt.Errorf("dispatch %s: %w", t.ID, err), r.release(ctx, claimed[i:]))
		}
	}
	return len(claimed), nil
}

// release gives back what could not be dispatched; what cannot be given back comes back when its lease ends.
func (r *Relay) release(ctx context.Context, claimed []ports.Task) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
	defer cancel()
	for _, t := range claimed {
		if err := r.queue.Release(ctx, t); err != nil && !errors.Is(err, ports.ErrFenced) {
			return fmt.Errorf("give back %s: %w", t.ID, err)
		}
	}
	return nil
}

// noteOutage logs the beginning and the end of an outage, not every look in between.
func (r *Relay) noteOutage(ctx context.Context, err error) {
	down := err != nil && ctx.Err() == nil
	switch {
	case down && !r.down:
		r.log.ErrorContext(ctx, "background work stands still", slog.Any("error", err))
	case !down && r.down:
		r.log.InfoContext(ctx, "background work goes on")
	}
	r.down = down
}
