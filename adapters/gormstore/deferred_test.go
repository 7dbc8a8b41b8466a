package gormstore_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"sundry/adapters/gormstore"
	"sundry/core/webhook"
	"sundry/ports"
	"sundry/tests/testdb"
)

func aDelivery(id string) webhook.DeliveryState {
	return webhook.DeliveryState{ID: id, CreatorID: "crt_1", EventID: "evt_of_" + id, EndpointID: "whe_1",
		CreatedAt: time.UnixMilli(1), Revision: 1}
}

func TestAWriteThatWaitsIsSeenByEveryLaterStatement(t *testing.T) {
	t.Parallel()
	testdb.EachStore(t, func(t *testing.T, store *gormstore.Store) {
		err := store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
			for i := range 3 {
				if err := r.Webhooks.Deliveries.Insert(ctx, aDelivery(fmt.Sprint("del_", i))); err != nil {
					return err
				}
			}
			if _, err := r.Webhooks.Deliveries.Get(ctx, "crt_1", "del_2"); err != nil {
				return err
			}
			if err := r.Tasks.Schedule(ctx, "kind", "subject", "", time.Now().Add(time.Hour)); err != nil {
				return err
			}
			return r.Tasks.Cancel(ctx, "kind", "subject")
		})
		if err != nil {
			t.Fatal(err)
		}
		list, err := store.Read(t.Context()).Webhooks.Deliveries.List(t.Context(), "crt_1", "whe_1", "",
			ports.Page{Limit: 10})
		if err != nil || len(list.Items) != 3 {
			t.Errorf("%d deliveries, %v", len(list.Items), err)
		}
		if backlog, err := store.Backlog(t.Context(), time.Now().Add(2*time.Hour)); err != nil || len(backlog) != 0 {
			t.Errorf("backlog %v, %v", backlog, err)
		}
	})
}

func TestAWriteThatIsRefusedLaterUndoesTheWhole(t *testing.T) {
	t.Parallel()
	next := map[string]func(ctx context.Context, r ports.Repos) error{
		"at the commit": func(context.Context, ports.Repos) error { return nil },
		"at a query": func(ctx context.Context, r ports.Repos) error {
			_, err := r.Webhooks.Deliveries.List(ctx, "crt_1", "whe_1", "", ports.Page{Limit: 1})
			return err
		},
		"at a query of one row": func(ctx context.Context, r ports.Repos) error {
			_, err := r.Sandbox.ClockOffsets.Get(ctx, "crt_1")
			return err
		},
		"at a statement": func(ctx context.Context, r ports.Repos) error {
			return r.Sandbox.ClockOffsets.Advance(ctx, "crt_1", time.Hour)
		},
	}
	testdb.EachStore(t, func(t *testing.T, store *gormstore.Store) {
		for name, then := range next {
			err := store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
				return errors.Join(r.Webhooks.Deliveries.Insert(ctx, aDelivery("del_1")),
					r.Webhooks.Deliveries.Insert(ctx, aDelivery("del_1")), then(ctx, r))
			})
			if err == nil {
				t.Errorf("%s: two deliveries of one id were taken", name)
			}
			if _, err := store.Read(t.Context()).Webhooks.Deliveries.Get(t.Context(), "crt_1", "del_1"); !errors.Is(err,
				ports.ErrNotFound) {
				t.Errorf("%s: the first of the two is there: %v", name, err)
			}
		}
	})
}

// TestAWriteThatMeetsNoRowUndoesWhatTravelsWithIt has the commit in the same message as a write that must meet a row.
func TestAWriteThatMeetsNoRowUndoesWhatTravelsWithIt(t *testing.T) {
	t.Parallel()
	testdb.EachStore(t, func(t *testing.T, store *gormstore.Store) {
		err := store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
			if err := r.Tasks.Schedule(ctx, "kind", "before", "", time.Now()); err != nil {
				return err
			}
			if err := r.Tasks.Done(ctx, ports.Task{ID: "kind:missing", Kind: "kind", Subject: "missing", Token: 1}); err != nil {
				return err
			}
			return r.Tasks.Schedule(ctx, "kind", "after", "", time.Now())
		})
		if !errors.Is(err, ports.ErrFenced) {
			t.Errorf("the transaction ended with %v", err)
		}
		if backlog, err := store.Backlog(t.Context(), time.Now().Add(time.Hour)); err != nil || len(backlog) != 0 {
			t.Errorf("backlog %v, %v", backlog, err)
		}
	})
}

