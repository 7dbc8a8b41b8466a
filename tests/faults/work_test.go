package faults

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sundry/adapters/gormstore"
	"sundry/ports"
	"sundry/tests/harness"
)

func TestMain(m *testing.M) { Main(m) }

const day = 24 * time.Hour

// openSessions makes n sessions that expire a day from now, on the account's clock.
func openSessions(t *testing.T, a *harness.Account, n int) []harness.Session {
	t.Helper()
	listing := a.Published(t, nil)
	sessions := make([]harness.Session, n)
	for i := range sessions {
		sessions[i] = a.NewSession(t, listing, "default", fmt.Sprintf("cust-%d", i), nil)
	}
	return sessions
}

// putForward moves the account's clock without running anything: what is due then is the workers' to find.
func (d *Deployment) putForward(t *testing.T, creatorID string, by time.Duration) {
	t.Helper()
	store := d.Store(t)
	err := store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
		return r.Sandbox.ClockOffsets.Advance(ctx, creatorID, by)
	})
	if err == nil {
		err = store.Retime(t.Context(), creatorID)
	}
	if err != nil {
		t.Fatal(err)
	}
	store.NotifyWorkers()
	time.Sleep(10 * time.Millisecond) // the notification leaves before the store is closed
}

const expired = "SELECT COUNT(*) FROM sessions WHERE status = 'expired'"

// wantAllExpired waits for every session to be expired, no expiry left over, and the books to be in order.
func (d *Deployment) wantAllExpired(t *testing.T, n int) {
	t.Helper()
	harness.Eventually(t, "all sessions are expired", func() bool { return d.Count(t, expired) == n })
	harness.Eventually(t, "no expiry is left", func() bool {
		return d.Count(t, "SELECT COUNT(*) FROM tasks WHERE kind = 'checkout.expire'") == 0
	})
	d.Verify(t)
}

func TestAKilledWorkersTasksAreDoneByTheNext(t *testing.T) {
	t.Parallel()
	for name, deploy := range map[string]func(testing.TB) *Deployment{"asynq": Distributed, "in process": WithoutRedis} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := deploy(t)
			serve, worker := d.Start(t, "serve", nil), d.Start(t, "worker", nil)
			account := serve.App.NewAccount(t)
			openSessions(t, account, 60)
			d.putForward(t, account.ID, day+time.Minute)
			harness.Eventually(t, "the worker is at it", func() bool { return d.Count(t, expired) > 0 })
			worker.Kill()
			done := d.Count(t, expired)
			t.Logf("killed after %d of 60", done)
			d.Start(t, "worker", nil)
			d.wantAllExpired(t, 60)
		})
	}
}

func TestAKilledSingleProcessGoesOnWhereItWas(t *testing.T) {
	t.Parallel()
	d := Embedded(t)
	all := d.Start(t, "", nil)
	account := all.App.NewAccount(t)
	openSessions(t, account, 40)
	d.putForward(t, account.ID, day+time.Minute)
	harness.Eventually(t, "it is at it", func() bool { return d.Count(t, expired) > 0 })
	all.Kill()
	again := d.Start(t, "", nil)
	d.wantAllExpired(t, 40)
	again.Terminate(t)
}

func TestAnAdvanceThatDiedCanBeFinished(t *testing.T) {
	t.Parallel()
	d := Embedded(t)
	all := d.Start(t, "", nil)
	account := all.App.NewAccount(t)
	openSessions(t, account, 40)
	to := harness.JSON{"to": time.Now().Add(day + time.Hour).UTC().Format(time.RFC3339)}
	died := make(chan struct{})
	go func() { // its response never comes
		defer close(died)
		request, err := http.NewRequest(
			http.MethodPost, all.App.URL+"/v1/sandbox/clock/advance",
			strings.NewReader(fmt.Sprintf(`{"to":%q}`, to["to"])),
		)
		if err != nil {
			t.Error(err)
			return
		}
		request.Header.Set("Authorization", "Bearer "+account.Key)
		request.Header.Set("Content-Type", "application/json")
		if response, err := http.DefaultClient.Do(request); err == nil {
			_ = response.Body.Close()
		}
	}()
	harness.Eventually(t, "the advance is under way", func() bool { return d.Count(t, expired) > 0 })
	all.Kill()
	<-died
	again := d.Start(t, "", nil)
	account.App = again.App
	account.AsBackend(t, http.MethodPost, "/v1/sandbox/clock/advance", to).Want(t, http.StatusOK)
	d.wantAllExpired(t, 40)
}

func TestNothingIsLostWhenRedisIsEmptiedOrAway(t *testing.T) {
	t.Parallel()
	d := WithRedisToEmpty(t)
	serve, worker := d.Start(t, "serve", nil), d.Start(t, "worker", nil)
	account := serve.App.NewAccount(t)
	openSessions(t, account, 40)
	d.putForward(t, account.ID, day+time.Minute)
	harness.Eventually(t, "the worker is at it", func() bool { return d.Count(t, expired) > 0 })
	d.EmptyRedis(t)
	d.Redis.Cut()
	time.Sleep(time.Second)
	openSessions(t, account, 5) // accepted while Redis is down
	d.Redis.Restore()
	d.putForward(t, account.ID, 2*day+2*time.Minute)
	d.wantAllExpired(t, 45)
	if n := strings.Count(worker.Log(), "background work is interrupted"); n > 2 {
		t.Errorf("one outage was logged %d times", n)
	}
	worker.Terminate(t)
	serve.Terminate(t)
}

