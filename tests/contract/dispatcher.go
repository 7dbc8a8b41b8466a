package contract

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sundry/adapters/jobs"
	"sundry/ports"
)

// Dispatcher is the suite of ports.Dispatcher: the relay, the mux and the dispatcher's workers over a store. The rows
// are the source of truth, so whatever a dispatcher loses, doubles or delays, every task takes effect once.
func Dispatcher(t *testing.T, newDatabase func(t *testing.T) Database, newQueue func(t *testing.T) Queue) {
	t.Helper()
	for name, test := range map[string]func(t *testing.T, r *workerFixture){
		"every task takes effect once":                     everyTaskTakesEffectOnce,
		"a failing handler is retried by the row":          aFailingHandlerIsRetriedByTheRow,
		"a lost dispatch is claimed again after the lease": aLostDispatchIsClaimedAgainAfterTheLease,
		"a doubled dispatch takes effect once":             aDoubledDispatchTakesEffectOnce,
		"two workers do each task once":                    twoWorkersDoEachTaskOnce,
		"a panicking handler is a failing row":             aPanickingHandlerIsAFailingRow,
		"a task of an unknown kind stays a failing row":    aTaskOfAnUnknownKindStaysAFailingRow,
		"a backlog of one class delays no other":           aBacklogOfOneClassDelaysNoOther,
		"a backlog of one key delays no other":             aBacklogOfOneKeyDelaysNoOther,
		"stopping lets what runs finish and loses nothing": stoppingLetsWhatRunsFinishAndLosesNothing,
		"a stop that may not wait cancels what runs":       aStopThatMayNotWaitCancelsWhatRuns,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newWorkerFixture(t, newDatabase(t), newQueue(t)))
		})
	}
}

// DispatcherOverVolatileQueue tests a dispatcher whose queue may be emptied at any time. Nothing else may use the
// queue meanwhile.
func DispatcherOverVolatileQueue(
	t *testing.T, newDatabase func(t *testing.T) Database, newQueue func(t *testing.T) Queue,
) {
	t.Helper()
	t.Run("an emptied queue loses nothing", func(t *testing.T) {
		t.Parallel()
		anEmptiedQueueLosesNothing(t, newWorkerFixture(t, newDatabase(t), newQueue(t)))
	})
}

// SharedDispatcher tests a dispatcher that hands tasks to the workers of other processes.
func SharedDispatcher(t *testing.T, newDatabase func(t *testing.T) Database, newQueue func(t *testing.T) Queue) {
	t.Helper()
	t.Run("another worker runs what one has no capacity for", func(t *testing.T) {
		t.Parallel()
		anotherWorkerRunsTheSurplus(t, newWorkerFixture(t, newDatabase(t), newQueue(t)))
	})
}

// scheduleMany makes n tasks of a kind due now and names their subjects.
func (r *workerFixture) scheduleMany(kind string, n int) []string {
	r.t.Helper()
	subjects := make([]string, n)
	for i := range subjects {
		subjects[i] = fmt.Sprintf("%s-%d", kind, i)
	}
	r.scheduleAll(kind, subjects, r.clock.Real())
	return subjects
}

func (r *workerFixture) scheduleAll(kind string, subjects []string, due time.Time) {
	r.t.Helper()
	atomically(r.t, r.store, func(ctx context.Context, repos ports.Repos) error {
		var all []error
		for _, subject := range subjects {
			all = append(all, repos.Tasks.Schedule(ctx, kind, subject, "", due))
		}
		return errors.Join(all...)
	})
}

func everyTaskTakesEffectOnce(_ *testing.T, r *workerFixture) {
	for _, class := range ports.TaskClasses() {
		r.mux.Handle("test."+string(class), class, r.countAndFinish)
	}
	var subjects []string
	for _, class := range ports.TaskClasses() {
		subjects = append(subjects, r.scheduleMany("test."+string(class), 30)...)
	}
	r.start()
	r.eventually("all tasks are done", r.allDone)
	r.wantOneEffectEach(subjects)
}

