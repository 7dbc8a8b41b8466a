package contract

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sundry/ports"
)

const (
	creator = "crt_1"
	lease   = 20 * time.Second
)

// realNow is the machine's time as the clock port gives it.
func realNow() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }

func atomically(t *testing.T, store StoreAdapter, fn func(ctx context.Context, r ports.Repos) error) {
	t.Helper()
	if err := store.Atomically(t.Context(), fn); err != nil {
		t.Fatal(err)
	}
}

func schedule(t *testing.T, store StoreAdapter, kind, subject, creatorID string, due time.Time) {
	t.Helper()
	atomically(t, store, func(ctx context.Context, r ports.Repos) error {
		return r.Tasks.Schedule(ctx, kind, subject, creatorID, due)
	})
}

func claim(t *testing.T, store StoreAdapter, now time.Time, limit int) []ports.Task {
	t.Helper()
	claimed, err := store.Claim(t.Context(), ports.DefaultTasks, now, lease, limit)
	if err != nil {
		t.Fatal(err)
	}
	return claimed
}

func claimOne(t *testing.T, store StoreAdapter, now time.Time) ports.Task {
	t.Helper()
	claimed := claim(t, store, now, 10)
	if len(claimed) != 1 {
		t.Fatalf("claimed %d tasks, want 1", len(claimed))
	}
	return claimed[0]
}

func claimNone(t *testing.T, store StoreAdapter, now time.Time) {
	t.Helper()
	if claimed := claim(t, store, now, 10); len(claimed) != 0 {
		t.Fatalf("claimed %v, want nothing", claimed)
	}
}

func done(t *testing.T, store StoreAdapter, task ports.Task) error {
	t.Helper()
	return store.Atomically(
		t.Context(), func(ctx context.Context, r ports.Repos) error { return r.Tasks.Done(ctx, task) },
	)
}

func wantFenced(t *testing.T, what string, err error) {
	t.Helper()
	if !errors.Is(err, ports.ErrFenced) {
		t.Errorf("%s: %v, want ErrFenced", what, err)
	}
}

func aTaskIsClaimedWhenDueAndByOneWorkerAtATime(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	now := realNow()
	schedule(t, store, "test.run", "a", creator, now.Add(time.Hour))
	claimNone(t, store, now.Add(time.Hour-time.Millisecond))
	first := claimOne(t, store, now.Add(time.Hour))
	if first.ID != "test.run:a" || first.Kind != "test.run" || first.Subject != "a" || first.CreatorID != creator ||
		!first.DueAt.Equal(now.Add(time.Hour)) || first.Attempts != 1 || !first.LeaseUntil.Equal(now.Add(time.Hour+lease)) {
		t.Fatalf("claimed %+v", first)
	}
	claimNone(t, store, now.Add(time.Hour+lease-time.Millisecond))
	second := claimOne(t, store, now.Add(time.Hour+lease))
	if second.Token <= first.Token || second.Attempts != 2 {
		t.Fatalf("claimed again as %+v after %+v", second, first)
	}
	wantFenced(t, "the first worker finishes", done(t, store, first))
	wantFenced(t, "the first worker fails", store.Fail(t.Context(), first, "late", now))
	wantFenced(t, "the first worker returns", store.Release(t.Context(), first))
	_, err := store.Load(t.Context(), first.ID, first.Token, now)
	wantFenced(t, "the first claim is loaded", err)
	if err := done(t, store, second); err != nil {
		t.Fatal(err)
	}
	wantFenced(t, "done twice", done(t, store, second))
	claimNone(t, store, now.Add(24*time.Hour))
}

func claimsAreOldestFirstAndBounded(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	now := realNow()
	for i := range 7 {
		schedule(t, store, "test.run", fmt.Sprint(i), "", now.Add(-time.Duration(i)*time.Second))
	}
	var order strings.Builder
	for _, n := range []int{5, 2, 0} {
		claimed := claim(t, store, now, 5)
		if len(claimed) != n {
			t.Fatalf("claimed %d, want %d", len(claimed), n)
		}
		for _, task := range claimed {
			order.WriteString(task.Subject)
		}
	}
	if subjects := order.String(); subjects != "6543210" {
		t.Errorf("order %s, want the oldest first", subjects)
	}
}

