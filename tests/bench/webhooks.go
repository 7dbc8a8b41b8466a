package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"sundry/core/webhook"
	"sundry/ports"
)

const (
	// hookMessages is the number of messages that are sent in all.
	hookMessages = 2000
	// hookRate is the number of events per second, produced for hookSeconds, whose deliveries are timed.
	hookRate    = 100
	hookSeconds = 10
)

// recordingReceiver is a receiver that only notes what arrives when.
type recordingReceiver struct {
	url string

	mu    sync.Mutex
	times []time.Time
	at    map[string]time.Time // by customer
}

func (w *fixture) listen() (*recordingReceiver, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	h := &recordingReceiver{url: "http://" + listener.Addr().String(), at: map[string]time.Time{}}
	server := &http.Server{Handler: h, ReadHeaderTimeout: time.Minute}
	var wg sync.WaitGroup
	wg.Go(func() { _ = server.Serve(listener) })
	w.closers = append(w.closers, func() error { err := server.Close(); wg.Wait(); return err })
	return h, nil
}

// ServeHTTP implements http.Handler.
func (h *recordingReceiver) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	var message struct {
		Data struct {
			ExternalCustomerID string `json:"externalCustomerId"`
		} `json:"data"`
	}
	body, _ := io.ReadAll(r.Body)
	now := time.Now()
	if r.URL.Path == "/timed" {
		_ = json.Unmarshal(body, &message)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.times = append(h.times, now)
	h.at[message.Data.ExternalCustomerID] = now
}

// reset forgets what was received.
func (h *recordingReceiver) reset() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.times = nil
}

// await waits until n messages have come and returns how long it took from the first to the last.
func (h *recordingReceiver) await(ctx context.Context, n int) (time.Duration, error) {
	for end := time.Now().Add(time.Minute); time.Now().Before(end) && ctx.Err() == nil; time.Sleep(5 * time.Millisecond) {
		h.mu.Lock()
		heard, times := len(h.times), h.times
		h.mu.Unlock()
		if heard >= n {
			return times[n-1].Sub(times[0]), nil
		}
	}
	return 0, errors.Join(fmt.Errorf("fewer than %d messages came within a minute", n), ctx.Err())
}

// subscribe registers an endpoint of the demo account for changes of access.
func (w *fixture) subscribe(url string) error {
	_, err := w.subscribeAs(w.key, url)
	return err
}

// subscribeAs is subscribe for the account of a key.
func (w *fixture) subscribeAs(key, url string) (id string, err error) {
	var made struct{ ID string }
	err = w.callAs(key, "POST", "/v1/webhook-endpoints",
		map[string]any{"url": url, "events": []string{"customer.access_changed"}}, &made)
	return made.ID, err
}

func (w *fixture) grant(customer string) error { return w.grantAs(w.key, customer) }

// grantAs gives a customer of the key's account access.
func (w *fixture) grantAs(key, customer string) error {
	var made map[string]any
	return w.callAs(key, "POST", "/v1/customer-access/"+customer+"/grants",
		map[string]any{"entitlements": []any{map[string]any{"key": "pro", "type": "boolean", "value": true}}}, &made)
}

// deliveries measures how fast a backlog for several endpoints is sent, against a loop that signs, posts and commits
// one row for each, with as many requests in flight.
func (w *fixture) deliveries(ctx context.Context, hooks int) (string, error) {
	h, err := w.listen()
	if err != nil {
		return "", err
	}
	for range hooks {
		if err := w.subscribe(h.url); err != nil {
			return "", err
		}
	}
	for i := range hookMessages / hooks {
		if err := w.grant(fmt.Sprint("bench-hook-", hooks, "-") + strconv.Itoa(i)); err != nil {
			return "", err
		}
	}
	const n = hookMessages
	if _, err := h.await(ctx, n); err != nil {
		return "", err
	}
	ours, bare := &side{name: "sundry"}, &side{name: "bare"}
	for turn := range 2 * (rounds + 1) { // the first turn of each warms up
		s, send := ours, w.rearm
		if turn%2 == 1 {
			s, send = bare, func() error { return w.postPlainly(h.url, n, hooks*ports.MaxPerKey) }
		}
		time.Sleep(500 * time.Millisecond) // what the last messages leave behind is recorded
		h.reset()
		if err := send(); err != nil {
			return "", err
		}
		took, err := h.await(ctx, n)
		if err != nil {
			return "", err
		}
		if turn >= 2 {
			s.rates = append(s.rates, n/took.Seconds())
		}
	}
	a, b := median(ours.rates), median(bare.rates)
	return fmt.Sprintf("ratio %.2f   (%.0f/s, reference %.0f/s), %d endpoints", a/b, a, b, hooks), w.unsubscribe()
}

func deliveriesToMany(ctx context.Context, w *fixture) (string, error) { return w.deliveries(ctx, 8) }
func deliveriesToOne(ctx context.Context, w *fixture) (string, error)  { return w.deliveries(ctx, 1) }