// TestWhatIsDoneToTasksKeepsItsOrder has more of them than one statement takes, and some that are changed several
// times.
func TestWhatIsDoneToTasksKeepsItsOrder(t *testing.T) {
	t.Parallel()
	testdb.EachStore(t, func(t *testing.T, store *gormstore.Store) {
		now := time.Now().Truncate(time.Millisecond)
		subject := func(n int) string { return fmt.Sprintf("%02d", n) }
		err := store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
			var all []error
			for n := range 30 {
				all = append(all, r.Tasks.Schedule(ctx, "kind", subject(n), "", now))
			}
			for n := range 10 {
				all = append(all, r.Tasks.Cancel(ctx, "kind", subject(n)))
			}
			return errors.Join(append(all,
				r.Tasks.Ensure(ctx, "kind", subject(3), "", now), r.Tasks.Ensure(ctx, "kind", subject(3), "", now.Add(time.Hour)),
				r.Tasks.Schedule(ctx, "kind", subject(4), "", now), r.Tasks.Cancel(ctx, "kind", subject(4)),
				r.Tasks.Schedule(ctx, "kind", subject(20), "", now.Add(time.Hour)), r.Tasks.Ensure(ctx, "kind", subject(21), "",
					now.Add(time.Hour)))...)
		})
		if err != nil {
			t.Fatal(err)
		}
		claimed, err := store.Claim(t.Context(), ports.DefaultTasks, now, time.Minute, 100)
		if err != nil {
			t.Fatal(err)
		}
		due := map[string]bool{}
		for _, task := range claimed {
			due[task.Subject] = true
		}
		for n := range 30 {
			if want := n == 3 || n >= 10 && n != 20; due[subject(n)] != want {
				t.Errorf("task %d is due: %v", n, due[subject(n)])
			}
		}
		if later, err := store.Claim(t.Context(), ports.DefaultTasks, now.Add(time.Hour), time.Hour, 100); err != nil ||
			len(later) != 21 {
			t.Errorf("%d tasks in an hour, %v; want the 20 of now and the one that was postponed", len(later), err)
		}
	})
}

func TestFencedRunIsRefusedAtItsFirstRead(t *testing.T) {
	t.Parallel()
	testdb.EachStore(t, func(t *testing.T, store *gormstore.Store) {
		questions := map[string]func(ctx context.Context, r ports.Repos) error{
			"of a row": func(ctx context.Context, r ports.Repos) error {
				_, err := r.Checkout.Sessions.Get(ctx, "chk_1")
				return err
			},
			"of the clock": func(ctx context.Context, r ports.Repos) error {
				_, err := r.Clock.Now(ctx, "crt_1")
				return err
			},
			"of a list": func(ctx context.Context, r ports.Repos) error {
				_, err := r.Webhooks.Deliveries.List(ctx, "crt_1", "whe_1", "", ports.Page{Limit: 1})
				return err
			},
		}
		for name, ask := range questions {
			err := store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
				if err := r.Tasks.Done(ctx, ports.Task{ID: "kind:missing", Kind: "kind", Subject: "missing",
					Token: 1}); err != nil {
					return err
				}
				if err := ask(ctx, r); !errors.Is(err, ports.ErrFenced) {
					t.Errorf("a question %s: %v", name, err)
				}
				return errors.New("nothing to commit")
			})
			if err == nil {
				t.Errorf("a question %s: the transaction committed", name)
			}
		}
	})
}

// TestWhatIsLeftOfATransactionIsRefused keeps the repositories and the context of one that has ended, whose connection
// others have then.
func TestWhatIsLeftOfATransactionIsRefused(t *testing.T) {
	t.Parallel()
	testdb.EachStore(t, func(t *testing.T, store *gormstore.Store) {
		for _, result := range []error{nil, errors.New("rolled back")} {
			var late context.Context
			var repos ports.Repos
			err := store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
				late, repos = ctx, r //nolint:fatcontext // what must not happen is the test
				return errors.Join(r.Webhooks.Deliveries.Insert(ctx, aDelivery("del_1")), result)
			})
			if !errors.Is(err, result) {
				t.Fatal(err)
			}
			if _, err := store.Read(late).Webhooks.Deliveries.Get(late, "crt_1", "del_1"); err == nil || errors.Is(err,
				ports.ErrNotFound) {
				t.Errorf("a read after the end: %v", err)
			}
			if _, _, err := repos.Idempotency.Lock(late, "crt_1", "route", "key"); err == nil || errors.Is(err,
				ports.ErrNotFound) {
				t.Errorf("a lock after the end: %v", err)
			}
			if err := repos.Webhooks.Deliveries.Insert(late, aDelivery("del_2")); err == nil {
				t.Error("written after the end")
			}
		}
	})
}