func aFailingHandlerIsRetriedByTheRow(t *testing.T, r *workerFixture) {
	attempts := make(chan int, 10)
	r.mux.Handle("test.run", jobs.Default, func(ctx context.Context, task ports.Task) error {
		attempts <- task.Attempts
		if task.Attempts < 3 {
			return r.store.Atomically(ctx, func(ctx context.Context, repos ports.Repos) error {
				return errors.Join(count(ctx, repos, task), errors.New("not yet")) // rolls back
			})
		}
		return r.countAndFinish(ctx, task)
	})
	r.clock.stop()
	subjects := r.scheduleMany("test.run", 1)
	r.start()
	for want, backOff := range []time.Duration{0, time.Second, 2 * time.Second} {
		r.clock.leap(backOff)
		r.relay.Wake()
		if got := <-attempts; got != want+1 {
			t.Fatalf("attempt %d, want %d", got, want+1)
		}
		r.eventuallyInPlace("the outcome is recorded", r.allDone)
		select {
		case n := <-attempts:
			t.Fatalf("attempt %d without a back-off", n)
		case <-time.After(100 * time.Millisecond):
		}
	}
	r.wantOneEffectEach(subjects)
}

// losing forgets the first hand-over of every task.
type losing struct {
	ports.Dispatcher
	lost *sync.Map
}

func (d losing) Dispatch(ctx context.Context, class ports.TaskClass, tasks ...ports.Task) (handed int, err error) {
	for _, t := range tasks {
		if _, before := d.lost.LoadOrStore(t.ID, true); before {
			if _, err := d.Dispatcher.Dispatch(ctx, class, t); err != nil {
				return handed, err
			}
		}
		handed++
	}
	return handed, nil
}

func aLostDispatchIsClaimedAgainAfterTheLease(t *testing.T, r *workerFixture) {
	lost := &sync.Map{}
	r.between = func(next RunningDispatcher) ports.Dispatcher { return losing{next, lost} }
	r.mux.Handle("test.run", jobs.Default, r.countAndFinish)
	subjects := r.scheduleMany("test.run", 20)
	r.start()
	r.eventually("all tasks are done", r.allDone)
	r.wantOneEffectEach(subjects)
	for _, subject := range subjects {
		if _, ok := lost.Load("test.run:" + subject); !ok {
			t.Errorf("%s was never lost", subject)
		}
	}
}

// doubling hands everything over twice, as far as there is capacity.
type doubling struct{ ports.Dispatcher }

func (d doubling) Dispatch(ctx context.Context, class ports.TaskClass, tasks ...ports.Task) (handed int, err error) {
	handed, err = d.Dispatcher.Dispatch(ctx, class, tasks...)
	_, _ = d.Dispatcher.Dispatch(ctx, class, tasks...) // no capacity for the double is no fault
	return handed, err
}

func aDoubledDispatchTakesEffectOnce(_ *testing.T, r *workerFixture) {
	r.between = func(next RunningDispatcher) ports.Dispatcher { return doubling{next} }
	r.mux.Handle("test.run", jobs.Default, r.countAndFinish)
	subjects := r.scheduleMany("test.run", 30)
	r.start()
	r.eventually("all tasks are done", r.allDone)
	r.wantOneEffectEach(subjects)
}

func twoWorkersDoEachTaskOnce(_ *testing.T, r *workerFixture) {
	other := r.secondWorker()
	for _, worker := range []*workerFixture{r, other} {
		worker.mux.Handle("test.run", jobs.Default, worker.countAndFinish)
	}
	subjects := r.scheduleMany("test.run", 80)
	r.start()
	other.start()
	r.eventually("all tasks are done", r.allDone)
	r.wantOneEffectEach(subjects)
}

