package main

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"
)

// buy gives a customer access, and the bare server the very same bytes to serve.
func (w *fixture) buy(customer string) error {
	checkoutID, err := w.open(w.demoClub(), customer)
	if err != nil {
		return err
	}
	if _, err := w.pay(w.demoClub(), checkoutID, ""); err != nil {
		return err
	}
	var snapshot map[string]any
	if err := w.call("GET", "/v1/customer-access/"+customer, nil, &snapshot); err != nil {
		return err
	}
	_, err = w.pool.Exec(w.ctx, "INSERT INTO bench_documents SELECT 'owner', $1, body, $2 FROM access_snapshots WHERE external_customer_id = $1",
		customer, etagOf(w, customer))
	return err
}

func etagOf(w *fixture, customer string) string {
	req, res := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
	defer fasthttp.ReleaseRequest(req)
	defer fasthttp.ReleaseResponse(res)
	w.get(w.base+"/v1/customer-access/"+customer, "")(req)
	if err := fasthttp.Do(req, res); err != nil {
		return ""
	}
	return string(res.Header.Peek("Etag"))
}

// get prepares a GET with the key and, when given, the tag the client holds.
func (w *fixture) get(url, etag string) func(*fasthttp.Request) {
	return func(r *fasthttp.Request) {
		r.SetRequestURI(url)
		r.Header.Set("Authorization", "Bearer "+w.key)
		if etag != "" {
			r.Header.Set("If-None-Match", etag)
		}
	}
}

func accessRead(ctx context.Context, w *fixture) (string, error) {
	if err := w.buy("bench-read"); err != nil {
		return "", err
	}
	return w.compare(ctx,
		&side{name: "sundry", status: 200, request: w.get(w.base+"/v1/customer-access/bench-read", "")},
		&side{name: "bare", status: 200, request: w.get(w.bare+"/document/bench-read", "")})
}

func accessNotModified(ctx context.Context, w *fixture) (string, error) {
	if err := w.buy("bench-304"); err != nil {
		return "", err
	}
	etag := etagOf(w, "bench-304")
	return w.compare(ctx,
		&side{name: "sundry", status: 304, request: w.get(w.base+"/v1/customer-access/bench-304", etag)},
		&side{name: "bare", status: 304, request: w.get(w.bare+"/document/bench-304", etag)})
}

func sessionCreate(ctx context.Context, w *fixture) (string, error) {
	body := `{"catalog":{"listing":"workshop-club","plan":"member"},"externalCustomerId":"bench","successUrl":"https://shop.example.com/thanks","cancelUrl":"https://shop.example.com/pricing"}`
	var next atomic.Int64
	post := func(url string) func(*fasthttp.Request) {
		return func(r *fasthttp.Request) {
			r.SetRequestURI(url)
			r.Header.SetMethod("POST")
			r.Header.Set("Authorization", "Bearer "+w.key)
			r.Header.Set("Idempotency-Key", "bench-"+strconv.FormatInt(next.Add(1), 10))
			r.SetBodyString(body)
		}
	}
	return w.compare(ctx,
		&side{name: "sundry", status: 201, request: post(w.base + "/v1/checkout-sessions")},
		&side{name: "bare", status: 201, request: post(w.bare + "/three")})
}

// verifyAll measures what runs once a night and by sundry verify.
func verifyAll(ctx context.Context, w *fixture) (string, error) {
	var sales int
	if err := w.pool.QueryRow(ctx, "SELECT COUNT(*) FROM sales").Scan(&sales); err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, w.binary, "verify")
	cmd.Env = append(slices.Clone(w.vars), "DATA_DIR="+w.program.Folder)
	begin := time.Now()
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w: %.400s", err, out)
	}
	return fmt.Sprintf("%.1f s for %d sales", time.Since(begin).Seconds(), sales), nil
}
