//go:build unix

package faults

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"sundry/ports"
	"sundry/tests/harness"
)

// meteredUse records the use that integrators report about a subscription with a daily billing plan, and the part
// that was accepted.
type meteredUse struct {
	account      *harness.Account
	subscription string
	event        string

	accepted atomic.Int64 // requests
	mu       sync.Mutex
	sum      *big.Rat // of the distinct reports
	keys     map[string]bool
}

func newMeteredUse(t *testing.T, a *harness.Account) *meteredUse {
	t.Helper()
	draft := a.NewListing(t, harness.JSON{
		"type":     "SUBSCRIPTION",
		"metadata": harness.JSON{"interval": "month", "intervalCount": 1, "trialDays": 0, "features": []string{"api"}},
	})
	session := a.NewSession(t, a.Publish(t, draft), "default", "cust-1", nil)
	a.Pay(t, session, harness.CardSucceeds).Want(t, http.StatusOK)
	subscription, _ := a.Receipt(t, session)["subscriptionId"].(string)
	create := func(path string, body harness.JSON) (id string) {
		var made struct{ ID string }
		a.AsBackend(t, http.MethodPost, "/v1/usage/"+path, body).Want(t, http.StatusCreated).Into(t, &made)
		return made.ID
	}
	use := &meteredUse{
		account: a, subscription: subscription, event: "calls", sum: new(big.Rat), keys: map[string]bool{},
	}
	meter := create("meters", harness.JSON{"name": "Calls", "eventName": use.event, "aggregation": "SUM"})
	product := create("products", harness.JSON{"name": "API access", "type": "SERVICE"})
	price := create("prices", harness.JSON{
		"productId": product, "billingScheme": "usage_based", "currency": "eur",
		"recurring": harness.JSON{"interval": "day"},
		"tiers":     []harness.JSON{{"upTo": 100, "unitAmountInCents": 10}, {"upTo": nil, "unitAmountDecimal": "0.5"}},
	})
	create("billing-plans", harness.JSON{
		"subscriptionId": subscription, "meterId": meter, "priceId": price, "billingInterval": "day",
	})
	return use
}

// report reports a quantity until it is accepted: after a failure nobody knows whether it was.
func (u *meteredUse) report(t *testing.T, client *http.Client, key, quantity string) {
	body := fmt.Sprintf(
		`{"subscriptionId":%q,"meter":%q,"quantity":%s,"idempotencyKey":%q}`, u.subscription, u.event, quantity, key,
	)
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(30 * time.Millisecond) {
		if time.Now().After(end) {
			t.Errorf("the report %s is not accepted", key)
			return
		}
		request, err := http.NewRequestWithContext(
			t.Context(), http.MethodPost, u.account.URL+"/v1/usage/events", strings.NewReader(body),
		)
		if err != nil {
			t.Error(err)
			return
		}
		request.Header.Set("Authorization", "Bearer "+u.account.Key)
		request.Header.Set("Content-Type", "application/json")
		response, err := client.Do(request)
		if err != nil {
			continue
		}
		_ = response.Body.Close()
		if response.StatusCode == http.StatusAccepted {
			break
		}
		if response.StatusCode < 500 && response.StatusCode != http.StatusTooManyRequests {
			t.Errorf("the report %s gets %d", key, response.StatusCode)
			return
		}
	}
	u.accepted.Add(1)
	u.mu.Lock()
	defer u.mu.Unlock()
	if !u.keys[key] {
		value, _ := new(big.Rat).SetString(quantity)
		u.sum.Add(u.sum, value)
		u.keys[key] = true
	}
}

// reportAll lets clients report at the same time until stopped. One report in ten repeats the key of the one before.
func (u *meteredUse) reportAll(t *testing.T, clients int, stop <-chan struct{}) {
	var all sync.WaitGroup
	for c := range clients {
		all.Go(func() {
			client := &http.Client{Timeout: 10 * time.Second}
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				distinct := n - n%10/9
				u.report(
					t, client, fmt.Sprintf("client-%d-%d", c, distinct),
					fmt.Sprintf("%d.%012d", distinct%7, 1+c*1_000_003+distinct),
				)
			}
		})
	}
	all.Wait()
}

// wantSum compares a sum of the database with what was accepted, to the last decimal.
func (u *meteredUse) wantSum(t *testing.T, d *Deployment, what, query string) {
	t.Helper()
	var text string
	if err := d.database(t).QueryRowContext(t.Context(), query).Scan(&text); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	u.wantQuantity(t, what, text)
}

func (u *meteredUse) wantQuantity(t *testing.T, what, text string) {
	t.Helper()
	if got, ok := new(big.Rat).SetString(text); !ok || got.Cmp(u.sum) != 0 {
		t.Errorf("%s come to %s, accepted were %s", what, text, u.sum.FloatString(12))
	}
}

