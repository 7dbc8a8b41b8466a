package faults

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sundry/tests/harness"
)

// balancer stands before replicas, as a proxy of a cluster does, and asks one after the other.
type balancer struct {
	mu       sync.Mutex
	replicas []*url.URL
	next     int
	failed   atomic.Int64
}

// newBalancer listens at the returned address.
func newBalancer(t *testing.T) (b *balancer, address string) {
	t.Helper()
	b = &balancer{}
	front := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite: b.rewrite,
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) {
			b.failed.Add(1)
			w.WriteHeader(http.StatusBadGateway)
		},
	})
	t.Cleanup(front.Close)
	return b, front.URL
}

func (b *balancer) set(t *testing.T, replicas ...*Process) {
	t.Helper()
	all := make([]*url.URL, len(replicas))
	for i, p := range replicas {
		address, err := url.Parse(p.App.URL)
		if err != nil {
			t.Fatal(err)
		}
		all[i] = address
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.replicas = all
}

func (b *balancer) rewrite(r *httputil.ProxyRequest) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.next++
	r.SetURL(b.replicas[b.next%len(b.replicas)])
	r.Out.Host = r.In.Host
}

// TestRestartsFailNoRequest replaces both replicas that serve, one after the other, while buyers pay and backends read.
// A replica leaves the balancer before its SIGTERM, as preStop of deploy/kubernetes/serve.yaml has it.
func TestRestartsFailNoRequest(t *testing.T) {
	t.Parallel()
	d := Distributed(t)
	b, front := newBalancer(t)
	vars := map[string]string{"BASE_URL": front, "TRUSTED_PROXIES": "private"}
	one, two := d.Start(t, "serve", vars), d.Start(t, "serve", vars)
	d.Start(t, "worker", vars)
	b.set(t, one, two)
	app := &harness.App{URL: front, Log: &harness.Log{}}
	account := app.NewAccount(t)
	listing := account.Published(t, nil)
	stop := make(chan struct{})
	var load sync.WaitGroup
	var sold atomic.Int64
	for range 3 {
		load.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				customer := harness.Unique("customer")
				session := account.NewSession(t, listing, "default", customer, nil)
				account.Pay(t, session, harness.CardSucceeds).Want(t, 200)
				account.AsBackend(t, http.MethodGet, "/v1/customer-access/"+customer, nil).Want(t, 200)
				sold.Add(1)
			}
		})
	}
	for _, round := range []struct{ leaves, stays *Process }{{one, two}, {two, nil}} {
		before := sold.Load()
		harness.Eventually(t, "sales before the restart", func() bool { return sold.Load() > before+3 })
		stays := round.stays
		fresh := d.Start(t, "serve", vars)
		if stays == nil {
			stays = one // the one that replaced it
		}
		b.set(t, stays, fresh)
		time.Sleep(time.Second) // requests on their way to the one that leaves arrive
		asked := time.Now()
		round.leaves.Terminate(t)
		t.Logf("it ended %s after SIGTERM", time.Since(asked).Round(time.Millisecond))
		one = fresh
	}
	before := sold.Load()
	harness.Eventually(t, "sales after the restarts", func() bool { return sold.Load() > before+3 })
	close(stop)
	load.Wait()
	t.Logf("%d sales", sold.Load())
	if failed := b.failed.Load(); failed > 0 {
		t.Errorf("%d of the requests for %d sales failed", failed, sold.Load())
	}
	d.Verify(t)
}
