package jobs

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"sundry/ports"
)

// fakeQueue holds tasks that are due and remembers what was given back. Every other method is beyond these tests.
type fakeQueue struct {
	ports.TaskQueue
	mu       sync.Mutex
	away     error
	due      []ports.Task
	released []string
	claims   int
}

func (q *fakeQueue) Claim(_ context.Context, class ports.TaskClass, _ time.Time, _ time.Duration, limit int) ([]ports.Task, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.claims++
	if q.away != nil || class != Rest {
		return nil, q.away
	}
	n := min(limit, len(q.due))
	claimed := q.due[:n]
	q.due = q.due[n:]
	return claimed, nil
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

// fakeDispatcher takes as many tasks as it has room for.
type fakeDispatcher struct {
	mu    sync.Mutex
	away  error
	room  int
	taken []string
}

func (d *fakeDispatcher) Room(context.Context, ports.TaskClass) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.room, nil
}

func (d *fakeDispatcher) Dispatch(_ context.Context, _ ports.TaskClass, t ports.Task) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.away != nil {
		return d.away
	}
	d.room--
	d.taken = append(d.taken, t.ID)
	return nil
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

func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !condition(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("still not so: %s", what)
		}
	}
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
	q, d := &fakeQueue{away: errors.New("database away")}, &fakeDispatcher{room: 5}
	r, log := startRelay(t, q, d)
	for end := time.Now().Add(600 * time.Millisecond); time.Now().Before(end); time.Sleep(time.Millisecond) {
		r.Wake()
	}
	q.mu.Lock()
	claims := q.claims
	q.due = tasksNamed("a")
	q.mu.Unlock()
	if looks := claims / len(ports.TaskClasses()); looks > 4 {
		t.Errorf("%d looks in 600 ms of outage", looks)
	}
	q.set(nil)
	eventually(t, "the task is dispatched once the database is back", func() bool {
		d.mu.Lock()
		defer d.mu.Unlock()
		return len(d.taken) == 1
	})
	eventually(t, "the end is logged", func() bool { return log.count("goes on") == 1 })
	if n := log.count("stands still"); n != 1 {
		t.Errorf("the outage was logged %d times", n)
	}
}

func TestAWakeIsALookAtOnce(t *testing.T) {
	t.Parallel()
	q, d := &fakeQueue{}, &fakeDispatcher{room: 5}
	r, _ := startRelay(t, q, d)
	looks := func() int {
		q.mu.Lock()
		defer q.mu.Unlock()
		return q.claims / len(ports.TaskClasses())
	}
	time.Sleep(1200 * time.Millisecond) // from now on it looks by itself once a second
	started, before := time.Now(), looks()
	for woken := 1; woken <= 50; woken++ {
		r.Wake()
		eventually(t, "a wake is followed by a look", func() bool { return looks() >= before+woken })
	}
	if took := time.Since(started); took > 10*time.Second { // by itself it would need 50
		t.Errorf("50 wakes took %v", took)
	}
}

func TestWhatCannotBeDispatchedIsGivenBack(t *testing.T) {
	t.Parallel()
	q, d := &fakeQueue{due: tasksNamed("a", "b", "c")}, &fakeDispatcher{room: 5, away: errors.New("redis away")}
	startRelay(t, q, d)
	eventually(t, "all three are given back", func() bool {
		q.mu.Lock()
		defer q.mu.Unlock()
		return strings.Join(q.released, "") == "abc"
	})
}

func TestNoMoreIsClaimedThanThereIsRoomForAndNewRoomIsUsedAtOnce(t *testing.T) {
	t.Parallel()
	q, d := &fakeQueue{due: tasksNamed("a", "b", "c", "d")}, &fakeDispatcher{room: 3}
	r, _ := startRelay(t, q, d)
	taken := func() string {
		d.mu.Lock()
		defer d.mu.Unlock()
		return strings.Join(d.taken, "")
	}
	eventually(t, "what there is room for is dispatched", func() bool { return taken() == "abc" })
	time.Sleep(1200 * time.Millisecond) // it has slowed down to its idle pace
	if got := taken(); got != "abc" {
		t.Fatalf("dispatched %s into no room", got)
	}
	d.mu.Lock()
	d.room = 3
	d.mu.Unlock()
	freed := time.Now()
	r.Freed(Rest)
	eventually(t, "the fourth is dispatched", func() bool { return taken() == "abcd" })
	if took := time.Since(freed); took > 900*time.Millisecond {
		t.Errorf("new room was used after %v", took)
	}
}

func TestRetryDelayDoublesUpToAnHour(t *testing.T) {
	t.Parallel()
	for attempts, want := range map[int]time.Duration{
		0: time.Second, 1: time.Second, 2: 2 * time.Second, 5: 16 * time.Second, 12: 2048 * time.Second, 13: time.Hour, 1000: time.Hour,
	} {
		if got := retryDelay(attempts); got != want {
			t.Errorf("after attempt %d wait %v, want %v", attempts, got, want)
		}
	}
}
