package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"
)

// paidPerRound is the number of sessions that are paid in one turn; they are opened before it.
const paidPerRound = 400

// seller is an account with something to sell.
type seller struct{ key, catalogKey, email string }

// sellerPassword is the password of the accounts that newSeller opens.
const sellerPassword = "correct horse battery"

// demoClub is the demo account with its subscription.
func (w *fixture) demoClub() seller { return seller{key: w.key, catalogKey: "workshop-club"} }

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
		map[string]any{"email": name + "@example.com", "password": sellerPassword, "displayName": name}, &signedIn)
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
	return seller{key.Key, made.CatalogKey, name + "@example.com"}, err
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
		rate, err := w.payAll(ctx, sellers, turn, workers)
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

// buyersOfOne measures how many payments of one account are made by ever more buyers at once.
func buyersOfOne(ctx context.Context, w *fixture) (string, error) {
	s, err := w.newSeller(map[string]any{"type": "DIGITAL", "title": "Type specimens"})
	if err != nil {
		return "", err
	}
	buyers := []int{1, 4, 16, 64}
	rates := make([][]float64, len(buyers))
	for turn := range rounds + 1 { // the first warms up
		for i, n := range buyers {
			rate, err := w.payAll(ctx, []seller{s}, turn, n)
			if err != nil {
				return "", err
			}
			if turn > 0 {
				rates[i] = append(rates[i], rate)
			}
		}
	}
	var all []string
	for i, n := range buyers {
		all = append(all, fmt.Sprintf("%.0f/s to %d", median(rates[i]), n))
	}
	return strings.Join(all, ", "), nil
}

// overload offers several times the payments that can be made, at a steady pace, and compares how many are made within
// a turn with what as many clients as in other benches have made of their own pace, each the median of the turns.
func overload(ctx context.Context, w *fixture) (string, error) {
	s, err := w.newSeller(map[string]any{"type": "DIGITAL", "title": "Type specimens"})
	if err != nil {
		return "", err
	}
	if _, err := w.payAll(ctx, []seller{s}, 0, workers); err != nil { // warms up
		return "", err
	}
	var peaks []float64
	for turn := range rounds {
		rate, err := w.payAll(ctx, []seller{s}, turn+1, workers)
		if err != nil {
			return "", err
		}
		peaks = append(peaks, rate)
	}
	peak := median(peaks)
	all := []string{fmt.Sprintf("peak %.0f/s", peak)}
	for _, times := range []float64{2, 5} {
		offered := int(times * peak)
		var parts []float64
		var shed int64
		for range rounds {
			made, refused, err := w.offer(ctx, s, offered)
			if err != nil {
				return "", err
			}
			parts, shed = append(parts, made/peak), shed+refused
		}
		all = append(all, fmt.Sprintf("%.2f of it (%.2f to %.2f) with %d/s offered, %d refused", median(parts),
			slices.Min(parts), slices.Max(parts), offered, shed))
	}
	return strings.Join(all, "; "), nil
}

// offer pays sessions at a pace for a turn, and returns how many were paid a second by its end and how many refused.
func (w *fixture) offer(ctx context.Context, s seller, perSecond int) (made float64, refused int64, err error) {
	n := perSecond * int(round/time.Millisecond) / 1000
	ids := make([]string, n)
	name := strings.ToLower(rand.Text())
	err = forAll(ctx, n, workers, func(i int) (err error) {
		ids[i], err = w.open(s, fmt.Sprintf("%s-%d", name, i))
		return err
	})
	if err != nil {
		return 0, 0, err
	}
	payer := &fasthttp.Client{MaxConnsPerHost: n}
	defer payer.CloseIdleConnections()
	connect := func(int) error {
		return do(payer, 200, func(r *fasthttp.Request) { r.SetRequestURI(w.base + "/healthz") })
	}
	if err := forAll(ctx, n, n, connect); err != nil { // buyers have processors of their own for it
		return 0, 0, err
	}
	var paid, shed atomic.Int64
	var failed atomic.Pointer[error]
	var inTime atomic.Int64
	end := time.AfterFunc(round, func() { inTime.Store(paid.Load()) })
	defer end.Stop()
	err = atPace(ctx, perSecond, n, func(i int) {
		body := fmt.Appendf(nil, `{"cardNumber":"4242424242424242","email":"%s-%d@example.com"}`, name, i)
		switch status, response, err := send(payer, post(s.key, w.base+"/v1/sandbox/checkout-sessions/"+ids[i]+"/pay", body)); {
		case err != nil:
			failed.Store(&err)
		case status == fasthttp.StatusServiceUnavailable || status == fasthttp.StatusTooManyRequests:
			shed.Add(1)
		case status != fasthttp.StatusOK:
			failed.Store(new(fmt.Errorf("responded %d: %.200s", status, response)))
		default:
			paid.Add(1)
		}
	})
	if failure := failed.Load(); failure != nil {
		err = *failure
	}
	return float64(inTime.Load()) / round.Seconds(), shed.Load(), err
}

// payAll opens sessions of new customers and returns how many of them are paid in a second by some buyers at a time.
// Each gets a receipt by mail.
func (w *fixture) payAll(ctx context.Context, sellers []seller, turn, buyers int) (float64, error) {
	ids := make([]string, paidPerRound)
	customer := func(i int) string { return fmt.Sprintf("buyer-%d-%d-%d", buyers, turn, i) }
	open := func(i int) (err error) {
		ids[i], err = w.open(sellers[i%len(sellers)], customer(i))
		return err
	}
	if err := forAll(ctx, paidPerRound, workers, open); err != nil {
		return 0, err
	}
	payer := &fasthttp.Client{MaxConnsPerHost: buyers}
	defer payer.CloseIdleConnections()
	begin := time.Now()
	err := forAll(ctx, paidPerRound, buyers, func(i int) error {
		body := fmt.Sprintf(`{"cardNumber":"4242424242424242","email":"%s@example.com"}`, customer(i))
		return do(payer, 200, post(sellers[i%len(sellers)].key, w.base+"/v1/sandbox/checkout-sessions/"+ids[i]+"/pay",
			[]byte(body)))
	})
	return paidPerRound / time.Since(begin).Seconds(), err
}

// forAll does something n times, with so many at a time.
func forAll(ctx context.Context, n, atATime int, do func(i int) error) error {
	var next atomic.Int64
	var failed atomic.Pointer[error]
	var wg sync.WaitGroup
	for range atATime {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && ctx.Err() == nil && failed.Load() == nil; i = int(next.Add(1)) - 1 {
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

// atPace begins something n times, so often a second however long it takes, and waits until all are done.
func atPace(ctx context.Context, perSecond, n int, do func(i int)) error {
	var wg sync.WaitGroup
	defer wg.Wait()
	begin := time.Now()
	for i := range n {
		time.Sleep(time.Until(begin.Add(time.Duration(i) * time.Second / time.Duration(perSecond))))
		if ctx.Err() != nil {
			return ctx.Err()
		}
		wg.Go(func() { do(i) })
	}
	return nil
}