// anotherWorkerRunsTheSurplus has one worker that claims and is stuck, and one that claims nothing itself.
func anotherWorkerRunsTheSurplus(t *testing.T, r *workerFixture) {
	stuck := make(chan struct{})
	var there atomic.Int64
	r.mux.Handle("test.run", jobs.Default, func(ctx context.Context, task ports.Task) error {
		select {
		case <-stuck:
		case <-ctx.Done():
			return ctx.Err()
		}
		return r.countAndFinish(ctx, task)
	})
	other := r.secondWorker()
	other.mux.Handle("test.run", jobs.Default, func(ctx context.Context, task ports.Task) error {
		there.Add(1)
		return other.countAndFinish(ctx, task)
	})
	dispatcher := other.queue.NewDispatcher(other.mux, other.store, other.log)
	dispatcher.Start(func(jobs.Class) {})
	t.Cleanup(func() { dispatcher.Stop(context.WithoutCancel(t.Context())) })
	subjects := r.scheduleMany("test.run", 60)
	r.start()
	r.eventuallyInPlace("the other has run what is too much for one", func() bool { return r.waiting() <= 16 })
	close(stuck)
	r.eventually("all tasks are done", r.allDone)
	r.wantOneEffectEach(subjects)
	if there.Load() < 44 {
		t.Errorf("the other ran %d tasks, of 44 at least", there.Load())
	}
}

func anEmptiedQueueLosesNothing(t *testing.T, r *workerFixture) {
	r.mux.Handle("test.run", jobs.Default, func(ctx context.Context, task ports.Task) error {
		time.Sleep(10 * time.Millisecond)
		return r.countAndFinish(ctx, task)
	})
	subjects := r.scheduleMany("test.run", 60)
	r.start()
	for range 5 {
		time.Sleep(20 * time.Millisecond)
		r.queue.Empty(t)
	}
	r.eventually("all tasks are done", r.allDone)
	r.wantOneEffectEach(subjects)
}

func aPanickingHandlerIsAFailingRow(_ *testing.T, r *workerFixture) {
	var panics atomic.Int64
	r.mux.Handle("test.panic", jobs.Default, func(context.Context, ports.Task) error { panics.Add(1); panic("no") })
	r.mux.Handle("test.run", jobs.Default, r.countAndFinish)
	r.scheduleMany("test.panic", 1)
	subjects := r.scheduleMany("test.run", 3)
	r.start()
	r.eventually("it panicked and the others ran", func() bool { return panics.Load() >= 1 && r.waiting() == 0 })
	r.wantOneEffectEach(subjects)
	r.clock.leap(time.Hour)
	r.relay.Wake()
	r.eventually("it is tried again", func() bool { return panics.Load() >= 2 })
}

func aTaskOfAnUnknownKindStaysAFailingRow(t *testing.T, r *workerFixture) {
	schedule(t, r.store, "test.unheard-of", "a", "", r.clock.Real())
	r.start()
	r.eventually("the failure is recorded", r.allDone)
	deadline, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	r.stop(deadline)
	r.clock.leap(time.Hour)
	if task := claimOne(t, r.store, r.clock.Real()); task.Attempts < 2 {
		t.Errorf("found %+v, want at least a second attempt", task)
	}
}

func aBacklogOfOneClassDelaysNoOther(t *testing.T, r *workerFixture) {
	release := make(chan struct{})
	defer close(release)
	r.mux.Handle("test.slow", jobs.Default, func(ctx context.Context, _ ports.Task) error {
		select {
		case <-release:
		case <-ctx.Done():
		}
		return errors.New("held up")
	})
	r.mux.Handle("test.pay", jobs.Payments, r.countAndFinish)
	r.scheduleMany("test.slow", 200)
	r.start()
	r.eventually("the slow class is full", func() bool {
		return r.dispatcher.Capacity(t.Context(), jobs.Default) == 0
	})
	subjects := r.scheduleMany("test.pay", 20)
	r.eventually("the payments are done", func() bool {
		backlog, err := r.store.Backlog(t.Context(), r.clock.Real())
		return err == nil && len(backlog) == 1 && backlog[0].Kind == "test.slow"
	})
	r.wantOneEffectEach(subjects)
}

