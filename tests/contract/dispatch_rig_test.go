package contract

import (
	"context"
	"crypto/rand"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"sundry/adapters/gormstore"
	"sundry/adapters/jobs"
	"sundry/ports"
	"sundry/tests/testdb"
	"sundry/tests/testredis"
)

// leapClock is real time plus what the test leaps over, so that leases and back-offs need not be waited for.
type leapClock struct{ ahead atomic.Int64 }

func (c *leapClock) leap(d time.Duration) { c.ahead.Add(int64(d)) }

// Real implements ports.Clock.
func (c *leapClock) Real() time.Time { return realNow().Add(time.Duration(c.ahead.Load())) }

// Now implements ports.Clock.
func (c *leapClock) Now(context.Context, string) (time.Time, error) { return c.Real(), nil }

// carrier is what every dispatcher is.
type carrier interface {
	ports.Dispatcher
	Start(freed func(jobs.Class)) error
	Stop(ctx context.Context)
}

// carriers makes each dispatcher under test.
var carriers = map[string]func(t *testing.T, r *rig) carrier{
	"in process": func(_ *testing.T, r *rig) carrier { return jobs.NewInline(r.mux, r.store, r.log) },
	"asynq":      func(_ *testing.T, r *rig) carrier { return jobs.NewAsynq(r.redis, r.prefix, r.mux, r.log) },
}

// rig is one worker process over a store: mux, dispatcher and relay.
type rig struct {
	t      *testing.T
	store  *gormstore.Store
	redis  *redis.Client
	prefix string
	clock  *leapClock
	log    *slog.Logger
	mux    *jobs.Mux
	// between stands between the relay and the carrier, to lose or double what passes.
	between func(next carrier) ports.Dispatcher
	carrier carrier
	relay   *jobs.Relay
	make    func(t *testing.T, r *rig) carrier
	stop    func(deadline context.Context)
}

// eachRig runs the test on every dispatcher and engine.
func eachRig(t *testing.T, test func(t *testing.T, r *rig)) {
	t.Helper()
	eachRigOn(t, testredis.Shared, test)
}

func eachRigOn(t *testing.T, redisDB int, test func(t *testing.T, r *rig)) {
	t.Helper()
	for name, newCarrier := range carriers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testdb.EachStore(t, func(t *testing.T, store *gormstore.Store) {
				test(t, newRig(t, store, testredis.Client(t, redisDB), newCarrier))
			})
		})
	}
}

func newRig(t *testing.T, store *gormstore.Store, client *redis.Client, newCarrier func(*testing.T, *rig) carrier) *rig {
	r := &rig{
		t: t, store: store, redis: client, prefix: "test-" + rand.Text(), clock: &leapClock{}, make: newCarrier,
		log:     slog.New(slog.DiscardHandler),
		between: func(next carrier) ports.Dispatcher { return next },
	}
	r.rewire()
	return r
}

// rewire gives the rig an empty mux.
func (r *rig) rewire() {
	r.mux = jobs.NewMux(r.store, r.clock, jobs.NewMetrics(r.store, r.clock, r.log), r.log)
	r.store.Classify(r.mux.ClassOf)
}

// twin is a second worker process on the same store and queue.
func (r *rig) twin() *rig {
	other := *r
	other.mux = jobs.NewMux(r.store, r.clock, jobs.NewMetrics(r.store, r.clock, r.log), r.log)
	return &other
}

// start brings the workers up; they stop when the test ends.
func (r *rig) start() {
	r.t.Helper()
	r.carrier = r.make(r.t, r)
	r.relay = jobs.NewRelay(r.store, r.between(r.carrier), r.clock, r.log)
	if err := r.carrier.Start(r.relay.Freed); err != nil {
		r.t.Fatal(err)
	}
	r.store.OnScheduled(r.relay.Wake)
	ctx, cancel := context.WithCancel(context.Background())
	var relaying sync.WaitGroup
	relaying.Go(func() { r.relay.Run(ctx) })
	var once sync.Once
	r.stop = func(deadline context.Context) {
		once.Do(func() {
			cancel()
			relaying.Wait()
			r.carrier.Stop(deadline)
		})
	}
	r.t.Cleanup(func() {
		deadline, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		r.stop(deadline)
	})
}

// count is the effect that the tests look for: it is part of the handler's own transaction.
func count(ctx context.Context, r ports.Repos, t ports.Task) error {
	_, err := r.DocumentNumbers.Next(ctx, t.Subject)
	return err
}

// countAndFinish is a well-behaved handler.
func (r *rig) countAndFinish(ctx context.Context, t ports.Task) error {
	return r.store.Atomically(ctx, func(ctx context.Context, repos ports.Repos) error {
		if err := count(ctx, repos, t); err != nil {
			return err
		}
		return repos.Tasks.Done(ctx, t)
	})
}

// effects is how often the subject's effect was committed.
func (r *rig) effects(subject string) int64 {
	r.t.Helper()
	var n int64
	atomically(r.t, r.store, func(ctx context.Context, repos ports.Repos) error {
		var err error
		if n, err = repos.DocumentNumbers.Next(ctx, subject); err != nil {
			return err
		}
		n--
		return nil
	})
	return n
}

func (r *rig) wantOneEffectEach(subjects []string) {
	r.t.Helper()
	for _, subject := range subjects {
		if n := r.effects(subject); n != 1 {
			r.t.Errorf("%s took effect %d times, want once", subject, n)
		}
	}
}

// waiting is how many tasks are due by now, running ones included.
func (r *rig) waiting() int64 {
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

// eventually waits for the condition. Every two seconds it leaps over a lease: what was lost on the way is claimed again.
func (r *rig) eventually(what string, condition func() bool) {
	r.t.Helper()
	started, leapt := time.Now(), time.Now()
	for !condition() {
		if time.Since(started) > 30*time.Second {
			r.t.Fatalf("still not so after half a minute: %s", what)
		}
		if time.Since(leapt) > 2*time.Second {
			r.clock.leap(jobs.Lease + time.Second)
			leapt = time.Now()
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func (r *rig) allDone() bool { return r.waiting() == 0 }
