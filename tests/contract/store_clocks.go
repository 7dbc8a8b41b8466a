package contract

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"sundry/ports"
)

func advance(t *testing.T, store StoreAdapter, offset time.Duration) {
	t.Helper()
	atomically(t, store, func(ctx context.Context, r ports.Repos) error {
		return r.Sandbox.ClockOffsets.Advance(ctx, creator, offset)
	})
}

func anAccountsClockGoesForwardOnly(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	for _, c := range []struct{ put, want time.Duration }{
		{time.Minute, time.Minute}, {time.Second, time.Minute},
		{time.Minute + time.Millisecond, time.Minute + time.Millisecond},
	} {
		advance(t, store, c.put)
		if got, err := store.Read(t.Context()).Sandbox.ClockOffsets.Get(t.Context(), creator); err != nil || got != c.want {
			t.Errorf("offset %v, %v after %v; want %v", got, err, c.put, c.want)
		}
	}
	if got, err := store.Read(t.Context()).Sandbox.ClockOffsets.Get(t.Context(), "crt_other"); err != nil || got != 0 {
		t.Errorf("another account's offset is %v, %v", got, err)
	}
}

func retimeMovesTheWaitingTasksOfAMovedClock(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	now := realNow()
	due := now.Add(30 * 24 * time.Hour)
	schedule(t, store, "test.run", "mine", creator, due)
	schedule(t, store, "test.run", "other", "crt_other", due)
	const left = 2 * time.Minute
	schedule(t, store, "test.run", "far", creator, due.Add(24*time.Hour)) // re-timed when it comes near
	advance(t, store, 30*24*time.Hour-left)
	claimNone(t, store, now.Add(left))
	for _, account := range []string{"crt_other", "", ""} {
		if err := store.Retime(t.Context(), account); err != nil {
			t.Fatal(err)
		}
	}
	claimNone(t, store, now.Add(left-time.Millisecond))
	if got := claimOne(t, store, now.Add(left)); got.Subject != "mine" || !got.DueAt.Equal(due) {
		t.Errorf("claimed %+v, want mine, due at %v", got, due)
	}
	schedule(t, store, "test.run", "later", creator, now.Add(30*24*time.Hour-left/2))
	if got := claimOne(t, store, now.Add(left/2)); got.Subject != "later" {
		t.Errorf("claimed %+v: a task scheduled after the move follows the moved clock", got)
	}
}

func retimeLeavesARetryToRealTime(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	now := realNow()
	schedule(t, store, "test.run", "a", creator, now)
	again := now.Add(8 * time.Second)
	if err := store.Fail(t.Context(), claimOne(t, store, now), "no", again); err != nil {
		t.Fatal(err)
	}
	advance(t, store, 24*time.Hour)
	if err := store.Retime(t.Context(), creator); err != nil {
		t.Fatal(err)
	}
	claimNone(t, store, again.Add(-time.Millisecond))
	_, _, err := store.ClaimNext(t.Context(), creator, again.Add(-time.Millisecond), now.Add(24*time.Hour), lease)
	if !errors.Is(err, ports.ErrNotFound) {
		t.Errorf("the failed task is next (%v) before its retry is due", err)
	}
	if _, ok, err := store.ClaimNext(t.Context(), creator, again, now.Add(24*time.Hour), lease); err != nil || !ok {
		t.Errorf("the failed task is not next (%v, %v) when its retry is due", ok, err)
	}
}