// aBacklogOfOneKeyDelaysNoOther has one receiver that never responds, with two thousand messages waiting for it, and
// a healthy one beside it. Every message to the healthy one arrives while the other is as busy as its key may be: one
// that had to wait for the other would never arrive.
func aBacklogOfOneKeyDelaysNoOther(t *testing.T, r *workerFixture) {
	release, running, most := make(chan struct{}), atomic.Int64{}, atomic.Int64{}
	defer close(release)
	var ended, arrived atomic.Int64
	r.mux.HandleWithKey("test.send", jobs.Webhooks, keyBefore, func(ctx context.Context, task ports.Task) error {
		if keyBefore(task.Subject) != "dead" {
			err := r.countAndFinish(ctx, task)
			arrived.Add(1)
			return err
		}
		now := running.Add(1)
		for ended.Load() == 0 { // on a slow machine a run goes on for a moment after its lease
			if seen := most.Load(); now <= seen || most.CompareAndSwap(seen, now) {
				break
			}
		}
		select {
		case <-release:
		case <-ctx.Done():
		}
		running.Add(-1)
		ended.Add(1)
		return errors.New("no response")
	})
	dead := make([]string, 2000)
	for i := range dead {
		dead[i] = fmt.Sprint("dead/", i)
	}
	r.scheduleAll("test.send", dead, r.clock.Real().Add(-time.Hour))
	r.start()
	r.eventuallyInPlace(
		"the dead receiver is as busy as it may be", func() bool { return running.Load() == ports.MaxPerKey },
	)
	healthy, passed := make([]string, 10), 0
	for i := range healthy {
		healthy[i] = fmt.Sprint("healthy/", i)
		before := ended.Load()
		r.scheduleAll("test.send", healthy[i:i+1], r.clock.Real())
		r.eventuallyInPlace(healthy[i]+" arrives", func() bool { return arrived.Load() > int64(i) })
		if ended.Load() == before { // no run of the dead receiver timed out meanwhile and made room
			passed++
		}
	}
	if peak := most.Load(); peak != ports.MaxPerKey || passed == 0 {
		t.Errorf(
			"%d requests to the dead receiver were under way at most, %d messages passed them; want %d and some", peak,
			passed, ports.MaxPerKey,
		)
	}
	r.wantOneEffectEach(healthy)
}

func stoppingLetsWhatRunsFinishAndLosesNothing(t *testing.T, r *workerFixture) {
	var running, finished atomic.Int64
	r.mux.Handle("test.run", jobs.Default, func(ctx context.Context, task ports.Task) error {
		running.Add(1)
		time.Sleep(400 * time.Millisecond)
		err := r.countAndFinish(ctx, task)
		if err == nil {
			finished.Add(1)
		}
		return err
	})
	subjects := r.scheduleMany("test.run", 30)
	r.start()
	r.eventually("some are running", func() bool { return running.Load() > 0 })
	deadline, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	r.stop(deadline)
	if running.Load() != finished.Load() {
		t.Errorf("%d of %d runs finished", finished.Load(), running.Load())
	}
	if running.Load() == 30 {
		t.Error("stopping waited for tasks that had not begun")
	}
	other := r.secondWorker()
	other.mux.Handle("test.run", jobs.Default, other.countAndFinish)
	other.start()
	other.eventually("the others are done by the next worker", other.allDone)
	r.wantOneEffectEach(subjects)
}

func aStopThatMayNotWaitCancelsWhatRuns(t *testing.T, r *workerFixture) {
	var running atomic.Int64
	r.mux.Handle("test.run", jobs.Default, func(ctx context.Context, _ ports.Task) error {
		running.Add(1)
		<-ctx.Done()
		return ctx.Err()
	})
	r.scheduleMany("test.run", 2)
	r.start()
	r.eventually("they run", func() bool { return running.Load() == 2 })
	deadline, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	started := time.Now()
	r.stop(deadline)
	if took := time.Since(started); took > 5*time.Second {
		t.Errorf("stopping took %v", took)
	}
	r.clock.leap(time.Hour)
	if n := r.waiting(); n != 2 {
		t.Errorf("%d tasks wait for the next worker, want 2", n)
	}
}
