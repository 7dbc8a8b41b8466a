package tasks_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"sundry/adapters/gormstore"
	"sundry/core/fault"
	"sundry/modules/tasks"
	"sundry/ports"
	"sundry/tests/testdb"
)

const (
	creatorID = "crt_1"
	kind      = "test.run"
)

// fixture is the module over a real store, whose clock the test moves.
type fixture struct {
	*tasks.Service
	t     *testing.T
	store *gormstore.Store
	clock *testdb.Clock
}

func forEachEngine(t *testing.T, test func(t *testing.T, w *fixture)) {
	t.Helper()
	testdb.EachStore(t, func(t *testing.T, store *gormstore.Store) {
		w := &fixture{t: t, store: store, clock: testdb.NewClock(time.Now().UTC().Truncate(time.Millisecond))}
		w.Service = tasks.New(store, w.clock)
		test(t, w)
	})
}

func (w *fixture) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// schedule makes tasks due now.
func (w *fixture) schedule(subjects ...string) {
	w.t.Helper()
	w.must(w.store.Atomically(w.t.Context(), func(ctx context.Context, r ports.Repos) error {
		for _, subject := range subjects {
			if err := r.Tasks.Schedule(ctx, kind, subject, creatorID, w.clock.Real()); err != nil {
				return err
			}
		}
		return nil
	}))
}

// claim leases what is due for a minute.
func (w *fixture) claim() []ports.Task {
	w.t.Helper()
	claimed, err := w.store.Claim(w.t.Context(), ports.DefaultTasks, w.clock.Real(), time.Minute, 10)
	w.must(err)
	return claimed
}

// fail records that every claimed run failed, to be tried again in an hour.
func (w *fixture) fail() {
	w.t.Helper()
	for _, task := range w.claim() {
		w.must(w.store.Fail(w.t.Context(), task, "no luck", w.clock.Real().Add(time.Hour)))
	}
}

func (w *fixture) list(creatorID string, state ports.TaskState) (subjects []string) {
	w.t.Helper()
	page := ports.Page{Limit: 1}
	for {
		list, err := w.Tasks(w.t.Context(), creatorID, state, page)
		w.must(err)
		for _, task := range list.Items {
			subjects = append(subjects, task.Subject)
		}
		if list.Next == (ports.Cursor{}) {
			slices.Sort(subjects)
			return subjects
		}
		page.After = list.Next
	}
}

func TestTasksAreListedByState(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		w.schedule("failed")
		w.fail()
		w.schedule("running")
		w.claim()
		w.schedule("waiting")
		for state, want := range map[ports.TaskState][]string{
			"": {"failed", "running", "waiting"}, ports.TaskFailed: {"failed"}, ports.TaskRunning: {"running"},
			ports.TaskWaiting: {"waiting"},
		} {
			if got := w.list(creatorID, state); !slices.Equal(got, want) {
				t.Errorf("%q: %v, want %v", state, got, want)
			}
		}
		if got := w.list("crt_2", ""); len(got) != 0 {
			t.Errorf("another account sees %v", got)
		}
		w.clock.Advance(time.Minute)
		if got := w.list(creatorID, ports.TaskWaiting); !slices.Equal(got, []string{"running", "waiting"}) {
			t.Errorf("%v wait once the lease is over", got)
		}
	})
}

func TestAFailedTaskIsRetriedAtOnce(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		w.schedule("a")
		w.fail()
		failed := w.one(ports.TaskFailed)
		w.clock.Advance(time.Second)
		if claimed := w.claim(); len(claimed) != 0 {
			t.Fatalf("claimed %+v before its time", claimed)
		}
		got, err := w.Retry(t.Context(), creatorID, failed.ID)
		if err != nil || got.ID != failed.ID || !got.RunAt.Equal(w.clock.Real()) || got.LastError != "no luck" {
			t.Errorf("%+v, %v", got, err)
		}
		claimed := w.claim()
		if len(claimed) != 1 || claimed[0].Subject != "a" || claimed[0].Attempts != 2 {
			t.Errorf("claimed %+v, want the second attempt", claimed)
		}
	})
}

// one is the account's only task in a state.
func (w *fixture) one(state ports.TaskState) ports.TaskInfo {
	w.t.Helper()
	list, err := w.Tasks(w.t.Context(), creatorID, state, ports.Page{Limit: 9})
	if err != nil || len(list.Items) != 1 {
		w.t.Fatalf("%d tasks that are %s, %v; want one", len(list.Items), state, err)
	}
	return list.Items[0]
}

func TestARefusedRetryChangesNothing(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		w.schedule("failed")
		w.fail()
		failed := w.one(ports.TaskFailed)
		w.schedule("running")
		w.claim()
		w.schedule("waiting")
		for name, c := range map[string]struct {
			creator, task string
			code          fault.Code
		}{
			"another account's": {"crt_2", failed.ID, fault.NotFoundCode},
			"an unknown one":    {creatorID, "test.run:unknown", fault.NotFoundCode},
			"a running one":     {creatorID, w.one(ports.TaskRunning).ID, fault.StateConflict},
			"a waiting one":     {creatorID, w.one(ports.TaskWaiting).ID, fault.StateConflict},
		} {
			if _, err := w.Retry(t.Context(), c.creator, c.task); !fault.Is(err, c.code) {
				t.Errorf("%s: %v, want %s", name, err, c.code)
			}
		}
		if got := w.one(ports.TaskFailed); got != failed {
			t.Errorf("changed to %+v, want %+v", got, failed)
		}
		if got := w.list(creatorID, ports.TaskWaiting); !slices.Equal(got, []string{"waiting"}) {
			t.Errorf("%v wait", got)
		}
	})
}