func TestWorkGoesOnWhenTheDatabaseIsBack(t *testing.T) {
	t.Parallel()
	for name, deploy := range map[string]func(testing.TB) *Deployment{"asynq": Distributed, "in process": WithoutRedis} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := deploy(t)
			serve, worker := d.Start(t, "serve", nil), d.Start(t, "worker", nil)
			account := serve.App.NewAccount(t)
			openSessions(t, account, 30)
			d.putForward(t, account.ID, day+time.Minute)
			harness.Eventually(t, "the worker is at it", func() bool { return d.Count(t, expired) > 0 })
			d.Database.Cut()
			time.Sleep(time.Second)
			d.Database.Restore()
			d.wantAllExpired(t, 30)
			worker.Terminate(t)
			serve.Terminate(t)
		})
	}
}

func TestTwoWorkersShareTheWorkAndOneMayLeave(t *testing.T) {
	t.Parallel()
	d := Distributed(t)
	serve := d.Start(t, "serve", nil)
	leaver, stayer := d.Start(t, "worker", nil), d.Start(t, "worker", nil)
	account := serve.App.NewAccount(t)
	openSessions(t, account, 60)
	d.putForward(t, account.ID, day+time.Minute)
	harness.Eventually(t, "they are at it", func() bool { return d.Count(t, expired) > 0 })
	leaver.Terminate(t)
	d.wantAllExpired(t, 60)
	stayer.Terminate(t)
	serve.Terminate(t)
}

// TestAWorkerIsNotifiedOfWorkAtOnce schedules from a process without workers, as serve does, while the worker is idle.
func TestAWorkerIsNotifiedOfWorkAtOnce(t *testing.T) {
	t.Parallel()
	for name, deploy := range map[string]func(testing.TB) *Deployment{"asynq": Distributed, "in process": WithoutRedis} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := deploy(t)
			d.Start(t, "worker", nil)
			var store *gormstore.Store
			store = d.Store(t, gormstore.OnScheduled(func(classes ...ports.TaskClass) { store.NotifyWorkers(classes...) }))
			var took []time.Duration
			for i := range 7 {
				time.Sleep(1100 * time.Millisecond) // it is idle then, and polls every ports.TaskPollInterval
				subject := fmt.Sprint("probe-", i)
				scheduled := time.Now()
				err := store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
					return r.Tasks.Schedule(ctx, "idempotency.sweep", subject, "", scheduled)
				})
				if err != nil {
					t.Fatal(err)
				}
				id := "idempotency.sweep:" + subject
				harness.Eventually(t, "it ran", func() bool {
					return d.Count(t, "SELECT COUNT(*) FROM tasks WHERE id = '"+id+"' AND due_at > "+fmt.Sprint(scheduled.Add(time.Minute).UnixMilli())) == 1
				})
				took = append(took, time.Since(scheduled))
			}
			slices.Sort(took)
			t.Logf("from commit to effect: %v", took)
			// the slower ones are due to the machine, not of the worker
			if brisk := took[0]; brisk > 500*time.Millisecond {
				t.Errorf("from commit to effect it took %v at best, want less than a poll's interval", brisk)
			}
		})
	}
}

func TestAProcessKilledWhileBuyersPayChargesNobodyTwice(t *testing.T) {
	t.Parallel()
	for name, deploy := range map[string]func(testing.TB) *Deployment{"embedded": Embedded, "distributed": Distributed} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := deploy(t)
			all := d.Start(t, "", nil)
			account := all.App.NewAccount(t)
			sessions := openSessions(t, account, 24)
			pay := func(app *harness.App, session harness.Session) (int, error) {
				request, err := http.NewRequest(
					http.MethodPost, app.URL+"/v1/sandbox/checkout-sessions/"+session.ID+"/pay",
					strings.NewReader(`{"cardNumber":"`+harness.CardSucceeds+`","email":"grace@example.com"}`),
				)
				if err != nil {
					return 0, err
				}
				request.Header.Set("Authorization", "Bearer "+account.Key)
				request.Header.Set("Content-Type", "application/json")
				response, err := http.DefaultClient.Do(request)
				if err != nil {
					return 0, err
				}
				return response.StatusCode, response.Body.Close()
			}
			var mu sync.Mutex
			accepted := map[string]bool{}
			var buyers sync.WaitGroup
			for _, session := range sessions {
				buyers.Go(func() {
					if status, err := pay(all.App, session); err == nil && status == http.StatusOK {
						mu.Lock()
						accepted[session.ID] = true
						mu.Unlock()
					}
				})
			}
			harness.Eventually(
				t, "some have paid",
				func() bool { return d.Count(t, "SELECT COUNT(*) FROM sessions WHERE status = 'paid'") > 2 },
			)
			all.Kill()
			buyers.Wait()
			again := d.Start(t, "", nil)
			account.App = again.App
			t.Logf("killed after %d of %d were notified that they had paid", len(accepted), len(sessions))
			for _, session := range sessions {
				if accepted[session.ID] && account.Receipt(t, session)["status"] != "paid" {
					t.Errorf("%s was reported as paid and is not", session.ID)
				}
			}
			// The interrupted ones are reconciled; who was undone pays again.
			harness.Eventually(t, "everybody has paid", func() bool {
				unpaid := 0
				for _, session := range sessions {
					if account.Receipt(t, session)["status"] != "paid" {
						unpaid++
						if _, err := pay(again.App, session); err != nil {
							t.Error(err)
						}
					}
				}
				return unpaid == 0
			})
			if n := d.Count(t, "SELECT COUNT(*) FROM sandbox_charges WHERE CAST(outcome AS TEXT) LIKE '%succeeded%'"); n != len(sessions) {
				t.Errorf("the processor took money %d times for %d sessions", n, len(sessions))
			}
			d.Verify(t)
		})
	}
}
