package jobs

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sundry/ports"
)

// fakeQueue holds tasks that are due and remembers what was released. Every other method is beyond these tests.
type fakeQueue struct {
	ports.TaskQueue
	mu       sync.Mutex
	away     error
	due      []ports.Task
	released []string
	claims   int
	idle     int // claims of the classes that have nothing due
	asked    int // for the next due time
	next     time.Time
	// full means that the tasks' concurrency key has as many running as may be; during is called by a claim that finds it
	// so.
	full   bool
	during func()
}

func (q *fakeQueue) Claim(_ context.Context, class ports.TaskClass, _ time.Time, _ time.Duration,
	limit int) ([]ports.Task, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.claims++
	if class != Default {
		q.idle++
	}
	if q.away != nil || class != Default {
		return nil, q.away
	}
	if q.full {
		if during := q.during; during != nil {
			q.during = nil
			q.full = false // one ends after the claim has looked
			during()
		}
		return nil, nil
	}
	n := min(limit, len(q.due))
	claimed := q.due[:n]
	q.due = q.due[n:]
	return claimed, nil
}

func (q *fakeQueue) NextDue(_ context.Context, now time.Time) (time.Time, bool, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.asked++
	if len(q.due) > 0 {
		return now, true, q.away
	}
	return q.next, !q.next.IsZero(), q.away
}

func (q *fakeQueue) Release(_ context.Context, t ports.Task) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.released = append(q.released, t.ID)
	return nil
}

func (q *fakeQueue) set(away error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.away = away
}

// fakeDispatcher takes as many tasks as it has capacity for.
type fakeDispatcher struct {
	mu       sync.Mutex
	away     error
	capacity int
	taken    []string
}

func (d *fakeDispatcher) Capacity(context.Context, ports.TaskClass) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.capacity
}

func (d *fakeDispatcher) Dispatch(_ context.Context, _ ports.TaskClass, tasks ...ports.Task) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.away != nil {
		return 0, d.away
	}
	d.capacity -= len(tasks)
	for _, t := range tasks {
		d.taken = append(d.taken, t.ID)
	}
	return len(tasks), nil
}

type realClock struct{}

func (realClock) Real() time.Time                                { return time.Now() }
func (realClock) Now(context.Context, string) (time.Time, error) { return time.Now(), nil }

type lockedLog struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *lockedLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *lockedLog) count(text string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.buf.String(), text)
}

func startRelay(t *testing.T, q *fakeQueue, d *fakeDispatcher) (*Relay, *lockedLog) {
	t.Helper()
	log := &lockedLog{}
	r := NewRelay(q, d, realClock{}, slog.New(slog.NewTextHandler(log, nil)))
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { r.Run(ctx) })
	t.Cleanup(func() { cancel(); running.Wait() })
	return r, log
}

// startIdleRelay starts a relay in a bubble of synctest and waits until it has slowed down to its idle pace.
func startIdleRelay(t *testing.T, q *fakeQueue, d *fakeDispatcher) *Relay {
	t.Helper()
	r, _ := startRelay(t, q, d)
	time.Sleep(10 * time.Second)
	synctest.Wait()
	return r
}

// polls returns how often the relay has polled for tasks that it could claim.
func (q *fakeQueue) polls() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.claims / len(ports.TaskClasses())
}

// count returns how many claims there were, and how many questions for the next due time.
func (q *fakeQueue) count() (claims, asked int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.claims, q.asked
}

func (d *fakeDispatcher) count() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.taken)
}

func (d *fakeDispatcher) all() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return strings.Join(d.taken, "")
}

func tasksNamed(ids ...string) []ports.Task {
	all := make([]ports.Task, len(ids))
	for i, id := range ids {
		all[i] = ports.Task{ID: id}
	}
	return all
}

func TestAnOutageIsLoggedOnceAndWakesDoNotMakeItAStorm(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q, d := &fakeQueue{away: errors.New("database away")}, &fakeDispatcher{capacity: 5}
		r, log := startRelay(t, q, d)
		for range 600 {
			r.Wake()
			time.Sleep(time.Millisecond)
		}
		synctest.Wait()
		q.mu.Lock()
		claims := q.claims // an outage ends a poll with its first class
		q.due = tasksNamed("a")
		q.mu.Unlock()
		if claims != 2 { // at once and after 250 ms; the third comes after 500 ms more
			t.Errorf("%d polls in 600 ms of outage, want 2", claims)
		}
		q.set(nil)
		time.Sleep(maxOutageInterval)
		synctest.Wait()
		if d.all() != "a" || log.count("has resumed") != 1 || log.count("is interrupted") != 1 {
			t.Errorf("dispatched %q; the outage was logged %d times, its end %d times", d.all(), log.count("is interrupted"),
				log.count("has resumed"))
		}
	})
}

func TestAWakeIsAPollAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := &fakeQueue{}
		r := startIdleRelay(t, q, &fakeDispatcher{capacity: 5})
		before := q.polls()
		for woken := 1; woken <= 50; woken++ {
			r.Wake()
			synctest.Wait() // no time passes
			if got := q.polls(); got != before+woken {
				t.Fatalf("%d polls after %d wakes", got-before, woken)
			}
			time.Sleep(wakeInterval)
		}
	})
}

func TestAPollForCapacityDelaysNoWake(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := &fakeQueue{}
		r := startIdleRelay(t, q, &fakeDispatcher{capacity: 5})
		before, _ := q.count()
		r.saturated[Default].Store(true)
		r.Freed(Default)
		time.Sleep(batchDelay)
		synctest.Wait()
		r.Wake(Payments)
		synctest.Wait() // no time passes
		if claims, _ := q.count(); claims != before+2 {
			t.Errorf("%d claims, want one for the capacity and one for the wake", claims-before)
		}
	})
}

func TestManyWakesShareAPollOfTheirClass(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := &fakeQueue{}
		r := startIdleRelay(t, q, &fakeDispatcher{capacity: 5})
		before, _ := q.count()
		for range 50 {
			r.Wake(Payments)
			synctest.Wait() // no time passes
		}
		if claims, _ := q.count(); claims != before+1 {
			t.Errorf("%d claims for 50 wakes at once, want one", claims-before)
		}
		time.Sleep(wakeInterval)
		synctest.Wait()
		if claims, _ := q.count(); claims != before+2 {
			t.Errorf("%d claims for 50 wakes at once and a moment later, want one each", claims-before)
		}
	})
}

func TestAnIdleRelayOnlyAsksForTheNextDueTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := &fakeQueue{}
		startRelay(t, q, &fakeDispatcher{capacity: 5})
		time.Sleep(ports.TaskPollInterval)
		synctest.Wait()
		claims, asked := q.count()
		time.Sleep(10 * ports.TaskPollInterval)
		synctest.Wait()
		if c, a := q.count(); c != claims || a != asked+10 {
			t.Errorf("%d claims and %d questions, want none and 10", c-claims, a-asked)
		}
	})
}

func TestRelayClaimsWhatFallsDueUnannounced(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		known time.Duration // when the queue says that something is due; 0 = never
		late  time.Duration // how late it may be claimed
	}{
		"at the time that it was told":       {known: 700 * time.Millisecond},
		"by its poll when a wake-up is lost": {late: ports.TaskPollInterval},
	} {
		synctest.Test(t, func(t *testing.T) {
			q, d := &fakeQueue{}, &fakeDispatcher{capacity: 5}
			if tt.known > 0 {
				q.next = time.Now().Add(tt.known)
			}
			startRelay(t, q, d)
			time.Sleep(tt.known - time.Millisecond)
			q.mu.Lock()
			q.due, q.next = tasksNamed("a"), time.Time{}
			q.mu.Unlock()
			time.Sleep(tt.late + time.Millisecond)
			synctest.Wait()
			if got := d.all(); got != "a" {
				t.Errorf("%s: dispatched %q", name, got)
			}
		})
	}
}

func TestWhatCannotBeDispatchedIsReleased(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q, d := &fakeQueue{due: tasksNamed("a", "b", "c")}, &fakeDispatcher{capacity: 5, away: errors.New("redis away")}
		startRelay(t, q, d)
		synctest.Wait()
		q.mu.Lock()
		defer q.mu.Unlock()
		if got := strings.Join(q.released, ""); got != "abc" {
			t.Errorf("released %q, want all three", got)
		}
	})
}

// stoppingQueue stops the relay in the middle of a claim.
type stoppingQueue struct {
	*fakeQueue
	stop func()
}

func (q stoppingQueue) Claim(
	ctx context.Context, class ports.TaskClass, now time.Time, lease time.Duration, limit int,
) ([]ports.Task, error) {
	q.stop()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return q.fakeQueue.Claim(ctx, class, now, lease, limit)
}

func TestWhatIsClaimedDuringAStopIsReleased(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	queue := stoppingQueue{&fakeQueue{due: []ports.Task{{ID: "a"}}}, stop}
	dispatcher := &fakeDispatcher{capacity: 10, away: context.Canceled}
	NewRelay(queue, dispatcher, realClock{}, slog.New(slog.DiscardHandler)).Run(ctx)
	if len(queue.due) != 0 || len(queue.released) != 1 {
		t.Errorf("%v is due and %v released, want it claimed and released", queue.due, queue.released)
	}
}

func TestRelayClaimsAtMostItsCapacity(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q, d := &fakeQueue{due: tasksNamed("a", "b", "c", "d")}, &fakeDispatcher{capacity: 3}
		r := startIdleRelay(t, q, d)
		if got := d.all(); got != "abc" {
			t.Fatalf("dispatched %q with capacity for three", got)
		}
		d.mu.Lock()
		d.capacity = 3
		d.mu.Unlock()
		r.Freed(Default)
		time.Sleep(batchDelay)
		synctest.Wait()
		if got := d.all(); got != "abcd" {
			t.Errorf("dispatched %q once there was capacity", got)
		}
	})
}

