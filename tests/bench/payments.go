package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"
)

// paidPerRound is how many sessions are paid in one turn; they are opened before it.
const paidPerRound = 400

// seller is an account with something to sell.
type seller struct{ key, catalogKey string }

// demoClub is the demo account with its subscription.
func (w *fixture) demoClub() seller { return seller{w.key, "workshop-club"} }

// open opens a checkout for a customer.
func (w *fixture) open(s seller, customer string) (id string, err error) {
	var session struct{ ID string }
	err = w.callAs(s.key, "POST", "/v1/checkout-sessions", map[string]any{
		"catalog": map[string]any{"listing": s.catalogKey}, "externalCustomerId": customer,
		"successUrl": "https://shop.example.com/thanks", "cancelUrl": "https://shop.example.com/pricing",
	}, &session)
	return session.ID, err
}

// receipt names what a sale has made; SubscriptionID is "" for a sale without.
type receipt struct{ PaymentID, ReceiptNumber, SubscriptionID string }

// pay pays an open checkout.
func (w *fixture) pay(s seller, checkoutID, email string) (r receipt, err error) {
	err = w.callAs(s.key, "POST", "/v1/sandbox/checkout-sessions/"+checkoutID+"/pay",
		map[string]any{"cardNumber": "4242424242424242", "email": email}, &r)
	return r, err
}

// newSeller opens an account that sells one listing.
func (w *fixture) newSeller(listing map[string]any) (seller, error) {
	var signedIn struct{ AccessToken string }
	name := "bench-" + strings.ToLower(rand.Text())
	err := w.callAs("", "POST", "/v1/auth/sign-up",
		map[string]any{"email": name + "@example.com", "password": "correct horse battery", "displayName": name}, &signedIn)
	if err != nil {
		return seller{}, err
	}
	var key struct{ Key string }
	if err := w.callAs(signedIn.AccessToken, "POST", "/v1/api-keys", map[string]any{"name": "bench"}, &key); err != nil {
		return seller{}, err
	}
	draft := map[string]any{"slug": name, "priceInCents": 1200, "currency": "eur"}
	maps.Copy(draft, listing)
	var made struct{ ID, CatalogKey string }
	err = w.callAs(signedIn.AccessToken, "POST", "/v1/listings", draft, &made)
	if err == nil {
		err = w.callAs(signedIn.AccessToken, "POST", "/v1/listings/"+made.ID+"/publish", nil, &made)
	}
	return seller{key.Key, made.CatalogKey}, err
}

func paymentsOfOne(ctx context.Context, w *fixture) (string, error)  { return w.payments(ctx, 1) }
func paymentsOfMany(ctx context.Context, w *fixture) (string, error) { return w.payments(ctx, 16) }

// payments compares paying open sessions, with the mails, events and postings that follow under way, with bare
// transactions.
func (w *fixture) payments(ctx context.Context, accounts int) (string, error) {
	sellers := make([]seller, accounts)
	for i := range sellers {
		var err error
		if sellers[i], err = w.newSeller(map[string]any{"type": "DIGITAL", "title": "Type specimens"}); err != nil {
			return "", err
		}
	}
	var next atomic.Int64
	bare := &side{name: "bare", status: 201, request: func(r *fasthttp.Request) {
		post(w.key, w.bare+"/three", []byte(`{"n":`+strconv.FormatInt(next.Add(1), 10)+`}`))(r)
	}}
	var ours, reference []float64
	for turn := range rounds + 1 { // the first warms up
		rate, err := w.payAll(ctx, sellers, turn)
		if err != nil {
			return "", err
		}
		bareRate, _, err := load(ctx, bare)
		if err != nil {
			return "", err
		}
		if turn > 0 {
			ours, reference = append(ours, rate), append(reference, bareRate)
		} else if _, err := w.pool.Exec(ctx, "ANALYZE"); err != nil { // as autovacuum does within a minute
			return "", err
		}
	}
	a, b := median(ours), median(reference)
	return fmt.Sprintf("ratio %.2f   (%.0f/s, reference %.0f/s)", a/b, a, b), nil
}

// payAll opens sessions of new customers and returns how many of them are paid in a second. Each gets a receipt by
// mail.
func (w *fixture) payAll(ctx context.Context, sellers []seller, turn int) (float64, error) {
	ids := make([]string, paidPerRound)
	open := func(i int) (err error) {
		ids[i], err = w.open(sellers[i%len(sellers)], fmt.Sprintf("buyer-%d-%d", turn, i))
		return err
	}
	if err := forAll(ctx, open); err != nil {
		return 0, err
	}
	payer := &fasthttp.Client{MaxConnsPerHost: workers}
	defer payer.CloseIdleConnections()
	begin := time.Now()
	err := forAll(ctx, func(i int) error {
		body := fmt.Sprintf(`{"cardNumber":"4242424242424242","email":"buyer-%d-%d@example.com"}`, turn, i)
		return do(payer, 200, post(sellers[i%len(sellers)].key, w.base+"/v1/sandbox/checkout-sessions/"+ids[i]+"/pay",
			[]byte(body)))
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
			for i := int(next.Add(1)) - 1; i < paidPerRound && ctx.Err() == nil &&
				failed.Load() == nil; i = int(next.Add(1)) - 1 {
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
