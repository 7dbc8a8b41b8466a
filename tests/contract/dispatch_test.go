package contract

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sundry/adapters/jobs"
	"sundry/ports"
	"sundry/tests/testredis"
)

// scheduleMany makes n tasks of a kind due now and names their subjects.
func (r *rig) scheduleMany(kind string, n int) []string {
	r.t.Helper()
	subjects := make([]string, n)
	for i := range subjects {
		subjects[i] = fmt.Sprintf("%s-%d", kind, i)
	}
	r.scheduleAll(kind, subjects, r.clock.Real())
	return subjects
}

func (r *rig) scheduleAll(kind string, subjects []string, due time.Time) {
	r.t.Helper()
	atomically(r.t, r.store, func(ctx context.Context, repos ports.Repos) error {
		var all []error
		for _, subject := range subjects {
			all = append(all, repos.Tasks.Schedule(ctx, kind, subject, "", due))
		}
		return errors.Join(all...)
	})
}

func TestEveryTaskTakesEffectOnce(t *testing.T) {
	t.Parallel()
	eachRig(t, func(t *testing.T, r *rig) {
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
	})
}

func TestAFailingHandlerIsRetriedByTheRow(t *testing.T) {
	t.Parallel()
	eachRig(t, func(t *testing.T, r *rig) {
		attempts := make(chan int, 10)
		r.mux.Handle("test.run", jobs.Rest, func(ctx context.Context, task ports.Task) error {
			attempts <- task.Attempts
			if task.Attempts < 3 {
				return r.store.Atomically(ctx, func(ctx context.Context, repos ports.Repos) error {
					return errors.Join(count(ctx, repos, task), errors.New("not yet")) // rolls back
				})
			}
			return r.countAndFinish(ctx, task)
		})
		subjects := r.scheduleMany("test.run", 1)
		r.start()
		for want, backOff := range []time.Duration{0, time.Second, 2 * time.Second} {
			r.clock.leap(backOff)
			r.relay.Wake()
			if got := <-attempts; got != want+1 {
				t.Fatalf("attempt %d, want %d", got, want+1)
			}
			if want == 0 {
				r.eventually("the failure is recorded", func() bool { return r.waiting() == 0 })
				select {
				case n := <-attempts:
					t.Fatalf("attempt %d without a back-off", n)
				case <-time.After(100 * time.Millisecond):
				}
			}
		}
		r.eventually("the task is done", r.allDone)
		r.wantOneEffectEach(subjects)
	})
}

// losing forgets the first hand-over of every task.
type losing struct {
	ports.Dispatcher
	lost *sync.Map
}

func (d losing) Dispatch(ctx context.Context, class ports.TaskClass, t ports.Task) error {
	if _, before := d.lost.LoadOrStore(t.ID, true); !before {
		return nil
	}
	return d.Dispatcher.Dispatch(ctx, class, t)
}

func TestALostDispatchIsClaimedAgainAfterTheLease(t *testing.T) {
	t.Parallel()
	eachRig(t, func(t *testing.T, r *rig) {
		lost := &sync.Map{}
		r.between = func(next carrier) ports.Dispatcher { return losing{next, lost} }
		r.mux.Handle("test.run", jobs.Rest, r.countAndFinish)
		subjects := r.scheduleMany("test.run", 20)
		r.start()
		r.eventually("all tasks are done", r.allDone)
		r.wantOneEffectEach(subjects)
		for _, subject := range subjects {
			if _, ok := lost.Load("test.run:" + subject); !ok {
				t.Errorf("%s was never lost", subject)
			}
		}
	})
}

// doubling hands everything over twice, as far as there is room.
type doubling struct{ ports.Dispatcher }

func (d doubling) Dispatch(ctx context.Context, class ports.TaskClass, t ports.Task) error {
	err := d.Dispatcher.Dispatch(ctx, class, t)
	_ = d.Dispatcher.Dispatch(ctx, class, t) // no room for the double is no fault
	return err
}

