package webhookhttp

import (
	"errors"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"sundry/ports"
)

// The outcomes of attempts that got no response.
const (
	outcomeNone    = "no response"
	outcomeRefused = "refused" // the address is not public
)

// metrics counts attempts by their outcome.
type metrics struct {
	attempts *prometheus.CounterVec
	seconds  prometheus.Histogram
}

var _ prometheus.Collector = (*Sender)(nil)

func newMetrics() metrics {
	return metrics{
		attempts: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "sundry_webhook_attempts_total",
			Help: `Attempts to deliver events by outcome: "2xx" to "5xx", "no response", "refused".`,
		}, []string{"outcome"}),
		seconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "sundry_webhook_attempt_seconds", Help: "How long receivers took.", Buckets: []float64{.005, .025, .1, .25, .5,
				1, 2.5, 5, 15},
		}),
	}
}

func (m metrics) note(response ports.OutboundResponse, err error, took time.Duration) {
	outcome := strconv.Itoa(response.StatusCode/100) + "xx"
	switch {
	case errors.Is(err, errRefused):
		outcome = outcomeRefused
	case err != nil || response.StatusCode < 100 || response.StatusCode > 599:
		outcome = outcomeNone
	}
	m.attempts.WithLabelValues(outcome).Inc()
	m.seconds.Observe(took.Seconds())
}

// Describe implements prometheus.Collector.
func (s *Sender) Describe(out chan<- *prometheus.Desc) {
	s.metrics.attempts.Describe(out)
	s.metrics.seconds.Describe(out)
}

// Collect implements prometheus.Collector.
func (s *Sender) Collect(out chan<- prometheus.Metric) {
	s.metrics.attempts.Collect(out)
	s.metrics.seconds.Collect(out)
}