func claimNextGoesThroughOneAccountByDueTime(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	now := realNow()
	for subject, after := range map[string]time.Duration{"c": 3 * time.Hour, "a": time.Hour, "b": 2 * time.Hour} {
		schedule(t, store, "test.run", subject, creator, now.Add(after))
		schedule(t, store, "test.run", "other-"+subject, "crt_other", now)
	}
	until := now.Add(2 * time.Hour)
	for _, want := range []string{"a", "b"} {
		got, ok, err := store.ClaimNext(t.Context(), creator, now, until, lease)
		if err != nil || !ok || got.Subject != want {
			t.Fatalf("next is %+v, %v, %v; want %s", got, ok, err, want)
		}
		if held, ok, err := store.ClaimNext(
			t.Context(), creator, now, until, lease,
		); err != nil || ok || held.Subject != want {
			t.Fatalf("while %s is held, next is %+v, %v, %v", want, held, ok, err)
		}
		if err := done(t, store, got); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := store.ClaimNext(t.Context(), creator, now, until, lease); !errors.Is(err, ports.ErrNotFound) {
		t.Errorf("next after the last: %v, want ErrNotFound", err)
	}
}

func claimAlongTakesOneKind(t *testing.T, db Database) {
	store := withKeys(t, db)
	now := realNow()
	due := func(minutes int) time.Time { return now.Add(time.Duration(minutes) * time.Minute) }
	along := func(until time.Time, limit int, want ...string) (found []ports.Task) {
		t.Helper()
		found, err := store.ClaimAlong(t.Context(), creator, "test.run", now, until, lease, limit)
		var subjects []string
		for _, task := range found {
			subjects = append(subjects, task.Subject)
			if task.LeaseUntil.Before(now.Add(lease)) || task.ConcurrencyKey != keyBefore(task.Subject) {
				t.Errorf("claimed %+v", task)
			}
		}
		if err != nil || !slices.Equal(subjects, want) {
			t.Fatalf("along come %v, %v; want %v", subjects, err, want)
		}
		return found
	}
	for i, subject := range []string{"x/1", "y/1", "down/1", "x/2", "y/2"} {
		schedule(t, store, "test.run", subject, creator, due(i))
	}
	schedule(t, store, "test.run", "theirs/1", "crt_other", now)
	schedule(t, store, "test.other", "between", creator, due(4).Add(-time.Second))
	atomically(t, store, func(ctx context.Context, r ports.Repos) error {
		return r.Tasks.PauseKey(ctx, "down", creator, due(1))
	})
	along(due(-1), 10)
	along(due(3), 1, "x/1")
	rest := along(due(10), 10, "y/1", "x/2") // not what is paused, nor what comes behind the task of another kind
	along(due(10), 10)
	if err := done(t, store, rest[0]); err != nil {
		t.Fatal(err)
	}
	if other, ok, err := store.ClaimNext(t.Context(), creator, now, due(10), lease); err != nil || ok {
		t.Errorf("next is %+v, %v, %v; want the first, which is held", other, ok, err)
	}
}

// A clock that is put forward meets an endpoint that is down: the tasks behind the pause cost nothing until it is over.
func claimNextKeepsToThePausesOfKeys(t *testing.T, db Database) {
	store := withKeys(t, db)
	now := realNow()
	schedule(t, store, "test.run", "down/a", creator, now.Add(time.Minute))
	schedule(t, store, "test.run", "down/b", creator, now.Add(2*time.Minute))
	schedule(t, store, "test.run", "well", creator, now.Add(3*time.Minute))
	schedule(t, store, "test.run", "down/c", creator, now.Add(time.Hour))
	pause := func(until time.Time) {
		atomically(t, store, func(ctx context.Context, r ports.Repos) error {
			return r.Tasks.PauseKey(ctx, "down", creator, until)
		})
	}
	next := func(until time.Time, subject string, due time.Time) {
		t.Helper()
		got, ok, err := store.ClaimNext(t.Context(), creator, now, until, lease)
		if err != nil || !ok || got.Subject != subject || !got.DueAt.Equal(due.Truncate(time.Millisecond)) {
			t.Fatalf("next is %+v, %v, %v; want %s at %v", got, ok, err, subject, due)
		}
		if err := done(t, store, got); err != nil {
			t.Fatal(err)
		}
	}
	end := now.Add(10 * time.Minute)
	pause(end)
	next(end.Add(-time.Millisecond), "well", now.Add(3*time.Minute))
	if _, _, err := store.ClaimNext(t.Context(), creator, now, end.Add(-time.Millisecond), lease); !errors.Is(err,
		ports.ErrNotFound) {
		t.Fatalf("next before the end of the pause: %v, want ErrNotFound", err)
	}
	next(end.Add(24*time.Hour), "down/a", end)
	pause(end.Add(5 * time.Minute))
	next(end.Add(24*time.Hour), "down/b", end.Add(5*time.Minute))
	next(end.Add(24*time.Hour), "down/c", now.Add(time.Hour))
}

func retimeEndsThePausesThatAClockHasPassed(t *testing.T, db Database) {
	store := withKeys(t, db)
	now := realNow()
	schedule(t, store, "test.run", "down/a", creator, now)
	pause := func(until time.Time) {
		atomically(t, store, func(ctx context.Context, r ports.Repos) error {
			return r.Tasks.PauseKey(ctx, "down", creator, until)
		})
	}
	pause(now.Add(5 * time.Minute))
	advance(t, store, 4*time.Minute)
	for _, account := range []string{"crt_other", "", creator} {
		if err := store.Retime(t.Context(), account); err != nil {
			t.Fatal(err)
		}
	}
	claimNone(t, store, now.Add(time.Minute-time.Millisecond))
	if got := claimOne(t, store, now.Add(time.Minute)); got.Subject != "down/a" {
		t.Errorf("claimed %+v", got)
	}
}

func oneHolderMovesAClockAtATime(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	now := realNow()
	hold := func(holder string, at time.Time) bool {
		var ok bool
		atomically(t, store, func(ctx context.Context, r ports.Repos) error {
			var err error
			ok, err = r.Sandbox.ClockOffsets.Acquire(ctx, creator, holder, at, at.Add(lease))
			return err
		})
		return ok
	}
	letGo := func(holder string) {
		atomically(t, store, func(ctx context.Context, r ports.Repos) error {
			return r.Sandbox.ClockOffsets.Release(ctx, creator, holder)
		})
	}
	if !hold("one", now) || !hold("one", now.Add(time.Second)) {
		t.Fatal("the first holder is refused")
	}
	if hold("two", now.Add(lease)) {
		t.Fatal("a second holder got in while the first had prolonged")
	}
	letGo("two")
	if hold("two", now.Add(lease)) {
		t.Fatal("an untrusted party ended the hold")
	}
	if !hold("two", now.Add(time.Second+lease)) {
		t.Fatal("a dead holder blocks the clock")
	}
	letGo("two")
	if !hold("three", now) {
		t.Fatal("the clock is not free after its holder let go")
	}
	if got, err := store.Read(t.Context()).Sandbox.ClockOffsets.Get(t.Context(), creator); err != nil || got != 0 {
		t.Errorf("holding moved the clock to %v, %v", got, err)
	}
}

// An advance runs the tasks of its account in their order; the workers go on with those of everybody else, however many
// of the held account wait before them, with a concurrency key and without.
func aHeldClockLeavesItsTasksToTheAdvance(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{
		KeyOf: func(_, subject, _ string) string { return keyBefore(subject) },
		ClassOf: func(kind string) ports.TaskClass {
			if kind == "test.send" {
				return ports.WebhookTasks
			}
			return ports.PaymentTasks
		},
	})
	now := realNow()
	held := now.Add(time.Minute)
	for i := range ports.HighestPerKey + 2 {
		schedule(t, store, "test.run", fmt.Sprint("mine", i), creator, now.Add(-time.Hour))
		schedule(t, store, "test.run", fmt.Sprint("group/mine", i), creator, now.Add(-time.Hour))
	}
	schedule(t, store, "test.send", "mine", creator, now)
	schedule(t, store, "test.run", "theirs", "crt_other", now)
	schedule(t, store, "test.run", "group/theirs", "crt_other", now)
	atomically(t, store, func(ctx context.Context, r ports.Repos) error {
		_, err := r.Sandbox.ClockOffsets.Acquire(ctx, creator, "an advance", now, held)
		return err
	})
	claimed, err := store.Claim(t.Context(), ports.PaymentTasks, now, time.Second, 10)
	if err != nil || len(claimed) != 2 || claimed[0].CreatorID != "crt_other" || claimed[1].CreatorID != "crt_other" {
		t.Fatalf("workers get %+v, %v; want both tasks of the other account", claimed, err)
	}
	for _, task := range claimed {
		if err := done(t, store, task); err != nil {
			t.Fatal(err)
		}
	}
	if claimed, err = store.Claim(t.Context(), ports.WebhookTasks, now, lease, 10); err != nil || len(claimed) > 0 {
		t.Fatalf("workers get %+v, %v; want the delivery left to the advance", claimed, err)
	}
	got, ok, err := store.ClaimNext(t.Context(), creator, now, now, time.Second)
	if err != nil || !ok {
		t.Fatalf("the advance gets %+v, %v, %v", got, ok, err)
	}
	if claimed, err = store.Claim(t.Context(), ports.PaymentTasks, held.Add(-time.Millisecond), lease, 10); err != nil ||
		len(claimed) > 0 {
		t.Fatalf("workers get %+v, %v, while the clock is held", claimed, err)
	}
	if claimed, err = store.Claim(t.Context(), ports.PaymentTasks, held, lease, 10); err != nil || len(claimed) == 0 {
		t.Errorf("workers get %d tasks, %v, when the advance has given no sign of life", len(claimed), err)
	}
}
