package jobs

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"sundry/ports"
)

// The outcomes of a run.
const (
	outcomeDone   = "done"
	outcomeFailed = "failed"
	outcomeFenced = "fenced"
)

// Metrics shows what waits and what ran. What waits is counted when asked.
type Metrics struct {
	queue ports.TaskQueue
	clock ports.Clock
	log   *slog.Logger

	runs    *prometheus.CounterVec
	seconds *prometheus.HistogramVec
	backlog *prometheus.Desc
	held    *prometheus.Desc
	oldest  *prometheus.Desc
	age     *prometheus.Desc
}

var _ prometheus.Collector = (*Metrics)(nil)

// NewMetrics returns the collector, to be registered by the caller.
func NewMetrics(queue ports.TaskQueue, clock ports.Clock, log *slog.Logger) *Metrics {
	return &Metrics{
		queue: queue, clock: clock, log: log,
		runs: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "sundry_task_runs_total", Help: "Runs of background tasks by kind and outcome (done, failed, fenced).",
		}, []string{"kind", "outcome"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "sundry_task_run_seconds", Help: "How long runs of background tasks took.",
			Buckets: []float64{.001, .005, .025, .1, .5, 1, 5, 15},
		}, []string{"kind"}),
		backlog: prometheus.NewDesc("sundry_tasks_due", "Background tasks that are due, running ones included.",
			[]string{"kind"}, nil),
		held: prometheus.NewDesc("sundry_tasks_held", "Background tasks that are due but paused with their concurrency "+
			"key, such as those for a webhook endpoint that is down.", []string{"kind"}, nil),
		oldest: prometheus.NewDesc("sundry_tasks_oldest_due_seconds", "How long the oldest due background task has waited; "+
			"0 when none is due.", nil, nil),
		age: prometheus.NewDesc("sundry_task_age_seconds", "How long the oldest due background task of a kind has waited; "+
			"of webhook.deliver, how late webhooks are.", []string{"kind"}, nil),
	}
}

func (m *Metrics) ran(kind, outcome string, took time.Duration) {
	m.runs.WithLabelValues(kind, outcome).Inc()
	m.seconds.WithLabelValues(kind).Observe(took.Seconds())
}

// Describe implements prometheus.Collector.
func (m *Metrics) Describe(out chan<- *prometheus.Desc) {
	m.runs.Describe(out)
	m.seconds.Describe(out)
	out <- m.backlog
	out <- m.held
	out <- m.oldest
	out <- m.age
}

// Collect implements prometheus.Collector.
func (m *Metrics) Collect(out chan<- prometheus.Metric) {
	m.runs.Collect(out)
	m.seconds.Collect(out)
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	now := m.clock.Real()
	backlog, err := m.queue.Backlog(ctx, now)
	if err != nil {
		m.log.WarnContext(ctx, "tasks cannot be counted for the metrics", slog.Any("error", err))
		return // an absent gauge raises an alarm; a wrong one would not
	}
	var oldest time.Duration
	for _, b := range backlog {
		var age time.Duration
		if !b.Oldest.IsZero() {
			age = now.Sub(b.Oldest)
		}
		oldest = max(oldest, age)
		out <- prometheus.MustNewConstMetric(m.age, prometheus.GaugeValue, age.Seconds(), b.Kind)
		out <- prometheus.MustNewConstMetric(m.held, prometheus.GaugeValue, float64(b.Paused), b.Kind)
		out <- prometheus.MustNewConstMetric(m.backlog, prometheus.GaugeValue, float64(b.Due), b.Kind)
	}
	out <- prometheus.MustNewConstMetric(m.oldest, prometheus.GaugeValue, oldest.Seconds())
}
