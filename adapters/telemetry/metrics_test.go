package telemetry_test

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	"google.golang.org/protobuf/proto"

	"sundry/adapters/telemetry"
)

// What a registry shows arrives with its labels and its numbers, once more at the end.
func TestMetricsReachACollector(t *testing.T) {
	t.Parallel()
	received := make(chan *metricspb.MetricsData, 10)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var sent metricspb.MetricsData
		if err := proto.Unmarshal(body, &sent); err != nil || r.Header.Get("Authorization") != "secret" {
			t.Errorf("%v, with the authorization %q", err, r.Header.Get("Authorization"))
		}
		received <- &sent
	}))
	t.Cleanup(server.Close)
	registry := prometheus.NewRegistry()
	counter := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "sales_total", Help: "Sales."}, []string{"card"})
	gauge := prometheus.NewGauge(prometheus.GaugeOpts{Name: "waiting"})
	histogram := prometheus.NewHistogram(prometheus.HistogramOpts{Name: "took", Buckets: []float64{1, 2, 3}})
	registry.MustRegister(counter, gauge, histogram)
	counter.WithLabelValues("visa").Add(2)
	gauge.Set(-1.5)
	for _, took := range []float64{0.5, 1.5, 1.6, 9} {
		histogram.Observe(took)
	}

	metrics, err := telemetry.NewMetrics(t.Context(), telemetry.Config{
		URL: server.URL, Service: "shop", Instance: "one", Headers: map[string]string{"Authorization": "secret"},
	}, time.Hour, registry, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	stopping := make(chan struct{})
	close(stopping)
	metrics.Run(stopping)

	sent := (<-received).GetResourceMetrics()[0]
	if got := sent.GetResource().GetAttributes()[0]; got.GetValue().GetStringValue() != "one" {
		t.Errorf("the first attribute is %v, want the instance one", got)
	}
	found := map[string]*metricspb.Metric{}
	for _, m := range sent.GetScopeMetrics()[0].GetMetrics() {
		found[m.GetName()] = m
	}
	sum := found["sales_total"].GetSum()
	if point := sum.GetDataPoints()[0]; point.GetAsDouble() != 2 || !sum.GetIsMonotonic() ||
		point.GetAttributes()[0].GetValue().GetStringValue() != "visa" {
		t.Errorf("the counter is %v, want 2 of visa", sum)
	}
	if got := found["waiting"].GetGauge().GetDataPoints()[0].GetAsDouble(); got != -1.5 {
		t.Errorf("the gauge is %v, want -1.5", got)
	}
	point := found["took"].GetHistogram().GetDataPoints()[0]
	if want := []uint64{1, 2, 0, 1}; !slices.Equal(point.GetBucketCounts(), want) || point.GetCount() != 4 ||
		point.GetSum() != 12.6 || !slices.Equal(point.GetExplicitBounds(), []float64{1, 2, 3}) {
		t.Errorf("the histogram is %v, want buckets of %v", point, want)
	}
}
