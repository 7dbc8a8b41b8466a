package webhooks_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"sundry/core/webhook"
	"sundry/ports"
	"sundry/tests/testdb"
)

// claim leases what is due.
func (w *fixture) claim() []ports.Task {
	w.t.Helper()
	tasks, err := w.store.Claim(w.t.Context(), ports.DefaultTasks, w.Real(), time.Minute, 64)
	if err != nil {
		w.t.Fatal(err)
	}
	return tasks
}

func TestARecoveredEndpointIsNotPausedByAnOldRead(t *testing.T) {
	t.Parallel()
	for name, recover := range map[string]func(w *fixture, e webhook.EndpointState){
		"moved": func(w *fixture, e webhook.EndpointState) { w.move(e, "https://new.example.com/") },
		"disabled and enabled": func(w *fixture, e webhook.EndpointState) {
			w.enable(e, false)
			w.enable(e, true)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			forEachEngine(t, func(t *testing.T, w *fixture) {
				e := w.endpoint("dead", "payment.*")
				w.respond(e, 0)
				for range 8 {
					w.sell()
				}
				leased := w.claim()
				for _, one := range leased[:5] {
					if err := w.run(one); err != nil {
						t.Fatal(err)
					}
				}
				if !w.stored(e).OpenUntil.After(w.Real()) {
					t.Fatalf("the circuit is not open: %+v", w.stored(e))
				}
				w.read = func() { recover(w, e) } // right after the circuit was seen open
				if err := w.run(leased[5]); err != nil && !errors.Is(err, ports.ErrFenced) {
					t.Fatal(err)
				}
				w.Advance(time.Hour)
				if n := len(w.claim()); n < 2 {
					t.Errorf("%d of its tasks were claimed, want all of them", n)
				}
			})
		})
	}
}

// A delivery that is made due again is sent once more, whatever comes of the attempt under way, which is logged too.
func TestAnAttemptThatWasFencedIsLogged(t *testing.T) {
	t.Parallel()
	for name, status := range map[string]int{"a success": 200, "a failure": 500} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			forEachEngine(t, func(t *testing.T, w *fixture) {
				e := w.endpoint("hooks", "payment.*")
				w.respond(e, status)
				w.sell()
				redeliver := func() {
					if _, err := w.webhooks.Redeliver(t.Context(), creatorID, e.ID, w.delivery(e).ID); err != nil {
						t.Error(err)
					}
				}
				mustBeFenced := func(one ports.Task) {
					if err := w.run(one); !errors.Is(err, ports.ErrFenced) {
						t.Errorf("the attempt ends with %v, want %v", err, ports.ErrFenced)
					}
				}
				w.meanwhile = redeliver
				mustBeFenced(w.claim()[0])
				second := w.claim()[0]
				redeliver()
				third := w.claim()[0]
				w.meanwhile = func() { mustBeFenced(second) } // and is logged while the third is under way
				if err := w.run(third); err != nil {
					t.Error(err)
				}
				want := map[int]webhook.DeliveryStatus{200: webhook.Delivered, 500: webhook.Pending}[status]
				d := w.delivery(e)
				if sent := w.take(); len(sent) != 3 || d.AttemptCount != 3 || len(d.Attempts) != 3 || d.Status != want {
					t.Fatalf("%d messages, delivery %+v; want three attempts, %s", len(sent), d, want)
				}
				for i, a := range d.Attempts {
					if a.Number != i+1 || a.StatusCode != status {
						t.Errorf("attempt %d is %+v", i+1, a)
					}
				}
				if left := w.claim(); len(left) != 0 || d.RoundAttempts != 1 {
					t.Errorf("%d tasks are left, %d attempts since the redelivery", len(left), d.RoundAttempts)
				}
			})
		})
	}
}

