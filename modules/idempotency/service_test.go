package idempotency_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"sundry/adapters/encrypter"
	"sundry/adapters/gormstore"
	"sundry/core/document"
	"sundry/core/fault"
	"sundry/core/secret"
	"sundry/modules/idempotency"
	"sundry/ports"
	"sundry/tests/fakes"
	"sundry/tests/testdb"
)

const creatorID = "crt_1"

var noon = time.Date(2026, 3, 8, 12, 0, 0, 0, time.UTC)

// fixture is the module over a real store. What work does is a number that it takes, so that what is rolled back shows.
type fixture struct {
	*idempotency.Service
	t     *testing.T
	store *testdb.ClockedStore
	clock *testdb.Clock
}

func forEachEngine(t *testing.T, test func(t *testing.T, w *fixture)) {
	t.Helper()
	testdb.EachStore(t, func(t *testing.T, store *gormstore.Store) {
		secrets := encrypter.New(secret.Fixed(make([]byte, 32)))
		w := &fixture{t: t, clock: testdb.NewClock(noon)}
		w.store = testdb.WithClock(store, w.clock)
		w.Service = idempotency.New(w.store, w.clock, secrets)
		test(t, w)
	})
}

func request(key, body string) ports.IdempotentRequest {
	return ports.IdempotentRequest{CreatorID: creatorID, Route: "POST /v1/things", Key: key, Hash: []byte(body)}
}

// modes are the two ways to run a request.
func (w *fixture) modes() map[string]run {
	return map[string]run{"transactional": w.Transactional, "leased": w.Leased}
}

type (
	work = func(ctx context.Context) (ports.StoredResponse, error)
	run  = func(ctx context.Context, request ports.IdempotentRequest, work work) (ports.StoredResponse, bool, error)
)

// work takes a number and returns it, or the error.
func (w *fixture) work(err error) work {
	return func(ctx context.Context) (response ports.StoredResponse, _ error) {
		return response, w.store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
			n, nextErr := r.Invoicing.DocumentNumbers.Next(ctx, creatorID, document.Receipts)
			response = ports.StoredResponse{Status: 201, Body: fmt.Append(nil, "number ", n)}
			return errors.Join(nextErr, err)
		})
	}
}

// taken returns the count of numbers that were allocated and committed.
func (w *fixture) taken() int64 {
	w.t.Helper()
	return (&fakes.CountingBus{}).Count(w.t, w.store, string(document.Receipts), creatorID)
}

func (w *fixture) want(what string, got ports.StoredResponse, replayed, wantReplayed bool, err error, body string) {
	w.t.Helper()
	if err != nil || replayed != wantReplayed || got.Status != 201 || string(got.Body) != body {
		w.t.Errorf(
			"%s: %d %q, replayed %v, %v; want %q, %v", what, got.Status, got.Body, replayed, err, body, wantReplayed,
		)
	}
}

func refused(t *testing.T, err error, code fault.Code) {
	t.Helper()
	if !fault.Is(err, code) {
		t.Errorf("%v, want %s", err, code)
	}
}

func forEachMode(t *testing.T, test func(t *testing.T, w *fixture, run run)) {
	t.Helper()
	forEachEngine(t, func(t *testing.T, w *fixture) { test(t, w, w.Transactional) })
	forEachEngine(t, func(t *testing.T, w *fixture) { test(t, w, w.Leased) })
}

func TestARequestRunsOncePerKey(t *testing.T) {
	t.Parallel()
	forEachMode(t, func(t *testing.T, w *fixture, run run) {
		got, replayed, err := run(t.Context(), request("k1", "a"), w.work(nil))
		w.want("first", got, replayed, false, err, "number 1")
		for name, other := range w.modes() { // a route may change its mode between two versions
			got, replayed, err = other(t.Context(), request("k1", "a"), w.work(errors.New("not to be run")))
			w.want("again, "+name, got, replayed, true, err, "number 1")
		}
		_, _, err = run(t.Context(), request("k1", "b"), w.work(nil))
		refused(t, err, fault.IdempotencyKeyMismatch)
		w.clock.Advance(24 * time.Hour)
		got, replayed, err = run(t.Context(), request("k1", "a"), w.work(nil))
		w.want("after exactly a day", got, replayed, true, err, "number 1")
		w.clock.Advance(time.Millisecond)
		got, replayed, err = run(t.Context(), request("k1", "b"), w.work(nil))
		w.want("after a day", got, replayed, false, err, "number 2")
		if n := w.taken(); n != 2 {
			t.Errorf("work ran %d times, want 2", n)
		}
	})
}

