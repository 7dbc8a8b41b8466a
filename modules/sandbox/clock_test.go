package sandbox

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sundry/adapters/gormstore"
	"sundry/adapters/system"
	"sundry/core/fault"
	"sundry/ports"
	"sundry/tests/testdb"
)

const (
	creator = "crt_1"
	kind    = "test.run"
	deliver = "test.deliver"
	day     = 24 * time.Hour
)

// leapClock is the real clock plus what the test leaps over.
type leapClock struct {
	system.Clock
	store *gormstore.Store
	ahead atomic.Int64
}

func (c *leapClock) Real() time.Time { return c.Clock.Real().Add(time.Duration(c.ahead.Load())) }

func (c *leapClock) Now(ctx context.Context, creatorID string) (time.Time, error) {
	offset, err := c.store.Read(ctx).Sandbox.ClockOffsets.Get(ctx, creatorID)
	return c.Real().Add(offset), err
}

// fixture is the service over a store, with handlers written by the test. It is its own task runner.
type fixture struct {
	*Service
	t        *testing.T
	db       *gormstore.Store
	time     *leapClock
	stop     chan struct{}
	handlers map[string]func(ctx context.Context, t ports.Task) error
}

func eachBench(t *testing.T, test func(b *fixture)) {
	t.Helper()
	testdb.EachStore(t, func(t *testing.T, db *gormstore.Store) { test(newFixture(t, db)) })
}

func newFixture(t *testing.T, db *gormstore.Store, before ...BeforeAdvance) *fixture {
	b := &fixture{
		t: t, db: db, time: &leapClock{store: db}, stop: make(chan struct{}),
		handlers: map[string]func(context.Context, ports.Task) error{},
	}
	b.Service = New(Deps{
		Store: db, Queue: db, Runner: b, Clock: b.time, Sleeper: system.Clock{}, IDs: system.NewIDs(), Stopping: b.stop,
		Flush: func(context.Context) error { return nil }, Before: before, Deliveries: deliver,
	})
	b.handlers[kind], b.handlers[deliver] = b.done, b.done
	return b
}

// Run implements ports.TaskRunner as the jobs do: a failure is recorded, to be tried again in an hour of real time.
func (b *fixture) Run(ctx context.Context, t ports.Task) error {
	err := b.handlers[t.Kind](ctx, t)
	if err != nil {
		return errors.Join(err, b.db.Fail(ctx, t, err.Error(), b.time.Real().Add(time.Hour)))
	}
	return nil
}

func (b *fixture) atomically(fn func(ctx context.Context, r ports.Repos) error) {
	b.t.Helper()
	if err := b.db.Atomically(b.t.Context(), fn); err != nil {
		b.t.Fatal(err)
	}
}

func (b *fixture) schedule(kind, subject, creatorID string, due time.Time) {
	b.t.Helper()
	b.atomically(func(ctx context.Context, r ports.Repos) error {
		return r.Tasks.Schedule(ctx, kind, subject, creatorID, due)
	})
}

func (b *fixture) done(ctx context.Context, t ports.Task) error {
	return b.db.Atomically(ctx, func(ctx context.Context, r ports.Repos) error { return r.Tasks.Done(ctx, t) })
}

func (b *fixture) now() time.Time {
	b.t.Helper()
	now, err := b.Clock(b.t.Context(), creator)
	if err != nil {
		b.t.Fatal(err)
	}
	return now
}

func (b *fixture) advanceBy(d time.Duration) Advanced {
	b.t.Helper()
	seconds := int64(d / time.Second)
	advanced, err := b.Advance(b.t.Context(), creator, Move{Seconds: &seconds})
	if err != nil {
		b.t.Fatal(err)
	}
	return advanced
}

// near reports whether got is at want or a moment after it.
func near(got, want time.Time) bool { return !got.Before(want) && got.Before(want.Add(10*time.Second)) }

