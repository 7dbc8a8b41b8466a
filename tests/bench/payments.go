package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"
)

// paidPerRound is how many sessions are paid in one turn; they are opened before it.
const paidPerRound = 400

// seller is an account with something to sell.
type seller struct{ key, catalogKey string }

func (w *fixture) newSeller(n int) (seller, error) {
	var signedIn struct{ AccessToken string }
	name := fmt.Sprintf("bench-seller-%d-%d", n, time.Now().UnixNano())
	err := w.callAs("", "POST", "/v1/auth/sign-up", map[string]any{"email": name + "@example.com", "password": "correct horse battery", "displayName": name}, &signedIn)
	if err != nil {
		return seller{}, err
	}
	var key struct{ Key string }
	if err := w.callAs(signedIn.AccessToken, "POST", "/v1/api-keys", map[string]any{"name": "bench"}, &key); err != nil {
		return seller{}, err
	}
	var listing struct{ ID, CatalogKey string }
	err = w.callAs(signedIn.AccessToken, "POST", "/v1/listings", map[string]any{
		"type": "DIGITAL", "slug": name, "title": "Type specimens", "priceInCents": 1200, "currency": "eur",
	}, &listing)
	if err == nil {
		err = w.callAs(signedIn.AccessToken, "POST", "/v1/listings/"+listing.ID+"/publish", nil, &listing)
	}
	return seller{key.Key, listing.CatalogKey}, err
}

func paymentsOfOne(ctx context.Context, w *fixture) (string, error)  { return w.payments(ctx, 1) }
func paymentsOfMany(ctx context.Context, w *fixture) (string, error) { return w.payments(ctx, 16) }

// payments compares paying open sessions, with the mails, events and postings that follow under way, with bare
// transactions.
func (w *fixture) payments(ctx context.Context, accounts int) (string, error) {
	sellers := make([]seller, accounts)
	for i := range sellers {
		var err error
		if sellers[i], err = w.newSeller(i); err != nil {
			return "", err
		}
	}
	var next atomic.Int64
	bare := &side{name: "bare", status: 201, request: func(r *fasthttp.Request) {
		w.post(w.bare+"/three", []byte(`{"n":`+strconv.FormatInt(next.Add(1), 10)+`}`))(r)
	}}
	var ours, reference []float64
	for turn := range rounds + 1 { // the first warms up
		rate, err := w.payAll(ctx, sellers)
		if err != nil {
			return "", err
		}
		bareRate, err := load(ctx, bare)
		if err != nil {
			return "", err
		}
		if turn > 0 {
			ours, reference = append(ours, rate), append(reference, bareRate)
		}
	}
	a, b := median(ours), median(reference)
	return fmt.Sprintf("ratio %.2f   (%.0f/s, reference %.0f/s)", a/b, a, b), nil
}

// payAll opens sessions and returns how many of them are paid in a second.
func (w *fixture) payAll(ctx context.Context, sellers []seller) (float64, error) {
	ids := make([]string, paidPerRound)
	open := func(i int) error {
		var session createdSession
		s := sellers[i%len(sellers)]
		err := w.callAs(s.key, "POST", "/v1/checkout-sessions", map[string]any{
			"catalog": map[string]any{"listing": s.catalogKey}, "externalCustomerId": fmt.Sprintf("buyer-%d", i),
			"successUrl": "https://shop.example.com/thanks", "cancelUrl": "https://shop.example.com/pricing",
		}, &session)
		ids[i] = session.ID
		return err
	}
	if err := forAll(ctx, open); err != nil {
		return 0, err
	}
	begin := time.Now()
	err := forAll(ctx, func(i int) error {
		var receipt json.RawMessage
		return w.callAs(sellers[i%len(sellers)].key, "POST", "/v1/sandbox/checkout-sessions/"+ids[i]+"/pay", map[string]any{"cardNumber": "4242424242424242"}, &receipt)
	})
	return paidPerRound / time.Since(begin).Seconds(), err
}

// forAll does something for each session of a round, with as many at a time as other benches.
func forAll(ctx context.Context, do func(i int) error) error {
	var next atomic.Int64
	var failed atomic.Pointer[error]
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < paidPerRound && ctx.Err() == nil && failed.Load() == nil; i = int(next.Add(1)) - 1 {
				if err := do(i); err != nil {
					failed.Store(&err)
				}
			}
		})
	}
	wg.Wait()
	if err := failed.Load(); err != nil {
		return *err
	}
	return ctx.Err()
}