func TestADoubledDispatchTakesEffectOnce(t *testing.T) {
	t.Parallel()
	eachRig(t, func(t *testing.T, r *rig) {
		r.between = func(next carrier) ports.Dispatcher { return doubling{next} }
		r.mux.Handle("test.run", jobs.Rest, r.countAndFinish)
		subjects := r.scheduleMany("test.run", 30)
		r.start()
		r.eventually("all tasks are done", r.allDone)
		r.wantOneEffectEach(subjects)
	})
}

func TestTwoWorkersDoEachTaskOnce(t *testing.T) {
	t.Parallel()
	eachRig(t, func(t *testing.T, r *rig) {
		other := r.twin()
		for _, worker := range []*rig{r, other} {
			worker.mux.Handle("test.run", jobs.Rest, worker.countAndFinish)
		}
		subjects := r.scheduleMany("test.run", 80)
		r.start()
		other.start()
		r.eventually("all tasks are done", r.allDone)
		r.wantOneEffectEach(subjects)
	})
}

func TestAnEmptiedRedisLosesNothing(t *testing.T) {
	t.Parallel()
	eachRigOn(t, testredis.Dispatch, func(t *testing.T, r *rig) {
		r.mux.Handle("test.run", jobs.Rest, func(ctx context.Context, task ports.Task) error {
			time.Sleep(10 * time.Millisecond)
			return r.countAndFinish(ctx, task)
		})
		subjects := r.scheduleMany("test.run", 60)
		r.start()
		for range 5 {
			time.Sleep(20 * time.Millisecond)
			if err := r.redis.FlushDB(t.Context()).Err(); err != nil {
				t.Fatal(err)
			}
		}
		r.eventually("all tasks are done", r.allDone)
		r.wantOneEffectEach(subjects)
	})
}

func TestAPanickingHandlerIsAFailingRow(t *testing.T) {
	t.Parallel()
	eachRig(t, func(t *testing.T, r *rig) {
		var panics atomic.Int64
		r.mux.Handle("test.panic", jobs.Rest, func(context.Context, ports.Task) error { panics.Add(1); panic("no") })
		r.mux.Handle("test.run", jobs.Rest, r.countAndFinish)
		r.scheduleMany("test.panic", 1)
		subjects := r.scheduleMany("test.run", 3)
		r.start()
		r.eventually("it panicked and the others ran", func() bool { return panics.Load() >= 1 && r.waiting() == 0 })
		r.wantOneEffectEach(subjects)
		r.clock.leap(time.Hour)
		r.relay.Wake()
		r.eventually("it is tried again", func() bool { return panics.Load() >= 2 })
	})
}

func TestATaskOfAnUnknownKindStaysAFailingRow(t *testing.T) {
	t.Parallel()
	eachRig(t, func(t *testing.T, r *rig) {
		schedule(t, r.store, "test.unheard-of", "a", "", r.clock.Real())
		r.start()
		r.eventually("the failure is recorded", r.allDone)
		deadline, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		r.stop(deadline)
		r.clock.leap(time.Hour)
		if task := claimOne(t, r.store, r.clock.Real()); task.Attempts < 2 {
			t.Errorf("found %+v, want at least a second attempt", task)
		}
	})
}

func TestABacklogOfOneClassDelaysNoOther(t *testing.T) {
	t.Parallel()
	eachRig(t, func(t *testing.T, r *rig) {
		release := make(chan struct{})
		defer close(release)
		r.mux.Handle("test.slow", jobs.Rest, func(ctx context.Context, task ports.Task) error {
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
			room, err := r.carrier.Room(t.Context(), jobs.Rest)
			return err == nil && room == 0
		})
		subjects := r.scheduleMany("test.pay", 20)
		r.eventually("the payments are done", func() bool {
			backlog, err := r.store.Backlog(t.Context(), r.clock.Real())
			return err == nil && len(backlog) == 1 && backlog[0].Kind == "test.slow"
		})
		r.wantOneEffectEach(subjects)
	})
}