func TestAKeyBelongsToAnAccountAndARoute(t *testing.T) {
	t.Parallel()
	forEachMode(t, func(t *testing.T, w *fixture, run run) {
		account, route := request("k1", "a"), request("k1", "a")
		account.CreatorID, route.Route = "crt_2", "POST /v1/others"
		for i, r := range []ports.IdempotentRequest{request("k1", "a"), account, route, request("k2", "a")} {
			got, replayed, err := run(t.Context(), r, w.work(nil))
			w.want(fmt.Sprintf("%+v", r), got, replayed, false, err, fmt.Sprint("number ", i+1))
		}
	})
}

func TestAnErrorLeavesTheKeyFree(t *testing.T) {
	t.Parallel()
	for name, fails := range map[string]error{
		"a refusal": fault.New(fault.StateConflict, "no"), "a fault": errors.New("the disk is full"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			forEachMode(t, func(t *testing.T, w *fixture, run run) {
				if _, replayed, err := run(t.Context(), request("k1", "a"), w.work(fails)); !errors.Is(err, fails) || replayed {
					t.Errorf("%v, replayed %v; want %v", err, replayed, fails)
				}
				if n := w.taken(); n != 0 {
					t.Errorf("%d numbers were taken by what failed", n)
				}
				got, replayed, err := run(t.Context(), request("k1", "b"), w.work(nil)) // another body even
				w.want("again", got, replayed, false, err, "number 1")
			})
		})
	}
}

func TestAStoredResponseIsEncrypted(t *testing.T) {
	t.Parallel()
	forEachMode(t, func(t *testing.T, w *fixture, run run) {
		_, _, err := run(t.Context(), request("k1", "a"), w.work(nil))
		if err != nil {
			t.Fatal(err)
		}
		err = w.store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
			record, _, err := r.Idempotency.Lock(ctx, creatorID, "POST /v1/things", "k1")
			if bytes.Contains(record.Body, []byte("number")) || len(record.Body) == 0 {
				t.Errorf("stored %q", record.Body)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
		otherKey := encrypter.New(secret.Fixed(bytes.Repeat([]byte{1}, 32)))
		restarted := idempotency.New(w.store, w.clock, otherKey)
		if _, _, err := restarted.Transactional(t.Context(), request("k1", "a"), w.work(nil)); err == nil ||
			fault.CodeOf(err) != fault.Internal {
			t.Errorf("a response that cannot be decrypted: %v", err)
		}
	})
}

func TestDoubledRequestsAtOnceRunOnce(t *testing.T) {
	t.Parallel()
	forEachMode(t, func(t *testing.T, w *fixture, run run) {
		type result struct {
			replayed bool
			err      error
		}
		results := make(chan result, 4)
		for range cap(results) {
			go func() {
				_, replayed, err := run(context.Background(), request("k1", "a"), w.work(nil))
				results <- result{replayed, err}
			}()
		}
		ran := 0
		for range cap(results) {
			switch r := <-results; {
			case r.err == nil && !r.replayed:
				ran++
			case r.err != nil && !fault.Is(r.err, fault.IdempotencyInProgress):
				t.Error(r.err)
			}
		}
		if n := w.taken(); ran != 1 || n != 1 {
			t.Errorf("%d requests ran, %d numbers; want one each", ran, n)
		}
	})
}

// TestALeasedKeyIsBusyUntilItsLeaseEnds ends the process of the first request. Its lease keeps the key for a minute,
// and another body cannot have it for as long as beside a response, because the first request may have had its effect.
func TestALeasedKeyIsBusyUntilItsLeaseEnds(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		fakes.Dying(t, func() {
			_, _, _ = w.Leased(context.Background(), request("k1", "a"), func(context.Context) (ports.StoredResponse, error) {
				fakes.Die()
				return ports.StoredResponse{}, nil
			})
		})
		w.clock.Advance(time.Minute - time.Millisecond)
		for name, run := range w.modes() {
			_, _, err := run(t.Context(), request("k1", "a"), w.work(nil))
			refused(t, err, fault.IdempotencyInProgress)
			if f, ok := errors.AsType[*fault.Error](err); !ok || f.RetryAfter != time.Second {
				t.Errorf("%s: %v, want it tried again in a second", name, err)
			}
			_, _, err = run(t.Context(), request("k1", "b"), w.work(nil))
			refused(t, err, fault.IdempotencyKeyMismatch)
		}
		w.clock.Advance(time.Millisecond)
		for _, run := range w.modes() {
			_, _, err := run(t.Context(), request("k1", "b"), w.work(nil))
			refused(t, err, fault.IdempotencyKeyMismatch)
		}
		got, replayed, err := w.Leased(t.Context(), request("k1", "a"), w.work(nil))
		w.want("after the lease", got, replayed, false, err, "number 1")
	})
}

