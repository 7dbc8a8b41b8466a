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

// errFull refuses a task that would wait too long.
var errFull = errors.New("the queue is full")

// Inline runs tasks in this process: a fixed number of workers per class, each class with a short queue of its own.
type Inline struct {
	mux   *Mux
	queue ports.TaskQueue
	log   *slog.Logger

	ctx     context.Context // of every run; ends when the time to stop is over
	cancel  context.CancelFunc
	queues  map[Class]chan ports.Task
	running sync.WaitGroup

	mu      sync.RWMutex // guards stopped and the closing of the queues
	stopped bool
}

var _ ports.Dispatcher = (*Inline)(nil)

// NewInline returns a dispatcher without workers; Start brings them.
func NewInline(mux *Mux, queue ports.TaskQueue, log *slog.Logger) *Inline {
	d := &Inline{mux: mux, queue: queue, log: log, queues: map[Class]chan ports.Task{}}
	d.ctx, d.cancel = context.WithCancel(context.Background())
	for class, n := range mux.workers {
		d.queues[class] = make(chan ports.Task, n)
	}
	return d
}

// Start begins to run tasks. freed is called when a class has capacity again; it must not block.
func (d *Inline) Start(freed func(Class)) {
	for class, queue := range d.queues {
		for range d.mux.workers[class] {
			d.running.Go(func() { d.work(class, queue, freed) })
		}
	}
}

// Capacity implements ports.Dispatcher. A queue is refilled when half of it is gone, so that claims stay few.
func (d *Inline) Capacity(_ context.Context, class Class) int {
	return capacityFor(len(d.queues[class]), cap(d.queues[class]))
}

// capacityFor returns how many more tasks may be enqueued beside those that wait already.
func capacityFor(waiting, most int) int {
	if waiting > most/2 {
		return 0
	}
	return most - waiting
}

// Dispatch implements ports.Dispatcher.
func (d *Inline) Dispatch(_ context.Context, class Class, tasks ...ports.Task) (handed int, err error) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	for handed, t := range tasks {
		if d.stopped {
			return handed, errStopped
		}
		select {
		case d.queues[class] <- t:
		default:
			return handed, errFull
		}
	}
	return len(tasks), nil
}

func (d *Inline) work(class Class, queue chan ports.Task, freed func(Class)) {
	for t := range queue {
		d.run(t)
		if len(queue) <= cap(queue)/2 {
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
// canceled: they roll back and are tried again.
func (d *Inline) Stop(ctx context.Context) {
	d.mu.Lock()
	if !d.stopped {
		d.stopped = true
		for _, queue := range d.queues {
			close(queue)
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
