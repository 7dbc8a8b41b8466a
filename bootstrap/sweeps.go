package bootstrap

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"sundry/adapters/jobs"
)

const (
	// retimeEvery is how often due times are brought in line with the clocks of the accounts.
	retimeEvery = 30 * time.Second
	// verifyEvery is the pause between two looks at the invariants, and verifyTimeout bounds one.
	verifyEvery   = 10 * time.Minute
	verifyFirst   = 5 * time.Second
	verifyTimeout = 5 * time.Minute
)

// sweep does, in one process of all, what comes round by the clock.
func (a *App) sweep(ctx context.Context) {
	a.store.Lead(ctx, "sweeps", func(ctx context.Context) {
		defer a.invariants.forget() // the next leader's word counts
		jobs.RunSweeps(ctx, a.log,
			jobs.Sweep{Name: "retime", Every: retimeEvery, Do: func(ctx context.Context) error { return a.store.Retime(ctx, "") }},
			jobs.Sweep{Name: "verify", First: verifyFirst, Every: verifyEvery, Do: a.verifyIntoMetrics})
	})
}

func (a *App) verifyIntoMetrics(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, verifyTimeout)
	defer cancel()
	violations, err := a.Verify(ctx)
	if err != nil {
		return fmt.Errorf("look at the invariants: %w", err)
	}
	a.invariants.note(len(violations), time.Now())
	if len(violations) > 0 {
		a.log.ErrorContext(ctx, "invariants are violated", slog.Int("violations", len(violations)), slog.String("first", violations[0]))
	}
	return nil
}

// invariants is what the last look found. Only the process that looks shows it.
type invariants struct {
	violations *prometheus.Desc
	checkedAt  *prometheus.Desc

	mu    sync.Mutex
	found int
	at    time.Time // zero: never
}

func newInvariants() *invariants {
	return &invariants{
		violations: prometheus.NewDesc("sundry_invariant_violations", "Violations that the last look at the invariants found (sundry verify lists them).", nil, nil),
		checkedAt:  prometheus.NewDesc("sundry_invariants_checked_timestamp_seconds", "When that look ended.", nil, nil),
	}
}

func (i *invariants) note(found int, at time.Time) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.found, i.at = found, at
}

func (i *invariants) forget() { i.note(0, time.Time{}) }

// Describe implements prometheus.Collector.
func (i *invariants) Describe(out chan<- *prometheus.Desc) {
	out <- i.violations
	out <- i.checkedAt
}

// Collect implements prometheus.Collector.
func (i *invariants) Collect(out chan<- prometheus.Metric) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.at.IsZero() {
		return
	}
	out <- prometheus.MustNewConstMetric(i.violations, prometheus.GaugeValue, float64(i.found))
	out <- prometheus.MustNewConstMetric(i.checkedAt, prometheus.GaugeValue, float64(i.at.Unix()))
}
