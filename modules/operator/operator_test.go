package operator_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"sundry/adapters/gormstore"
	"sundry/adapters/memratelimit"
	"sundry/adapters/system"
	"sundry/core/fault"
	"sundry/core/id"
	"sundry/core/identity"
	core "sundry/core/operator"
	"sundry/core/quota"
	"sundry/modules/operator"
	"sundry/ports"
	"sundry/tests/testdb"
)

var noon = time.Date(2026, 3, 8, 12, 0, 0, 0, time.UTC)

type fixture struct {
	*operator.Service
	store *gormstore.Store
	clock *testdb.Clock
	ids   *system.IDs
	ada   string
}

func forEachEngine(t *testing.T, live bool, test func(t *testing.T, w *fixture)) {
	t.Helper()
	testdb.EachStore(t, func(t *testing.T, store *gormstore.Store) {
		w := &fixture{store: store, clock: testdb.NewClock(noon), ids: system.NewIDs()}
		w.Service = w.process(live)
		w.ada = w.ids.New(id.Creator)
		w.atomically(t, func(ctx context.Context, r ports.Repos) error {
			return r.Identity.Creators.Insert(ctx,
				identity.Register(w.ada, identity.Registration{Email: "ada@example.com", DisplayName: "Ada"}, "hash", noon))
		})
		test(t, w)
	})
}

// process is another process of the deployment.
func (w *fixture) process(live bool) *operator.Service {
	return operator.New(operator.Config{Live: live}, operator.Deps{
		Store: w.store, Clock: w.clock, IDs: w.ids, Limiter: memratelimit.New(w.clock.Real),
	})
}

func (w *fixture) atomically(t *testing.T, do func(ctx context.Context, r ports.Repos) error) {
	t.Helper()
	if err := w.store.Atomically(t.Context(), do); err != nil {
		t.Fatal(err)
	}
}

