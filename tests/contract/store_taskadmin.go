package contract

import (
	"context"
	"errors"
	"testing"
	"time"

	"sundry/ports"
)

// standings are the subjects of the account's tasks in a state, read in pages of two.
func standings(
	t *testing.T, store StoreAdapter, creatorID string, state ports.TaskState, now time.Time,
) (subjects string) {
	t.Helper()
	page := ports.Page{Limit: 2}
	for {
		found, err := store.Read(t.Context()).TaskAdmin.List(t.Context(), creatorID, state, now, page)
		if err != nil {
			t.Fatal(err)
		}
		for _, task := range found.Items {
			if state != "" && task.State != state {
				t.Errorf("%s is %s among those %s", task.ID, task.State, state)
			}
			subjects += task.Subject
		}
		if found.Next.ID == "" {
			return subjects
		}
		page.After = found.Next
	}
}

func anAccountSeesItsTasksByState(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	now := realNow()
	schedule(t, store, "test.run", "f", creator, now.Add(-2*time.Second))
	schedule(t, store, "test.run", "r", creator, now.Add(-time.Second))
	for _, task := range claim(t, store, now, 10) {
		if task.Subject == "f" {
			if err := store.Fail(t.Context(), task, "no luck", now.Add(time.Minute)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, subject := range []string{"a", "b", "c"} { // due at one instant
		schedule(t, store, "test.run", subject, creator, now.Add(time.Hour))
	}
	schedule(t, store, "test.run", "x", "crt_2", now.Add(time.Hour))
	for state, want := range map[ports.TaskState]string{"": "cbarf", ports.TaskWaiting: "cba", ports.TaskRunning: "r",
		ports.TaskFailed: "f"} {
		if got := standings(t, store, creator, state, now); got != want {
			t.Errorf("%q: %s, want %s", state, got, want)
		}
	}
	// nobody holds it any more
	if got := standings(t, store, creator, ports.TaskWaiting, now.Add(lease)); got != "cbar" {
		t.Errorf("waiting once the lease is over: %s", got)
	}
	admin := store.Read(t.Context()).TaskAdmin
	failed, err := admin.Get(t.Context(), creator, "test.run:f", now)
	if err != nil || failed.LastError != "no luck" || !failed.RunAt.Equal(now.Add(time.Minute)) || failed.Attempts != 1 ||
		!failed.DueAt.Equal(now.Add(-2*time.Second)) {
		t.Errorf("found %+v, %v", failed, err)
	}
	if _, err := admin.Get(t.Context(), "crt_2", "test.run:f", now); !errors.Is(err, ports.ErrNotFound) {
		t.Errorf("somebody else's: %v, want ErrNotFound", err)
	}
}

func aFailedTaskIsRunSoonUnlessItChanged(t *testing.T, db Database) {
	woken := 0
	store := db.Open(t, StoreOptions{OnScheduled: func(...ports.TaskClass) { woken++ }})
	now := realNow()
	schedule(t, store, "test.run", "f", creator, now)
	if err := store.Fail(t.Context(), claimOne(t, store, now), "no luck", now.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	claimNone(t, store, now)
	found, err := store.Read(t.Context()).TaskAdmin.Get(t.Context(), creator, "test.run:f", now)
	if err != nil {
		t.Fatal(err)
	}
	before := woken
	atomically(
		t, store, func(ctx context.Context, r ports.Repos) error { return r.TaskAdmin.RunNow(ctx, found.Task, now) },
	)
	if woken != before+1 {
		t.Error("the workers were not woken")
	}
	if again := claimOne(t, store, now); again.Subject != "f" || again.Attempts != 2 {
		t.Errorf("claimed %+v", again)
	}
	tries := 0
	err = store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
		if tries++; tries > 1 {
			return nil
		}
		return r.TaskAdmin.RunNow(ctx, found.Task, now.Add(-time.Hour))
	})
	if err != nil || tries != 2 {
		t.Errorf("a task that was claimed meanwhile: %v after %d tries, want a second one", err, tries)
	}
}