func TestTheClockRunsOnFromWhereItIsPut(t *testing.T) {
	t.Parallel()
	eachBench(t, func(b *fixture) {
		start := b.now()
		to := start.Add(30 * day).Add(123 * time.Millisecond)
		advanced, err := b.Advance(b.t.Context(), creator, Move{To: &to})
		if err != nil || !near(advanced.Now, to) || advanced.Ran != 0 {
			b.t.Fatalf("advanced to %+v, %v; want %v, nothing run", advanced, err, to)
		}
		time.Sleep(20 * time.Millisecond)
		if now := b.now(); !now.After(advanced.Now) || !near(now, to) {
			b.t.Errorf("the clock is at %v after %v", now, advanced.Now)
		}
		if other, err := b.Clock(b.t.Context(), "crt_other"); err != nil || !near(other, start) {
			b.t.Errorf("another account's clock is at %v, %v", other, err)
		}
	})
}

func TestWhatFallsDueOnTheWayRunsInOrderAtItsTime(t *testing.T) {
	t.Parallel()
	eachBench(t, func(b *fixture) {
		start := b.now()
		var ran []string
		b.handlers[kind] = func(ctx context.Context, task ports.Task) error {
			ran = append(ran, task.Subject)
			if now := b.now(); !near(now, task.DueAt) {
				b.t.Errorf("%s, due at %v, ran at %v", task.Subject, task.DueAt, now)
			}
			return b.done(ctx, task)
		}
		for subject, after := range map[string]time.Duration{"third": 9 * day, "first": time.Hour, "second": 2 * day,
			"overdue": 0, "beyond": 10*day + 4*time.Minute} {
			b.schedule(kind, subject, creator, start.Add(after))
		}
		b.schedule(kind, "outsider", "crt_other", start)
		advanced := b.advanceBy(10 * day)
		if want := []string{"overdue", "first", "second", "third"}; !slices.Equal(ran, want) || advanced.Ran != len(want) {
			b.t.Errorf("ran %v (%d), want %v", ran, advanced.Ran, want)
		}
		if !near(advanced.Now, start.Add(10*day)) {
			b.t.Errorf("the clock ended at %v", advanced.Now)
		}
		// What waits is timed by the moved clock: beyond falls due in four minutes of real time.
		due, err := b.db.Claim(
			b.t.Context(), ports.DefaultTasks, b.time.Real().Add(4*time.Minute+time.Second), lease, 10,
		)
		if err != nil || len(due) != 2 {
			b.t.Errorf("four minutes later %v, %v are due; want beyond and outsider", due, err)
		}
	})
}

func TestATaskThatSchedulesItselfAnewRunsAgainOnTheWay(t *testing.T) {
	t.Parallel()
	eachBench(t, func(b *fixture) {
		start := b.now()
		b.handlers[kind] = func(ctx context.Context, task ports.Task) error {
			return b.db.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
				return r.Tasks.Postpone(ctx, task, task.DueAt.Add(day))
			})
		}
		b.schedule(kind, "daily", creator, start.Add(day))
		if advanced := b.advanceBy(30 * day); advanced.Ran != 30 {
			b.t.Errorf("ran %d times in 30 days, want 30", advanced.Ran)
		}
	})
}

func TestAFailingTaskDoesNotStopTheClock(t *testing.T) {
	t.Parallel()
	eachBench(t, func(b *fixture) {
		start, tries := b.now(), 0
		b.handlers["test.fail"] = func(context.Context, ports.Task) error { tries++; return errors.New("no") }
		b.schedule("test.fail", "a", creator, start.Add(time.Hour))
		b.schedule(kind, "a", creator, start.Add(2*time.Hour))
		if advanced := b.advanceBy(day); advanced.Ran != 2 || tries != 1 || !near(advanced.Now, start.Add(day)) {
			b.t.Errorf("advanced to %+v after %d tries, want both run once", advanced, tries)
		}
		b.time.ahead.Add(int64(time.Hour + time.Minute)) // the time to try again, in real time
		if advanced := b.advanceBy(time.Second); advanced.Ran != 1 || tries != 2 {
			b.t.Errorf("ran %d, tried %d times; want the failed one again", advanced.Ran, tries)
		}
	})
}