func classesAreClaimedApart(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{ClassOf: func(kind string) ports.TaskClass {
		if kind == "test.pay" {
			return ports.PaymentTasks
		}
		return ports.DefaultTasks
	}})
	now := realNow()
	schedule(t, store, "test.pay", "a", "", now)
	schedule(t, store, "test.run", "a", "", now)
	if got := claimOne(t, store, now); got.Kind != "test.run" {
		t.Errorf("the rest's worker claimed %s", got.Kind)
	}
	paid, err := store.Claim(t.Context(), ports.PaymentTasks, now, lease, 10)
	if err != nil || len(paid) != 1 || paid[0].Kind != "test.pay" {
		t.Errorf("the payments' worker claimed %v, %v", paid, err)
	}
}

func schedulingAgainMovesTheTaskAndFencesARunUnderWay(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	now := realNow()
	schedule(t, store, "test.run", "a", creator, now)
	running := claimOne(t, store, now)
	schedule(t, store, "test.run", "a", creator, now.Add(time.Minute))
	wantFenced(t, "the run under way finishes", done(t, store, running))
	claimNone(t, store, now.Add(time.Minute-time.Millisecond))
	if again := claimOne(t, store, now.Add(time.Minute)); again.Attempts != 1 {
		t.Errorf("attempts start at %d, want 1", again.Attempts)
	}
	atomically(t, store, func(ctx context.Context, r ports.Repos) error { return r.Tasks.Cancel(ctx, "test.run", "a") })
	claimNone(t, store, now.Add(time.Hour))
}

// schedulingAfterACancelFencesARunUnderWay ends the task of a run, and begins it again, in one transaction and in two.
func schedulingAfterACancelFencesARunUnderWay(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	now := realNow()
	cancel := func(ctx context.Context, r ports.Repos) error { return r.Tasks.Cancel(ctx, "test.run", "a") }
	again := func(ctx context.Context, r ports.Repos) error { return r.Tasks.Schedule(ctx, "test.run", "a", "", now) }
	for name, change := range map[string]func(){
		"in one transaction": func() {
			atomically(t, store, func(ctx context.Context, r ports.Repos) error {
				return errors.Join(cancel(ctx, r), again(ctx, r))
			})
		},
		"in two": func() {
			atomically(t, store, cancel)
			atomically(t, store, again)
		},
	} {
		schedule(t, store, "test.run", "a", "", now)
		old := claimOne(t, store, now)
		change()
		task := claimOne(t, store, now)
		done := func(task ports.Task) error {
			return store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
				return r.Tasks.Done(ctx, task)
			})
		}
		wantFenced(t, name+": the old run", done(old))
		if err := done(task); err != nil {
			t.Errorf("%s: the new run: %v", name, err)
		}
	}
}

// theLastChangeOfATaskCounts makes several changes of a task in one transaction.
func theLastChangeOfATaskCounts(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	now := realNow()
	due := func(at time.Time) func(ctx context.Context, r ports.Repos) error {
		return func(ctx context.Context, r ports.Repos) error { return r.Tasks.Schedule(ctx, "test.run", "a", "", at) }
	}
	ensure := func(ctx context.Context, r ports.Repos) error { return r.Tasks.Ensure(ctx, "test.run", "a", "", now) }
	cancel := func(ctx context.Context, r ports.Repos) error { return r.Tasks.Cancel(ctx, "test.run", "a") }
	var running ports.Task
	done := func(ctx context.Context, r ports.Repos) error { return r.Tasks.Done(ctx, running) }
	later := now.Add(time.Hour)
	for name, c := range map[string]struct {
		changes []func(ctx context.Context, r ports.Repos) error
		want    bool // it is due now
	}{
		"scheduled and canceled":             {[]func(context.Context, ports.Repos) error{due(now), cancel}, false},
		"scheduled twice":                    {[]func(context.Context, ports.Repos) error{due(later), due(now)}, true},
		"scheduled for later, and ensured":   {[]func(context.Context, ports.Repos) error{due(later), ensure}, false},
		"canceled and ensured":               {[]func(context.Context, ports.Repos) error{cancel, ensure}, true},
		"ensured and scheduled for later":    {[]func(context.Context, ports.Repos) error{ensure, due(later)}, false},
		"done and canceled":                  {[]func(context.Context, ports.Repos) error{done, cancel}, false},
		"done, canceled and scheduled again": {[]func(context.Context, ports.Repos) error{done, cancel, due(now)}, true},
		"done, scheduled and canceled":       {[]func(context.Context, ports.Repos) error{done, due(now), cancel}, false},
	} {
		schedule(t, store, "test.run", "a", "", now)
		running = claimOne(t, store, now)
		atomically(t, store, func(ctx context.Context, r ports.Repos) error {
			for _, change := range c.changes {
				if err := change(ctx, r); err != nil {
					return err
				}
			}
			return nil
		})
		if got := len(claim(t, store, now, 64)) == 1; got != c.want {
			t.Errorf("%s: due now is %t, want %t", name, got, c.want)
		}
		atomically(t, store, cancel)
	}
}

