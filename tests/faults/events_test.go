//go:build unix

package faults

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"sundry/tests/harness"
)

// recordingReceiver is a receiver that takes everything, verifies it, and remembers it by its id.
type recordingReceiver struct {
	t      testing.TB
	server *httptest.Server

	mu sync.Mutex
	// takes is the time spent on each message, so that a fault finds many under way.
	takes    time.Duration
	verifier *standardwebhooks.Webhook
	bodies   map[string][]byte
	repeats  int
	open     int // requests under way
}

func listen(t testing.TB) *recordingReceiver {
	t.Helper()
	e := &recordingReceiver{t: t, bodies: map[string][]byte{}}
	e.server = httptest.NewServer(e)
	t.Cleanup(func() { e.server.CloseClientConnections(); e.server.Close() })
	return e
}

// subscribe registers the receiver for changes of access.
func (e *recordingReceiver) subscribe(t testing.TB, a *harness.Account) {
	t.Helper()
	e.subscribeTo(t, a, "customer.access_changed")
}

// subscribeTo registers the receiver for events.
func (e *recordingReceiver) subscribeTo(t testing.TB, a *harness.Account, events ...string) {
	t.Helper()
	var made struct{ Secret string }
	a.AsBackend(t, http.MethodPost, "/v1/webhook-endpoints",
		harness.JSON{"url": e.server.URL, "events": events}).
		Want(t, http.StatusCreated).Into(t, &made)
	verifier, err := standardwebhooks.NewWebhook(made.Secret)
	if err != nil {
		t.Fatal(err)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.verifier = verifier
}

// ServeHTTP implements http.Handler.
func (e *recordingReceiver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // a sender that died in the middle
	}
	e.mu.Lock()
	takes := e.takes
	e.open++
	e.mu.Unlock()
	time.Sleep(takes)
	id := r.Header.Get("webhook-id")
	e.mu.Lock()
	defer e.mu.Unlock()
	e.open--
	if err := e.verifier.Verify(body, r.Header); err != nil {
		e.t.Errorf("%s is not signed: %v", id, err)
	}
	if before, again := e.bodies[id]; again {
		e.repeats++
		if !bytes.Equal(before, body) {
			e.t.Errorf("%s came as %s and again as %s", id, before, body)
		}
	}
	e.bodies[id] = body
	w.WriteHeader(http.StatusNoContent)
}

// pace sets how long each message takes.
func (e *recordingReceiver) pace(takes time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.takes = takes
}

func (e *recordingReceiver) received() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.bodies)
}

func (e *recordingReceiver) underWay() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.open
}

func (e *recordingReceiver) repeated() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.repeats
}

// versions are the latest that each customer's integrator was sent.
func (e *recordingReceiver) versions() map[string]int {
	e.mu.Lock()
	defer e.mu.Unlock()
	latest := map[string]int{}
	for id, body := range e.bodies {
		var message struct {
			ID   string
			Data struct {
				ExternalCustomerID string
				Version            int
			}
		}
		if err := json.Unmarshal(body, &message); err != nil || message.ID != id {
			e.t.Errorf("%s brought %s (%v)", id, body, err)
		}
		latest[message.Data.ExternalCustomerID] = max(latest[message.Data.ExternalCustomerID], message.Data.Version)
	}
	return latest
}

// grants gives n customers access by API, many at a time, each until it is accepted: each is an event.
func grants(t testing.TB, a *harness.Account, from, n int) {
	t.Helper()
	client := &http.Client{Timeout: 10 * time.Second}
	next := make(chan int, n)
	for i := range n {
		next <- from + i
	}
	close(next)
	var backends sync.WaitGroup
	for range 8 {
		backends.Go(func() {
			for i := range next {
				for end := time.Now().Add(time.Minute); !grant(t, client, a, i); time.Sleep(50 * time.Millisecond) {
					if time.Now().After(end) {
						t.Errorf("the grant of customer %d is not accepted", i)
						return
					}
				}
			}
		})
	}
	backends.Wait()
}