func TestATaskInAnotherWorkersHandsIsWaitedFor(t *testing.T) {
	t.Parallel()
	eachBench(t, func(b *fixture) {
		b.schedule(kind, "a", creator, b.now())
		held, err := b.db.Claim(b.t.Context(), ports.DefaultTasks, b.time.Real(), lease, 1)
		if err != nil || len(held) != 1 {
			b.t.Fatal(held, err)
		}
		var finished atomic.Bool
		time.AfterFunc(300*time.Millisecond, func() {
			finished.Store(true)
			if err := b.done(context.Background(), held[0]); err != nil {
				b.t.Error(err)
			}
		})
		// On a slow machine the worker may have finished before the advance looked: then there was nothing to wait for.
		if advanced := b.advanceBy(day); !finished.Load() || advanced.Ran > 1 {
			b.t.Errorf("advanced to %+v before the other worker had finished", advanced)
		}
	})
}

func TestAdvancesOfOneAccountFollowEachOther(t *testing.T) {
	t.Parallel()
	eachBench(t, func(b *fixture) {
		start := b.now()
		var running, most atomic.Int64
		b.handlers[kind] = func(ctx context.Context, task ports.Task) error {
			most.Store(max(most.Load(), running.Add(1)))
			defer running.Add(-1)
			time.Sleep(20 * time.Millisecond)
			return b.done(ctx, task)
		}
		for i := range 6 {
			b.schedule(kind, fmt.Sprint(i), creator, start.Add(time.Duration(i)*time.Hour))
		}
		var together sync.WaitGroup
		var ran atomic.Int64
		for range 3 {
			together.Go(func() { ran.Add(int64(b.advanceBy(2 * time.Hour).Ran)) })
		}
		together.Wait()
		if now := b.now(); now.Before(start.Add(6 * time.Hour)) {
			b.t.Errorf("three times two hours end at %v after %v", now, start)
		}
		if most.Load() != 1 || ran.Load() != 6 {
			b.t.Errorf("%d tasks at once, %d in all; want one at a time, 6 in all", most.Load(), ran.Load())
		}
	})
}

func TestMovesThatMakeNoSenseAreRefusedAndMoveNothing(t *testing.T) {
	t.Parallel()
	eachBench(t, func(b *fixture) {
		b.schedule(kind, "a", creator, b.now().Add(-time.Second))
		b.handlers[kind] = func(context.Context, ports.Task) error { b.t.Error("a refused move ran a task"); return nil }
		seconds := func(n int64) *int64 { return &n }
		at := func(d time.Duration) *time.Time { to := b.now().Add(d); return &to }
		for name, c := range map[string]struct {
			move  Move
			field string
		}{
			"neither":         {Move{}, "seconds"},
			"both":            {Move{Seconds: seconds(1), To: at(time.Hour)}, "to"},
			"not at all":      {Move{Seconds: seconds(0)}, "seconds"},
			"backwards":       {Move{Seconds: seconds(-1)}, "seconds"},
			"more than ever":  {Move{Seconds: seconds(1 << 62)}, "seconds"},
			"into the past":   {Move{To: at(-time.Second)}, "to"},
			"eleven years on": {Move{To: at(11 * 366 * day)}, "to"},
		} {
			_, err := b.Advance(b.t.Context(), creator, c.move)
			var f *fault.Error
			if !errors.As(err, &f) || f.Code != fault.ValidationFailed || len(f.Details) != 1 || f.Details[0].Field != c.field {
				b.t.Errorf("%s: %v, want VALIDATION_FAILED of %s", name, err, c.field)
			}
		}
		if offset, err := b.db.Read(b.t.Context()).Sandbox.ClockOffsets.Get(b.t.Context(), creator); err != nil ||
			offset != 0 {
			b.t.Errorf("the clock has moved by %v, %v", offset, err)
		}
	})
}

func TestAnAdvanceThatFindsTooMuchSaysHowFarItGot(t *testing.T) {
	t.Parallel()
	eachBench(t, func(b *fixture) {
		start := b.now()
		b.limit = 5
		for i := range 7 {
			b.schedule(kind, fmt.Sprint(i), creator, start.Add(time.Duration(i+1)*time.Hour))
		}
		if advanced := b.advanceBy(day); advanced.Done || advanced.Ran != 5 || !near(advanced.Now, start.Add(5*time.Hour)) {
			b.t.Errorf("%+v, want not done, five hours after %v", advanced, start)
		}
		to := start.Add(day)
		if advanced, err := b.Advance(b.t.Context(), creator, Move{To: &to}); err != nil || !advanced.Done ||
			advanced.Ran != 2 || !near(advanced.Now, to) {
			b.t.Errorf("the second advance ended at %+v, %v", advanced, err)
		}
	})
}

