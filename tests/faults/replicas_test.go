//go:build unix

package faults

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sundry/tests/harness"
)

// TestReplicasComeAndGo replaces one of three processes that serve, or of two that work, every few seconds while buyers
// pay and book and integrators report use: no request fails. What one process learns, all heed.
func TestReplicasComeAndGo(t *testing.T) {
	t.Parallel()
	d := Distributed(t)
	b, front := newBalancer(t)
	vars := map[string]string{"BASE_URL": front, "TRUSTED_PROXIES": "private"}
	serving := []*Process{d.Start(t, "serve", vars), d.Start(t, "serve", vars), d.Start(t, "serve", vars)}
	working := []*Process{d.Start(t, "worker", vars), d.Start(t, "worker", vars)}
	b.set(t, serving...)
	load := startTraffic(t, &harness.App{URL: front, Log: &harness.Log{}})
	defer load.end() // after a failure, too
	for round := range 6 {
		load.passes(t, fmt.Sprint("before replacement ", round))
		if round%3 == 2 {
			fresh := d.Start(t, "worker", vars)
			working[0].Terminate(t)
			working = []*Process{working[1], fresh}
			continue
		}
		fresh, leaves := d.Start(t, "serve", vars), serving[0]
		serving = []*Process{serving[1], serving[2], fresh}
		b.set(t, serving...)
		time.Sleep(time.Second) // requests on their way to the one that leaves arrive
		leaves.Terminate(t)
	}
	load.passes(t, "after the last")
	load.end()
	t.Logf("%d sales, %d appointments, %d reports of use", load.sold.Load(), load.booked.Load(), load.reported.Load())
	if failed := b.failed.Load(); failed > 0 {
		t.Errorf("%d requests failed", failed)
	}
	wantRevokedEverywhere(t, load.account, serving)
	wantWokenEverywhere(t, load.account, serving)
	harness.Eventually(t, "every event is delivered", func() bool {
		return d.Count(t, "SELECT COUNT(*) FROM deliveries WHERE status <> 'delivered'") == 0
	})
	d.Verify(t)
}

// at is the account at one process.
func (p *Process) at(a *harness.Account) *harness.Account {
	there := *a
	there.App = p.App
	return &there
}

// wantRevokedEverywhere revokes a key at one process that all have just taken. From five seconds later none does.
func wantRevokedEverywhere(t *testing.T, a *harness.Account, serving []*Process) {
	t.Helper()
	var made struct{ ID, Key string }
	serving[0].at(a).AsCreator(t, http.MethodPost, "/v1/api-keys", harness.JSON{"name": "leaked"}).
		Want(t, http.StatusCreated).Into(t, &made)
	ask := func(p *Process) int {
		return p.App.Ask(t, harness.Request{Method: http.MethodGet, Path: "/v1/customers", Bearer: made.Key}).Status
	}
	for i, p := range serving {
		if got := ask(p); got != http.StatusOK {
			t.Errorf("process %d responds to the key with %d", i, got)
		}
	}
	serving[0].at(a).AsCreator(t, http.MethodDelete, "/v1/api-keys/"+made.ID, nil).Want(t, http.StatusOK)
	time.Sleep(5 * time.Second)
	for i, p := range serving {
		if got := ask(p); got != http.StatusUnauthorized {
			t.Errorf("five seconds after the key was revoked process %d responds to it with %d", i, got)
		}
	}
}

// wantWokenEverywhere lets a request wait at every process for what happens at the first.
func wantWokenEverywhere(t *testing.T, a *harness.Account, serving []*Process) {
	t.Helper()
	customer := harness.Unique("customer")
	path := "/v1/customer-access/" + customer
	var waiting sync.WaitGroup
	var slowest atomic.Int64
	for _, p := range serving {
		waiting.Go(func() {
			began := time.Now()
			response := p.at(a).AsBackend(t, http.MethodGet, path+"?afterVersion=0&waitSeconds=25", nil)
			slowest.Store(max(slowest.Load(), int64(time.Since(began))))
			if !strings.Contains(string(response.Body), `"version":1`) {
				t.Errorf("a request that waited got %s", response.Body)
			}
		})
	}
	time.Sleep(time.Second) // they wait; one that comes later finds the grant
	serving[0].at(a).AsBackend(t, http.MethodPost, path+"/grants",
		harness.JSON{"entitlements": []harness.JSON{{"key": "x", "type": "boolean", "value": true}}}).Want(t, 201)
	waiting.Wait()
	if took := time.Duration(slowest.Load()); took > 20*time.Second {
		t.Errorf("a request waited %s for what had happened after a second", took)
	}
}

// TestReplicasShareALimit asks three processes in turn, by a key that may ask 30 times a minute.
func TestReplicasShareALimit(t *testing.T) {
	t.Parallel()
	const limit = 30
	d := Distributed(t)
	vars := map[string]string{"RATE_LIMIT_PER_MINUTE": fmt.Sprint(limit)}
	serving := []*Process{d.Start(t, "serve", vars), d.Start(t, "serve", vars), d.Start(t, "serve", vars)}
	a := serving[0].App.NewAccount(t)
	taken, began := 0, time.Now()
	for n := range 6 * limit {
		response := serving[n%3].at(a).AsBackend(t, http.MethodGet, "/v1/customers", nil)
		if response.Status == http.StatusTooManyRequests {
			continue
		}
		response.Want(t, http.StatusOK)
		taken++
	}
	// Meanwhile some may ask again.
	most := limit + 1 + int(limit*time.Since(began).Minutes())
	if taken < limit || taken > most {
		t.Errorf("%d of %d requests were taken, want %d to %d", taken, 6*limit, limit, most)
	}
}