// TestRelayClaimsAfterEachEndOfATask has more due under a key than may run. Capacity is
// announced before any of its tasks has ended, when workers take a message over, and again when one ends, after the
// claim or during it.
func TestRelayClaimsAfterEachEndOfATask(t *testing.T) {
	t.Parallel()
	for name, during := range map[string]bool{"after the claim": false, "during the claim": true} {
		synctest.Test(t, func(t *testing.T) {
			q, d := &fakeQueue{due: []ports.Task{{ID: "a", ConcurrencyKey: "k"}}}, &fakeDispatcher{capacity: 5}
			r, _ := startRelay(t, q, d)
			synctest.Wait()
			q.mu.Lock()
			q.full, q.due = true, []ports.Task{{ID: "b", ConcurrencyKey: "k"}}
			if during {
				q.during = func() { r.Freed(Default) }
			}
			q.mu.Unlock()
			r.Freed(Default)
			time.Sleep(batchDelay)
			synctest.Wait()
			if !during {
				q.mu.Lock()
				q.full = false
				q.mu.Unlock()
				r.Freed(Default)
			}
			time.Sleep(batchDelay)
			synctest.Wait()
			if got := d.all(); got != "ab" {
				t.Errorf("%s: dispatched %q", name, got)
			}
		})
	}
}

func TestABacklogRunsLittleAtOnceWhileSomethingIsScheduled(t *testing.T) {
	t.Parallel()
	few := sharedPerCore * runtime.GOMAXPROCS(0)
	for name, tt := range map[string]struct {
		woken bool
		delay time.Duration
		want  int
	}{
		"alone":                      {delay: batchDelay, want: batch},
		"while others are scheduled": {woken: true, delay: sharedDelay, want: min(few, batch)},
	} {
		synctest.Test(t, func(t *testing.T) {
			q, d := &fakeQueue{due: make([]ports.Task, 3*batch)}, &fakeDispatcher{capacity: 3 * batch}
			r, _ := startRelay(t, q, d)
			synctest.Wait()
			if tt.woken {
				r.Wake(Payments)
				synctest.Wait() // no time passes
			}
			before := d.count()
			r.Freed(Default)
			time.Sleep(tt.delay - time.Nanosecond)
			synctest.Wait()
			if got := d.count() - before; got != 0 {
				t.Errorf("%s: %d tasks were dispatched before %v", name, got, tt.delay)
			}
			time.Sleep(time.Nanosecond)
			synctest.Wait()
			if got := d.count() - before; got != tt.want {
				t.Errorf("%s: %d tasks were dispatched at once, want %d", name, got, tt.want)
			}
		})
	}
}

func TestAWakeEndsTheWaitForCapacity(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q, d := &fakeQueue{due: make([]ports.Task, 3*batch)}, &fakeDispatcher{capacity: 3 * batch}
		r, _ := startRelay(t, q, d)
		synctest.Wait()
		r.Wake(Payments)
		synctest.Wait() // no time passes
		claims, _ := q.count()
		r.Freed(Default)
		time.Sleep(wakeInterval)
		r.Wake(Payments)
		synctest.Wait()
		if got, _ := q.count(); got != claims+2 {
			t.Errorf("%d claims, want one of each class", got-claims)
		}
	})
}

// TestCapacityOfOneClassDoesNotClaimTheOthers keeps one class busy for a second: the others are claimed periodically.
func TestCapacityOfOneClassDoesNotClaimTheOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const freed = 250
		q, d := &fakeQueue{due: make([]ports.Task, freed)}, &fakeDispatcher{capacity: 1}
		r, _ := startRelay(t, q, d)
		synctest.Wait()
		q.mu.Lock()
		before := q.idle
		q.mu.Unlock()
		for range freed {
			d.mu.Lock()
			d.capacity = 1
			d.mu.Unlock()
			r.Freed(Default)
			time.Sleep(2 * batchDelay)
		}
		q.mu.Lock()
		defer q.mu.Unlock()
		others := len(ports.TaskClasses()) - 1
		want := int(freed * 2 * batchDelay / busyPollInterval)
		if got := (q.idle - before) / others; len(q.due) > freed/10 || got < want-1 || got > want+1 {
			t.Errorf("%d tasks are left, and the other classes were polled %d times, want %d", len(q.due), got, want)
		}
	})
}

func TestRetryDelayDoublesUpToAnHour(t *testing.T) {
	t.Parallel()
	for attempts, want := range map[int]time.Duration{
		0: time.Second, 1: time.Second, 2: 2 * time.Second, 5: 16 * time.Second, 12: 2048 * time.Second, 13: time.Hour,
		1000: time.Hour,
	} {
		if got := retryDelay(attempts); got != want {
			t.Errorf("after attempt %d wait %v, want %v", attempts, got, want)
		}
	}
}
