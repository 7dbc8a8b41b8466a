package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/jackc/pgx/v5"
	"github.com/valyala/fasthttp"

	"sundry/adapters/gormstore/repo"
	"sundry/core/fault"
	core "sundry/core/usage"
)

// usageAccount is a subscription with a meter, billed by the day.
type usageAccount struct {
	seller
	subscription, meter, plan string
	next                      atomic.Int64
}

type made struct {
	ID string `json:"id"`
}

// newClub opens an account that sells a monthly subscription.
func (w *fixture) newClub() (seller, error) {
	return w.newSeller(map[string]any{"type": "SUBSCRIPTION", "title": "Press time",
		"metadata": map[string]any{"interval": "month", "intervalCount": 1}})
}

// meteredCustomer buys a subscription and attaches a billing plan to it.
func (w *fixture) meteredCustomer(s seller, name string) (*usageAccount, error) {
	checkoutID, err := w.open(s, name)
	if err != nil {
		return nil, err
	}
	paid, err := w.pay(s, checkoutID, "")
	if err != nil {
		return nil, err
	}
	a := &usageAccount{seller: s, subscription: paid.SubscriptionID, meter: name}
	call := func(path string, body map[string]any, into *made) error {
		return w.callAs(s.key, "POST", path, body, into)
	}
	var meter, product, price, plan made
	err = errors.Join(
		call("/v1/usage/meters", map[string]any{"name": name, "eventName": name, "aggregation": "SUM"}, &meter),
		call("/v1/usage/products", map[string]any{"name": name, "type": "SERVICE"}, &product))
	if err == nil {
		err = call("/v1/usage/prices", map[string]any{
			"productId": product.ID, "billingScheme": "usage_based", "currency": "eur",
			"recurring": map[string]any{"interval": "day"},
			"tiers":     []map[string]any{{"upTo": nil, "unitAmountDecimal": "0.0001"}},
		}, &price)
	}
	if err == nil {
		err = call("/v1/usage/billing-plans", map[string]any{
			"subscriptionId": a.subscription, "meterId": meter.ID, "priceId": price.ID, "billingInterval": "day",
		}, &plan)
	}
	a.plan = plan.ID
	return a, err
}

// appendReport writes one report under a new key. The client shares the processors with the server, so both sides of a
// comparison are given bodies that cost little to make.
func (a *usageAccount) appendReport(body []byte) []byte {
	body = append(body, `{"subscriptionId":"`...)
	body = append(body, a.subscription...)
	body = append(body, `","meter":"`...)
	body = append(body, a.meter...)
	body = append(body, `","quantity":1.5,"idempotencyKey":"`...)
	body = append(append(body, a.meter...), '-')
	return append(strconv.AppendInt(body, a.next.Add(1), 10), `"}`...)
}

// post prepares a POST of JSON with an account's key.
func post(key, url string, raw []byte) func(*fasthttp.Request) {
	return func(r *fasthttp.Request) {
		r.SetRequestURI(url)
		r.Header.SetMethod(fasthttp.MethodPost)
		r.Header.SetContentType("application/json")
		r.Header.Set("Authorization", "Bearer "+key)
		r.SetBodyRaw(raw)
	}
}

// newMetered is meteredCustomer in an account that has nothing else.
func (w *fixture) newMetered(name string) (*usageAccount, error) {
	s, err := w.newClub()
	if err != nil {
		return nil, err
	}
	return w.meteredCustomer(s, name)
}

// advance moves the account's clock.
func (w *fixture) advance(s seller, by time.Duration) error {
	var clock any
	return w.callAs(s.key, "POST", "/v1/sandbox/clock/advance", map[string]any{"seconds": by.Seconds()}, &clock)
}

// bareEvent is a row of the bare reference.
type bareEvent struct {
	Key      string          `json:"key"`
	Quantity json.RawMessage `json:"quantity"`
}

// insertBare writes rows as wide as Sundry's and with the same indexes: a key and a report each.
const insertBare = `
WITH k AS (
    INSERT INTO bench_keys SELECT 1, 1, 1, 1, 'ubp_01jd8v5w2x3y4z5a6b7c8d9e0f', 'crt_01jd8v5w2x3y4z5a6b7c8d9e0f', k, '\x000102030405060708090a0b0c0d0e0f'
    FROM unnest($1::text[]) AS r (k) ON CONFLICT DO NOTHING
)
INSERT INTO bench_events SELECT 1, 1, 1, 1, pg_current_xact_id()::text::bigint, NULL, false, q::numeric, 'ubp_01jd8v5w2x3y4z5a6b7c8d9e0f', 'crt_01jd8v5w2x3y4z5a6b7c8d9e0f'
FROM unnest($2::text[]) AS r (q)`

