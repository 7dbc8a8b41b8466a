package httpapi

import (
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/adaptor"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// requestMetrics counts responses by route pattern, never by path: paths hold secrets and have no bound.
type requestMetrics struct {
	responses *prometheus.CounterVec
	seconds   *prometheus.HistogramVec
	shed      *prometheus.CounterVec
}

var _ prometheus.Collector = (*requestMetrics)(nil)

func newRequestMetrics() *requestMetrics {
	m := &requestMetrics{
		responses: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "sundry_http_requests_total", Help: "HTTP requests by method, route pattern and status.",
		}, []string{"method", "route", "status"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "sundry_http_request_seconds", Help: "How long HTTP requests took, by method and route pattern.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 5, 30},
		}, []string{"method", "route"}),
		shed: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "sundry_http_requests_shed_total",
			Help: "HTTP requests refused at once because the database was overloaded, by method.",
		}, []string{"method"}),
	}
	for _, method := range []string{fiber.MethodGet, fiber.MethodPost} {
		m.shed.WithLabelValues(method) // shown before the first
	}
	return m
}

// Describe implements prometheus.Collector.
func (m *requestMetrics) Describe(out chan<- *prometheus.Desc) {
	m.responses.Describe(out)
	m.seconds.Describe(out)
	m.shed.Describe(out)
}

// Collect implements prometheus.Collector.
func (m *requestMetrics) Collect(out chan<- prometheus.Metric) {
	m.responses.Collect(out)
	m.seconds.Collect(out)
	m.shed.Collect(out)
}

// responded counts a response. trace is the id of the request's trace, the exemplar of how long it took; "" for none.
func (m *requestMetrics) responded(method, route string, status int, took time.Duration, trace string) {
	m.responses.WithLabelValues(method, route, strconv.Itoa(status)).Inc()
	seconds := m.seconds.WithLabelValues(method, route)
	if exemplars, ok := seconds.(prometheus.ExemplarObserver); ok && trace != "" {
		exemplars.ObserveWithExemplar(took.Seconds(), prometheus.Labels{"trace_id": trace})
		return
	}
	seconds.Observe(took.Seconds())
}

func (s *Server) metricsRoute() Route {
	handler := promhttp.HandlerFor(s.Metrics, promhttp.HandlerOpts{
		ErrorHandling: promhttp.ContinueOnError, EnableOpenMetrics: true, // which has exemplars
	})
	return Route{Method: fiber.MethodGet, Path: "/metrics", Handle: adaptor.HTTPHandler(handler)}
}

// Operations returns a separate application for METRICS_ADDR, so that a process without the API can be watched too.
func (s *Server) Operations() *fiber.App {
	app := fiber.New(fiber.Config{
		DisableStartupMessage: true, ReadTimeout: 10 * time.Second, ErrorHandler: s.handleError,
	})
	app.Get("/healthz", s.getHealth)
	app.Get("/readyz", s.getReady)
	metrics := s.metricsRoute()
	app.Get(metrics.Path, metrics.Handle)
	return app
}