func aRolledBackTransactionSchedulesNothing(t *testing.T, db Database) {
	woken := 0
	store := db.Open(t, StoreOptions{OnScheduled: func(...ports.TaskClass) { woken++ }})
	now, refused := realNow(), errors.New("refused")
	err := store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
		return errors.Join(r.Tasks.Schedule(ctx, "test.run", "a", "", now), refused)
	})
	if !errors.Is(err, refused) {
		t.Fatal(err)
	}
	claimNone(t, store, now)
	schedule(t, store, "test.run", "far", "", now.Add(time.Hour))
	if woken != 0 {
		t.Errorf("workers woken %d times for nothing", woken)
	}
	schedule(t, store, "test.run", "near", "", now)
	if woken != 1 {
		t.Errorf("workers woken %d times by a task due now", woken)
	}
}

func postponeReleasesTheTask(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	now := realNow()
	schedule(t, store, "test.run", "a", creator, now)
	task := claimOne(t, store, now)
	atomically(t, store, func(ctx context.Context, r ports.Repos) error {
		return r.Tasks.Postpone(ctx, task, now.Add(time.Minute))
	})
	wantFenced(t, "postponed twice", store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
		return r.Tasks.Postpone(ctx, task, now)
	}))
	claimNone(t, store, now.Add(59*time.Second))
	if again := claimOne(t, store, now.Add(time.Minute)); again.Attempts != 1 {
		t.Errorf("attempt %d, want 1", again.Attempts)
	}
}

func aFailureIsRecordedAndTriedAgain(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	now := realNow()
	schedule(t, store, "test.run", "a", creator, now)
	task := claimOne(t, store, now)
	reason := "bad byte \xff, NUL \x00, and long: " + string(make([]byte, 600)) + "é"
	if err := store.Fail(t.Context(), task, reason, now.Add(4*time.Second)); err != nil {
		t.Fatal(err)
	}
	claimNone(t, store, now.Add(4*time.Second-time.Millisecond))
	again := claimOne(t, store, now.Add(4*time.Second))
	if again.Attempts != 2 || !again.DueAt.Equal(now) {
		t.Errorf("tried again as %+v, want attempt 2, still due at %v", again, now)
	}
}

func aReleasedTaskIsDueAtOnceAndTheClaimDoesNotCount(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	now := realNow()
	schedule(t, store, "test.run", "a", creator, now)
	task := claimOne(t, store, now)
	if err := store.Release(t.Context(), task); err != nil {
		t.Fatal(err)
	}
	wantFenced(t, "the released claim finishes", done(t, store, task))
	if again := claimOne(t, store, now); again.Attempts != 1 {
		t.Errorf("attempt %d, want 1", again.Attempts)
	}
}

func loadProlongsAShortLease(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	now := realNow()
	schedule(t, store, "test.run", "a", creator, now)
	task := claimOne(t, store, now)
	loaded, err := store.Load(t.Context(), task.ID, task.Token, now)
	if err != nil || loaded != task {
		t.Fatalf("loaded %+v, %v; claimed %+v", loaded, err, task)
	}
	until := now.Add(lease + time.Minute)
	if loaded, err = store.Load(t.Context(), task.ID, task.Token, until); err != nil || !loaded.LeaseUntil.Equal(until) {
		t.Fatalf("loaded %+v, %v; want a lease until %v", loaded, err, until)
	}
	claimNone(t, store, until.Add(-time.Millisecond))
	claimOne(t, store, until)
}

func rivalWorkersClaimEachTaskOnce(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	now := realNow()
	const tasks, rivals = 60, 6
	atomically(t, store, func(ctx context.Context, r ports.Repos) error {
		var all []error
		for i := range tasks {
			all = append(all, r.Tasks.Schedule(ctx, "test.run", fmt.Sprint(i), "", now))
		}
		return errors.Join(all...)
	})
	var mu sync.Mutex
	seen := map[string]int{}
	var rivalry sync.WaitGroup
	for range rivals {
		rivalry.Go(func() {
			for range tasks {
				claimed, err := store.Claim(t.Context(), ports.DefaultTasks, now, lease, 7)
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				for _, task := range claimed {
					seen[task.ID]++
				}
				mu.Unlock()
			}
		})
	}
	rivalry.Wait()
	for taskID, n := range seen {
		if n != 1 {
			t.Errorf("%s claimed %d times", taskID, n)
		}
	}
	if len(seen) != tasks {
		t.Errorf("%d tasks claimed, want %d", len(seen), tasks)
	}
}