func TestAttemptsAreListedByTheirNumbers(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		e := w.endpoint("hooks", "payment.*")
		w.sell()
		w.meanwhile = func() { // a later attempt ends before the first one does
			if _, err := w.webhooks.Redeliver(t.Context(), creatorID, e.ID, w.delivery(e).ID); err != nil {
				t.Error(err)
			}
			w.Advance(time.Second)
			if err := w.run(w.claim()[0]); err != nil {
				t.Error(err)
			}
		}
		if err := w.run(w.claim()[0]); !errors.Is(err, ports.ErrFenced) {
			t.Errorf("the first ends with %v, want %v", err, ports.ErrFenced)
		}
		attempts := w.delivery(e).Attempts
		if len(attempts) != 2 || attempts[0].Number != 1 || attempts[1].Number != 2 {
			t.Errorf("the attempts are %+v", attempts)
		}
	})
}

// onPostgres runs a test on a store whose transactions wait for each other, with what waits until one does.
func onPostgres(t *testing.T, test func(t *testing.T, w *fixture, url string, awaitWait func(done <-chan struct{}))) {
	t.Helper()
	testdb.EachEngine(t, func(t *testing.T, engine testdb.Engine) {
		if engine.Name != testdb.Postgres.Name {
			return
		}
		url := engine.URL(t)
		test(t, newFixture(t, engine.OpenAt(t, url, byEndpoint)), url, func(done <-chan struct{}) {
			engine.AwaitWait(t, url, done)
		})
	})
}

// What records deliveries waits for one that is being made due again before it locks the task, which comes last in
// every other transaction: two that lock in different orders deadlock, and hold up all that is recorded with them.
func TestRecordingLocksADeliveryBeforeItsTask(t *testing.T) {
	t.Parallel()
	onPostgres(t, func(t *testing.T, w *fixture, url string, awaitWait func(done <-chan struct{})) {
		e := w.endpoint("hooks", "payment.*")
		w.sell()
		task, made, done := w.claim()[0], w.delivery(e).DeliveryState, make(chan struct{})
		w.atomically(func(ctx context.Context, r ports.Repos) error {
			d := webhook.RestoreDelivery(made)
			d.Requeue(w.Real())
			if err := r.Webhooks.Deliveries.Update(ctx, d.State()); err != nil {
				return err
			}
			if _, err := r.Webhooks.Endpoints.Get(ctx, creatorID, e.ID); err != nil { // which sends the update
				return err
			}
			go func() {
				defer close(done)
				if err := w.run(task); err != nil {
					t.Error(err)
				}
			}()
			awaitWait(done)
			free := testdb.Postgres.Int(t, url, "SELECT COUNT(*) FROM (SELECT id FROM tasks FOR UPDATE SKIP LOCKED) AS free")
			if free != 1 {
				t.Error("the task is locked by what waits for the delivery")
			}
			return nil
		})
		<-done
	})
}

func TestADeletedEndpointLeavesNoPause(t *testing.T) {
	t.Parallel()
	onPostgres(t, func(t *testing.T, w *fixture, url string, awaitWait func(done <-chan struct{})) {
		e, done := w.endpoint("hooks", "payment.*"), make(chan struct{})
		w.atomically(func(ctx context.Context, r ports.Repos) error {
			endpoint := webhook.RestoreEndpoint(w.stored(e))
			endpoint.Failed(false, false, w.Real())
			if err := r.Webhooks.Endpoints.Update(ctx, endpoint.State()); err != nil {
				return err
			}
			if err := r.Tasks.PauseKey(ctx, e.ID, creatorID, w.Real().Add(time.Minute)); err != nil {
				return err
			}
			go func() {
				defer close(done)
				if _, err := w.webhooks.DeleteEndpoint(t.Context(), creatorID, e.ID); err != nil {
					t.Error(err)
				}
			}()
			awaitWait(done)
			return nil
		})
		<-done
		if n := testdb.Postgres.Int(t, url, "SELECT COUNT(*) FROM concurrency_pauses"); n != 0 {
			t.Errorf("%d pauses are left of an endpoint that was deleted", n)
		}
	})
}