// TestALateRequestKeepsItsResponse lets a request outlive its lease, and another one take the key meanwhile.
func TestALateRequestKeepsItsResponse(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		late, _, err := w.Leased(t.Context(), request("k1", "a"), func(ctx context.Context) (ports.StoredResponse, error) {
			w.clock.Advance(time.Minute)
			got, replayed, err := w.Leased(ctx, request("k1", "a"), w.work(nil))
			w.want("the second", got, replayed, false, err, "number 1")
			return w.work(nil)(ctx)
		})
		w.want("the late first", late, false, false, err, "number 2")
		got, replayed, err := w.Leased(t.Context(), request("k1", "a"), w.work(nil))
		w.want("the key", got, replayed, true, err, "number 1")
	})
}

// TestALeasedResponseSurvivesItsCaller cancels the request once its work is done: the response is stored nevertheless.
func TestALeasedResponseSurvivesItsCaller(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		ctx, leave := context.WithCancel(t.Context())
		got, replayed, err := w.Leased(ctx, request("k1", "a"), func(ctx context.Context) (ports.StoredResponse, error) {
			defer leave()
			return w.work(nil)(ctx)
		})
		w.want("first", got, replayed, false, err, "number 1")
		got, replayed, err = w.Leased(t.Context(), request("k1", "a"), w.work(nil))
		w.want("again", got, replayed, true, err, "number 1")
	})
}

func TestOldResponsesAreSwept(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		_, _, err := w.Transactional(t.Context(), request("old", "a"), w.work(nil))
		if err != nil {
			t.Fatal(err)
		}
		w.clock.Advance(time.Millisecond)
		if _, _, err = w.Transactional(t.Context(), request("young", "a"), w.work(nil)); err != nil {
			t.Fatal(err)
		}
		err = w.store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
			return r.Tasks.Schedule(ctx, idempotency.TaskSweep, "all", "", noon)
		})
		if err != nil {
			t.Fatal(err)
		}
		w.clock.Advance(24 * time.Hour)
		task, ok := fakes.NextTask(t, w.store, "", w.clock.Real())
		if !ok {
			t.Fatal("no sweep is due")
		}
		if err := w.Sweep(t.Context(), task); err != nil {
			t.Fatal(err)
		}
		if err := w.Sweep(t.Context(), task); !errors.Is(err, ports.ErrFenced) {
			t.Errorf("swept again: %v, want ErrFenced", err)
		}
		err = w.store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
			_, _, old := r.Idempotency.Lock(ctx, creatorID, "POST /v1/things", "old")
			_, _, young := r.Idempotency.Lock(ctx, creatorID, "POST /v1/things", "young")
			if !errors.Is(old, ports.ErrNotFound) || young != nil {
				t.Errorf("old: %v, young: %v; want the old one gone", old, young)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		w.clock.Advance(time.Hour - time.Millisecond)
		if _, ok := fakes.NextTask(t, w.store, "", w.clock.Real()); ok {
			t.Error("swept again within an hour")
		}
		w.clock.Advance(time.Millisecond)
		if _, ok := fakes.NextTask(t, w.store, "", w.clock.Real()); !ok {
			t.Error("not swept again after an hour")
		}
	})
}