func theNextDueTimeIsKnown(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{
		ClassOf: func(kind string) ports.TaskClass {
			if kind == "test.send" {
				return ports.WebhookTasks
			}
			return ports.DefaultTasks
		},
		KeyOf: func(kind, subject, _ string) string {
			if kind == "test.send" {
				return subject
			}
			return ""
		},
	})
	now := realNow()
	want := func(what string, at, due time.Time) {
		t.Helper()
		got, ok, err := store.NextDue(t.Context(), at)
		if err != nil || ok == due.IsZero() || ok && !got.Equal(due) {
			t.Errorf("%s: %v, %v, %v; want %v", what, got, ok, err, due)
		}
	}
	want("nothing waits", now, time.Time{})
	schedule(t, store, "test.run", "a", creator, now.Add(time.Hour))
	want("one waits", now, now.Add(time.Hour))
	schedule(t, store, "test.send", "endpoint", creator, now.Add(time.Minute))
	want("one of another class is due before it", now, now.Add(time.Minute))
	atomically(t, store, func(ctx context.Context, r ports.Repos) error {
		return r.Tasks.PauseKey(ctx, "endpoint", creator, now.Add(time.Second))
	})
	want("its key is paused until before then", now, now.Add(time.Minute))
	atomically(t, store, func(ctx context.Context, r ports.Repos) error {
		return r.Tasks.PauseKey(ctx, "endpoint", creator, now.Add(30*time.Minute))
	})
	want("its key is paused", now, now.Add(30*time.Minute))
	schedule(t, store, "test.run", "b", creator, now.Add(-time.Second))
	want("one is overdue", now, now.Add(-time.Second))
	claimOne(t, store, now)
	want("that one is leased", now, now.Add(30*time.Minute))
	want("its lease has ended", now.Add(lease), now.Add(-time.Second))
}

// workersAreWokenForWhatFallsDueSoon covers each change by which a task falls due before an idle worker looks again.
func workersAreWokenForWhatFallsDueSoon(t *testing.T, db Database) {
	woken := 0
	store := db.Open(t, StoreOptions{
		ClassOf: func(string) ports.TaskClass { return ports.DefaultTasks },
		OnScheduled: func(classes ...ports.TaskClass) {
			woken++
			if !slices.Equal(slices.Compact(classes), []ports.TaskClass{ports.DefaultTasks}) {
				t.Errorf("classes %q were said to have something due, want that of the task alone", classes)
			}
		},
	})
	now := realNow()
	want := func(what string, wakes int) {
		t.Helper()
		if woken != wakes {
			t.Errorf("%s: workers woken %d times, want %d", what, woken, wakes)
		}
		woken = 0
	}
	schedule(t, store, "test.run", "later", creator, now.Add(time.Hour))
	want("scheduled for later", 0)
	schedule(t, store, "test.run", "a", creator, now.Add(ports.TaskPollInterval))
	want("scheduled for soon", 1)
	fail := func(again time.Time) {
		t.Helper()
		if err := store.Fail(t.Context(), claimOne(t, store, now.Add(time.Minute)), "no", again); err != nil {
			t.Fatal(err)
		}
	}
	fail(now.Add(30 * time.Second))
	want("failed, to be tried again later", 0)
	fail(now.Add(time.Second))
	want("failed, to be tried again soon", 1)
	if err := store.Release(t.Context(), claimOne(t, store, now.Add(time.Minute))); err != nil {
		t.Fatal(err)
	}
	want("released", 1)
}

func theBacklogCountsWhatIsDue(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	now := realNow()
	schedule(t, store, "test.a", "1", "", now.Add(-time.Minute))
	schedule(t, store, "test.a", "2", "", now.Add(-time.Hour))
	schedule(t, store, "test.b", "1", "", now)
	schedule(t, store, "test.b", "2", "", now.Add(time.Millisecond))
	got, err := store.Backlog(t.Context(), now)
	want := []ports.TaskBacklog{
		{Kind: "test.a", Due: 2, Oldest: now.Add(-time.Hour)}, {Kind: "test.b", Due: 1, Oldest: now},
	}
	if err != nil || len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("backlog %+v, %v; want %+v", got, err, want)
	}
}