// insertEvents makes the same group commit of bare rows, with nothing checked.
func (r reference) insertEvents() fiber.Handler {
	commit := repo.NewBatcher(repo.BatchConfig[[]bareEvent]{
		MaxBatch: 2_000, Capacity: 40_000, Timeout: 10 * time.Second,
		Write: func(ctx context.Context, all [][]bareEvent) []error {
			var keys, quantities []string
			for _, events := range all {
				for _, e := range events {
					keys, quantities = append(keys, e.Key), append(quantities, string(e.Quantity))
				}
			}
			_, err := r.pool.Exec(ctx, insertBare, keys, quantities)
			results := make([]error, len(all))
			for i := range results {
				results[i] = err
			}
			return results
		},
	})
	return func(c *fiber.Ctx) error {
		var events []bareEvent
		if err := json.Unmarshal(c.BodyRaw(), &events); err != nil {
			return err
		}
		if err := commit.Do(c.UserContext(), events); err != nil {
			return err
		}
		return c.SendStatus(fiber.StatusAccepted)
	}
}

// reports compares a request of n reports with a bare one of as many rows.
func reports(ctx context.Context, w *fixture, name string, n int) (string, error) {
	a, err := w.newMetered(name)
	if err != nil {
		return "", err
	}
	var bare atomic.Int64
	list := func(opening, ending string, item func([]byte) []byte) []byte {
		body := []byte(opening)
		for i := range n {
			if i > 0 {
				body = append(body, ',')
			}
			body = item(body)
		}
		return append(body, ending...)
	}
	ours := func(r *fasthttp.Request) {
		if n == 1 {
			post(a.key, w.base+"/v1/usage/events", a.appendReport(nil))(r)
			return
		}
		post(a.key, w.base+"/v1/usage/events/batch", list(`{"events":[`, `]}`, a.appendReport))(r)
	}
	reference := func(r *fasthttp.Request) {
		post(w.key, w.bare+"/events", list(`[`, `]`, func(body []byte) []byte {
			body = append(append(append(body, `{"key":"`...), name...), '-')
			return append(strconv.AppendInt(body, bare.Add(1), 10), `","quantity":1.5}`...)
		}))(r)
	}
	return w.compare(ctx, &side{name: "sundry", status: 202, request: ours},
		&side{name: "bare", status: 202, request: reference})
}

func usageSingle(ctx context.Context, w *fixture) (string, error) {
	return reports(ctx, w, "bench-single", 1)
}
func usageBatch(ctx context.Context, w *fixture) (string, error) {
	return reports(ctx, w, "bench-batch", 100)
}

// usageFlush counts a million rows that the database makes itself.
func usageFlush(ctx context.Context, w *fixture) (string, error) {
	a, err := w.newMetered("bench-flush")
	if err != nil {
		return "", err
	}
	if err := w.fill(ctx, a, 1_000_000); err != nil {
		return "", err
	}
	begin := time.Now()
	if err := w.advance(a.seller, time.Second); err != nil {
		return "", err
	}
	took := time.Since(begin)
	var waiting int64
	err = w.pool.QueryRow(ctx, "SELECT COUNT(*) FROM usage_events WHERE position >= (SELECT position FROM usage_watermark)").Scan(&waiting)
	return fmt.Sprintf("%.1f s (%d left over)", took.Seconds(), waiting), err
}

// fill writes reports past the API, in transactions as large as those of ingest.
func (w *fixture) fill(ctx context.Context, a *usageAccount, rows int) (err error) {
	const chunk = 2_000
	for from := 0; from < rows && err == nil; from += chunk {
		_, err = w.pool.Exec(ctx, `
WITH x AS MATERIALIZED (SELECT nextval('usage_positions') AS position)
INSERT INTO usage_events (stream_id, period_start, occurred_at, received_at, position, ordered, quantity, id, creator_id)
SELECT s.id, p.current_start, p.current_start + 1, EXTRACT(EPOCH FROM now()) * 1000, x.position, false, 1.5,
    'uev_' || p.id || n, s.creator_id
FROM x, usage_billing_plans p, LATERAL (SELECT * FROM usage_streams s WHERE s.plan_id = p.id) s, generate_series($2::int, $3::int) n WHERE p.id = $1`,
			a.plan, from+1, min(from+chunk, rows))
	}
	if err == nil { // the first report makes no stream: the plan did
		var n int64
		err = w.pool.QueryRow(ctx, "SELECT COUNT(*) FROM usage_streams WHERE plan_id = $1", a.plan).Scan(&n)
		if n != 1 {
			err = errors.Join(err, pgx.ErrNoRows)
		}
	}
	return err
}

// usageClose closes periods of 40 plans with one report each and with 500 each, in turns.
func usageClose(ctx context.Context, w *fixture) (string, error) {
	const plans, day = 40, 24*time.Hour + 130*time.Second
	club, err := w.newClub()
	if err != nil {
		return "", err
	}
	accounts := make([]*usageAccount, plans)
	for i := range accounts {
		if accounts[i], err = w.meteredCustomer(club, fmt.Sprintf("bench-close-%d", i)); err != nil {
			return "", err
		}
	}
	took := map[int][]float64{}
	for range rounds {
		for _, each := range []int{1, 500} {
			for _, a := range accounts {
				if err := w.fill(ctx, a, each); err != nil {
					return "", err
				}
			}
			if err := w.advance(club, time.Second); err != nil { // which counts them
				return "", err
			}
			begin := time.Now()
			if err := w.advance(club, day); err != nil {
				return "", err
			}
			took[each] = append(took[each], time.Since(begin).Seconds()*1000/plans)
		}
	}
	one, many := median(took[1]), median(took[500])
	return fmt.Sprintf("ratio %.2f   (%.1f ms per plan with 1 report, %.1f with 500)", many/one, one, many), nil
}