func grant(t testing.TB, client *http.Client, a *harness.Account, i int) (accepted bool) {
	t.Helper()
	request, err := http.NewRequestWithContext(
		t.Context(), http.MethodPost, fmt.Sprintf("%s/v1/customer-access/cust-%d/grants", a.URL, i),
		strings.NewReader(`{"entitlements":[{"key":"pro","type":"boolean","value":true}]}`),
	)
	if err != nil {
		t.Error(err)
		return true
	}
	request.Header.Set("Authorization", "Bearer "+a.Key)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Idempotency-Key", fmt.Sprint("grant-", i))
	response, err := client.Do(request)
	if err != nil {
		return false
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode >= 400 && response.StatusCode < 500 && response.StatusCode != http.StatusConflict &&
		response.StatusCode != http.StatusTooManyRequests {
		t.Errorf("a grant gets %d", response.StatusCode)
	}
	return response.StatusCode == http.StatusCreated
}

const (
	pending    = "SELECT COUNT(*) FROM deliveries WHERE status = 'pending'"
	eventTasks = "SELECT COUNT(*) FROM tasks WHERE kind IN ('access.announce', 'webhook.deliver')"
)

// duringDeliveries lets n customers get access and does something in the middle of the deliveries that follow.
func (d *Deployment) duringDeliveries(t testing.TB, a *harness.Account, e *recordingReceiver, from, n int, do func()) {
	t.Helper()
	before := e.received()
	e.pace(400 * time.Millisecond)
	var producing sync.WaitGroup
	producing.Go(func() { grants(t, a, from, n) })
	harness.Eventually(t, "deliveries are under way", func() bool {
		return e.received() >= before+16 && e.underWay() >= 8
	})
	do()
	e.pace(0)
	producing.Wait()
}

// wantAllReceived waits until nothing is left to do, and compares what the receiver got with what has happened.
func (d *Deployment) wantAllReceived(t testing.TB, e *recordingReceiver, customers int) {
	t.Helper()
	recovered := time.Now()
	harness.Eventually(t, "every event is delivered", func() bool {
		return d.Count(t, eventTasks) == 0 && d.Count(t, pending) == 0
	})
	t.Logf(
		"all done %.1f s after recovery: %d messages, %d repeats", time.Since(recovered).Seconds(), e.received(),
		e.repeated(),
	)
	if n := d.Count(t, "SELECT COUNT(*) FROM events"); n != e.received() {
		t.Errorf("%d events were written and %d received", n, e.received())
	}
	if n := d.Count(t, "SELECT COUNT(*) FROM deliveries WHERE status <> 'delivered'"); n != 0 {
		t.Errorf("%d deliveries are not delivered", n)
	}
	versions := e.versions()
	for i := range customers {
		if versions[fmt.Sprint("cust-", i)] < 1 {
			t.Errorf("nobody was notified of customer %d", i)
		}
	}
	if n := d.Count(t, "SELECT SUM(version) FROM access_snapshots"); n != customers || len(versions) != customers {
		t.Errorf("%d changes of %d customers, of which %d were reported", n, customers, len(versions))
	}
	d.Verify(t)
}

// wantRepeats checks that a fault has met somebody: what was under way and not recorded comes again.
func (e *recordingReceiver) wantRepeats(t testing.TB) {
	t.Helper()
	if e.repeated() == 0 {
		t.Error("no message came twice: the faults met none under way")
	}
}

// TestEveryEventArrivesWhateverDies commits two thousand events while, one after the other and each in the middle of
// deliveries, a worker is killed, Redis is emptied, Redis dies and comes back empty, PostgreSQL is stopped at once and
// started again, and a worker is asked to stop.
func TestEveryEventArrivesWhateverDies(t *testing.T) {
	t.Parallel()
	d, postgres, redis := withServersToKill(t)
	d.env["WEBHOOK_ALLOW_PRIVATE"] = "true"
	serve := d.Start(t, "serve", nil)
	killed, leaver := d.Start(t, "worker", nil), d.Start(t, "worker", nil)
	account := serve.App.NewAccount(t)
	e := listen(t)
	e.subscribe(t, account)
	const burst = 400
	faults := []func(){
		func() { killed.Kill(); killed = d.Start(t, "worker", nil) },
		func() { d.FlushRedis(t) },
		func() {
			if redis == nil {
				d.Redis.Cut()
				d.FlushRedis(t)
				time.Sleep(time.Second)
				d.Redis.Restore()
				return
			}
			redis.die(syscall.SIGKILL)
			time.Sleep(time.Second)
			redis.start()
		},
		func() {
			if postgres == nil {
				d.Database.Cut()
				time.Sleep(time.Second)
				d.Database.Restore()
				return
			}
			postgres.die(syscall.SIGQUIT) // immediate: no session ends in order, recovery follows
			time.Sleep(time.Second)
			postgres.start()
			d.forget()
		},
		func() { leaver.Terminate(t) },
	}
	for i, fault := range faults {
		d.duringDeliveries(t, account, e, i*burst, burst, fault)
	}
	d.wantAllReceived(t, e, len(faults)*burst)
	e.wantRepeats(t)
	killed.Terminate(t)
	serve.Terminate(t)
}

// TestAWorkerStoppedBeyondItsLeaseDoesNoHarm pauses one of two workers in the middle of deliveries: the other
// takes over what it had, and what it does once it goes on changes nothing but the log.
func TestAWorkerStoppedBeyondItsLeaseDoesNoHarm(t *testing.T) {
	t.Parallel()
	d := Distributed(t)
	d.env["WEBHOOK_ALLOW_PRIVATE"] = "true"
	serve := d.Start(t, "serve", nil)
	sleeper, other := d.Start(t, "worker", nil), d.Start(t, "worker", nil)
	account := serve.App.NewAccount(t)
	e := listen(t)
	e.subscribe(t, account)
	d.duringDeliveries(t, account, e, 0, 400, func() { sleeper.Pause(t) })
	harness.Eventually(t, "the other has done everything", func() bool {
		return d.Count(t, eventTasks) == 0 && d.Count(t, pending) == 0
	})
	sleeper.Continue(t)
	time.Sleep(2 * time.Second)
	logged := d.Count(t, "SELECT COUNT(*) FROM delivery_attempts WHERE status_code = 200")
	if taken := e.received() + e.repeated(); logged > taken {
		t.Errorf("%d messages are logged as taken, and %d were", logged, taken)
	}
	if n := d.Count(t, "SELECT COUNT(*) FROM deliveries WHERE status <> 'delivered'"); n > 0 {
		t.Errorf("%d deliveries are not delivered any more", n)
	}
	d.wantAllReceived(t, e, 400)
	for _, p := range []*Process{sleeper, other, serve} {
		p.Terminate(t)
	}
}

// TestEveryEventOfAKilledProcessArrives is the embedded deployment.
func TestEveryEventOfAKilledProcessArrives(t *testing.T) {
	t.Parallel()
	d := Embedded(t)
	d.env["WEBHOOK_ALLOW_PRIVATE"] = "true"
	all := d.Start(t, "", nil)
	account := all.App.NewAccount(t)
	e := listen(t)
	e.subscribe(t, account)
	for i := range 2 {
		d.duringDeliveries(t, account, e, i*300, 300, func() {
			all.Kill()
			// where its clients look for it
			all = d.Start(t, "", map[string]string{"ADDR": strings.TrimPrefix(all.App.URL, "http://")})
		})
	}
	d.wantAllReceived(t, e, 600)
	e.wantRepeats(t)
	all.Terminate(t)
}
