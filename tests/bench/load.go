package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"
)

// workers is the number of requests in flight at once.
const workers = 32

// side is one of the two that are compared: how to make its next request, and what response counts.
type side struct {
	name    string
	request func(r *fasthttp.Request)
	status  int
	rates   []float64
	cost    cost
}

// compare loads both sides in turns and returns the ratio of their median rates, and what a request of each costs.
func (w *fixture) compare(ctx context.Context, ours, reference *side) (string, error) {
	processes := []*measured{{w.base + "/metrics", w.program.Process}, {w.bare + "/metrics", w.reference}}
	for turn := range 2 * (rounds + 1) { // the first turn of each warms up
		s, p := []*side{ours, reference}[turn%2], processes[turn%2]
		before, err := p.cost()
		if err != nil {
			return "", err
		}
		rate, requests, err := load(ctx, s)
		if err != nil {
			return "", fmt.Errorf("%s: %w", s.name, err)
		}
		after, err := p.cost()
		if err != nil {
			return "", err
		}
		if turn >= 2 {
			s.rates = append(s.rates, rate)
			s.cost.add(before, after, requests)
		}
	}
	a, b := median(ours.rates), median(reference.rates)
	return fmt.Sprintf("ratio %.2f   (%.0f/s, reference %.0f/s); %s, reference %s", a/b, a, b, ours.cost, reference.cost), nil
}

// load keeps all workers busy for one round and returns requests per second, and how many there were.
func load(ctx context.Context, s *side) (rate float64, requests int64, err error) {
	client := &fasthttp.Client{MaxConnsPerHost: workers}
	defer client.CloseIdleConnections()
	var done atomic.Int64
	var failed atomic.Pointer[error]
	begin := time.Now()
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for time.Since(begin) < round && ctx.Err() == nil && failed.Load() == nil {
				if err := do(client, s.status, s.request); err != nil {
					failed.Store(&err)
					return
				}
				done.Add(1)
			}
		})
	}
	wg.Wait()
	if err := failed.Load(); err != nil {
		return 0, 0, *err
	}
	return float64(done.Load()) / time.Since(begin).Seconds(), done.Load(), ctx.Err()
}

// do makes one request, which must get a response of the status.
func do(client *fasthttp.Client, status int, request func(r *fasthttp.Request)) error {
	got, body, err := send(client, request)
	if err == nil && got != status {
		err = fmt.Errorf("responded %d: %.200s", got, body)
	}
	return err
}

// send makes one request. It returns the body of a response that is not 2xx.
func send(client *fasthttp.Client, request func(r *fasthttp.Request)) (status int, body string, err error) {
	req, res := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
	defer fasthttp.ReleaseRequest(req)
	defer fasthttp.ReleaseResponse(res)
	request(req)
	if err := client.Do(req, res); err != nil {
		return 0, "", err
	}
	if res.StatusCode() >= fasthttp.StatusMultipleChoices {
		body = string(res.Body())
	}
	return res.StatusCode(), body, nil
}

func median(of []float64) float64 {
	sorted := slices.Sorted(slices.Values(of))
	return sorted[len(sorted)/2]
}
