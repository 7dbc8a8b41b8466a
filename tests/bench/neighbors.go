package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/valyala/fasthttp"

	"sundry/ports"
)

const (
	// quietRate is the number of sales a second that a quiet account makes beside a neighbor, for quietSeconds.
	quietRate    = 20
	quietSeconds = 5
	// hungDeliveries is the number of deliveries that wait for an endpoint that hangs, readRate the number of reads of a
	// listing a second, and waitingReaders the number of requests that wait for a change of access.
	hungDeliveries = 500
	readRate       = 2000
	waitingReaders = 10_000
)

// dueDeliveries is the number of deliveries of one account that are due at once.
var dueDeliveries = 1_000_000

// loading loads the program from its return to its end.
type loading func() (end func() error, err error)

// neighbor makes an account that can load the program.
type neighbor func(ctx context.Context, w *fixture) (loading, error)

// beside compares a quiet account's sales and announcements alone and beside a neighbor, on the same tables.
func beside(of neighbor) func(ctx context.Context, w *fixture) (string, error) {
	return func(ctx context.Context, w *fixture) (_ string, err error) {
		h, err := w.listen()
		if err != nil {
			return "", err
		}
		if err := w.subscribe(h.url + "/timed"); err != nil {
			return "", err
		}
		begin, err := of(ctx, w)
		if err != nil {
			return "", err
		}
		alone, err := w.sellQuietly(ctx, h)
		if err != nil {
			return "", err
		}
		end, err := begin()
		if err != nil {
			return "", err
		}
		crowded, err := w.sellQuietly(ctx, h)
		if err := errors.Join(err, end(), w.unsubscribe()); err != nil {
			return "", err
		}
		return fmt.Sprintf("p95 of a payment %v, then %v; of its announcement %v, then %v; of both %v, then %v",
			p95(alone.paid), p95(crowded.paid), p95(alone.announced), p95(crowded.announced), p95(alone.both),
			p95(crowded.both)), nil
	}
}

// sellQuietly makes the sales of the quiet account twice and measures the second time: a neighbor makes the program
// open connections, on each of which the first payment prepares its statements.
func (w *fixture) sellQuietly(ctx context.Context, h *recordingReceiver) (paces, error) {
	const n = quietRate * quietSeconds
	if _, err := w.sellAtPace(ctx, h, quietRate, n); err != nil {
		return paces{}, err
	}
	return w.sellAtPace(ctx, h, quietRate, n)
}

// dueTasks has deliveries due to an endpoint that takes them. They are paused until it begins.
func dueTasks(ctx context.Context, w *fixture) (_ loading, err error) {
	receiver, err := w.listen()
	if err != nil {
		return nil, err
	}
	s, err := w.newSeller(map[string]any{"type": "DIGITAL", "title": "Type specimens"})
	if err != nil {
		return nil, err
	}
	endpoint, err := w.subscribeAs(s.key, receiver.url)
	if err != nil {
		return nil, err
	}
	if err := w.grantAs(s.key, "bench-due"); err != nil {
		return nil, err
	}
	if _, err := receiver.await(ctx, 1); err != nil {
		return nil, err
	}
	var creator string
	const ownerOf = "SELECT creator_id FROM webhook_endpoints WHERE id = $1"
	if err := w.pool.QueryRow(ctx, ownerOf, endpoint).Scan(&creator); err != nil {
		return nil, err
	}
	fill := strings.NewReplacer("$endpoint", endpoint, "$creator", creator, "$count", strconv.Itoa(dueDeliveries),
		"$due", strconv.FormatInt(time.Now().UnixMilli(), 10))
	for _, statement := range []string{
		"INSERT INTO concurrency_pauses (concurrency_key, paused_until) VALUES ('$endpoint', $due + 3600000)",
		`INSERT INTO events SELECT e.id || '_' || n, e.creator_id, e.type, e.customer_id, e.external_customer_id, e.livemode, e.data, e.created_at, e.position + n
			FROM events e, generate_series(1, $count) n WHERE e.creator_id = '$creator' AND e.type = 'customer.access_changed'`,
		`INSERT INTO deliveries (id, creator_id, event_id, event_type, endpoint_id, status, attempt_count, next_attempt_at, created_at, revision)
			SELECT 'del_due_' || e.position, e.creator_id, e.id, e.type, '$endpoint', 'pending', 0, e.created_at, e.created_at, 1
			FROM events e WHERE e.creator_id = '$creator' AND e.id LIKE '%\_%\_%'`,
		`INSERT INTO tasks (id, kind, subject, class, creator_id, due_at, run_at, concurrency_key)
			SELECT 'webhook.deliver:' || endpoint_id || '/' || id, 'webhook.deliver', endpoint_id || '/' || id, 'webhooks', creator_id, $due, $due, endpoint_id
			FROM deliveries WHERE endpoint_id = '$endpoint' AND status = 'pending'`,
		"VACUUM ANALYZE", "CHECKPOINT", // what the filling leaves to do is not what is measured
	} {
		if _, err := w.pool.Exec(ctx, fill.Replace(statement)); err != nil {
			return nil, err
		}
	}
	end := func() error {
		all := []error{pgx.BeginFunc(w.ctx, w.pool, func(tx pgx.Tx) error {
			_, err := tx.Exec(w.ctx, "LOCK TABLE tasks IN SHARE ROW EXCLUSIVE MODE") // the program locks them in another order
			if err == nil {
				_, err = tx.Exec(w.ctx, "DELETE FROM tasks WHERE creator_id = $1 AND kind = 'webhook.deliver'", creator)
			}
			return err
		})}
		for _, statement := range []string{
			`DELETE FROM delivery_attempts WHERE creator_id = $1 AND delivery_id LIKE 'del\_due\_%'`,
			`DELETE FROM deliveries WHERE creator_id = $1 AND id LIKE 'del\_due\_%'`,
			`DELETE FROM events WHERE creator_id = $1 AND id LIKE '%\_%\_%'`,
		} {
			_, err := w.pool.Exec(w.ctx, statement, creator)
			all = append(all, err)
		}
		_, err := w.pool.Exec(w.ctx, "VACUUM ANALYZE")
		return errors.Join(append(all, err)...)
	}
	return func() (func() error, error) {
		_, err := w.pool.Exec(ctx, "DELETE FROM concurrency_pauses WHERE concurrency_key = $1", endpoint)
		time.Sleep(2 * ports.TaskPollInterval) // nothing wakes the relay
		return end, err
	}, nil
}