func (w *fixture) actions(t *testing.T) (notes []string) {
	t.Helper()
	list, err := w.Actions(t.Context(), w.ada, ports.Page{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range list.Items {
		notes = append(notes, a.Operator+" "+string(a.Kind)+": "+a.Note)
	}
	return notes
}

func TestSuspend(t *testing.T) {
	t.Parallel()
	forEachEngine(t, true, func(t *testing.T, w *fixture) {
		ctx, root := t.Context(), operator.By{Operator: "root", Reason: "sells fakes"}
		other := w.process(true)
		for _, s := range []*operator.Service{w.Service, other} {
			if err := errors.Join(s.CheckOpen(ctx, w.ada), s.CheckSales(ctx, w.ada)); err != nil {
				t.Fatalf("an account in good standing: %v", err)
			}
		}
		for range 2 { // again, it changes nothing
			if err := w.Suspend(ctx, root, w.ada); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.CheckSales(ctx, w.ada); !fault.Is(err, fault.Forbidden) {
			t.Errorf("a sale at once: %v", err)
		}
		w.clock.Advance(2 * time.Second)
		if err := other.CheckOpen(ctx, w.ada); !fault.Is(err, fault.Forbidden) {
			t.Errorf("in another process after two seconds: %v", err)
		}
		if err := w.Suspend(ctx, operator.By{Operator: "ops", Reason: "sells fakes again"}, w.ada); err != nil {
			t.Fatal(err)
		}
		accounts, err := w.Accounts(ctx, w.ada, ports.Page{Limit: 1})
		if err != nil || len(accounts.Items) != 1 || accounts.Items[0].SuspensionReason != "sells fakes again" {
			t.Errorf("suspended for another reason: %+v, %v", accounts.Items, err)
		}
		if err := w.Resume(ctx, operator.By{Operator: "root", Reason: "a mistake"}, w.ada); err != nil {
			t.Fatal(err)
		}
		for _, s := range []*operator.Service{w.Service, other} {
			if err := errors.Join(s.CheckOpen(ctx, w.ada), s.CheckSales(ctx, w.ada)); err != nil {
				t.Errorf("resumed, at once and everywhere: %v", err)
			}
		}
		want := []string{
			"root account.resumed: a mistake", "ops account.suspended: sells fakes again",
			"root account.suspended: sells fakes",
		}
		if got := w.actions(t); !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

func TestSuspend_Refusals(t *testing.T) {
	t.Parallel()
	forEachEngine(t, true, func(t *testing.T, w *fixture) {
		for name, decide := range map[string]func(context.Context, operator.By, string) error{
			"suspend": w.Suspend, "resume": w.Resume,
		} {
			if err := decide(t.Context(), operator.By{Operator: "root"}, w.ada); !fault.Is(err, fault.ValidationFailed) {
				t.Errorf("%s without a reason: %v", name, err)
			}
			err := decide(t.Context(), operator.By{Operator: "root", Reason: "why"}, "crt_unknown")
			if !fault.Is(err, fault.NotFoundCode) {
				t.Errorf("%s nobody: %v", name, err)
			}
		}
		if got := w.actions(t); len(got) != 0 {
			t.Errorf("the record has %q", got)
		}
	})
}

func TestLimits(t *testing.T) {
	t.Parallel()
	forEachEngine(t, true, func(t *testing.T, w *fixture) {
		used := func(n int64) func() (int64, error) { return func() (int64, error) { return n, nil } }
		check := func(n int64) (err error) {
			w.atomically(t, func(ctx context.Context, r ports.Repos) error {
				err = w.CheckLimit(ctx, r, w.ada, quota.Listings, used(n))
				return nil
			})
			return err
		}
		if err := check(1000); err != nil {
			t.Errorf("the last of the default: %v", err)
		}
		if err := check(1001); !fault.Is(err, fault.LimitReached) {
			t.Errorf("one more than the default: %v", err)
		}
		set := func(overrides ...quota.Override) {
			t.Helper()
			if err := w.SetLimits(t.Context(), "root", w.ada, overrides); err != nil {
				t.Fatal(err)
			}
		}
		set(quota.Override{Resource: quota.Listings, Value: 2}, quota.Override{Resource: quota.APIKeys})
		if err := check(3); !fault.Is(err, fault.LimitReached) {
			t.Errorf("one more than its own: %v", err)
		}
		limits, err := w.Limits(t.Context(), w.ada)
		if err != nil {
			t.Fatal(err)
		}
		for i, row := range quota.Table() {
			want := operator.Limit{Row: row, Value: row.Live}
			if own, set := map[quota.Resource]int64{quota.Listings: 2, quota.APIKeys: 0}[row.Resource]; set {
				want.Value, want.Own = own, true
			}
			if limits[i] != want {
				t.Errorf("got %+v, want %+v", limits[i], want)
			}
		}
		set(quota.Override{Resource: quota.Listings, Reset: true})
		if err := check(3); err != nil {
			t.Errorf("within the default again: %v", err)
		}
		got := w.actions(t)
		if len(got) != 2 || got[1] != "root account.limits_set: api-keys=none listings=2" ||
			got[0] != "root account.limits_reset: listings" {
			t.Errorf("the record has %q", got)
		}
	})
}

func TestLimits_HoldAtOnce(t *testing.T) {
	t.Parallel()
	forEachEngine(t, true, func(t *testing.T, w *fixture) {
		err := w.SetLimits(t.Context(), "root", w.ada, []quota.Override{{Resource: quota.Images, Value: 3}})
		if err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for range 12 {
			all.Go(func() {
				// An action stands for what is limited: there are as many as there were commits.
				_ = w.store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
					err := w.CheckLimit(ctx, r, w.ada, quota.Images, func() (int64, error) {
						list, err := r.Operator.Actions.List(ctx, "crt_1", ports.Page{Limit: 100})
						return int64(len(list.Items)) + 1, err
					})
					if err != nil {
						return err
					}
					return r.Operator.Actions.Insert(ctx, core.Action{ID: w.ids.New(core.ActionPrefix), CreatorID: "crt_1", At: noon})
				})
			})
		}
		all.Wait()
		list, err := w.Actions(t.Context(), "crt_1", ports.Page{Limit: 100})
		if err != nil || len(list.Items) != 3 {
			t.Errorf("%d within a limit of 3, %v", len(list.Items), err)
		}
	})
}

func TestCount(t *testing.T) {
	t.Parallel()
	forEachEngine(t, false, func(t *testing.T, w *fixture) {
		ctx := t.Context()
		count := func(n int) error { return w.Count(ctx, w.ada, quota.UsageEvents, n) }
		if err := count(1_000_000); err != nil {
			t.Errorf("in the sandbox nothing is counted: %v", err)
		}
		err := w.SetLimits(ctx, "root", w.ada, []quota.Override{{Resource: quota.UsageEvents, Value: 100}})
		if err != nil {
			t.Fatal(err)
		}
		if err := count(60); err != nil {
			t.Errorf("60 of 100: %v", err)
		}
		var f *fault.Error
		if err := count(60); !errors.As(err, &f) || f.Code != fault.RateLimited || f.RetryAfter != 12*time.Second {
			t.Errorf("60 more: %v", err)
		}
		if err := errors.Join(count(40), w.Count(ctx, w.ada, quota.Sessions, 9)); err != nil {
			t.Errorf("the 40 that are left, and something else: %v", err)
		}
		w.clock.Advance(time.Minute)
		if err := count(1000); err != nil {
			t.Errorf("more at once than a minute allows counts as all of it: %v", err)
		}
		if err := count(1); !fault.Is(err, fault.RateLimited) {
			t.Errorf("one more: %v", err)
		}
	})
}