// rearm makes every delivery due again, all at once, as no route does.
func (w *fixture) rearm() error {
	_, err := w.pool.Exec(w.ctx, `
		WITH again AS (UPDATE deliveries SET status = 'pending', round_attempts = 0, revision = revision + 1 WHERE endpoint_id IN (SELECT id FROM webhook_endpoints) RETURNING *)
		INSERT INTO tasks (id, kind, subject, class, creator_id, due_at, run_at, concurrency_key)
		SELECT 'webhook.deliver:' || endpoint_id || '/' || id, 'webhook.deliver', endpoint_id || '/' || id, 'webhooks', creator_id, created_at, created_at, endpoint_id FROM again`)
	return err
}

// unsubscribe deletes every endpoint.
func (w *fixture) unsubscribe() error {
	_, err := w.pool.Exec(w.ctx, "DELETE FROM webhook_endpoints")
	return err
}

// postPlainly is the least that could do the job.
func (w *fixture) postPlainly(url string, n, atATime int) error {
	_, err := w.pool.Exec(w.ctx, "CREATE TABLE IF NOT EXISTS bench_deliveries (id BIGSERIAL PRIMARY KEY, status INT, body TEXT)")
	if err != nil {
		return err
	}
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	defer client.CloseIdleConnections()
	body := []byte(`{"id":"evt_01hzy3v7q8k4m2n6p9r5s7t1wx","type":"customer.access_changed","createdAt":"2026-03-08T12:00:00.000Z","livemode":false,"apiVersion":"v1","data":{"externalCustomerId":"bench-hook-1","version":1,"previousVersion":0,"changed":["entitlements"]}}`)
	secret := make([]byte, webhook.SecretBytes)
	var next atomic.Int64
	var failed atomic.Pointer[error]
	var wg sync.WaitGroup
	for range atATime {
		wg.Go(func() {
			for next.Add(1) <= int64(n) && failed.Load() == nil {
				if err := w.postOnce(client, url, body, secret); err != nil {
					failed.Store(&err)
				}
			}
		})
	}
	wg.Wait()
	if err := failed.Load(); err != nil {
		return *err
	}
	return nil
}

func (w *fixture) postOnce(client *http.Client, url string, body, secret []byte) error {
	request, err := http.NewRequestWithContext(w.ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	for name, value := range webhook.Headers("evt_01hzy3v7q8k4m2n6p9r5s7t1wx", time.Now(), body, secret) {
		request.Header.Set(name, value)
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	_, _ = io.Copy(io.Discard, response.Body)
	_ = response.Body.Close()
	_, err = w.pool.Exec(w.ctx, "INSERT INTO bench_deliveries (status, body) VALUES ($1, '')", response.StatusCode)
	return err
}

// deliveryDelay times the way from a payment's response to the receiver of the access that it gave, at a steady pace:
// announcement and delivery are two tasks on it.
func deliveryDelay(ctx context.Context, w *fixture) (string, error) {
	h, err := w.listen()
	if err != nil {
		return "", err
	}
	if err := w.subscribe(h.url + "/timed"); err != nil {
		return "", err
	}
	sold, err := w.sellAtPace(ctx, h, hookRate, hookRate*hookSeconds)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("p50 %v, p95 %v at %d payments/s", sold.announced[len(sold.announced)/2].Round(time.Millisecond),
		p95(sold.announced), hookRate), w.unsubscribe()
}

// paces are the times of sales, each sorted: of their payments, from a response to the receiver of its announcement,
// and from a payment's request to that receiver.
type paces struct{ paid, announced, both []time.Duration }

// sellAtPace makes n sales of the demo account at a steady pace.
func (w *fixture) sellAtPace(ctx context.Context, h *recordingReceiver, perSecond, n int) (sold paces, err error) {
	name := "bench-pace-" + strings.ToLower(rand.Text()) + "-"
	customer := func(i int) string { return name + strconv.Itoa(i) }
	sessions, begun, responded := make([]string, n), make([]time.Time, n), make([]time.Time, n)
	for i := range sessions {
		if sessions[i], err = w.open(w.demoClub(), customer(i)); err != nil {
			return sold, err
		}
	}
	h.reset()
	var failed atomic.Pointer[error]
	err = atPace(ctx, perSecond, n, func(i int) {
		begun[i] = time.Now()
		if _, err := w.pay(w.demoClub(), sessions[i], customer(i)+"@example.com"); err != nil {
			failed.Store(&err)
		}
		responded[i] = time.Now()
	})
	if failure := failed.Load(); failure != nil {
		err = *failure
	}
	if err != nil {
		return sold, err
	}
	if _, err := h.await(ctx, n); err != nil {
		return sold, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := range n {
		received := h.at[customer(i)]
		sold.paid = append(sold.paid, responded[i].Sub(begun[i]))
		sold.announced = append(sold.announced, received.Sub(responded[i]))
		sold.both = append(sold.both, received.Sub(begun[i]))
	}
	for _, times := range [][]time.Duration{sold.paid, sold.announced, sold.both} {
		slices.Sort(times)
	}
	return sold, nil
}

// p95 is the 95th percentile of sorted durations.
func p95(sorted []time.Duration) time.Duration {
	return sorted[len(sorted)*95/100].Round(100 * time.Microsecond)
}