func TestAnAdvanceEndsInTime(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(b *fixture){
		"its time is over":        func(b *fixture) { b.time.ahead.Add(int64(maxTime + time.Second)) },
		"the service is stopping": func(b *fixture) { close(b.stop) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachBench(t, func(b *fixture) {
				b.handlers[kind] = func(ctx context.Context, task ports.Task) error { end(b); return b.done(ctx, task) }
				b.schedule(kind, "a", creator, b.now().Add(time.Hour))
				b.schedule(kind, "b", creator, b.now().Add(2*time.Hour))
				if advanced := b.advanceBy(day); advanced.Done || advanced.Ran != 1 {
					b.t.Errorf("%+v, want not done after one", advanced)
				}
			})
		})
	}
}

// deliveryKeys are the receivers: what is before the slash of a subject.
var deliveryKeys = gormstore.TaskKeys(func(kind, subject, _ string) string {
	if kind != deliver {
		return ""
	}
	receiver, _, _ := strings.Cut(subject, "/")
	return receiver
})

func TestDeliveriesOfReceiversRunTogether(t *testing.T) {
	t.Parallel()
	testdb.EachStore(t, func(t *testing.T, db *gormstore.Store) {
		b := newFixture(t, db)
		start := b.now()
		const receivers = 5
		var meeting sync.WaitGroup // of the first attempts at each receiver: it ends only if all run at once
		meeting.Add(receivers)
		var mu sync.Mutex
		ran := map[string][]string{}
		var order []string
		b.handlers[deliver] = func(ctx context.Context, task ports.Task) error {
			receiver, name, _ := strings.Cut(task.Subject, "/")
			mu.Lock()
			ran[receiver] = append(ran[receiver], name)
			order = append(order, name)
			mu.Unlock()
			if ports.AdvanceOf(ctx) == nil {
				t.Error("an attempt does not know that it is inside an advance")
			}
			if name == "1" {
				meeting.Done()
				meeting.Wait()
			}
			return b.done(ctx, task)
		}
		b.handlers[kind] = func(ctx context.Context, task ports.Task) error {
			mu.Lock()
			order = append(order, "task")
			mu.Unlock()
			return b.done(ctx, task)
		}
		for i := range receivers {
			for n, after := range []time.Duration{0, 5 * time.Second, 40 * time.Second} {
				b.schedule(deliver, fmt.Sprintf("r%d/%d", i, n+1), creator, start.Add(time.Hour+after))
			}
		}
		b.schedule(kind, "between", creator, start.Add(time.Hour+20*time.Second))
		if advanced := b.advanceBy(day); !advanced.Done || advanced.Ran != 3*receivers+1 {
			t.Errorf("%+v, want %d to run", advanced, 3*receivers+1)
		}
		for receiver, names := range ran {
			if !slices.Equal(names, []string{"1", "2", "3"}) {
				t.Errorf("%s got %v", receiver, names)
			}
		}
		if at := slices.Index(order, "task"); at != 2*receivers {
			t.Errorf("what is due after two deliveries to each ran after %d in all", at)
		}
	}, deliveryKeys)
}

func TestHooksSeeTheMovedClockAndTheirTasksRun(t *testing.T) {
	t.Parallel()
	testdb.EachStore(t, func(t *testing.T, db *gormstore.Store) {
		var seen time.Duration
		b := newFixture(t, db, func(ctx context.Context, r ports.Repos, creatorID string, now time.Time) error {
			offset, err := r.Sandbox.ClockOffsets.Get(ctx, creatorID)
			seen = offset
			return errors.Join(err, r.Tasks.Schedule(ctx, kind, "reconcile", creatorID, now.Add(time.Millisecond)))
		})
		if advanced := b.advanceBy(time.Second); advanced.Ran != 1 {
			t.Errorf("ran %d, want what the hook scheduled", advanced.Ran)
		}
		if seen <= 0 {
			t.Errorf("the hook saw the clock ahead by %v, want it to have moved", seen)
		}
	})
}