// TestABacklogOfOneLaneDelaysNoOther has one receiver that never answers, with two thousand messages waiting for it, and
// a well one beside it.
func TestABacklogOfOneLaneDelaysNoOther(t *testing.T) {
	t.Parallel()
	eachRig(t, func(t *testing.T, r *rig) {
		release, inFlight := make(chan struct{}), atomic.Int64{}
		defer close(release)
		var mu sync.Mutex
		arrived := map[string]time.Time{}
		r.mux.HandleInLanes("test.send", jobs.Webhooks, laneBefore, func(ctx context.Context, task ports.Task) error {
			if laneBefore(task.Subject) == "dead" {
				inFlight.Add(1)
				select {
				case <-release:
				case <-ctx.Done():
				}
				return errors.New("no answer")
			}
			mu.Lock()
			arrived[task.Subject] = time.Now()
			mu.Unlock()
			return r.countAndFinish(ctx, task)
		})
		r.store.LaneBy(r.mux.LaneOf)
		dead := make([]string, 2000)
		for i := range dead {
			dead[i] = fmt.Sprint("dead/", i)
		}
		r.scheduleAll("test.send", dead, r.clock.Real().Add(-time.Hour))
		r.start()
		for end := time.Now().Add(15 * time.Second); inFlight.Load() < ports.LaneWidth; time.Sleep(time.Millisecond) { // no leaps over leases here
			if time.Now().After(end) {
				t.Fatalf("%d requests to the dead receiver are under way, want %d", inFlight.Load(), ports.LaneWidth)
			}
		}
		var subjects []string
		var waits []time.Duration
		for i := range 40 {
			subject, begin := fmt.Sprint("well/", i), time.Now()
			subjects = append(subjects, subject)
			r.scheduleAll("test.send", subjects[i:], r.clock.Real())
			for at := (time.Time{}); at.IsZero(); time.Sleep(time.Millisecond) {
				if time.Since(begin) > 10*time.Second {
					t.Fatalf("%s did not arrive within ten seconds", subject)
				}
				mu.Lock()
				at = arrived[subject]
				mu.Unlock()
				if !at.IsZero() {
					waits = append(waits, at.Sub(begin))
				}
			}
		}
		slices.Sort(waits)
		if p95 := waits[len(waits)*95/100]; p95 > time.Second {
			t.Errorf("beside a dead receiver one message in twenty arrives later than %v: %v", p95, waits)
		}
		if n := inFlight.Load(); n != ports.LaneWidth {
			t.Errorf("%d requests to the dead receiver are under way, want %d", n, ports.LaneWidth)
		}
		r.eventually("the well one's are done", func() bool { return r.waiting() == int64(len(dead)) })
		r.wantOneEffectEach(subjects)
	})
}

func TestStoppingLetsWhatRunsFinishAndLosesNothing(t *testing.T) {
	t.Parallel()
	eachRig(t, func(t *testing.T, r *rig) {
		var running, finished atomic.Int64
		r.mux.Handle("test.run", jobs.Rest, func(ctx context.Context, task ports.Task) error {
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
		deadline, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		r.stop(deadline)
		if running.Load() != finished.Load() {
			t.Errorf("%d of %d runs finished", finished.Load(), running.Load())
		}
		if running.Load() == 30 {
			t.Error("stopping waited for tasks that had not begun")
		}
		other := r.twin()
		other.mux.Handle("test.run", jobs.Rest, other.countAndFinish)
		other.start()
		other.eventually("the others are done by the next worker", other.allDone)
		r.wantOneEffectEach(subjects)
	})
}

func TestAStopThatMayNotWaitCancelsWhatRuns(t *testing.T) {
	t.Parallel()
	eachRig(t, func(t *testing.T, r *rig) {
		var running atomic.Int64
		r.mux.Handle("test.run", jobs.Rest, func(ctx context.Context, task ports.Task) error {
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
	})
}
