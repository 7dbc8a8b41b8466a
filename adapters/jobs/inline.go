package jobs

import (
	"context"
	"errors"
	"log/slog"
	"sync"

	"sundry/ports"
)

// errStopped refuses a task while the process goes down.
var errStopped = errors.New("the workers are stopping")

// errNoRoom refuses a task that would wait too long.
var errNoRoom = errors.New("no room")

// Inline runs tasks in this process: a fixed number of workers per class, each class with a short queue of its own.
type Inline struct {
	mux   *Mux
	queue ports.TaskQueue
	log   *slog.Logger

	ctx     context.Context // of every run; ends when the time to stop is over
	cancel  context.CancelFunc
	lanes   map[Class]chan ports.Task
	running sync.WaitGroup

	mu      sync.RWMutex // guards stopped and the closing of the lanes
	stopped bool
}

var _ ports.Dispatcher = (*Inline)(nil)

// NewInline returns a dispatcher without workers; Start brings them.
func NewInline(mux *Mux, queue ports.TaskQueue, log *slog.Logger) *Inline {
	d := &Inline{mux: mux, queue: queue, log: log, lanes: map[Class]chan ports.Task{}}
	d.ctx, d.cancel = context.WithCancel(context.Background())
	for class, n := range workers {
		d.lanes[class] = make(chan ports.Task, n)
	}
	return d
}

// Start begins to run tasks. freed is called when a class has room again; it must not block.
func (d *Inline) Start(freed func(Class)) error {
	for class, lane := range d.lanes {
		for range workers[class] {
			d.running.Go(func() { d.work(class, lane, freed) })
		}
	}
	return nil
}

// Room implements ports.Dispatcher. A queue is refilled when half of it is gone, so that claims stay few.
func (d *Inline) Room(_ context.Context, class Class) (int, error) {
	return roomFor(len(d.lanes[class]), cap(d.lanes[class])), nil
}

// roomFor is how many more may wait where this many wait already.
func roomFor(waiting, most int) int {
	if waiting > most/2 {
		return 0
	}
	return most - waiting
}

// Dispatch implements ports.Dispatcher.
func (d *Inline) Dispatch(_ context.Context, class Class, t ports.Task) error {
	d.mu.RLock()
	defer d.mu.RUnlock()
	if d.stopped {
		return errStopped
	}
	select {
	case d.lanes[class] <- t:
		return nil
	default:
		return errNoRoom
	}
}

func (d *Inline) work(class Class, lane chan ports.Task, freed func(Class)) {
	for t := range lane {
		d.run(t)
		if len(lane) <= cap(lane)/2 {
			freed(class)
		}
	}
}

func (d *Inline) run(t ports.Task) {
	d.mu.RLock()
	stopped := d.stopped
	d.mu.RUnlock()
	var err error
	switch {
	case stopped:
		err = d.queue.Release(d.ctx, t)
	case t.LeaseUntil.Sub(d.mux.clock.Real()) < HandlerTimeout+recordTimeout: // it has waited
		if t, err = d.mux.resume(d.ctx, t.ID, t.Token); err == nil {
			_ = d.mux.Run(d.ctx, t) // recorded in the row
		}
	default:
		_ = d.mux.Run(d.ctx, t) // recorded in the row
	}
	if err != nil && !errors.Is(err, ports.ErrFenced) {
		d.log.WarnContext(d.ctx, "task left to its lease", slog.String("task", t.ID), slog.Any("error", err))
	}
}

// Stop lets the running tasks finish and gives the waiting ones back. When ctx ends first, the running ones are
// cancelled: they roll back and are tried again.
func (d *Inline) Stop(ctx context.Context) {
	d.mu.Lock()
	if !d.stopped {
		d.stopped = true
		for _, lane := range d.lanes {
			close(lane)
		}
	}
	d.mu.Unlock()
	done := make(chan struct{})
	go func() { d.running.Wait(); close(done) }()
	select {
	case <-done:
	case <-ctx.Done():
		d.cancel()
		<-done
	}
	d.cancel()
}