// hungEndpoint has deliveries due to an endpoint that accepts them and never responds.
func hungEndpoint(_ context.Context, w *fixture) (_ loading, err error) {
	released := make(chan struct{})
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-released:
		case <-r.Context().Done():
		}
	}))
	stop := func() { close(released); receiver.Close() }
	defer func() {
		if err != nil {
			stop()
		}
	}()
	s, err := w.newSeller(map[string]any{"type": "DIGITAL", "title": "Type specimens"})
	if err != nil {
		return nil, err
	}
	if _, err := w.subscribeAs(s.key, receiver.URL); err != nil {
		return nil, err
	}
	return func() (func() error, error) {
		for i := range hungDeliveries {
			if err := w.grantAs(s.key, fmt.Sprint("bench-hung-", i)); err != nil {
				stop()
				return nil, err
			}
		}
		return func() error { stop(); return nil }, nil
	}, nil
}

// readListing has one listing read at a pace.
func readListing(ctx context.Context, w *fixture) (loading, error) {
	return inBackground(ctx, func(ctx context.Context, read func(*fasthttp.Client, func(*fasthttp.Request))) {
		reader := &fasthttp.Client{MaxConnsPerHost: readRate}
		defer reader.CloseIdleConnections()
		_ = atPace(ctx, readRate, 20*readRate*quietSeconds, func(int) { // until ctx ends
			read(reader, func(r *fasthttp.Request) { r.SetRequestURI(w.base + "/v1/listings/field-guide") })
		})
	}), nil
}

// longPolls has readers of one account wait for changes of access that do not come.
func longPolls(ctx context.Context, w *fixture) (_ loading, err error) {
	s, err := w.newSeller(map[string]any{"type": "DIGITAL", "title": "Type specimens"})
	if err != nil {
		return nil, err
	}
	return inBackground(ctx, func(ctx context.Context, read func(*fasthttp.Client, func(*fasthttp.Request))) {
		reader := &fasthttp.Client{MaxConnsPerHost: waitingReaders}
		defer reader.CloseIdleConnections()
		var all sync.WaitGroup
		for i := range waitingReaders {
			all.Go(func() {
				for ctx.Err() == nil {
					read(reader, func(r *fasthttp.Request) {
						r.SetRequestURI(fmt.Sprintf("%s/v1/customer-access/bench-waits-%d?afterVersion=9&waitSeconds=25", w.base, i))
						r.Header.Set("Authorization", "Bearer "+s.key)
					})
				}
			})
		}
		all.Wait()
	}), nil
}

// inBackground loads the program by a function, once it has reached its pace. The end fails when most reads were
// refused: that is no load.
func inBackground(ctx context.Context,
	loop func(ctx context.Context, read func(*fasthttp.Client, func(*fasthttp.Request)))) loading {
	return func() (end func() error, err error) {
		ctx, stop := context.WithCancel(ctx)
		var all sync.WaitGroup
		var served, refused atomic.Int64
		all.Go(func() {
			loop(ctx, func(client *fasthttp.Client, request func(*fasthttp.Request)) {
				if status, _, err := send(client, request); err == nil && status == fasthttp.StatusOK {
					served.Add(1)
				} else {
					refused.Add(1)
				}
			})
		})
		time.Sleep(2 * time.Second)
		return func() error {
			stop()
			all.Wait()
			if served.Load() < refused.Load() {
				return fmt.Errorf("%d reads were served and %d refused", served.Load(), refused.Load())
			}
			return nil
		}, nil
	}
}