// TestEveryReportOfUseIsBilledOnceWhateverDies has twenty clients report while, one after the other, the API and the
// worker are killed, Redis is emptied and PostgreSQL is stopped at once and started again.
func TestEveryReportOfUseIsBilledOnceWhateverDies(t *testing.T) {
	t.Parallel()
	d, postgres, _ := withServersToKill(t)
	serve, worker := d.Start(t, "serve", nil), d.Start(t, "worker", nil)
	account := serve.App.NewAccount(t)
	use := newMeteredUse(t, account)
	stop := make(chan struct{})
	var clients sync.WaitGroup
	clients.Go(func() { use.reportAll(t, 20, stop) })
	after := func(n int64, do func()) {
		t.Helper()
		until := use.accepted.Load() + n
		harness.Eventually(
			t, "reports are accepted", func() bool { return use.accepted.Load() >= until },
		)
		do()
	}
	after(200, func() {
		serve.Kill()
		// where its clients look for it
		serve = d.Start(t, "serve", map[string]string{"ADDR": strings.TrimPrefix(account.URL, "http://")})
	})
	after(200, func() { worker.Kill(); worker = d.Start(t, "worker", nil) })
	after(200, func() { d.FlushRedis(t) })
	after(200, func() {
		if postgres == nil {
			d.Database.Cut()
			d.Database.Restore()
			return
		}
		postgres.die(syscall.SIGQUIT) // immediate: no session ends in order, recovery follows
		postgres.start()
		d.forget()
	})
	after(200, func() {
		serve.Kill()
		serve = d.Start(t, "serve", map[string]string{"ADDR": strings.TrimPrefix(account.URL, "http://")})
	})
	after(200, func() { close(stop) })
	clients.Wait()
	account.AsBackend(t, http.MethodPost, "/v1/sandbox/clock/advance", harness.JSON{"seconds": 24*3600 + 120}).Want(t,
		http.StatusOK)

	if n := d.Count(t, "SELECT COUNT(*) FROM usage_events"); n != len(use.keys) {
		t.Errorf("%d reports are stored, %d distinct ones were accepted", n, len(use.keys))
	}
	use.wantSum(t, d, "the stored reports", "SELECT SUM(quantity)::text FROM usage_events WHERE voided_at IS NULL")
	use.wantSum(t, d, "the counts", "SELECT SUM(quantity)::text FROM usage_rollups")
	explained := use.wantInvoice(t)
	t.Logf("%d requests accepted, %d distinct reports", use.accepted.Load(), len(use.keys))
	d.Verify(t)
	use.wantExplainedWithoutReports(t, d, explained)
	worker.Terminate(t)
	serve.Terminate(t)
}

// wantInvoice compares the one invoice with what was accepted, and returns its explanation.
func (u *meteredUse) wantInvoice(t *testing.T) (explanation string) {
	t.Helper()
	var page struct {
		Data []struct {
			ID, Status string
			LineItems  []struct{ Quantity json.Number }
		}
	}
	u.account.AsBackend(t, http.MethodGet, "/v1/invoices?limit=100", nil).Want(t, http.StatusOK).Into(t, &page)
	if len(page.Data) != 1 || page.Data[0].Status != "paid" || len(page.Data[0].LineItems) != 1 {
		t.Fatalf("the invoices are %+v", page.Data)
	}
	u.wantQuantity(t, "the invoice's units", page.Data[0].LineItems[0].Quantity.String())
	return u.explain(t, page.Data[0].ID)
}

func (u *meteredUse) explain(t *testing.T, invoiceID string) string {
	t.Helper()
	body, err := json.Marshal(
		u.account.AsBackend(t, http.MethodGet, "/v1/invoices/"+invoiceID+"/explain", nil).Want(t, http.StatusOK).Map(t),
	)
	if err != nil {
		t.Fatal(err)
	}
	return invoiceID + " " + string(body)
}

// wantExplainedWithoutReports has every report deleted, as old ones are: explanations stay, and so do the keys.
func (u *meteredUse) wantExplainedWithoutReports(t *testing.T, d *Deployment, before string) {
	t.Helper()
	store := d.Store(t)
	for more := true; more; { // only reports that are counted twice are deleted
		err := store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) (err error) {
			_, more, err = r.Usage.Audit.CheckPage(ctx, 10_000, 1)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := store.DeleteOld(t.Context(), ports.Retention{Usage: time.Now().AddDate(1, 0, 0)}); err != nil {
		t.Fatal(err)
	}
	if n := d.Count(t, "SELECT COUNT(*) FROM usage_events"); n != 0 {
		t.Fatalf("%d reports are left", n)
	}
	invoiceID, _, _ := strings.Cut(before, " ")
	if after := u.explain(t, invoiceID); after != before || !strings.Contains(after, `"tiers"`) {
		t.Errorf("explained as %s, before as %s", after, before)
	}
	var repeated struct{ Duplicate bool }
	u.account.AsBackend(t, http.MethodPost, "/v1/usage/events", harness.JSON{
		"subscriptionId": u.subscription, "meter": u.event, "quantity": json.Number("0.000000000001"),
		"idempotencyKey": "client-0-0",
	}).Want(t, http.StatusAccepted).Into(t, &repeated)
	if !repeated.Duplicate {
		t.Error("a key is forgotten with its month")
	}
	d.Verify(t)
}

// TestReportsWithoutADatabaseAreRefusedForNow cuts the database off. The report's key is known for a moment longer, so
// that the report itself meets the cut connections, and then none.
func TestReportsWithoutADatabaseAreRefusedForNow(t *testing.T) {
	t.Parallel()
	d := Distributed(t)
	serve := d.Start(t, "serve", nil)
	use := newMeteredUse(t, serve.App.NewAccount(t))
	report := func(key string) *harness.Response {
		return use.account.AskAnything(t, harness.Request{
			Method: http.MethodPost, Path: "/v1/usage/events", Bearer: use.account.Key, Body: harness.JSON{
				"subscriptionId": use.subscription, "meter": use.event, "quantity": 1, "idempotencyKey": key,
			},
		})
	}
	report("before").Want(t, http.StatusAccepted)
	d.Database.Cut()
	for i := range 10 {
		report(fmt.Sprint("cut-", i)).Refuses(t, http.StatusServiceUnavailable, "DATABASE_BUSY")
	}
	d.Database.Restore()
	harness.Eventually(t, "the first of them is accepted", func() bool { return report("cut-0").Status == http.StatusAccepted })
}
