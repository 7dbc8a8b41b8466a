package contract

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sundry/adapters/jobs"
	"sundry/core/document"
	"sundry/ports"
)

// leapClock is real time plus what the test leaps over, so that leases and back-offs need not be waited for.
type leapClock struct {
	ahead atomic.Int64
	// stopped, once set, is shown instead of real time: then a second passes by a leap alone.
	stopped atomic.Pointer[time.Time]
}

func (c *leapClock) leap(d time.Duration) { c.ahead.Add(int64(d)) }

func (c *leapClock) stop() {
	now := realNow()
	c.stopped.Store(&now)
}

// Real implements ports.Clock.
func (c *leapClock) Real() time.Time {
	now := realNow()
	if at := c.stopped.Load(); at != nil {
		now = *at
	}
	return now.Add(time.Duration(c.ahead.Load()))
}

// Now implements ports.Clock.
func (c *leapClock) Now(context.Context, string) (time.Time, error) { return c.Real(), nil }

// RunningDispatcher is a dispatcher with its workers.
type RunningDispatcher interface {
	ports.Dispatcher
	// Start brings the workers up; they call freed whenever there is capacity again.
	Start(freed func(jobs.Class))
	// Stop lets what runs finish until ctx ends, and cancels it then.
	Stop(ctx context.Context)
}

// Queue is the queue that the workers of several processes share.
type Queue struct {
	// NewDispatcher makes the dispatcher of one process, over the handlers of its mux.
	NewDispatcher func(mux *jobs.Mux, queue ports.TaskQueue, log *slog.Logger) RunningDispatcher
	// Empty loses everything that waits in the queue. Nil for a dispatcher that keeps nothing outside its process.
	Empty func(t *testing.T)
}

// workerFixture is one worker process over a store: mux, dispatcher and relay.
type workerFixture struct {
	t     *testing.T
	store StoreAdapter
	queue Queue
	clock *leapClock
	log   *slog.Logger
	mux   *jobs.Mux
	// between is between the relay and the dispatcher, to lose or double what passes.
	between    func(next RunningDispatcher) ports.Dispatcher
	dispatcher RunningDispatcher
	relay      *jobs.Relay
	// wakes is the relay that is woken by scheduled work: that of the worker started last.
	wakes *atomic.Pointer[jobs.Relay]
	stop  func(deadline context.Context)
}

func newWorkerFixture(t *testing.T, db Database, queue Queue) *workerFixture {
	r := &workerFixture{
		t: t, queue: queue, clock: &leapClock{}, log: slog.New(slog.DiscardHandler),
		wakes:   &atomic.Pointer[jobs.Relay]{},
		between: func(next RunningDispatcher) ports.Dispatcher { return next },
	}
	r.store = db.Open(t, StoreOptions{
		ClassOf:     func(kind string) ports.TaskClass { return r.mux.ClassOf(kind) },
		KeyOf:       func(kind, subject, creatorID string) string { return r.mux.ConcurrencyKey(kind, subject, creatorID) },
		OnScheduled: r.wake,
	})
	r.mux = r.newMux()
	return r
}

func (r *workerFixture) newMux() *jobs.Mux {
	return jobs.NewMux(jobs.MuxDeps{
		Kinds: jobs.NewKinds(), Queue: r.store, Clock: r.clock, Metrics: jobs.NewMetrics(r.store, r.clock, r.log),
		Log: r.log,
	})
}

func (r *workerFixture) wake(classes ...ports.TaskClass) {
	if relay := r.wakes.Load(); relay != nil {
		relay.Wake(classes...)
	}
}

// secondWorker is another worker process on the same store and queue.
func (r *workerFixture) secondWorker() *workerFixture {
	other := *r
	other.mux = r.newMux()
	return &other
}

// start brings the workers up; they stop when the test ends.
func (r *workerFixture) start() {
	r.t.Helper()
	r.dispatcher = r.queue.NewDispatcher(r.mux, r.store, r.log)
	r.relay = jobs.NewRelay(r.store, r.between(r.dispatcher), r.clock, r.log)
	r.dispatcher.Start(r.relay.Freed)
	r.wakes.Store(r.relay)
	ctx, cancel := context.WithCancel(context.Background())
	var relaying sync.WaitGroup
	relaying.Go(func() { r.relay.Run(ctx) })
	var once sync.Once
	r.stop = func(deadline context.Context) {
		once.Do(func() {
			cancel()
			relaying.Wait()
			r.dispatcher.Stop(deadline)
		})
	}
	r.t.Cleanup(func() {
		deadline, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		r.stop(deadline)
	})
}

// count is the effect that the tests look for: it is part of the handler's own transaction.
func count(ctx context.Context, r ports.Repos, t ports.Task) error {
	_, err := r.Invoicing.DocumentNumbers.Next(ctx, t.Subject, document.Receipts)
	return err
}

// countAndFinish is a well-behaved handler.
func (r *workerFixture) countAndFinish(ctx context.Context, t ports.Task) error {
	return r.store.Atomically(ctx, func(ctx context.Context, repos ports.Repos) error {
		if err := count(ctx, repos, t); err != nil {
			return err
		}
		return repos.Tasks.Done(ctx, t)
	})
}

// effects counts the commits of the subject's effect.
func (r *workerFixture) effects(subject string) int64 {
	r.t.Helper()
	var n int64
	atomically(r.t, r.store, func(ctx context.Context, repos ports.Repos) error {
		var err error
		if n, err = repos.Invoicing.DocumentNumbers.Next(ctx, subject, document.Receipts); err != nil {
			return err
		}
		n--
		return nil
	})
	return n
}

func (r *workerFixture) wantOneEffectEach(subjects []string) {
	r.t.Helper()
	for _, subject := range subjects {
		if n := r.effects(subject); n != 1 {
			r.t.Errorf("%s took effect %d times, want once", subject, n)
		}
	}
}

// waiting counts the tasks that are due by now, running ones included.
func (r *workerFixture) waiting() int64 {
	r.t.Helper()
	backlog, err := r.store.Backlog(r.t.Context(), r.clock.Real())
	if err != nil {
		r.t.Fatal(err)
	}
	var n int64
	for _, b := range backlog {
		n += b.Due
	}
	return n
}

// patience bounds how long a test waits for a condition that must become true, on a slow machine too.
const patience = 2 * time.Minute

// eventually waits for the condition. Every two seconds it leaps over a lease: what was lost on the way is claimed
// again.
func (r *workerFixture) eventually(what string, condition func() bool) {
	r.t.Helper()
	started, leapt := time.Now(), time.Now()
	for !condition() {
		if time.Since(started) > patience {
			r.t.Fatalf("still not so after %v: %s", patience, what)
		}
		if time.Since(leapt) > 2*time.Second {
			r.clock.leap(jobs.Lease + time.Second)
			leapt = time.Now()
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// eventuallyInPlace is eventually without leaps: what runs keeps its lease.
func (r *workerFixture) eventuallyInPlace(what string, condition func() bool) {
	r.t.Helper()
	for started := time.Now(); !condition(); time.Sleep(5 * time.Millisecond) {
		if time.Since(started) > patience {
			r.t.Fatalf("still not so after %v: %s", patience, what)
		}
	}
}

func (r *workerFixture) allDone() bool { return r.waiting() == 0 }
