package bootstrap

import (
	"context"
	"fmt"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"sundry/adapters/gormstore"
	"sundry/core/checkout"
	"sundry/core/payment"
	"sundry/modules/subscriptions"
	"sundry/ports"
)

// countBusiness counts what is sold, by the events of transactions that have committed, and shows the connections to
// the database.
func (a *App) countBusiness() {
	payments := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "sundry_payments_total", Help: "Payment attempts that ended, by status (succeeded, declined, canceled) and " +
			"decline code, which is empty unless declined.",
	}, []string{"status", "decline_code"})
	sessions := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "sundry_checkout_sessions_total", Help: "Checkout sessions by what happened to them (opened, paid, expired).",
	}, []string{"step"})
	a.metrics.MustRegister(payments, sessions, newPoolMetrics(a.store))

	for _, status := range []payment.Status{payment.Succeeded, payment.Canceled} { // a rate needs a first value
		payments.WithLabelValues(string(status), "")
	}
	payments.WithLabelValues(string(payment.Declined), string(payment.CardDeclined))
	step := func(name string) func(context.Context) error {
		counter := sessions.WithLabelValues(name)
		return func(ctx context.Context) error {
			gormstore.AfterCommit(ctx, counter.Inc)
			return nil
		}
	}
	opened, paid, expired := step("opened"), step("paid"), step("expired")
	on(a.bus, func(ctx context.Context, _ ports.Repos, _ checkout.Opened) error { return opened(ctx) })
	on(a.bus, func(ctx context.Context, _ ports.Repos, _ checkout.Paid) error { return paid(ctx) })
	on(a.bus, func(ctx context.Context, _ ports.Repos, _ checkout.Expired) error { return expired(ctx) })
	on(a.bus, func(ctx context.Context, _ ports.Repos, e payment.Settled) error {
		code := ""
		if e.Status == payment.Declined {
			code = knownDecline(e.Decline.Code)
		}
		gormstore.AfterCommit(ctx, payments.WithLabelValues(string(e.Status), code).Inc)
		return nil
	})
}

// knownDecline is the code where it is one of ours, so that a provider cannot add series without end.
func knownDecline(code payment.DeclineCode) string {
	if !code.Known() {
		code = payment.CardDeclined
	}
	return string(code)
}

// poolMetrics shows the connections to the database.
type poolMetrics struct {
	store                    *gormstore.Store
	open, max, waited, delay *prometheus.Desc
	// lag and reads are of the standby.
	lag, reads *prometheus.Desc
}

func newPoolMetrics(store *gormstore.Store) poolMetrics {
	return poolMetrics{
		store: store,
		open: prometheus.NewDesc("sundry_database_connections", "Connections to the database by state (in_use, idle).",
			[]string{"state"}, nil),
		max: prometheus.NewDesc("sundry_database_connections_max", "The most connections that this process opens.", nil, nil),
		waited: prometheus.NewDesc("sundry_database_wait_seconds_total", "How long callers have waited for a connection.",
			nil, nil),
		delay: prometheus.NewDesc("sundry_database_delay_seconds", "How long a request waits for a connection at "+
			"present; beyond three seconds requests are refused.", nil, nil),
		lag: prometheus.NewDesc("sundry_database_standby_lag_seconds", "Age of what the standby of DATABASE_READ_URL may "+
			"miss; 0 without one.", nil, nil),
		reads: prometheus.NewDesc("sundry_database_standby_reads_total", "Reads for the standby by the server that they "+
			"went to (standby, primary).", []string{"server"}, nil),
	}
}

// Describe implements prometheus.Collector.
func (m poolMetrics) Describe(out chan<- *prometheus.Desc) {
	out <- m.open
	out <- m.max
	out <- m.waited
	out <- m.delay
	out <- m.lag
	out <- m.reads
}

// Collect implements prometheus.Collector.
func (m poolMetrics) Collect(out chan<- prometheus.Metric) {
	pool := m.store.Pool()
	out <- prometheus.MustNewConstMetric(m.open, prometheus.GaugeValue, float64(pool.InUse), "in_use")
	out <- prometheus.MustNewConstMetric(m.open, prometheus.GaugeValue, float64(pool.Idle), "idle")
	out <- prometheus.MustNewConstMetric(m.max, prometheus.GaugeValue, float64(pool.Max))
	out <- prometheus.MustNewConstMetric(m.waited, prometheus.CounterValue, pool.Waited.Seconds())
	out <- prometheus.MustNewConstMetric(m.delay, prometheus.GaugeValue, m.store.Delay().Seconds())
	standby := m.store.Standby()
	out <- prometheus.MustNewConstMetric(m.lag, prometheus.GaugeValue, standby.Lag.Seconds())
	out <- prometheus.MustNewConstMetric(m.reads, prometheus.CounterValue, float64(standby.Served), "standby")
	out <- prometheus.MustNewConstMetric(m.reads, prometheus.CounterValue, float64(standby.Passed), "primary")
}

// countRecurring shows what runs over all accounts.
func (a *App) countRecurring(ctx context.Context) error {
	all, err := a.modules.Subscriptions.Recurring(ports.AllowStale(ctx))
	if err != nil {
		return fmt.Errorf("count the subscriptions: %w", err)
	}
	a.recurring.note(&all)
	return nil
}

// recurring keeps what was counted last. Only the process that counts shows it.
type recurring struct {
	revenue, count *prometheus.Desc

	mu   sync.Mutex
	last *subscriptions.Recurring // nil: never
}

func newRecurring() *recurring {
	return &recurring{
		revenue: prometheus.NewDesc("sundry_mrr_minor_units", "Monthly recurring revenue of active and past due "+
			"subscriptions by currency, in its minor units.", []string{"currency"}, nil),
		count: prometheus.NewDesc("sundry_subscriptions", "Subscriptions by status.", []string{"status"}, nil),
	}
}

func (r *recurring) note(all *subscriptions.Recurring) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last = all
}

func (r *recurring) forget() { r.note(nil) }

// Describe implements prometheus.Collector.
func (r *recurring) Describe(out chan<- *prometheus.Desc) {
	out <- r.revenue
	out <- r.count
}

// Collect implements prometheus.Collector.
func (r *recurring) Collect(out chan<- prometheus.Metric) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.last == nil {
		return
	}
	for currency, sum := range r.last.Monthly {
		out <- prometheus.MustNewConstMetric(r.revenue, prometheus.GaugeValue, float64(sum), string(currency))
	}
	for status, n := range r.last.Counts {
		out <- prometheus.MustNewConstMetric(r.count, prometheus.GaugeValue, float64(n), string(status))
	}
}