// storedEvents is the number of reports that usageFull stores.
var storedEvents = 1_000_000

// usageFull compares ingest beside many stored reports with ingest into a table that has few, each beside the bare
// reference in turns, so that the machine's mood is in neither.
func usageFull(ctx context.Context, w *fixture) (string, error) {
	a, err := w.newMetered("bench-full")
	if err != nil {
		return "", err
	}
	var next atomic.Int64
	measure := func() (share float64, text string, err error) {
		single := &side{name: "single", status: 202,
			request: func(r *fasthttp.Request) { post(a.key, w.base+"/v1/usage/events", a.appendReport(nil))(r) }}
		bare := &side{name: "bare", status: 202, request: func(r *fasthttp.Request) {
			body := strconv.AppendInt([]byte(`[{"quantity":1.5,"key":"full-`), next.Add(1), 10)
			post(w.key, w.bare+"/events", append(body, `"}]`...))(r)
		}}
		text, err = w.compare(ctx, single, bare)
		if err == nil {
			share = median(single.rates) / median(bare.rates)
		}
		return share, text, err
	}
	before, beforeText, err := measure()
	if err != nil {
		return "", err
	}
	if err := w.fillWithKeys(ctx, a, storedEvents); err != nil {
		return "", err
	}
	after, afterText, err := measure()
	return fmt.Sprintf("ratio %.2f   (%s beside %d stored; before %s)", after/before, afterText, storedEvents, beforeText),
		err
}

// fillWithKeys writes reports past the API, with keys as random as integrators' are, which are counted already. The
// keys' index is rebuilt behind them: entered one by one, fifty million random ones take hours.
func (w *fixture) fillWithKeys(ctx context.Context, a *usageAccount, rows int) error {
	const chunk = 1_000_000
	const insert = `
WITH s AS (SELECT s.id, s.creator_id, p.current_start FROM usage_billing_plans p JOIN usage_streams s ON s.plan_id = p.id WHERE p.id = $1),
made AS MATERIALIZED (SELECT 'uev_' || md5(n::text) AS id, (EXTRACT(EPOCH FROM now()) * 1000)::bigint AS at FROM generate_series($2::int, $3::int) n),
k AS (INSERT INTO usage_keys SELECT s.id, s.current_start, made.at, 1, made.id, s.creator_id, made.id, '\x000102030405060708090a0b0c0d0e0f' FROM s, made)
INSERT INTO usage_events (stream_id, period_start, occurred_at, received_at, position, ordered, quantity, id, creator_id)
SELECT s.id, s.current_start, made.at, made.at, 1, false, 1.5, made.id, s.creator_id FROM s, made`
	if _, err := w.pool.Exec(ctx, "ALTER TABLE usage_keys DROP CONSTRAINT usage_keys_pkey"); err != nil {
		return err
	}
	for n := 0; n < rows; n += chunk {
		if _, err := w.pool.Exec(ctx, insert, a.plan, n+1, min(n+chunk, rows)); err != nil {
			return err
		}
		fmt.Fprintf(os.Stderr, "\rstored %d of %d reports ", min(n+chunk, rows), rows)
	}
	fmt.Fprintln(os.Stderr)
	for _, statement := range []string{
		"SET maintenance_work_mem = '1GB'; ALTER TABLE usage_keys ADD CONSTRAINT usage_keys_pkey PRIMARY KEY (creator_id, key); RESET maintenance_work_mem",
		"VACUUM ANALYZE usage_events", "VACUUM ANALYZE usage_keys", // as autovacuum will have
	} {
		if _, err := w.pool.Exec(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// usageRating is one call of the rule.
func usageRating(context.Context, *fixture) (string, error) {
	bound := func(text string) *json.Number { n := json.Number(text); return &n }
	price := func(text string) *string { return &text }
	var f fault.Violations
	tiers := core.ParseTiers(&f, "tiers", []core.TierDraft{
		{UpTo: bound("1000"), UnitAmountDecimal: price("12.5")}, {UpTo: bound("10000"), UnitAmountDecimal: price("6.25")},
		{UpTo: bound("100000"), UnitAmountDecimal: price("3.125")}, {UnitAmountDecimal: price("1.5625")},
	})
	quantity, err := core.ParseQuantity("123456.789")
	if err := errors.Join(f.Err(), err); err != nil {
		return "", err
	}
	result := testing.Benchmark(func(b *testing.B) {
		b.Helper()
		b.ReportAllocs()
		for b.Loop() {
			if _, err := tiers.Amount(quantity, 1); err != nil {
				b.Fatal(err)
			}
		}
	})
	return fmt.Sprintf("%d ns, %d allocations", result.NsPerOp(), result.AllocsPerOp()), nil
}
